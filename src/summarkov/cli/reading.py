"""How commands come by events: what the options of reading, preparing and streaming mean."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from summarkov.cli.errors import reporting
from summarkov.cli.page import progress, shown, working
from summarkov.cli.sizes import bytes_of, is_streamed
from summarkov.errors import DataError, SettingError

if TYPE_CHECKING:
    from summarkov.engines import Layout
    from summarkov.events import EventSequences
    from summarkov.text import TextEvents

#: Settings of reading that Python calls the same.
_SAME = (
    *(
        "case",
        "event",
        "weight",
        "date_format",
        "missing",
        "separator",
        "ties",
        "times",
        "lifecycle",
        "format",
    ),
    *("session_gap", "missing_attributes", "closed_by", "ends_column", "drop_duplicates"),
)


class Reading:
    """Reads events as the options ask; ``given`` holds these."""

    def __init__(self, given: Any, **changes: Any) -> None:
        self.given = SimpleNamespace(**{**vars(given), **changes})

    def changed(self, **changes: Any) -> Reading:
        """The same, with other values of some options."""
        return Reading(self.given, **changes)

    @property
    def attributes(self) -> list[str]:
        """The columns of attributes that are named one by one."""
        return self.given.attribute or []

    @property
    def columns(self) -> dict[str, Any]:
        """The settings of reading, as Python calls them."""
        given = self.given
        if given.in_order and given.order_column:
            raise SettingError("--in-order and --order-column exclude each other")
        if given.attribute and given.attributes is not None:
            raise SettingError(
                "--attribute and --attributes exclude each other; put all columns in one table"
            )
        return {
            **{name: getattr(given, name) for name in _SAME},
            "order": False if given.in_order else given.order_column,
            "attributes": given.attribute or given.attributes,
            "cuts": read_cuts(given.cut) if given.cut else None,
            "ends": "cut off" if given.cut_off else None,
            "open_since": _number_or_text(given.open_since),
        }

    def for_models(self, *templates: object) -> Reading:
        """The same, with the times of events where a model to be learned looks back in time."""
        from summarkov.models import SummaryModel

        models = [each for each in templates if isinstance(each, SummaryModel)]
        in_time = any(model.durations(model.make_summary()) for model in models)
        return self.changed(times=True) if in_time else self

    def as_learned(self, layout: Layout) -> Reading:
        """The same, with what the data had that a model was learned from, where nothing else is asked for."""
        from summarkov.read.case_attributes import cuts_of

        given, cuts = self.given, cuts_of(layout.attributes)
        named = {text.rpartition("=")[0] for text in given.cut or ()}
        further = [
            f"{column}={'none' if numbers is None else ','.join(map(repr, numbers))}"
            for column, numbers in cuts.items()
            if column not in named
        ]
        return self.changed(
            ties="together" if given.ties is None and layout.together else given.ties,
            times=given.times or layout.time is not None,
            attribute=given.attribute or (list(cuts) if given.attributes is None else None),
            cut=[*(given.cut or ()), *further] or None,
        )

    def read(self, path: Path, known: Collection[str] | None = None) -> EventSequences:
        """Read and prepare events; for a model, the labels that it knows tell which are rare."""
        return self._prepared(self.events(path), known)

    def events(self, path: Path) -> EventSequences:
        """Read events as they are, but for sessions."""
        from summarkov.read import read_events

        with reporting(), working(f"Reading {shown(path)}"):
            return read_events(path, **self.columns)

    def streams(self, path: Path) -> bool:
        """Whether the events are streamed."""
        return is_streamed(path, self.given.engine, self.given.memory, self.given.format)

    @contextmanager
    def open(
        self,
        path: Path,
        known: Collection[str] | None = None,
        *,
        names: bool = False,
        jobs: int | None = None,
    ) -> Iterator[EventSequences]:
        """The events, in memory or streamed; for a model, the labels that it knows tell which are rare.

        With ``names`` a stream keeps those of the sequences.
        """
        with self._opened(path, jobs, names) as events:
            yield self._prepared(events, known)

    @contextmanager
    def open_several(self, paths: Sequence[Path], jobs: int | None) -> Iterator[Sequence[EventSequences]]:
        """The events of several files; labels are rare, if that is asked, in the first of them."""
        with ExitStack() as opened:
            parts = [opened.enter_context(self._opened(path, jobs)) for path in paths]
            yield self.prepare_several(parts, first=True)

    @contextmanager
    def _opened(self, path: Path, jobs: int | None, names: bool = False) -> Iterator[Any]:
        """The events, in memory or streamed, not yet prepared."""
        if not self.streams(path):
            yield self.events(path)
            return
        from summarkov.read import scan_events

        how: dict[str, Any] = {**self.columns, "memory": bytes_of(self.given.memory)}
        with ExitStack() as opened:
            with reporting(), progress("Reading", 1, "parts") as advance:
                source = opened.enter_context(
                    scan_events(path, **how, n_jobs=jobs, names=names, progress=advance)
                )
            yield source

    def prepare_several(self, parts: Sequence[EventSequences], *, first: bool) -> list[EventSequences]:
        """Prepare several; labels are rare in the ``first`` of them, or else in all together."""
        from summarkov.events.prepare import pool_rare_together

        parts = [self._mapped(part) for part in parts]
        if self.given.min_count is not None:
            parts = pool_rare_together(parts, self.given.min_count, counted=parts[:1] if first else parts)
        return [self._finish(part) for part in parts]

    def _prepared(self, events: EventSequences, known: Collection[str] | None = None) -> EventSequences:
        """Prepare events that were read,."""
        from summarkov.events.prepare import RARE, pool_others

        events, least = self._mapped(events), self.given.min_count
        if least is not None:
            if known is not None and RARE not in known:
                raise SettingError(
                    f"the model was learned without --min-count: it knows no label {RARE!r}; leave it out"
                )
            events = events.pool_rare(least) if known is None else pool_others(events, known)
        return self._finish(events)

    def _mapped(self, events: EventSequences) -> EventSequences:
        return events if self.given.map is None else events.map_labels(read_map(self.given.map))

    def _finish(self, events: EventSequences) -> EventSequences:
        if self.given.drop_first:
            events = events.drop_first()
        if self.given.collapse:
            events = events.collapse_repeats()
        return events.add_start() if self.given.start else events


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
    from summarkov.read.addresses import name_of
    from summarkov.read.files import text_lines
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


def read_quoted(file: Path) -> TextEvents:
    """Read events with their sentences."""
    from summarkov.text import read_text_events

    with working(f"Reading {file}"):
        return read_text_events(file)
