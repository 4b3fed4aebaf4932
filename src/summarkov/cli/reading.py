"""How commands come by events: the options of reading, preparing and streaming, in one place for all."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from summarkov.cli.errors import reporting
from summarkov.cli.options import flag, setting, settings_in
from summarkov.cli.printing import shown, stages, working
from summarkov.cli.sizes import bytes_of, is_streamed
from summarkov.errors import DataError, SettingError

if TYPE_CHECKING:
    from summarkov.engines import EventSource, Layout
    from summarkov.events import EventSequences
    from summarkov.text import TextEvents

#: Events in memory, or a source of them: both are prepared by the same methods.
Events = TypeVar("Events", "EventSequences", "EventSource")

READING = "Reading the events"
PREPARING = "Preparing the events"
_reading, _preparing = map(settings_in, (READING, PREPARING))

#: Settings of reading that Python calls the same.
_SAME = (
    *("case", "event", "weight", "date_format", "missing", "separator", "ties", "times", "lifecycle"),
    *("session_gap", "missing_attributes", "format", "closed_by", "ends_column", "drop_duplicates"),
)


def read_cuts(given: Sequence[str]) -> dict[str, list[float] | None]:
    """Read where numbers are cut.

    >>> read_cuts(["age=30,50", "postcode=none"])
    {'age': [30.0, 50.0], 'postcode': None}
    """
    found: dict[str, list[float] | None] = {}
    for text in given:
        column, _, numbers = text.rpartition("=")
        try:
            found[column] = None if numbers == "none" else [float(number) for number in numbers.split(",")]
        except ValueError:
            raise SettingError(f"--cut must be written as age=30,50 or postcode=none, not {text!r}") from None
    return found


def _number_or_text(given: str | None) -> float | str | None:
    """A time as it was written: a number where it is one."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def read_map(path: Path) -> dict[str, str]:
    """Read what labels become."""
    from summarkov.io.addresses import name_of
    from summarkov.io.files import text_lines
    from summarkov.store import first_repeated

    text = "\n".join(line for _, line in text_lines(name_of(path), expected="a map of labels"))
    expected = 'expected an object of texts, {"old": "new", ...}'
    try:
        found = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON ({error}); {expected}") from None
    if not text.lstrip().startswith("{") or not all(isinstance(new, str) for _, new in found):
        raise DataError(f"{path}: {expected}")
    mapping = dict(found)
    if len(mapping) < len(found):
        raise DataError(f"{path}: {first_repeated(found, mapping)!r} stands there twice; keep one")
    return mapping


