"""Hours of work in one process: a million steps of ``follow()``, and a thousand fits, each without growth.

Prints a line a model: how much more Python holds (traced), and the process has (resident), at the end than
after a tenth of the work. ``make load``; the small version is ``tests/hostile/test_load.py``.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import summarkov as sm
from summarkov.models import Bag
from summarkov.simulate.example import web_shop

STEPS, FITS = 1_000_000, 1000
MODELS = {
    "BSuMM": sm.BSuMM("purchase", lookback=5),
    "BSuMM, whole past": sm.BSuMM("purchase", lookback=None),
    "OSuMM, whole past": sm.OSuMM("purchase", lookback=None, required=["add to cart", "browse"]),
    "CSuMM, whole past": sm.CSuMM("purchase", lookback=None),
    "MarkovChain": sm.MarkovChain("purchase", order=2),
    "ContextTreeWeighting": sm.ContextTreeWeighting("purchase"),
    "TreeSuMM": sm.TreeSuMM("purchase", gamma=0.1),
}


def resident() -> int:
    """Bytes of memory that the process has now."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def watch(what: str, name: str, work: Callable[[int], None], times: int) -> None:
    """Do a tenth of the work, then the rest, and tell what was held after each."""
    start = time.monotonic()
    work(times // 10)
    gc.collect()
    tracemalloc.start()
    traced, had = tracemalloc.get_traced_memory()[0], resident()
    work(times - times // 10)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    seconds = time.monotonic() - start
    print(
        f"| {what} | {name} | {times:,} | {grown / 1e3:+.1f} kB | {(resident() - had) / 1e6:+.1f} MB | "
        f"{seconds:.0f} s |",
        flush=True,
    )


def main() -> None:
    """Follow, then fit; a number divides both."""
    less = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    events = web_shop().simulate(60, 20, seed=3)
    print("| what | model | times | grown, traced | grown, resident | took |\n|---|---|--:|--:|--:|--:|")
    codes = np.random.default_rng(1).integers(len(events.labels), size=STEPS).tolist()
    labels = events.labels
    for name, model in MODELS.items():
        follower = model.fit(events).follow()

        def follow(times: int, follower: Any = follower) -> None:
            for code in codes[:times]:
                follower.observe(labels[code])
            follower.probabilities()

        watch("follow", name, follow, STEPS // less)
    small = [events[i::5] for i in range(5)]
    more = {
        "InfluenceGraph": sm.InfluenceGraph(sm.BSuMM(lookback=5)),
        "Bag": Bag(sm.BSuMM("purchase"), n_models=2),
    }
    for name, each in {**MODELS, **more}.items():

        def fit(times: int, each: Any = each) -> None:
            for i in range(times):
                each.copy().fit(small[i % 5]).predict_proba(small[0])

        watch("fit", name, fit, FITS // less)


if __name__ == "__main__":
    main()
