"""Streams hold at most twice ``memory=``, mapped pages excluded, whatever the shape of the data."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.memory import FEW, MEMORY, SHAPES, measure

from summarkov.cli.reading import is_streamed

KEPT = [
    "3e6 rows in any order",
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


def test_auto_counts_events_and_not_rows(tmp_path):
    path = SHAPES["3,000 lists of 1e4 events"](tmp_path / "shape")
    assert path.stat().st_size < 400_000
    assert is_streamed(path, "auto", "64M", None)
    assert not is_streamed(path, "auto", "2G", None)