@dataclass(frozen=True)
class Reading:
    """How to read a file of events, and what to make of them. Every field is an option."""

    case: str | None = _reading("COLUMN", "Column that names the sequence.")
    event: list[str] | None = _reading(
        "COLUMN", "Column of the event's label; repeat it to join several to one label."
    )
    order_column: list[str] | None = _reading(
        "COLUMN",
        "Column that orders the events of a sequence (time or number), else the order of the rows; "
        "repeat it for columns to sort by where the first has equal values.",
    )
    in_order: bool = setting(
        flag("--in-order", "The rows are in order, whatever their columns are called.", panel=READING)
    )
    date_format: str | None = _reading(
        "FORMAT", "How dates are written, such as '%d/%m/%Y %H:%M', if not as ISO has it."
    )
    weight: str | None = _reading("COLUMN", "Column of how much each sequence counts; constant per sequence.")
    lifecycle: str | None = _reading("NAME", "Keep only events of this lifecycle, such as complete.")
    missing: str = _reading(
        "error|skip|LABEL",
        "What to do with events without a label, or a label for them. skip also leaves out rows without a "
        "case.",
        default="error",
    )
    drop_duplicates: bool = setting(
        flag(
            "--drop-duplicates",
            "Leave out rows of the case, event and place of an earlier row.",
            panel=READING,
        )
    )
    separator: str = _reading("TEXT", "What stands between the labels of several columns.", default="+")
    ties: str | None = _reading(
        "KIND",
        "What events with the same place are: 'in row order' after each other, 'together', or an error. "
        "If not given they are taken in row order, with a note if they are many.",
    )
    times: bool = setting(
        flag("--times", "Keep the times of events. A look-back in time keeps them, too.", panel=READING)
    )
    attribute: list[str] | None = _reading(
        "COLUMN", "Column of an attribute, constant per sequence; repeat for more."
    )
    attributes: Path | None = _reading(
        "FILE", "Table of attributes, one row per sequence (.csv, .tsv, .parquet)."
    )
    cut: list[str] | None = _reading(
        "COLUMN=N,N", "Cut numbers here, as age=30,50; COLUMN=none leaves them as they are."
    )
    missing_attributes: str = _reading(
        "value|error", "Whether a missing attribute is a value of its own.", default="value"
    )
    format: str | None = _reading(
        "FORMAT", "csv, tsv, parquet, jsonl, text, xes or spmf, where the file's name does not tell."
    )
    cut_off: bool = setting(
        flag(
            "--cut-off",
            "Cases are windows onto something that goes on: do not count their ends.",
            panel=READING,
        )
    )
    closed_by: list[str] | None = _reading(
        "LABEL", "Only a case whose last event is this one is complete; repeat for more labels."
    )
    open_since: str | None = _reading("TIME", "A case with an event at this time or later may go on.")
    ends_column: str | None = _reading("COLUMN", "Column that is true for complete cases, else false.")
    session_gap: str | None = _preparing(
        "TIME",
        "Begin a new sequence after such a time without events: 30min, 2h, 1d, or a number in the unit "
        "of the order column.",
    )
    map: Path | None = _preparing("FILE", 'Rename labels as this JSON file says: {"old": "new", ...}.')
    min_count: int | None = _preparing(
        "N",
        'Make one label, "(rare)", of all that occur fewer than N times; with a model, of all that the '
        "model does not know.",
    )
    drop_first: bool = setting(
        flag("--drop-first", "Leave out the first event of every case.", panel=PREPARING)
    )
    collapse: bool = setting(
        flag("--collapse", "Keep only the first of equal labels in a row.", panel=PREPARING)
    )
    start: bool = setting(
        flag("--start", 'Begin every sequence with one more event, "(start)".', panel=PREPARING)
    )

    @property
    def order(self) -> list[str] | bool | None:
        """The order columns as readers want them."""
        if self.in_order and self.order_column:
            raise SettingError("--in-order and --order-column exclude each other")
        return False if self.in_order else self.order_column

    @property
    def columns(self) -> dict[str, Any]:
        """The settings of reading, as Python calls them."""
        order = self.order
        if self.attribute and self.attributes is not None:
            raise SettingError(
                "--attribute and --attributes exclude each other; put all columns in one table"
            )
        return {
            **{name: getattr(self, name) for name in _SAME},
            "order": order,
            "attributes": self.attribute or self.attributes,
            "cuts": read_cuts(self.cut) if self.cut else None,
            "ends": "cut off" if self.cut_off else None,
            "open_since": _number_or_text(self.open_since),
        }

    def for_models(self, *templates: object) -> Self:
        """The same, with the times of events where a model to be learned looks back in time."""
        from summarkov.models import SummaryModel

        models = [each for each in templates if isinstance(each, SummaryModel)]
        in_time = any(model.durations(model.make_summary()) for model in models)
        return replace(self, times=True) if in_time else self

    def as_learned(self, layout: Layout) -> Self:
        """The same, with what the data had that a model was learned from, where nothing else is asked for."""
        from summarkov.io.case_attributes import cuts_of

        cuts = cuts_of(layout.attributes)
        given = {text.rpartition("=")[0] for text in self.cut or ()}
        further = [
            f"{column}={'none' if numbers is None else ','.join(map(repr, numbers))}"
            for column, numbers in cuts.items()
            if column not in given
        ]
        return replace(
            self,
            ties="together" if self.ties is None and layout.together else self.ties,
            times=self.times or layout.time is not None,
            attribute=self.attribute or (list(cuts) if self.attributes is None else None),
            cut=[*(self.cut or ()), *further] or None,
        )

    def read(self, path: Path, known: Collection[str] | None = None) -> EventSequences:
        """Read and prepare events; for a model, the labels that it knows tell which are rare."""
        return self.prepare(self.events(path), known)

    def prepare(self, events: Events, known: Collection[str] | None = None) -> Events:
        """Prepare events that were read, or those of a source."""
        from summarkov.events.prepare import RARE, pool_others

        events = self._mapped(events)
        if self.min_count is not None:
            if known is not None and RARE not in known:
                raise SettingError(
                    f"the model was learned without --min-count: it knows no label {RARE!r}; leave it out"
                )
            events = events.pool_rare(self.min_count) if known is None else pool_others(events, known)
        return self._finish(events)

    def prepare_several(self, parts: Sequence[Events], *, first: bool) -> list[Events]:
        """Prepare several; labels are rare in the ``first`` of them, or else in all together."""
        from summarkov.events.prepare import pool_rare_together

        parts = [self._mapped(part) for part in parts]
        if self.min_count is not None:
            parts = pool_rare_together(parts, self.min_count, counted=parts[:1] if first else parts)
        return [self._finish(part) for part in parts]

    def events(self, path: Path) -> EventSequences:
        """Read events as they are, but for sessions."""
        from summarkov.io import read_events

        with reporting(), working(f"Reading {shown(path)}"):
            return read_events(path, **self.columns)

    def _mapped(self, events: Events) -> Events:
        return events if self.map is None else events.map_labels(read_map(self.map))

    def _finish(self, events: Events) -> Events:
        if self.drop_first:
            if not hasattr(events, "drop_first"):
                raise SettingError("--drop-first needs the events in memory; give --engine memory")
            events = events.drop_first()
        if self.collapse:
            events = events.collapse_repeats()
        return events.add_start() if self.start else events


