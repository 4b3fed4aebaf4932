"""Exact search on the paper's data sets: what is proved, how long that takes, and what greedy misses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from paper.published import published

import summarkov as sm
from benchmarks.graphs import SHARED
from benchmarks.timing import Row, seconds

SETTINGS: dict[str, Any] = {"lookback": 5, "alpha": 0.1, "gamma": 0.5, "search": "exact", "false_edges": None}
#: Data set, further settings, what to call them, and what is wanted.
RUNS: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("linkedin", {}, "", "all certified"),
    ("beigebooks", {}, "", "all certified"),
    ("diabetes", {}, "", "all certified"),
    ("stackoverflow", {}, "", "all certified"),
    ("timelines", {"max_influencers": 2}, ", at most 2 influencers", "reported"),
    ("timelines", {"max_sets": 20_000}, ", 20,000 sets per label", "as far as it goes"),
)


def rows() -> Iterator[Row]:
    """All labels (of Timelines those of the paper's tables), BSuMM."""
    for name, further, words, wanted in RUNS:
        path = SHARED / f"{name}.train.jsonl"
        what = f"exact search, {published()['names'][name]}{words}"
        if not path.exists():
            yield Row(what, "the data is not here", wanted)
            continue
        events = sm.read_events(path)
        graph = sm.InfluenceGraph(sm.BSuMM(**SETTINGS, **further), targets=published()["targets"].get(name))
        start = time.perf_counter()
        graph.fit(events)
        took = time.perf_counter() - start
        found = [c for model in graph.models_.values() if (c := model.trace_.certificate) is not None]
        proved = sum(c.is_optimal for c in found)
        missed = [c.greedy_gap for c in found if c.greedy_gap]
        measured = (
            f"{proved} of {len(found)} certified in {seconds(took)}, {sum(c.examined for c in found):,} sets"
        )
        if proved < len(found):
            gaps = sorted(c.gap for c in found)
            measured += f", gaps {gaps[0]:.1f} to {gaps[-1]:.1f}"
        measured += f"; greedy is worse on {len(missed)}"
        yield Row(what, measured + (f", by up to {max(missed):.2f}" if missed else ""), wanted)
