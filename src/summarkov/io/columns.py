"""Which columns of a table hold the case, the event and the order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from summarkov.errors import DataError, SettingError, nearest

#: Column names that are recognised, whatever their capitals, blanks, hyphens and underscores. Those of an
#: earlier line win over those of a later one; two of one line are an error. The first is what XES and pm4py
#: say; others are what Disco, ProM, Celonis, Apromore and Power Automate write.
CASE_NAMES = (
    ("case:concept:name",),
    ("case", "case id", "sequence", "sequence id", "case key"),
)
EVENT_NAMES = (
    ("concept:name",),
    ("event", "activity", "label", "events", "activity name", "event name", "activity en"),
)
#: Where an event has a beginning and an end, it is at its end that it is complete.
ORDER_NAMES = (
    ("time:timestamp",),
    ("timestamp", "time", "order", "position", "event time"),
    ("complete timestamp", "complete time", "end timestamp", "end time"),
    ("start timestamp", "start time"),
)
#: Only where a row is a whole sequence: in a long table an "id" may well number the rows.
ID_NAMES = (CASE_NAMES[0], (*CASE_NAMES[1], "id"))

Names = tuple[tuple[str, ...], ...]


def plain(name: str) -> str:
    """A name without what tools write differently.

    >>> plain("_CASE_KEY") == plain("Case Key")
    True
    """
    return "".join(letter for letter in name.lower() if letter not in " _-")


#: How messages call a table that has no file name.
TABLE = "the table"


@dataclass(frozen=True)
class Columns:
    """The columns asked for, or chosen; ``order=False`` asks for the order of the rows."""

    case: str | None = None
    event: str | None = None
    order: str | bool | None = None

    def names(self) -> list[str]:
        """Return the names that are set."""
        return [name for name in (self.case, self.event, self.order) if isinstance(name, str)]

    def may_mean(self, name: str) -> bool:
        """Whether a column of this name could be chosen."""
        known = {plain(known) for line in (*EVENT_NAMES, *ORDER_NAMES, *ID_NAMES) for known in line}
        return name in self.names() or plain(name) in known

    def check(self) -> None:
        """Refuse what cannot name columns, before any data is touched."""
        for role, name in (("case", self.case), ("event", self.event), ("order", self.order)):
            if name is None or isinstance(name, str) or (role == "order" and name is False):
                continue
            hint = ", or False for the order of the rows" if role == "order" else ""
            raise SettingError(f"{role} must be the name of a column{hint}, not {name!r}")
        if len(set(self.names())) < len(self.names()):
            raise SettingError("case, event and order must be different columns")


def choose_columns(
    names: Sequence[str], asked: Columns, source: str, *, list_columns: Collection[str] = ()
) -> Columns:
    """Choose the columns to read: those asked for, else those with names that are recognised.

    >>> choose_columns(["CASE", "Activity", "cost"], Columns(), "log.csv")
    Columns(case='CASE', event='Activity', order=None)
    """
    event = _choose("event", asked.event, EVENT_NAMES, names, asked, source)
    if event is None:
        raise DataError(_nothing_recognised("event", names, source))
    if event in list_columns:
        if isinstance(asked.order, str):
            raise SettingError(
                f"in {source} a row is a whole sequence, in the order of its list; leave out order="
            )
        return Columns(_choose("case", asked.case, ID_NAMES, names, asked, source), event)
    case = _choose("case", asked.case, CASE_NAMES, names, asked, source)
    if case is None:
        raise DataError(_nothing_recognised("case", names, source))
    if isinstance(asked.order, bool):
        return Columns(case, event)
    return Columns(case, event, _choose("order", asked.order, ORDER_NAMES, names, asked, source))


#: Words in the name of a column that tell the time of an event; the last word of "created_at", too.
TIME_WORDS = {"date", "datetime", "time", "timestamp", "ts", "when"}


def refuse_unused_times(
    chosen: Columns, names: Iterable[str], asked: Columns, source: str, *, time_columns: Collection[str] = ()
) -> None:
    """Refuse to keep the order of the rows where a column tells the time and nobody said to leave it out.

    Such a column is known by its name or is one of ``time_columns``, known by what they hold.

    >>> refuse_unused_times(Columns("case", "event"), ["case", "event", "created_at"], Columns(), "log.csv")
    Traceback (most recent call last):
        ...
    summarkov.errors.DataError: column 'created_at' of log.csv looks like the time of an event, and is not \
recognised as the order; say order='created_at', or order=False to keep the order of the rows
    """
    if asked.order is not None or chosen.order is not None:
        return
    for name in names:
        words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower().replace("_", " ").replace("-", " ").split()
        if name not in chosen.names() and (
            name in time_columns or TIME_WORDS & set(words) or words[1:][-1:] == ["at"]
        ):
            raise DataError(
                f"column {name!r} of {source} looks like the time of an event, and is not recognised as the "
                f"order; say order={name!r}, or order=False to keep the order of the rows"
            )


def _choose(
    role: str,
    name: str | bool | None,
    known: Names,
    names: Sequence[str],
    asked: Columns,
    source: str,
) -> str | None:
    """Return the column for one role, or None where no name is recognised."""
    if isinstance(name, str):
        if name not in names:
            raise DataError(f"{source} has no column {name!r}; {_listed(names)}{nearest(name, names)}")
        found = [name] * names.count(name)
    else:
        free = [name for name in names if name not in asked.names()]  # not taken by another role
        lines = ([name for name in free if plain(name) in map(plain, line)] for line in known)
        found = next(filter(None, lines), [])
    if len(found) > 1:
        shown = " and ".join(repr(name) for name in found)
        raise DataError(f"{source} has columns {shown}, and each could be the {role}; say which with {role}=")
    return found[0] if found else None


def _nothing_recognised(role: str, names: Sequence[str], source: str) -> str:
    how = f" in summarkov.read_events(table, {role}=...)" if source == TABLE else ""
    return f"no column of {source} is recognised as the {role}; name it with {role}={how}; {_listed(names)}"


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"the columns are {shown}{', ...' if len(names) > most else ''}"
