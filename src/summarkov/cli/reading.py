"""What options mean: the model that they ask for, and how events are read, prepared and streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from summarkov.cli.errors import reporting
from summarkov.cli.options import declared
from summarkov.cli.page import progress, shown, working
from summarkov.errors import DataError, SettingError, nearest

if TYPE_CHECKING:
    from summarkov.engines import Layout
    from summarkov.events import EventSequences

# ---------------------------------------------------------------------- events

#: Settings of reading that Python calls the same.
_SAME = (
    *("case", "event", "weight", "date_format", "missing", "separator", "ties", "times", "lifecycle"),
    *("format", "session_gap", "missing_attributes", "closed_by", "ends_column", "drop_duplicates"),
)
#: Bytes of memory that reading takes for a byte of a text file, of a packed one, and for a value of Parquet.
_TEXT, _PACKED, _VALUE = 3, 30, 24


class Reading:
    """Reads events as the options ask; ``given`` holds these."""

    def __init__(self, given: Any, **changes: Any) -> None:
        self.given = SimpleNamespace(**{**vars(given), **changes})

    def changed(self, **changes: Any) -> Reading:
        """The same, with other values of some options."""
        return Reading(self.given, **changes)

    def with_attribute(self, column: str) -> Reading:
        """The same, with one more attribute."""
        there = self.given.attribute or []
        return self if column in there else self.changed(attribute=[*there, column])

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
        self, path: Path, known: Collection[str] | None = None, *, names: bool = False
    ) -> Iterator[EventSequences]:
        """The events, in memory or streamed; for a model, the labels that it knows tell which are rare.

        With ``names`` a stream keeps those of the sequences.
        """
        with self._opened(path, names) as events:
            yield self._prepared(events, known)

    @contextmanager
    def open_several(self, paths: Sequence[Path]) -> Iterator[Sequence[EventSequences]]:
        """The events of several files; labels are rare, if that is asked, in the first of them."""
        with ExitStack() as opened:
            parts = [opened.enter_context(self._opened(path)) for path in paths]
            yield self.prepare_several(parts, first=True)

    @contextmanager
    def _opened(self, path: Path, names: bool = False) -> Iterator[Any]:
        """The events, in memory or streamed, not yet prepared."""
        if not self.streams(path):
            yield self.events(path)
            return
        from summarkov.read import scan_events

        how: dict[str, Any] = {**self.columns, "memory": bytes_of(self.given.memory)}
        with ExitStack() as opened:
            with reporting(), progress("Reading", 1, "parts") as advance:
                jobs = getattr(self.given, "jobs", None)
                found = scan_events(path, **how, n_jobs=jobs, names=names, progress=advance)
                source = opened.enter_context(found)
            yield source

    def prepare_several(self, parts: Sequence[EventSequences], *, first: bool) -> list[EventSequences]:
        """Prepare several; labels are rare in the ``first`` of them, or else in all together."""
        from summarkov.events.prepare import pool_rare_together

        parts = [self._mapped(part) for part in parts]
        if self.given.min_count is not None:
            parts = pool_rare_together(parts, self.given.min_count, counted=parts[:1] if first else parts)
        return [self._finish(part) for part in parts]

    def _prepared(self, events: EventSequences, known: Collection[str] | None = None) -> EventSequences:
        """Prepare events that were read."""
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


def is_streamed(path: Path, engine: str, memory: str, format: str | None) -> bool:
    """Whether events are streamed: where that is asked for, and folders, patterns and large files."""
    from summarkov.arrow import parquet
    from summarkov.read.addresses import name_of, plain_name, size_of
    from summarkov.read.files import ENDINGS, STREAMED, format_of, open_file
    from summarkov.read.finding import are_several

    if engine not in ("auto", "memory", "stream"):
        raise SettingError(f"--engine must be auto, memory or stream, not {engine!r}")
    most, several = bytes_of(memory), are_several(path)
    if engine == "memory" and several:
        raise SettingError(f"{name_of(path)} is not one file; --engine stream reads folders and patterns")
    if engine != "auto" or several:
        return engine != "memory"
    try:
        kind = format_of(name_of(path), format)
        if kind == "parquet":
            with open_file(name_of(path)) as file:
                groups = parquet.read_metadata(file).to_dict()["row_groups"]
            values = sum(column["num_values"] for group in groups for column in group["columns"])
            n_bytes = 2 * sum(int(group["total_byte_size"]) for group in groups)
            return bool(max(_VALUE * values, n_bytes) > most)
        each = _PACKED if plain_name(path).lower().endswith(ENDINGS) else _TEXT
        return kind in (*STREAMED, "tsv") and size_of(path) * each > most
    except Exception:  # reading will say what is wrong
        return False


def bytes_of(size: str) -> int:
    """A number of bytes as people write it.

    >>> bytes_of("500M"), bytes_of("1GiB"), bytes_of("2048")
    (524288000, 1073741824, 2048)
    """
    form = r"\s*([0-9]{1,19}(?:\.[0-9]{1,9})?)\s*([KMGT]?)(?:i?B)?\s*"
    found = re.fullmatch(form, size, re.IGNORECASE)
    n = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else 0
    if not 1024 <= n < 2**62:
        raise SettingError(f"--memory must be a size such as 500M or 4G, 1K at least, not {size[:40]!r}")
    return n


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
        raise DataError(f"{path}: {first_repeated(found)!r} stands there twice; keep one")
    return mapping


# ---------------------------------------------------------------------- models


def make_template(given: Any, among: Sequence[str] | None = None, but: Collection[str] = ()) -> Any:
    """The model that the options ask for, without a target; only the settings that were given are set.

    ``among`` are the kinds that the command takes; None: all. ``but`` are options that mean something else.
    """
    from summarkov.models import JointSuMM, SummaryModel
    from summarkov.models.model import all_families

    families: dict[str, Any] = {
        each.command_name: each for each in all_families().values() if each.command_name
    }
    families["joint"] = JointSuMM
    kind, kinds = given.model.lower(), sorted(families) if among is None else among
    if kind not in kinds:
        raise SettingError(
            f"--model must be one of {', '.join(kinds)}, not {given.model!r}{nearest(kind, kinds)}"
        )
    names = ["lookback", *(each.name for each in declared("<settings>\n<chains>")[1])]
    typed = {name: getattr(given, name, None) for name in names if name not in but}
    read = {
        name: read_option(name, value, *_READ[name]) if name in _READ else value
        for name, value in typed.items()
        if value is not None and value is not False
    }
    known = families[kind]().get_params(deep=False)
    for name in read:
        if name not in known:
            raise SettingError(f"--{name.replace('_', '-')} is not a setting of --model {kind}; leave it out")
    template = families[kind](**read)
    # What makes no sense is refused before the events are read.
    template.make_summary() if isinstance(template, SummaryModel) else template._check()
    return template


def read_option(name: str, text: str, read: Callable[[str], Any], expected: str) -> Any:
    """The value that an option means, or what was expected of it."""
    try:
        return read(text)
    except (KeyError, ValueError):
        raise SettingError(f"--{name.replace('_', '-')} must be {expected}, not {text!r}") from None


def read_span(text: str) -> Any:
    """A number of positions, or a time such as "6h" or "30 units"; what is neither is no number."""
    from summarkov.settings import read_time

    is_time = text[-1:].isalpha() and read_time(text, "lookback") is not None
    return text if is_time else int(text)


def several(text: str, read: Callable[[str], Any] = read_span) -> tuple[Any, ...]:
    """Values with commas between them; "none" is None."""
    return tuple(None if part.lower() == "none" else read(part) for part in map(str.strip, text.split(",")))


def _lookback(text: str) -> Any:
    """One value, "auto", or several to choose from."""
    each = ("auto",) if text.lower() == "auto" else several(text)
    return each if len(each) > 1 else each[0]


def _numbers(text: str) -> tuple[Any, ...]:
    return () if text.lower() == "none" else several(text, int)


#: How a setting is read that is not what was typed, and what is expected.
_READ: dict[str, tuple[Callable[[str], Any], str]] = {
    "lookback": (
        _lookback,
        "a whole number from 1 on, a time such as 6h, none, auto, or several such as 1,4,none",
    ),
    "delay": (read_span, "a number of events, or a time such as 6h"),
    "lookbacks": (several, "whole numbers such as 2,3"),
    "counts": (_numbers, "whole numbers such as 2,3"),
    "starts": (_numbers, "whole numbers such as 2,3"),
    "false_edges": (
        lambda text: None if text.lower() == "none" else float(text),
        "a number above 0, or none",
    ),
    "pairs": (lambda text: {"auto": "auto", "yes": True, "no": False}[text.lower()], "auto, yes or no"),
}
