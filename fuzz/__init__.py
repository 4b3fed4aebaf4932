"""Coverage-guided fuzzing of everything that reads what others wrote.

One module a door, ``fuzz_NAME``, whose ``check(data)`` hands over some bytes and lets any error but those of
``summarkov.errors`` through; its seeds, and the inputs that once were crashes, are in ``corpus/NAME``. ``make
test`` replays the corpora; ``make fuzz`` looks for new inputs (``python -m fuzz --help``).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent
CORPUS = FOLDER / "corpus"

#: Every door that is fuzzed.
NAMES = tuple(sorted(path.stem.removeprefix("fuzz_") for path in FOLDER.glob("fuzz_*.py")))


def check_of(name: str) -> Callable[[bytes], None]:
    """The function that is fuzzed."""
    check: Callable[[bytes], None] = importlib.import_module(f"fuzz.fuzz_{name}").check
    return check


def kept(name: str) -> list[Path]:
    """The inputs that are kept for a door."""
    return sorted((CORPUS / name).iterdir())
