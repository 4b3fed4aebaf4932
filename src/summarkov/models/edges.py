"""The influences of a model or graph: a tuple to work with, a frame, and a table to look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from summarkov.explain import Influence, ranked
from summarkov.explain.sentences import change, limits, times
from summarkov.frames import MOST, Records, Sheet
from summarkov.models.exports import colour
from summarkov.wording import number, percent, plural


class Edges(Records[Influence]):
    """Influences by evidence: the surest first, then labels on themselves, then faint ones.

    A tuple of :class:`Influence`. ``to_frame()`` has one row per influence, with the fields of it and
    ``rate_with``, ``rate_without``, ``evidence``, ``is_thin``, ``is_self``, ``is_reversed`` and
    ``is_turned``.
    """

    def __new__(cls, records: Iterable[Influence] = (), record: type = Influence) -> Self:
        """Rank the influences."""
        return super().__new__(cls, ranked(records), record)

    def summary(self) -> Sheet:
        """The surest influences, as a table that prints well and that notebooks show in HTML."""
        return self.sheet(
            f"{plural(len(self), 'influence')}, the surest first; factors with other influencers equal"
        )

    def sheet(self, title: str, notes: Iterable[str] = ()) -> Sheet:
        """The surest influences, under a title."""
        sure = any(edge.frequency is not None for edge in self)
        head = ["influencer", "effect", "target", "otherwise → after", "factor", "95% interval", "sequences"]
        head += ["found again"] if sure else []
        shown = self[:MOST]
        rows = [
            [
                edge.influencer,
                f"{edge.effect} ({edge.faint})" if edge.faint else edge.effect,
                edge.target,
                change(edge),
                times(edge),
                limits(edge),
                "" if edge.sequences is None else number(edge.sequences),
                *([percent(edge.frequency) if edge.frequency is not None else ""] if sure else []),
            ]
            for edge in shown
        ]
        colours = [[None, colour(edge), *[None] * (len(head) - 2)] for edge in shown]
        return Sheet(title, head, rows, len(self), tuple(notes), colours)
