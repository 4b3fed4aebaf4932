"""Streams hold at most twice ``memory=``, mapped pages excluded, whatever the shape of the data."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.memory import FEW, MEMORY, SHAPES, measure

KEPT = [
    "1e6 cases of 2 rows in any order",
    "2e5 lines of 10 events",
]


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> list[Path]:
    """Small files to be streamed first, so that what is loaded once is not counted."""
    folder = tmp_path_factory.mktemp("few")
    return [make(folder / "few") for make in FEW]


@pytest.mark.parametrize("shape", KEPT)
def test_kept(tmp_path, few, shape):
    found = measure(SHAPES[shape](tmp_path / "shape"), MEMORY, few)
    assert found["said"] == ""
    assert found["peak"] < 2 * MEMORY
