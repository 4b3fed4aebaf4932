"""What is asked of a reader: its settings, and which columns hold the case, the event and the order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from typing import Any, Literal, TypedDict

import numpy as np

from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import EventSequences
from summarkov.events.attributes import AskedEnds
from summarkov.events.vocabulary import vocabulary_of
from summarkov.read.ordering import TIES, Gap, TieKind
from summarkov.read.values import DateFormat
from summarkov.settings import is_finite

#: How messages call a table that has no file name.
TABLE = "the table"
#: Where numbers of a column are cut; None to leave them as they are.
Cuts = Mapping[str, Sequence[float] | None]

# ---------------------------------------------------------------------- settings


class Reading(TypedDict, total=False):
    """The settings of reading, by the names that :func:`summarkov.read_events` has for them."""

    case: str | None
    event: str | None
    order_by: str | Sequence[str] | Literal[False] | None
    labels: Iterable[object] | None
    session_gap: str | float | timedelta | None
    date_format: str | None
    weight: str | None
    lifecycle: str | None
    missing: str
    ties: TieKind | None
    times: bool
    attributes: str | Sequence[str] | None
    cuts: Cuts | None
    ends: Literal["complete", "cut off"] | None
    closed_by: Iterable[object] | None
    open_since: Any
    ends_column: str | None
    drop_duplicates: bool


@dataclass(frozen=True)
class Columns:
    """The columns asked for, or chosen; as asked, ``order=None`` means to look for one, ``()`` to use none.

    ``with_lifecycle`` asks for the column that tells what became of an activity, such as "complete"; where
    nobody asked, ``other_lifecycle`` is one to look at, since an activity may have rows for several, and
    ``other_order`` one to count ties by.
    """

    case: str | None = None
    event: str | None = None
    order: tuple[str, ...] | None = None
    weight: str | None = None
    attributes: tuple[str, ...] = ()
    lifecycle: str | None = None
    with_lifecycle: bool = False
    other_lifecycle: str | None = None
    other_order: str | None = None

    @classmethod
    def of(cls, case: Any = None, event: Any = None, order: Any = None, **others: Any) -> Columns:
        """What people ask for: names, lists of names where several are fine, ``order_by=False`` for none.

        >>> Columns.of("user", "page", ["day", "step"]).order
        ('day', 'step')
        """
        for role, name in (("case", case), ("event", event), ("weight", others.get("weight"))):
            if name is not None and not isinstance(name, str):
                raise SettingError(f"{role} must be the name of a column, not {name!r}")
        order = () if order is False else _several(order, "order_by") or None
        asked = cls(case, event, order, **others)
        given = (asked.case, asked.event, *(asked.order or ()), *asked.per_case)
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
        return bool(self.order) and plain((self.order or ("",))[-1]) == _TICK

    def names(self) -> list[str]:
        """Return the names that are set, each once."""
        given = (self.case, self.lifecycle, self.event, *(self.order or ()), *self.per_case)
        return list(dict.fromkeys(name for name in given if name is not None))

    def to_read(self) -> list[str]:
        """Return the names that are set, and that of the column that is only looked at."""
        return [*self.names(), *(() if self.other_lifecycle is None else (self.other_lifecycle,))]

    def may_mean(self, name: str) -> bool:
        """Whether a column of this name could be chosen."""
        known = (*EVENT_NAMES, *ORDER_NAMES, *CASE_NAMES, *LIFECYCLE_NAMES)
        return name in self.names() or any(plain(name) in map(plain, line) for line in known)


def _several(names: Any, role: str) -> tuple[str, ...]:
    if names is None or isinstance(names, str):
        return () if names is None else (names,)
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        return tuple(names)
    if role == "attributes":
        raise SettingError(
            "attributes must be a list of names of columns; join a table of attributes to that of the events "
            "first, such as by frame.merge(attributes, on='case')"
        )
    hint = ", or False for the order of the rows" if role == "order_by" else ""
    raise SettingError(f"{role} must be the name of a column, or a list of names{hint}, not {names!r}")


@dataclass(frozen=True)
class Wanted:
    """The settings, checked: columns, vocabulary, and what to make of the values of columns."""

    columns: Columns = field(default_factory=Columns)
    labels: Sequence[str] | None = None
    gap: Gap | None = None
    date_format: DateFormat | None = None
    lifecycle: str | None = None
    missing: str = "error"
    ties: TieKind | None = None
    times: bool = False
    cuts: Cuts = field(default_factory=dict)
    ends: AskedEnds | None = None  # None: as the events say, if they do, else complete
    drop_duplicates: bool = False

    @classmethod
    def of(cls, **given: Any) -> Wanted:
        """Check the settings of :class:`Reading`, before any data is touched."""
        unknown = next((name for name in given if name not in Reading.__annotations__), None)
        if unknown is not None:
            known = nearest(unknown, Reading.__annotations__)
            raise TypeError(f"reading events has no setting {unknown!r}{known}")
        got = {**dict.fromkeys(Reading.__annotations__), **_DEFAULTS, **given}
        for name in ("lifecycle", "missing"):
            if not isinstance(got[name], str) and not (name == "lifecycle" and got[name] is None):
                raise SettingError(f"{name} must be a text, not {got[name]!r}")
        if got["ties"] not in (None, *TIES):
            hint = nearest(str(got["ties"]), TIES)
            raise SettingError(f"ties must be one of {', '.join(map(repr, TIES))}, not {got['ties']!r}{hint}")
        for name in ("times", "drop_duplicates"):
            if not isinstance(got[name], bool):
                raise SettingError(f"{name} must be True or False, not {got[name]!r}")
        if got["cuts"] is not None and got["attributes"] is None:
            raise SettingError("cuts are about attributes; name these with attributes=")
        names, ends = _several(got["attributes"], "attributes"), None
        told = [got[name] for name in ("ends", "closed_by", "open_since", "ends_column")]
        if told != [None] * 4:
            ends = AskedEnds.of(told[0] or "complete", *told[1:])
            names = tuple(dict.fromkeys((*names, *_one(ends.column))))
        return cls(
            Columns.of(
                *(got[name] for name in ("case", "event", "order_by")),
                weight=got["weight"],
                attributes=names,
                with_lifecycle=got["lifecycle"] is not None,
            ),
            labels=None if got["labels"] is None else vocabulary_of(got["labels"]),
            gap=None if got["session_gap"] is None else Gap.of(got["session_gap"]),
            date_format=None if got["date_format"] is None else DateFormat(got["date_format"]),
            times=got["times"] or (ends is not None and ends.open_since is not None),
            cuts={} if got["cuts"] is None else check_cuts(got["cuts"]),
            ends=ends,
            **{name: got[name] for name in ("lifecycle", "missing", "ties", "drop_duplicates")},
        )

    def for_columns(self, chosen: Columns) -> Wanted:
        """The same with what the columns that were chosen tell of ties, if nothing was said of them."""
        return replace(self, ties="together") if self.ties is None and chosen.of_ticks else self

    def ended(self, events: EventSequences) -> EventSequences:
        """The same, of which it is known which sequences are complete, but for what a column tells."""
        asked = self.ends or AskedEnds.default()
        complete = asked.complete(events.labels, events.codes, events.offsets, events.moments)
        return events.but(complete=complete)

    @property
    def needs_places(self) -> bool:
        """Whether something was asked that only the places of events can tell."""
        places = self.times or self.gap is not None or self.ties in ("together", "error")
        return places or self.drop_duplicates

    def refuse_columns(self, what: str) -> None:
        """Refuse whatever only a table can answer, for a source that is none."""
        about = self.columns.names() or self.columns.with_lifecycle or self.date_format is not None
        if about or self.needs_places:
            raise SettingError(
                "case, event, order_by, weight, lifecycle, date_format, ties, times, session_gap and "
                f"drop_duplicates are about columns, and {what} has none; make it a table first, for example "
                "with pandas.DataFrame"
            )


#: What settings are that are not None unless something is asked.
_DEFAULTS = {"missing": "error", "times": False, "drop_duplicates": False}


def check_cuts(cuts: object) -> Cuts:
    """Refuse what does not say where to cut numbers.

    >>> check_cuts({"age": [30, 50], "postcode": None})
    {'age': [30.0, 50.0], 'postcode': None}
    """
    if not isinstance(cuts, Mapping):
        raise SettingError(f"cuts must be a dict such as {{'age': [30, 50]}}, not {cuts!r}")
    found: dict[str, Sequence[float] | None] = {}
    for name, given in cuts.items():
        listed = isinstance(given, list | tuple | np.ndarray) and len(given) > 0
        if given is not None and not (listed and all(map(is_finite, given))):
            raise SettingError(
                f"cuts of {name!r} must be numbers such as [30, 50], or None to leave it as it is, not "
                f"{given!r}"
            )
        found[str(name)] = numbers = None if given is None else [float(cut) for cut in given]
        if any(a >= b for a, b in pairwise(numbers or ())):
            raise SettingError(f"cuts of {name!r} must increase, and {given!r} do not; sort them")
    return found


# ---------------------------------------------------------------------- the columns of a table

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
_PLACES, _TICK = ("position", "tick"), "tick"
#: What became of an activity: "start", "complete", ...
LIFECYCLE_NAMES = (
    ("lifecycle:transition",),
    ("lifecycle", "lifecycle transition", "transition"),
    ("status",),
)
#: Words in the name of a column that tell the time of an event; the last word of "created_at", too.
TIME_WORDS = {"date", "datetime", "time", "timestamp", "ts", "when"}

Names = tuple[tuple[str, ...], ...]


def plain(name: str) -> str:
    """A name without what tools write differently.

    >>> plain("_CASE_KEY") == plain("Case Key")
    True
    """
    return "".join(letter for letter in name.lower() if letter not in " _-")


def choose_columns(
    names: Sequence[str],
    asked: Columns,
    source: str,
    *,
    list_columns: Collection[str] = (),
    time_columns: Collection[str] = (),
) -> Columns:
    """Choose the columns to read: those asked for, else those with names that are recognised.

    A column that tells the time by its name, or by what it holds (``time_columns``), must be the order, or
    have been left out on purpose.

    >>> chosen = choose_columns(["CASE", "Activity", "cost"], Columns(), "log.csv")
    >>> chosen.case, chosen.event, chosen.order
    ('CASE', 'Activity', ())
    >>> choose_columns(["case", "event", "created_at"], Columns(), "log.csv")
    Traceback (most recent call last):
        ...
    summarkov.errors.DataError: column 'created_at' of log.csv looks like the time of an event, and is not \
