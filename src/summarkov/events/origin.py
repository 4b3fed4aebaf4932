"""Where events come from: the columns that they were read from, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """How events were read.

    ``case``, ``event``, ``order``, ``weight``, ``lifecycle``, ``attributes`` and ``period`` are the names of
    columns of a table, of keys of JSON objects or of attributes in XES; None or empty where there is none.
    ``unlabelled`` and ``other_lifecycle`` count the events that were left out as asked, and ``backwards``
    those that stand after an event of a later time. ``tied_case`` is the first case with events of the same
    place.
    """

    case: str | None = None
    event: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    weight: str | None = None
    lifecycle: str | None = None
    attributes: tuple[str, ...] = ()
    period: str | None = None
    unlabelled: int = 0
    other_lifecycle: int = 0
    backwards: int = 0
    tied_case: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain values, for JSON."""
        return {
            "case": self.case,
            "event": list(self.event),
            "order": list(self.order),
            "weight": self.weight,
            "lifecycle": self.lifecycle,
            "attributes": list(self.attributes),
            "period": self.period,
        }

    def sentences(self) -> list[str]:
        """What there is to say of how events were read.

        >>> Origin("user", ("page",), ("time",), unlabelled=3).sentences()
        ["read from: case 'user', event 'page', order 'time'", 'left out: 3 events without a label']
        """
        several = " and ".join
        roles = [
            ("case", repr(self.case) if self.case is not None else ""),
            ("event", several(map(repr, self.event))),
            ("order", several(map(repr, self.order)) or "as in the input"),
            ("weight", repr(self.weight) if self.weight is not None else ""),
            ("lifecycle", repr(self.lifecycle) if self.lifecycle is not None else ""),
            ("attribute" if len(self.attributes) == 1 else "attributes", several(map(repr, self.attributes))),
            ("period", repr(self.period) if self.period is not None else ""),
        ]
        told = (
            ["read from: " + ", ".join(f"{role} {names}" for role, names in roles if names)]
            if self.event
            else []
        )
        gone = [
            f"{n:,} event{'' if n == 1 else 's'} {which}"
            for n, which in (
                (self.unlabelled, "without a label"),
                (self.other_lifecycle, "of another lifecycle"),
            )
            if n
        ]
        if gone:
            told.append(f"left out: {' and '.join(gone)}")
        return told

    def falls(self) -> str:
        """What to say of time that runs backwards.

        >>> Origin(backwards=2).falls()
        '2 events stand after an event of a later time; they keep the order of the input'
        """
        one = self.backwards == 1
        return (
            f"{self.backwards:,} event{' stands' if one else 's stand'} after an event of a later time; "
            f"{'it keeps' if one else 'they keep'} the order of the input"
        )

    def tied(self, n: int, source: str | None = None) -> str:
        """How many events have the same place as the one before, and where.

        >>> Origin("user", ("page",), ("time",), tied_case="ann").tied(2, "log.csv")
        "2 events of log.csv with the same 'time' as the one before, for example in case 'ann'"
        """
        same = " and ".join(map(repr, self.order)) or ("time" if self.event else "place")
        of = "" if source is None else f" of {source}"
        where = "" if self.tied_case is None else f", for example in case {self.tied_case[:40]!r}"
        return f"{n:,} event{'' if n == 1 else 's'}{of} with the same {same} as the one before{where}"

    def ties(self, n: int, source: str | None = None) -> str:
        """The same, and in which order these events are taken.

        >>> Origin("user", ("page",), ("time",)).ties(1)
        "1 event with the same 'time' as the one before; it keeps the order of the input"
        """
        return f"{self.tied(n, source)}; {'it keeps' if n == 1 else 'they keep'} the order of the input"