@dataclass(frozen=True)
class Opening(Reading):
    """How to read events, and whether to stream them. Every field is an option."""

    engine: str = _reading(
        "auto|memory|stream",
        "Take the events into memory, or stream them through a temporary folder on disk. auto "
        "streams folders, patterns, and files that need more than --memory.",
        default="auto",
    )
    memory: str = _reading("SIZE", "What streaming may use, such as 500M or 4G.", default="1G")

    def streams(self, path: Path) -> bool:
        """Whether the events are streamed."""
        return is_streamed(path, self.engine, self.memory, self.format)

    @contextmanager
    def open(
        self,
        path: Path,
        known: Collection[str] | None = None,
        *,
        names: bool = False,
        jobs: int | None = None,
    ) -> Iterator[EventSequences | EventSource]:
        """The events, in memory or streamed; for a model, the labels that it knows tell which are rare.

        With ``names`` a stream keeps those of the sequences.
        """
        with self._as_read(path, jobs, names) as events:
            yield self.prepare(events, known)

    @contextmanager
    def open_several(
        self, paths: Sequence[Path], jobs: int | None
    ) -> Iterator[Sequence[EventSequences | EventSource]]:
        """The events of several files; labels are rare, if that is asked, in the first of them."""
        with ExitStack() as opened:
            parts = [opened.enter_context(self._as_read(path, jobs)) for path in paths]
            yield self.prepare_several(parts, first=True)

    @contextmanager
    def _as_read(self, path: Path, jobs: int | None, names: bool = False) -> Iterator[Any]:
        """The events, in memory or streamed, not yet prepared."""
        if not self.streams(path):
            yield self.events(path)
            return
        from summarkov.engines import scan_events

        how: dict[str, Any] = {**self.columns, "memory": bytes_of(self.memory)}
        with ExitStack() as opened:
            with reporting(), stages() as tell:
                source = opened.enter_context(
                    scan_events(path, **how, n_jobs=jobs, names=names, progress=tell)
                )
            yield source


def read_quoted(file: Path) -> TextEvents:
    """Read events with their sentences."""
    from summarkov.text import read_text_events

    with working(f"Reading {file}"):
        return read_text_events(file)
