"""Which columns of a table hold the case, the event and the order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

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
    ("timestamp", "time", "order", "position", "tick", "event time"),
    ("complete timestamp", "complete time", "end timestamp", "end time"),
    ("start timestamp", "start time"),
)
#: The place of an event beside its time, as ``write_events`` writes both; and the one that is that of a tick.
_PLACES, TICK = ("position", "tick"), "tick"
#: What became of an activity: "start", "complete", ...
LIFECYCLE_NAMES = (
    ("lifecycle:transition",),
    ("lifecycle", "lifecycle transition", "transition"),
    ("status",),
)
#: Only where a row is a whole sequence: in a long table an "id" may well number the rows.
ID_NAMES = (CASE_NAMES[0], (*CASE_NAMES[1], "id"))

Names = tuple[tuple[str, ...], ...]
_RECOGNISED: tuple[Names, ...] = (EVENT_NAMES, ORDER_NAMES, ID_NAMES, LIFECYCLE_NAMES)


def plain(name: str) -> str:
    """A name without what tools write differently.

    >>> plain("_CASE_KEY") == plain("Case Key")
    True
    """
    return "".join(letter for letter in name.lower() if letter not in " _-")


def _plain(names: Names) -> set[str]:
    return {plain(name) for line in names for name in line}


#: How messages call a table that has no file name.
TABLE = "the table"


@dataclass(frozen=True)
class Columns:
    """The columns asked for, or chosen; as asked, ``order=None`` means to look for one, ``()`` to use none.

    ``with_lifecycle`` asks for the column that tells what became of an activity, such as "complete"; where
    nobody asked, ``other_lifecycle`` is one to look at, since an activity may have rows for several, and
    ``other_order`` one to count ties by.
    """

    case: str | None = None
    event: tuple[str, ...] = ()
    order: tuple[str, ...] | None = None
    weight: str | None = None
    attributes: tuple[str, ...] = ()
    lifecycle: str | None = None
    with_lifecycle: bool = False
    other_lifecycle: str | None = None
    other_order: str | None = None

    @classmethod
    def of(
        cls,
        case: object = None,
        event: object = None,
        order: object = None,
        *,
        weight: object = None,
        attributes: object = (),
        with_lifecycle: bool = False,
    ) -> Columns:
        """What people ask for: names, lists of names where several are fine, ``order_by=False`` for none.

        >>> Columns.of("user", "page", ["day", "step"]).order
        ('day', 'step')
        """
        asked = cls(
            _one(case, "case"),
            _several(event, "event"),
            () if order is False else _several(order, "order_by") or None,
            _one(weight, "weight"),
            _several(attributes, "attributes"),
            with_lifecycle=with_lifecycle,
        )
        given = (asked.case, *asked.event, *(asked.order or ()), *asked.per_case)
        names = [name for name in given if name is not None]
        if len(set(names)) < len(names):
            raise SettingError("case, event, order_by, weight and attributes must be different columns")
        return asked

    @property
    def per_case(self) -> tuple[str, ...]:
        """The columns that must not change during a case: the weight, if there is one, and attributes."""
        return (*(() if self.weight is None else (self.weight,)), *self.attributes)

    @property
    def of_ticks(self) -> bool:
        """Whether the last order column numbers the ticks: events of one place happened together."""
        return bool(self.order) and plain((self.order or ("",))[-1]) == TICK

    def names(self) -> list[str]:
        """Return the names that are set, each once."""
        single = [name for name in (self.case, self.lifecycle) if name is not None]
        return list(dict.fromkeys([*single, *self.event, *(self.order or ()), *self.per_case]))

    def to_read(self) -> list[str]:
        """Return the names that are set, and that of the column that is only looked at."""
        return [*self.names(), *(() if self.other_lifecycle is None else (self.other_lifecycle,))]

    def may_mean(self, name: str) -> bool:
        """Whether a column of this name could be chosen."""
        return name in self.names() or any(plain(name) in _plain(names) for names in _RECOGNISED)

    def only_looks_at(self, name: str) -> bool:
        """Whether a column of this name is at most looked at, for what became of activities."""
        return not self.with_lifecycle and name not in self.names() and plain(name) in _plain(LIFECYCLE_NAMES)


def _one(name: object, role: str) -> str | None:
    if name is None or isinstance(name, str):
        return name
    raise SettingError(f"{role} must be the name of a column, not {name!r}")


def _several(names: object, role: str) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        return tuple(names)
    hint = ", or False for the order of the rows" if role == "order_by" else ""
    raise SettingError(f"{role} must be the name of a column, or a list of names{hint}, not {names!r}")


def choose_columns(
    names: Sequence[str], asked: Columns, source: str, *, list_columns: Collection[str] = ()
) -> Columns:
    """Choose the columns to read: those asked for, else those with names that are recognised.

    >>> chosen = choose_columns(["CASE", "Activity", "cost"], Columns(), "log.csv")
    >>> chosen.case, chosen.event, chosen.order
    ('CASE', ('Activity',), ())
    """

    def choose(role: str, given: Sequence[str], known: Names) -> tuple[str, ...]:
        for name in given:
            _there(name, role, names, source)
        return tuple(given) if given else _recognised(role, known, names, asked, source)

    event = choose("event", asked.event, EVENT_NAMES)
    if not event:
        raise DataError(_nothing_recognised("event", names, source))
    if event[0] in list_columns:
        raise DataError(
            f"column {event[0]!r} of {source} holds lists, and a table has one row per event; make a row of "
            f"each first, such as by frame.explode({event[0]!r}) (in SQL unnest, in Spark posexplode)"
        )
    given = () if asked.case is None else (asked.case,)
    case = next(iter(choose("case", given, CASE_NAMES)), None)
    for role, name in (("weight", asked.weight), *(("attributes", name) for name in asked.attributes)):
        if name is not None:
            _there(name, role, names, source)
    if case is None:
        raise DataError(_nothing_recognised("case", names, source))
    order = () if asked.order == () else choose("order", asked.order or (), ORDER_NAMES)
    lifecycle = other = None
    if not asked.with_lifecycle:
        used = {case, *event, *order, *asked.per_case, *list_columns}
        found = _of_first_line([name for name in names if name not in used], LIFECYCLE_NAMES)
        other = found[0] if len(found) == 1 else None
    else:
        given = () if asked.lifecycle is None else (asked.lifecycle,)
        lifecycle = next(iter(choose("lifecycle", given, LIFECYCLE_NAMES)), None)
        if lifecycle is None:
            raise DataError(
                f"no column of {source} is called {LIFECYCLE_NAMES[0][0]!r} or 'lifecycle', which lifecycle= "
                f"needs; rename the column, or leave it out; {_listed(names)}"
            )
    return replace(asked, case=case, event=event, order=order, lifecycle=lifecycle, other_lifecycle=other)


#: Words in the name of a column that tell the time of an event; the last word of "created_at", too.
TIME_WORDS = {"date", "datetime", "time", "timestamp", "ts", "when"}


def refuse_unused_times(
    chosen: Columns, names: Iterable[str], asked: Columns, source: str, *, time_columns: Collection[str] = ()
) -> None:
    """Refuse to keep the order of the rows where a column tells the time and nobody said to leave it out.

    Such a column is known by its name or is one of ``time_columns``, known by what they hold.

    >>> chosen = Columns("case", ("event",), ())
    >>> refuse_unused_times(chosen, ["case", "event", "created_at"], Columns(), "log.csv")
    Traceback (most recent call last):
        ...
    summarkov.errors.DataError: column 'created_at' of log.csv looks like the time of an event, and is not \
