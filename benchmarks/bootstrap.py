"""A hundred graphs from resampled sequences, and an order test, against one graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import summarkov as sm
from benchmarks.graphs import SHARED
from benchmarks.timing import Row, best_of, seconds


def rows() -> Iterator[Row]:
    """Stack Overflow, 20 targets, BSuMM with look-back 5; graphs and the intervals of all ratios."""
    path = SHARED / "stackoverflow.train.jsonl"
    for n_jobs in (1, 2):
        for gamma in (1.0, 0.5):
            what = f"100 bootstrap graphs / one graph, Stack Overflow, gamma {gamma:g}, n_jobs {n_jobs}"
            yield _against_learning(what, path, gamma, n_jobs, "confidence", 15)
        what = f"order test, 99 shuffles / one graph, Stack Overflow, gamma 1, n_jobs {n_jobs}"
        yield _against_learning(what, path, 1.0, n_jobs, "order_test", 10)


def _against_learning(what: str, path: Path, gamma: float, n_jobs: int, asked: str, most: int) -> Row:
    wanted = f"at most {most}x"
    if not path.exists():
        return Row(what, "the data is not here", wanted)
    events = sm.read_events(path)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5, gamma=gamma), n_jobs=n_jobs)
    one, many = best_of(5, lambda: graph.fit(events), lambda: getattr(graph, asked)(events))
    return Row(what, f"{many / one:.1f}x ({seconds(many)}, {seconds(one)})", wanted)
