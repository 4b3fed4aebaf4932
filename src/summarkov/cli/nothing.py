"""Events from which nothing can be learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from summarkov.cli.text import shorten
from summarkov.errors import DataError

if TYPE_CHECKING:
    from summarkov.engines import EventSource
    from summarkov.events import EventSequences


def refuse_nothing_to_learn(events: EventSequences | EventSource, file: Path) -> None:
    """Refuse events of which none could influence another: most likely a wrong column was taken."""
    from summarkov.engines import EventSource

    if isinstance(events, EventSource):
        n_filled = sum(map(len, events.places()))
    else:
        n_filled = int((events.lengths > 0).sum())
    if 0 < events.n_events == n_filled:
        raise DataError(
            f"no sequence of {file} is longer than one event, so none comes after another; does --case name "
            "the column that the events of a sequence share?"
        )
    present = [x for x, n in zip(events.labels, events.label_counts.tolist(), strict=True) if n]
    if len(present) == 1:
        raise DataError(
            f"all events of {file} are '{shorten(present[0], 30)}', so nothing tells one from another; does "
            "--event name the column of the labels?"
        )
