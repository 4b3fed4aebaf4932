"""Bytes that nobody meant, for every door: a few in every run of the tests (``make fuzz`` tries many)."""

import pytest
from fuzz import NAMES, check_of, kept
from hypothesis import given
from hypothesis import strategies as st

from needs import DOORS_NEED
from strategies import examples

#: Of ties readers tell, which is no error.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

DOORS = [name for name in NAMES if name != "model"]  # damaged models have tests of their own


@st.composite
def damaged(draw: st.DrawFn, name: str) -> bytes:
    """A kept input with some bytes changed, cut out, or doubled."""
    data = bytearray(draw(st.sampled_from(kept(name))).read_bytes())
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 2)):
            case 0:
                data[at : at + 1] = draw(st.binary(max_size=4))
            case 1:
                del data[at : at + draw(st.integers(1, 20))]
            case _:
                data[at:at] = data[at : at + draw(st.integers(1, 200))]
    return bytes(data)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs(*DOORS_NEED.get(name, ()))) for name in DOORS]
)
@examples(60)
@given(data=st.data())
def test_doors(name: str, data: st.DataObject) -> None:
    check = check_of(name)
    assert check(data.draw(st.one_of(damaged(name), st.binary(max_size=200)))) is None
