"""What is asked of a reader, whatever it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal, TypedDict

from summarkov.errors import SettingError, nearest
from summarkov.events.ends import AskedEnds
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
    order: str | Sequence[str] | Literal[False] | None
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
    cuts: Cuts
    missing_attributes: Literal["value", "error"]
    ends: Literal["complete", "cut off"] | None
    closed_by: Iterable[object] | None
    open_since: Any
    ends_column: str | None
    drop_duplicates: bool


@dataclass(frozen=True)
class Wanted:
    """Columns, vocabulary, and what to make of the values of columns."""

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
    def of(
        cls,
        *,
        case: object = None,
        event: object = None,
        order: object = None,
        labels: Iterable[object] | None = None,
        session_gap: object = None,
        date_format: str | None = None,
        weight: object = None,
        lifecycle: str | None = None,
        missing: str = "error",
        separator: str = SEPARATOR,
        ties: TieKind | None = None,
        times: bool = False,
        attributes: Any = None,
        cuts: object = None,
        missing_attributes: str = "value",
        ends: str | None = None,
        closed_by: Any = None,
        open_since: Any = None,
        ends_column: Any = None,
        drop_duplicates: bool = False,
    ) -> Wanted:
        """Check the settings, before any data is touched."""
        for name, value in (("lifecycle", lifecycle), ("missing", missing), ("separator", separator)):
            if not isinstance(value, str) and not (name == "lifecycle" and value is None):
                raise SettingError(f"{name} must be a text, not {value!r}")
        if not separator:
            raise SettingError("separator must not be empty: it tells the labels apart that are joined")
        if ties not in (None, *TIES):
            choices = ", ".join(map(repr, TIES))
            raise SettingError(f"ties must be one of {choices}, not {ties!r}{nearest(str(ties), TIES)}")
        for name, flag in (("times", times), ("drop_duplicates", drop_duplicates)):
            if not isinstance(flag, bool):
                raise SettingError(f"{name} must be True or False, not {flag!r}")
        if missing_attributes not in ("value", "error"):
            raise SettingError(f"missing_attributes must be 'value' or 'error', not {missing_attributes!r}")
        listed = attributes is None or (
            isinstance(attributes, list | tuple) and all(isinstance(name, str) for name in attributes)
        )
        asked = None
        if (ends, closed_by, open_since, ends_column) != (None, None, None, None):
            asked = AskedEnds.of(ends or "complete", closed_by, open_since, ends_column)
            times = times or open_since is not None
            if listed and ends_column is not None and ends_column not in (attributes or ()):
                attributes = [*(attributes or ()), ends_column]
        if cuts is not None and attributes is None:
            raise SettingError("cuts are about attributes; name these with attributes=")
        return cls(
            Columns.of(
                case,
                event,
                order,
                weight=weight,
                attributes=attributes if listed else (),
                with_lifecycle=lifecycle is not None,
            ),
            None if labels is None else vocabulary_of(labels),
            None if session_gap is None else Gap.of(session_gap),
            None if date_format is None else DateFormat(date_format),
            lifecycle,
            missing,
            separator,
            ties,
            times,
            {} if cuts is None else check_cuts(cuts),
            missing_attributes,
            None if listed else attributes,
            asked,
            drop_duplicates,
        )

    def for_columns(self, chosen: Columns) -> Wanted:
        """The same with what the columns that were chosen tell of ties, if nothing was said of them."""
        return replace(self, ties="together") if self.ties is None and chosen.of_ticks else self

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
