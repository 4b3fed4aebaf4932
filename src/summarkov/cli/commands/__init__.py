"""One file per few commands that belong together. Here: what several of them do with graphs and events."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from summarkov.cli.page import Line, errors, progress
from summarkov.errors import SettingError

if TYPE_CHECKING:
    from summarkov.models import InfluenceGraph

#: How many times as long as learning the order test may take; or how many seconds, if that is more.
TIMES, SECONDS = 10, 20.0
SHUFFLES = 99


class _TooSlow(Exception):
    """The test would take longer than it may."""


def add_order_test(
    graph: InfluenceGraph,
    events: Any,
    within: str | None = None,
    seed: int = 0,
    learned_in: float | None = None,
) -> None:
    """Test the edges of a graph, if it has any, unless that takes far longer than it took to learn them.

    ``learned_in`` are the seconds of learning; without them it is done however long it takes.
    """
    from summarkov.settings import read_time

    first = next(iter(graph.models_.values()))
    if not first.fitted.summary.by_label or not any(graph.influencers_.values()):
        return
    blocks: Any = "auto" if within is None else int(within) if within.strip().isdecimal() else within
    if blocks == within and read_time(within, "--within") is None:
        raise SettingError(f"--within must be a number of positions or a time such as 7d, not {within!r}")
    began = time.monotonic()
    allowed = float("inf") if learned_in is None else max(TIMES * learned_in, SECONDS)
    with progress("Shuffling", SHUFFLES, "shuffles") as advance:

        def step(done: int, total: int) -> None:
            advance(done, total)
            needed = (time.monotonic() - began) / max(done, 1) * total
            if done < total and needed > allowed:
                raise _TooSlow(f"{needed / 60:.0f} minutes")

        try:
            graph.order_test(events, n=SHUFFLES, within=blocks, random_state=seed, progress=step)
        except _TooSlow as slow:
            words = f"No order test: it would take about {slow}. --order-test does it all the same, "
            errors().show([Line(f"{words}--no-order-test says nothing.")])


def add_confidence(graph: InfluenceGraph, events: Any, **settings: Any) -> None:
    """Ask for the confidence of a graph, with a bar."""
    with progress("Resampling", len(graph.models_), "labels") as advance:
        graph.confidence(events, progress=advance, **settings)


# ---------------------------------------------------------------------- how events were read


def for_terminal(words: str) -> str:
    """Words with the option of the command line alone, without what Python calls it.

    >>> for_terminal("2 rows are duplicates; drop_duplicates=True (--drop-duplicates) leaves them out.")
    '2 rows are duplicates; --drop-duplicates leaves them out.'
    """
    return re.sub(r"\S+ \((--[^)]*)\)", r"\1", words)
