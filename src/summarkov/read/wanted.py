"""What is asked of a reader, whatever it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, TypedDict

from summarkov.errors import SettingError, nearest
from summarkov.events import EventSequences
from summarkov.events.attributes import AskedEnds
from summarkov.events.vocabulary import vocabulary_of
from summarkov.read.case_attributes import Cuts, check_cuts
from summarkov.read.columns import Columns
from summarkov.read.date_formats import DateFormat
from summarkov.read.ticks import TIES, Gap, TieKind

#: What stands between the labels of several columns that are joined to one, unless told otherwise.
SEPARATOR = "+"


class Reading(TypedDict, total=False):
    """The settings of reading, by the names that :func:`summarkov.read_events` has for them."""

    case: str | None
    event: str | Sequence[str] | None
    order_by: str | Sequence[str] | Literal[False] | None
    labels: Iterable[object] | None
    session_gap: str | float | timedelta | None
    date_format: str | None
    weight: str | None
    lifecycle: str | None
    missing: str
    separator: str
    ties: TieKind | None
    times: bool
    attributes: Any
    cuts: Cuts | None
    missing_attributes: Literal["value", "error"]
    ends: Literal["complete", "cut off"] | None
    closed_by: Iterable[object] | None
    open_since: Any
    ends_column: str | None
    drop_duplicates: bool


@dataclass(frozen=True)
class Wanted:
    """The settings, checked: columns, vocabulary, and what to make of the values of columns."""

    columns: Columns = field(default_factory=Columns)
    labels: Sequence[str] | None = None
    gap: Gap | None = None
    date_format: DateFormat | None = None
    lifecycle: str | None = None
    missing: str = "error"
    separator: str = SEPARATOR
    ties: TieKind | None = None
    times: bool = False
    cuts: Cuts = field(default_factory=dict)
    missing_attributes: str = "value"
    cases: Any = None  # a table of attributes, one row per case
    ends: AskedEnds | None = None  # None: as the events say, if they do, else complete
    drop_duplicates: bool = False

    @classmethod
    def of(cls, **given: Any) -> Wanted:
        """Check the settings of :class:`Reading`, before any data is touched."""
        unknown = next((name for name in given if name not in Reading.__annotations__), None)
        if unknown is not None:
            known = nearest(unknown, Reading.__annotations__)
            raise TypeError(f"reading events has no setting {unknown!r}{known}")
        asked = cls(**{name: value for name, value in given.items() if name in _AS_THEY_ARE})
        asked._check()
        attributes, cuts = given.get("attributes"), given.get("cuts")
        listed = attributes is None or (
            isinstance(attributes, list | tuple) and all(isinstance(name, str) for name in attributes)
        )
        ends, told = None, [given.get(name) for name in ("ends", "closed_by", "open_since", "ends_column")]
        if told != [None] * 4:
            ends = AskedEnds.of(told[0] or "complete", *told[1:])
            if listed and ends.column is not None and ends.column not in (attributes or ()):
                attributes = [*(attributes or ()), ends.column]
        if cuts is not None and attributes is None:
            raise SettingError("cuts are about attributes; name these with attributes=")
        labels, gap, form = (given.get(name) for name in ("labels", "session_gap", "date_format"))
        return replace(
            asked,
            columns=Columns.of(
                *(given.get(name) for name in ("case", "event", "order_by")),
                weight=given.get("weight"),
                attributes=attributes if listed else (),
                with_lifecycle=asked.lifecycle is not None,
            ),
            labels=None if labels is None else vocabulary_of(labels),
            gap=None if gap is None else Gap.of(gap),
            date_format=None if form is None else DateFormat(form),
            times=asked.times or (ends is not None and ends.open_since is not None),
            cuts={} if cuts is None else check_cuts(cuts),
            cases=None if listed else attributes,
            ends=ends,
        )

    def _check(self) -> None:
        for name in ("lifecycle", "missing", "separator"):
            value = getattr(self, name)
            if not isinstance(value, str) and not (name == "lifecycle" and value is None):
                raise SettingError(f"{name} must be a text, not {value!r}")
        if not self.separator:
            raise SettingError("separator must not be empty: it tells the labels apart that are joined")
        if self.ties not in (None, *TIES):
            hint = nearest(str(self.ties), TIES)
            raise SettingError(f"ties must be one of {', '.join(map(repr, TIES))}, not {self.ties!r}{hint}")
        for name in ("times", "drop_duplicates"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.missing_attributes not in ("value", "error"):
            raise SettingError(
                f"missing_attributes must be 'value' or 'error', not {self.missing_attributes!r}"
            )

    def for_columns(self, chosen: Columns) -> Wanted:
        """The same with what the columns that were chosen tell of ties, if nothing was said of them."""
        return replace(self, ties="together") if self.ties is None and chosen.of_ticks else self

    def ended(self, events: EventSequences) -> EventSequences:
        """The same, of which it is known which sequences are complete, but for what a column tells."""
        asked = self.ends or AskedEnds.default()
        return events.with_ends(asked.complete(events.labels, events.codes, events.offsets, events.moments))

    @property
    def needs_places(self) -> bool:
        """Whether something was asked that only the places of events can tell."""
        places = self.times or self.gap is not None or self.ties in ("together", "error")
        return places or self.drop_duplicates

    @property
    def is_about_columns(self) -> bool:
        """Whether something was asked that only a table can answer."""
        columns = self.columns
        return bool(
            columns.names() or columns.with_lifecycle or self.gap is not None or self.date_format is not None
        )


#: Settings that only need a look.
_AS_THEY_ARE = ("lifecycle", "missing", "separator", "ties", "times", "missing_attributes", "drop_duplicates")
