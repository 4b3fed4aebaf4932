"""What fuzzing began with and what it found: every input gives a result or an error of ours."""

from pathlib import Path

import pytest
from fuzz import CORPUS, NAMES, check_of, kept

from needs import DOORS_NEED

#: Of ties readers tell, which is no error.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

INPUTS = [
    pytest.param(name, path, marks=pytest.mark.needs(*DOORS_NEED.get(name, ())))
    for name in NAMES
    for path in kept(name)
]


def test_every_door_has_a_corpus() -> None:
    assert len(NAMES) >= 4
    assert {path.name for path in CORPUS.iterdir()} == set(NAMES)


@pytest.mark.parametrize(("name", "path"), INPUTS, ids=lambda part: getattr(part, "name", part))
def test_replay(name: str, path: Path) -> None:
    assert check_of(name)(path.read_bytes()) is None
