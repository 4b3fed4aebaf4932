"""What options mean: the model that they ask for, and how events are read, prepared and streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
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
#: Bytes of memory that reading takes for a byte of a text file, and of a packed one or Parquet.
_TEXT, _PACKED = 3, 30


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
        if given.in_order and given.order_by:
            raise SettingError("--in-order and --order-by exclude each other")
        if given.attribute and given.attributes is not None:
            raise SettingError(
                "--attribute and --attributes exclude each other; put all columns in one table"
            )
        return {
            **{name: getattr(given, name) for name in _SAME},
            "order_by": False if given.in_order else given.order_by,
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
        from summarkov.events.vocabulary import frequent_labels

        parts = [self._mapped(part) for part in parts]
        if self.given.min_count is not None:
            kept = frequent_labels(parts[:1] if first else parts, self.given.min_count)
            parts = [part.pool_others(kept) for part in parts]
        return [self._finish(part) for part in parts]

    def _prepared(self, events: EventSequences, known: Collection[str] | None = None) -> EventSequences:
        """Prepare events that were read."""
        from summarkov.events.vocabulary import RARE

        events, least = self._mapped(events), self.given.min_count
        if least is not None:
            if known is not None and RARE not in known:
                raise SettingError(
                    f"the model was learned without --min-count: it knows no label {RARE!r}; leave it out"
                )
            events = events.pool_rare(least) if known is None else events.pool_others(known)
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
    from summarkov.read.addresses import name_of, plain_name, size_of
    from summarkov.read.files import ENDINGS, STREAMED, format_of
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
        is_packed = kind == "parquet" or plain_name(path).lower().endswith(ENDINGS)
        return kind in (*STREAMED, "tsv") and size_of(path) * (_PACKED if is_packed else _TEXT) > most
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
    known = families[kind]().get_params(deep=False)
    known = {name: known[name] for name in known if name not in ("target", "targets", "n_jobs")}
    names = ["lookback", *(each.name for each in declared("<settings>")[1] if each.name != "set")]
    typed: dict[str, Any] = {name: getattr(given, name, None) for name in names if name not in but}
    typed = {name: value for name, value in typed.items() if value is not None and value is not False}
    typed |= {name: read_value(typed[name]) for name in ("lookback", "false_edges") if name in typed}
    for setting in getattr(given, "set", None) or ():
        name, is_given, text = setting.partition("=")
        if not is_given:
            raise SettingError(f"--set takes NAME=VALUE, such as cap=3, not {setting!r}")
        name = name.replace("-", "_")
        is_several = isinstance(known.get(name), tuple)  # even if it is one
        typed[name] = read_values(text) if is_several else read_value(text)
    for name in typed:
        if name not in known:
            called = f"--{name.replace('_', '-')}" if name in names else name
            hint = nearest(name, known) or f"; its settings are {', '.join(known)}"
            raise SettingError(f"{called} is not a setting of --model {kind}{hint}")
    template = families[kind](**typed)
    # What makes no sense is refused before the events are read.
    template.make_summary() if isinstance(template, SummaryModel) else template._check()
    return template


def read_value(text: str) -> Any:
    """A setting as Python has it: a number, None, True, False, several of these, or text.

    >>> read_value("5"), read_value("0.5"), read_value("none"), read_value("yes"), read_value("1,4,none")
    (5, 0.5, None, True, (1, 4, None))
    >>> read_value("6h"), read_value("auto")
    ('6h', 'auto')
    """
    if "," in text:
        return read_values(text)
    words = {"none": None, "yes": True, "no": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text.lower() if text.lower() == "auto" else text


def read_values(text: str) -> tuple[Any, ...]:
    """Several values with commas between them; "none" alone is none at all."""
    return () if text.lower() == "none" else tuple(read_value(part.strip()) for part in text.split(","))
