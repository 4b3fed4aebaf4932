"""A hundred graphs from resampled sequences, against one."""

from __future__ import annotations

from collections.abc import Iterator

import summarkov as sm
from benchmarks.graphs import SHARED
from benchmarks.timing import Row, best_of, seconds


def rows() -> Iterator[Row]:
    """Stack Overflow, 20 targets, BSuMM with look-back 5; graphs and the intervals of all strengths."""
    path = SHARED / "stackoverflow.train.jsonl"
    for n_jobs in (1, 2):
        for gamma in (1.0, 0.5):
            what = f"100 bootstrap graphs / one graph, Stack Overflow, gamma {gamma:g}, n_jobs {n_jobs}"
            if not path.exists():
                yield Row(what, "the data is not here", "at most 15x")
                continue
            events = sm.read_events(path)
            graph = sm.InfluenceGraph(sm.BSuMM(lookback=5, gamma=gamma), n_jobs=n_jobs)
            one, many = best_of(
                5,
                lambda graph=graph, events=events: graph.fit(events),
                lambda graph=graph, events=events: graph.confidence(events),
            )
            yield Row(what, f"{many / one:.1f}x ({seconds(many)}, {seconds(one)})", "at most 15x")
