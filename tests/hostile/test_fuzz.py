"""What fuzzing began with and found, and new bytes that nobody meant: a result, or an error of ours."""

import pytest
from fuzz import CORPUS, NAMES, check_of, kept
from hypothesis import given
from hypothesis import strategies as st

from needs import DOORS_NEED
from strategies import examples

#: Of ties readers tell, which is no error.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

DOORS = [pytest.param(name, marks=pytest.mark.needs(*DOORS_NEED.get(name, ()))) for name in NAMES]


def test_every_door_has_a_corpus() -> None:
    assert len(NAMES) >= 4
    assert {path.name for path in CORPUS.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", DOORS)
def test_replay(name: str) -> None:
    for path in kept(name):
        assert check_of(name)(path.read_bytes()) is None, path


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


@pytest.mark.parametrize("name", [door for door in DOORS if door.values != ("model",)])
@examples(60)
@given(data=st.data())
def test_doors(name: str, data: st.DataObject) -> None:
    """A few in every run, where ``make fuzz`` tries many; damaged models have tests of their own."""
    assert check_of(name)(data.draw(st.one_of(damaged(name), st.binary(max_size=200)))) is None
