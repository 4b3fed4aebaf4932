"""One file per few commands that belong together. Here: what several of them do with graphs and events."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from summarkov.cli.page import Line, Part, errors, progress, shorten
from summarkov.errors import SettingError
from summarkov.wording import percent

if TYPE_CHECKING:
    from summarkov.events.describe import CaseEnds, Origin, Start
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


def as_read(
    origin: Origin | None, ends: CaseEnds | None, labels: Iterable[str], tied_order: int
) -> Iterator[Part]:
    """From which columns events were read, what was left out and assumed, and what may be wrong."""
    from summarkov.events.describe import Origin, look_alikes

    yield from [] if origin is None else (f"{each[0].upper()}{each[1:]}." for each in origin.sentences())
    yield from [] if ends is None else ends.sentences()
    if tied_order:
        yield f"{(origin or Origin()).ties(tied_order)}."
    if origin is not None and origin.backwards:
        yield f"{origin.falls()} (--order-by time:timestamp sorts them)."
    yield from [] if origin is None else map(_hint, origin.hints())
    alike = look_alikes(labels)
    if alike:
        some = "; ".join(" and ".join(f"'{shorten(x, 40)}'" for x in group[:4]) for group in alike[:3])
        yield (
            f"Hint: {some}{'; ...' if len(alike) > 3 else ''} differ only in capitals, blanks or how "
            "characters are written. They are kept apart; --map FILE makes them one."
        )


def first_events(starts: Sequence[Start]) -> Iterator[Part]:
    """Which labels are special because they come first."""
    from summarkov.events.describe import always_first
    from summarkov.events.prepare import START

    for start in [start for start in starts if start.label != START][:3]:
        if start.first == 1:
            yield _hint(always_first(start.label))
        else:
            yield (
                f"Hint: '{shorten(start.label, 40)}' is the first event of {percent(start.first)} of the "
                f"cases, and {percent(start.others)} of the other events. That it stands first is no "
                "influence. The order test allows for that; rate ratios of its edges do not."
            )


def _hint(words: str) -> str:
    """A hint with the option of the command line alone, without what Python calls it.

    >>> _hint("2 rows are duplicates; drop_duplicates=True (--drop-duplicates) leaves them out")
    'Hint: 2 rows are duplicates; --drop-duplicates leaves them out.'
    """
    words = re.sub(r"\S+ \((--[^)]*)\)", r"\1", words)
    return f"Hint: {words}."