recognised as the order; say order_by='created_at', or order_by=False to keep the order of the rows
    """
    if asked.order is not None or chosen.order:
        return
    for name in names:
        words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower().replace("_", " ").replace("-", " ").split()
        if name not in chosen.names() and (
            name in time_columns or TIME_WORDS & set(words) or words[1:][-1:] == ["at"]
        ):
            raise DataError(
                f"column {name!r} of {source} looks like the time of an event, and is not recognised as the "
                f"order; say order_by={name!r}, or order_by=False to keep the order of the rows"
            )


def case_column(names: Sequence[str], asked: str | None, source: str) -> str:
    """The column that names the case, in a table with one row per case."""
    if asked is not None and asked in names:
        return asked
    found = _recognised("case", ID_NAMES, names, Columns(), source)
    if not found:
        raise DataError(_nothing_recognised("case", names, source))
    return found[0]


def _there(name: str, role: str, names: Sequence[str], source: str) -> None:
    """Refuse a name that no column has, or several have."""
    if name not in names:
        raise DataError(f"{source} has no column {name!r}; {_listed(names)}{nearest(name, names)}")
    _refuse_several([name] * names.count(name), role, source)


def _recognised(
    role: str, known: Names, names: Sequence[str], asked: Columns, source: str
) -> tuple[str, ...]:
    """The column whose name is recognised for a role, if there is one."""
    taken = asked.names()
    free = [name for name in names if name not in taken]  # not taken by another role
    found = _of_first_line(free, known)
    if role == "order" and len(found) == 2 and {"time"} < {*map(plain, found)} <= {"time", *_PLACES}:
        return tuple(sorted(found, key=lambda name: plain(name) != "time"))
    _refuse_several(found, role, source)
    return tuple(found)


def _of_first_line(names: Sequence[str], known: Names) -> list[str]:
    """The columns that are called as the first line says of which any has a name."""
    lines = ([name for name in names if plain(name) in map(plain, line)] for line in known)
    return next(filter(None, lines), [])


def _refuse_several(found: Sequence[str], role: str, source: str) -> None:
    if len(found) > 1:
        shown = " and ".join(repr(name) for name in found)
        setting = "order_by" if role == "order" else role
        raise DataError(
            f"{source} has columns {shown}, and each could be the {role}; say which with {setting}="
        )


def _nothing_recognised(role: str, names: Sequence[str], source: str) -> str:
    how = f" in summarkov.read_events(table, {role}=...)" if source == TABLE else ""
    return f"no column of {source} is recognised as the {role}; name it with {role}={how}; {_listed(names)}"


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"the columns are {shown}{', ...' if len(names) > most else ''}"