recognised as the order; say order_by='created_at', or order_by=False to keep the order of the rows
    """
    free = [name for name in names if name not in asked.names()]

    def chosen_for(role: str, given: str | None, known: Names) -> str:
        found = _there(_one(given), role, names, source) or _recognised(role, known, free, source)
        if not found:
            raise _nothing_recognised(role, names, source)
        return found[0]

    event = chosen_for("event", asked.event, EVENT_NAMES)
    if event in list_columns:
        raise DataError(
            f"column {event!r} of {source} holds lists, and a table has one row per event; make a row of "
            f"each first, such as by frame.explode({event!r}) (in SQL unnest, in Spark posexplode)"
        )
    case = chosen_for("case", asked.case, CASE_NAMES)
    _there(_one(asked.weight), "weight", names, source)
    _there(asked.attributes, "attributes", names, source)
    order = _there(asked.order or (), "order", names, source)
    order = order if asked.order is not None else _recognised("order", ORDER_NAMES, free, source)
    lifecycle = other = None
    if not asked.with_lifecycle:
        used = {case, event, *order, *asked.per_case, *list_columns}
        found = _of_first_line([name for name in names if name not in used], LIFECYCLE_NAMES)
        other = found[0] if len(found) == 1 else None
    else:
        given = _there(_one(asked.lifecycle), "lifecycle", names, source)
        lifecycle = next(iter(given or _recognised("lifecycle", LIFECYCLE_NAMES, free, source)), None)
        if lifecycle is None:
            raise DataError(
                f"no column of {source} is called {LIFECYCLE_NAMES[0][0]!r} or 'lifecycle', which lifecycle= "
                f"needs; rename the column, or leave it out; {_listed(names)}"
            )
    chosen = replace(asked, case=case, event=event, order=order, lifecycle=lifecycle, other_lifecycle=other)
    for name in names if asked.order is None and not order else ():
        words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower().replace("_", " ").replace("-", " ").split()
        is_time = name in time_columns or TIME_WORDS & set(words) or words[1:][-1:] == ["at"]
        if is_time and name not in chosen.names():
            raise DataError(
                f"column {name!r} of {source} looks like the time of an event, and is not recognised as the "
                f"order; say order_by={name!r}, or order_by=False to keep the order of the rows"
            )
    return chosen


def _one(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _there(given: tuple[str, ...], role: str, names: Sequence[str], source: str) -> tuple[str, ...]:
    """The names asked for; one that no column has, or several have, is refused."""
    for name in given:
        if name not in names:
            raise DataError(f"{source} has no column {name!r}; {_listed(names)}{nearest(name, names)}")
        _refuse_several([name] * names.count(name), role, source)
    return given


def _recognised(role: str, known: Names, names: Sequence[str], source: str) -> tuple[str, ...]:
    """The column whose name is recognised for a role, if there is one; a time and a place are one order."""
    found = _of_first_line(names, known)
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


def _nothing_recognised(role: str, names: Sequence[str], source: str) -> DataError:
    how = f" in summarkov.read_events(table, {role}=...)" if source == TABLE else ""
    return DataError(
        f"no column of {source} is recognised as the {role}; name it with {role}={how}; {_listed(names)}"
    )


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"the columns are {shown}{', ...' if len(names) > most else ''}"
