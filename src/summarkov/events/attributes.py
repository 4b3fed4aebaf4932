"""What holds of a sequence as a whole: attributes, such as a region or an age, and whether it is complete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import vocabulary
from summarkov.events.moments import Moments, TimeUnit
from summarkov.events.vocabulary import label_text, translation
from summarkov.settings import is_number
from summarkov.typing import BoolArray, CodeArray, IntArray

#: What a missing value of an attribute is called.
MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Attributes:
    """Which attributes every sequence has: candidates for influence at every position, never targets.

    Parameters
    ----------
    names : sequence of str
        The column, and the value or the range of values, such as ``"region=north"`` or ``"age=30 to 50"``;
        sorted and without repeats.
    present : bool[K, A]
        One row per sequence and one column per name.

    Examples
    --------
    >>> found = Attributes(["region=north", "region=south"], [[True, False], [False, True]])
    >>> found.values("region")
    ['region=north', 'region=south']
    >>> found[[1]].present.tolist()
    [[False, True]]
    """

    names: tuple[str, ...]
    present: BoolArray

    def __init__(self, names: Sequence[str], present: npt.ArrayLike) -> None:
        names = tuple(names)
        if any(not isinstance(name, str) for name in names):
            raise DataError("names of attributes must be text")
        if any(a >= b for a, b in pairwise(names)):
            raise DataError("names of attributes must be sorted and without repeats")
        odd = next((name for name in names if "=" not in name), None)
        if odd is not None:
            raise DataError(
                f"the name of an attribute is its column, '=' and its value, such as 'region=north', and "
                f"{odd!r} is not; rename it"
            )
        given = np.asarray(present)
        if given.ndim != 2 or given.shape[1] != len(names) or given.dtype.kind != "b":
            raise DataError(
                f"present must be truth values, one row per sequence and {len(names)} columns, one per name"
            )
        held = np.array(given, bool, order="C")
        held.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "present", held.view())

    def __len__(self) -> int:
        """K, the number of sequences."""
        return len(self.present)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attributes):
            return NotImplemented
        return self.names == other.names and np.array_equal(self.present, other.present)

    __hash__ = None  # type: ignore[assignment]  # compared by value, and large

    def __getitem__(self, which: Any) -> Attributes:
        """Those of some sequences, by slice, integer array or boolean array; all names stay."""
        return Attributes(self.names, self.present[which])

    @property
    def of(self) -> tuple[str, ...]:
        """The column that each name comes from."""
        return tuple(map(column_of, self.names))

    def without(self, column: str) -> Attributes | None:
        """All but those of one column; None if none is left."""
        names = [name for name in self.names if column_of(name) != column]
        return self.only(names) if names else None

    def only(self, names: Sequence[str]) -> Attributes:
        """Those of some names."""
        return Attributes(names, self.among(names))

    def among(self, names: Sequence[str]) -> BoolArray:
        """Which of other names every sequence has."""
        found = np.zeros((len(self), len(names)), bool)
        at = translation(self.names, names)[:-1]
        found[:, at[at >= 0]] = self.present[:, at >= 0]
        return found

    def __repr__(self) -> str:
        return f"Attributes({len(self)} sequences, {len(self.names)} names: {', '.join(self.names[:5])})"

    @property
    def counts(self) -> dict[str, int]:
        """How many sequences have each."""
        return dict(zip(self.names, self.present.sum(axis=0).tolist(), strict=True))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the names come from, sorted, each once."""
        return tuple(sorted(set(self.of)))

    def values(self, column: str) -> list[str]:
        """The name that every sequence has of one column."""
        chosen = np.flatnonzero(np.array([of == column for of in self.of], bool))
        if not len(chosen):
            raise DataError(f"there is no attribute {column!r}{nearest(column, self.columns)}")
        here = self.present[:, chosen]
        if (here.sum(axis=1) != 1).any():
            raise DataError(f"a sequence has several values of {column!r}, or none; give each exactly one")
        return [self.names[code] for code in chosen[here.argmax(axis=1)].tolist()]


def column_of(name: str) -> str:
    """The column of the name of an attribute."""
    return name.partition("=")[0]


def refuse_column(column: str, source: str) -> None:
    """Refuse a column that could not be read off the name of a value, such as "region=north"."""
    if "=" in column:
        raise DataError(
            f"attribute {column!r} of {source} holds '=', which stands between the column and the value in "
            "the names of attributes; rename the column"
        )


def join_attributes(parts: Sequence[Attributes | None]) -> Attributes | None:
    """The attributes of the sequences of several data sets, one data set after the other."""
    known = [part for part in parts if part is not None]
    if not known:
        return None
    if len(known) < len(parts) or len({part.columns for part in known}) > 1:
        raise DataError("some of the data sets have attributes that others lack; read all with the same ones")
    names = sorted({name for part in known for name in part.names})
    return Attributes(names, np.concatenate([part.among(names) for part in known]))


def attribute_values(given: Attributes | None, taken: tuple[str, ...]) -> dict[str, list[str | None]]:
    """The value that every sequence has of each attribute, None if missing; no name may be ``taken``."""
    if given is None:
        return {}
    clash = set(given.columns).intersection(taken)
    if clash:
        raise DataError(
            f"there is an attribute {min(clash)!r}, and {', '.join(map(repr, taken))} are the names of other "
            "columns; read it under another name"
        )
    texts = {column: [name.partition("=")[2] for name in given.values(column)] for column in given.columns}
    return {
        column: [None if text == MISSING else text for text in values] for column, values in texts.items()
    }


# ---------------------------------------------------------------------- which sequences are complete

#: What a column that tells complete cases may hold, in capitals or not.
_COMPLETE = {"true", "yes", "y", "1", "1.0", "t", "complete", "completed", "closed", "finished", "ended"}
_CUT_OFF = {"false", "no", "n", "0", "0.0", "f", "cut off", "open", "running", "active", "incomplete"}


@dataclass(frozen=True)
class AskedEnds:
    """How to tell which sequences are complete; where several ways are given, all must say so.

    One whose last event is none of ``closed_by``, or that has an event at ``open_since`` or later, is cut
    off; ``column`` names an attribute that tells it.
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
        self, labels: Sequence[str], codes: CodeArray, offsets: IntArray, moments: Moments
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
            tick = np.cumsum(moments.starts)
            of_last = np.full(n, -1)
            of_last[filled] = tick[last]
            closing = np.array([*(label in self.closed_by for label in labels), False])
            closed = closing[codes] & (tick == of_last[sequence])
            found &= np.bincount(sequence[closed], minlength=n) > 0
        if self.open_since is not None:
            times = moments.times
            since = _in_unit(self.open_since, None if times is None else moments.unit)
            found[filled] &= times is not None and times[last] < since
        return found

    def told(self, codes: npt.NDArray[np.integer], texts: Sequence[str]) -> BoolArray:
        """Which sequences a column says are complete, from its different texts and the code of each."""
        words = [*(text.strip().lower() for text in texts), ""]  # the last for sequences without a text
        for code in np.unique(codes).tolist():
            if words[code] not in _COMPLETE | _CUT_OFF:
                raise DataError(
                    f"column {self.column!r} holds {[*texts, ''][code][:40]!r}, which does not tell whether "
                    "a case is complete; write true or false"
                )
        return np.asarray(np.array([word in _COMPLETE for word in words])[codes])


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
