"""Which sequences are complete, and which were cut off: how that is told, and a rule that tells it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, SettingError
from summarkov.events import vocabulary
from summarkov.events.moments import Moments, TimeUnit
from summarkov.events.vocabulary import label_text
from summarkov.settings import is_number
from summarkov.typing import BoolArray, CodeArray, IntArray

#: What a column that tells complete cases may hold, in capitals or not.
_COMPLETE = {"true", "yes", "y", "1", "1.0", "t", "complete", "completed", "closed", "finished", "ended"}
_CUT_OFF = {"false", "no", "n", "0", "0.0", "f", "cut off", "open", "running", "active", "incomplete"}


@dataclass(frozen=True)
class AskedEnds:
    """How to tell which sequences are complete. Where several ways are given, all must say so.

    ``closed_by`` are labels, one of which is the last event of a complete sequence; one with an event at
    ``open_since`` or later is cut off; ``column`` names an attribute that tells it.
    """

    cut_off: bool = False
    closed_by: tuple[str, ...] = ()
    open_since: str | float | date | None = None
    column: str | None = None

    @classmethod
    def of(cls, ends: Any, closed_by: Any, open_since: Any, column: Any) -> AskedEnds:
        """Check the settings, before any data is touched."""
        if ends not in ("complete", "cut off"):
            raise SettingError(f"ends must be 'complete' or 'cut off', not {ends!r}")
        if closed_by is not None and (isinstance(closed_by, str) or not isinstance(closed_by, Iterable)):
            raise SettingError(f"closed_by must be a list of labels; write [{closed_by!r}]")
        closing = tuple(sorted({label_text(label) for label in closed_by or ()}))
        if closed_by is not None and not closing:
            raise SettingError("closed_by is empty; name at least one label that closes a case")
        if open_since is not None and not (isinstance(open_since, str | date) or is_number(open_since)):
            raise SettingError(f"open_since must be a date, a time or a number, not {open_since!r}")
        if column is not None and not isinstance(column, str):
            raise SettingError(f"ends_column must be the name of a column, not {column!r}")
        if ends == "cut off" and (closing or open_since is not None or column is not None):
            raise SettingError(
                "ends='cut off' is about all sequences; leave out closed_by, open_since and ends_column"
            )
        return cls(ends == "cut off", closing, open_since, column)

    @classmethod
    def default(cls) -> AskedEnds:
        """What holds where nothing is asked."""
        return cls(vocabulary.ENDS == "cut off")

    def complete(
        self, labels: Sequence[str], codes: CodeArray, offsets: IntArray, moments: Moments | None
    ) -> BoolArray:
        """Which of some whole sequences are, but for what a column tells."""
        n = len(offsets) - 1
        filled = np.diff(offsets) > 0
        last = offsets[1:][filled] - 1
        found = np.full(n, not self.cut_off)
        if self.closed_by:
            for label in self.closed_by:
                if label not in labels:
                    raise SettingError(f"closed_by names {label!r}, which is no label of the data")
            sequence = np.repeat(np.arange(n), np.diff(offsets))
            tick = np.arange(len(codes)) if moments is None else np.cumsum(moments.starts)
            of_last = np.full(n, -1)
            of_last[filled] = tick[last]
            closing = np.array([*(label in self.closed_by for label in labels), False])
            closed = closing[codes] & (tick == of_last[sequence])
            found &= np.bincount(sequence[closed], minlength=n) > 0
        if self.open_since is not None:
            times = None if moments is None else moments.times
            since = _in_unit(self.open_since, None if moments is None or times is None else moments.unit)
            found[filled] &= times is not None and times[last] < since
        return found

    def told(self, codes: npt.NDArray[np.integer], texts: Sequence[str]) -> BoolArray:
        """Which sequences a column says are complete, from its different texts and the code of each."""
        told = np.zeros(len(texts) + 1, bool)
        for code in np.unique(codes).tolist():
            text = "" if code < 0 else texts[code]
            told[code] = text.strip().lower() in _COMPLETE
            if not told[code] and text.strip().lower() not in _CUT_OFF:
                raise DataError(
                    f"column {self.column!r} holds {text[:40]!r}, which does not tell whether a case is "
                    "complete; write true or false"
                )
        return np.asarray(told[codes])


def _in_unit(since: Any, unit: TimeUnit | None) -> int:
    """A date or a number in the unit of times."""
    if unit is None:
        raise SettingError("open_since needs the times of events; name their column with order_by=")
    if unit.is_clock != (not is_number(since)):
        raise SettingError(
            f"open_since {since!r}: these events have {'dates and times' if unit.is_clock else 'numbers'}"
        )
    if not unit.is_clock:
        return int(np.ceil(float(since) * 10**9 / unit.size))
    try:
        moment = datetime.fromisoformat(since) if isinstance(since, str) else since
    except ValueError:
        raise SettingError(f"open_since must be a date such as 2012-03-01, not {since!r}") from None
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return int(np.datetime64(moment, "ns").astype(np.int64)) // unit.size
