"""What is sent between processes comes back as it was, and can be nothing but data."""

import json
import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from strategies import examples
from summarkov import errors
from summarkov.comparison.measures import Found, Sums
from summarkov.comparison.next_event import NextEvent
from summarkov.engines import CandidateCounts, RecencyCounts, StateCounts
from summarkov.engines.messages import pack, pack_error, unpack, unpack_error
from summarkov.errors import SettingError, SummarkovError, UnknownLabelError
from summarkov.models.measures import Measured
from summarkov.scores.estimates import ExactSum

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off


def same(one, other):
    """Equal in type, shape and every bit."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert all(same(a, b) for a, b in zip(one.ravel().tolist(), other.ravel().tolist(), strict=True))
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        assert all(same(a, b) for a, b in zip(one, other, strict=True))
    elif hasattr(one, "__dataclass_fields__"):
        assert all(same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__)
    elif isinstance(one, float):
        assert one.hex() == other.hex()
    else:
        assert one == other
    return True


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
numbers = arrays.arrays(
    st.sampled_from([np.int64, np.int32, np.uint8, np.float64, np.bool_]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)


@examples(60)
@given(
    st.recursive(plain | numbers, lambda inner: st.lists(inner) | st.lists(inner).map(tuple), max_leaves=8)
)
def test_any_tree_comes_back(tree):
    assert same(unpack(pack(tree)), tree)


def test_states_of_ones_own_come_back():
    keys = np.empty((3, 1), object)
    keys[:, 0] = ["a", ("b", 2, (None, True)), 0.1]
    found = unpack(pack([StateCounts(keys, np.ones((3, 2), np.int64))]))
    assert same(found[0].keys, keys)
    with pytest.raises(
        SettingError, match=r"a frozenset cannot be sent .* must be texts, numbers and tuples"
    ):
        pack(np.array([frozenset("a"), None], object))


def test_every_kind_of_answer_comes_back():
    rng = np.random.default_rng(2)
    table, big = rng.integers(0, 2**40, (4, 3)), ExactSum.of(rng.normal(size=50) * 1e200)
    sums = Sums.of(rng.random(9), rng.random(9) < 0.5, rng.normal(size=3))
    answers = [
        StateCounts(rng.integers(0, 3, (4, 2)).astype(np.int8), table),
        CandidateCounts(table[:, :1].astype(np.int16), table, rng.integers(0, 9, (2, 4, 1, 3))),
        RecencyCounts(table, table[:0], table[:, :0], np.asfortranarray(table)),
        Measured(big, ExactSum(0, -math.inf), ExactSum()),
        Found((sums, sums + sums), NextEvent(3, 4, 5, big), ((7, rng.random(5)), (8, np.empty(0)))),
    ]
    found = unpack(pack(answers))
    assert same(found, answers)
    found[0].counts[0] += 1  # as arrays of one's own


def test_numbers_of_numpy_become_those_of_python():
    assert same(unpack(pack((np.int64(3), np.float64(0.1), np.bool_(True)))), (3, 0.1, True))


def test_only_what_is_known_is_made():
    @dataclass
    class Stranger:
        value: int

    with pytest.raises(SettingError, match="a Stranger cannot be sent"):
        pack(Stranger(1))

    def message(tree):
        stream = pa.BufferOutputStream()
        text = np.frombuffer(json.dumps(tree).encode(), np.uint8)
        pa.ipc.write_tensor(pa.Tensor.from_numpy(text), stream)
        return stream.getvalue().to_pybytes()

    with pytest.raises(KeyError, match="system"):
        unpack(message(["system", "rm"]))
    with pytest.raises(pa.ArrowInvalid, match="Unable to read"):
        unpack(message(["array", [1]]))  # and no array comes behind that
    with pytest.raises((pa.ArrowInvalid, OSError), match=r"Invalid|Unable|Corrupted|Expected"):
        unpack(np.array([{}], object).dumps())


KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SummarkovError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_comes_back(kind):
    error = kind("x", "y", "z") if kind is errors.MissingLibraryError else None
    error = error or (
        kind("protset", ["riot", "protest"]) if kind is UnknownLabelError else kind("what to do")
    )
    found = unpack_error(pack_error(error))
    assert type(found) is kind
    assert (str(found), vars(found)) == (str(error), vars(error))


def test_an_error_of_a_closer_kind_comes_back_as_the_one_that_is_known():
    class Closer(errors.DataError):
        pass

    found = unpack_error(pack_error(Closer("row 3")))
    assert (type(found), str(found)) == (errors.DataError, "row 3")
