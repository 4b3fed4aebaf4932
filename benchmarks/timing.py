"""Measuring, fairly: the best of several runs, each kind of run in its turn."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """One line of the table of ratios."""

    what: str
    measured: str
    wanted: str


def best_of(
    repeats: int, *tasks: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds of each task by a clock, the best of ``repeats`` rounds in which they take turns."""
    times = [float("inf")] * len(tasks)
    gc.collect()
    gc.disable()  # as timeit does: what lies on the heap of one peer must not slow down another
    try:
        for _ in range(repeats):
            for i, task in enumerate(tasks):
                start = clock()
                task()
                times[i] = min(times[i], clock() - start)
    finally:
        gc.enable()
    return times


def machine() -> str:
    """What this was measured on."""
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}{load}"
    )


def seconds(value: float) -> str:
    """A time to three digits."""
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"
