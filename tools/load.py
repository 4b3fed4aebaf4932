"""Hours of work in one process: a thousand fits of each model, without growth.

Prints one line per model: how many more blocks of memory Python holds, and how much more memory the process
has, at the end than after a tenth of the work. Python counts them anyway, so that costs nothing; to trace
every byte, as the small version in ``tests/hostile/test_load.py`` does, is 20 times as slow.

    python tools/load.py [N]

does an N-th of it. ``make load``.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import summarkov as sm
from summarkov.simulate.example import web_shop

FITS = 1000
MODELS = {
    "BSuMM": sm.BSuMM("purchase", lookback=5),
    "BSuMM, whole past": sm.BSuMM("purchase", lookback=None),
    "OSuMM, whole past": sm.OSuMM("purchase", lookback=None, required=["add to cart", "browse"]),
    "CSuMM, whole past": sm.CSuMM("purchase", lookback=None),
    "MarkovChain": sm.MarkovChain("purchase", order=2),
    "TreeSuMM": sm.TreeSuMM("purchase", gamma=0.1),
}


def resident() -> int:
    """Bytes of memory that the process has now."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def watch(what: str, name: str, work: Callable[[int], None], times: int) -> None:
    """Do a tenth of the work, then the rest, and tell what was held after each."""
    start = time.process_time()
    work(times // 10)
    gc.collect()
    held, had = sys.getallocatedblocks(), resident()
    work(times - times // 10)
    gc.collect()
    grown, more = sys.getallocatedblocks() - held, resident() - had
    seconds = time.process_time() - start
    print(
        f"| {what} | {name} | {times:,} | {grown:+,} | {more / 1e6:+.1f} MB | {seconds:.0f} s |", flush=True
    )


def main() -> None:
    """Fit."""
    less = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    events = web_shop().simulate(60, 20, random_state=3)
    print("| what | model | times | more blocks | more memory | processor time |\n|---|---|--:|--:|--:|--:|")
    small = [events[i::5] for i in range(5)]
    more = {
        "InfluenceGraph": sm.InfluenceGraph(sm.BSuMM(lookback=5)),
    }
    for name, each in {**MODELS, **more}.items():

        def fit(times: int, each: Any = each) -> None:
            for i in range(times):
                each.copy().fit(small[i % 5]).predict_proba(small[0])

        watch("fit", name, fit, FITS // less)


if __name__ == "__main__":
    main()
