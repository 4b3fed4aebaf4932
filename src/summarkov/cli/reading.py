"""What options mean: which model they ask for, how events are read, and what is written to files."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from summarkov.cli.errors import reporting
from summarkov.cli.main import declared
from summarkov.cli.page import progress, shown
from summarkov.errors import DataError, SettingError, UnknownLabelError, nearest

if TYPE_CHECKING:
    from summarkov.engines import Layout
    from summarkov.events import EventSequences
    from summarkov.read.write import Rows

# ---------------------------------------------------------------------- events

#: Settings of reading that Python calls the same.
_SAME = (
    *("case", "event", "weight", "date_format", "missing", "ties", "times", "lifecycle"),
    *("format", "session_gap", "closed_by", "ends_column", "drop_duplicates"),
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
            attribute=given.attribute or list(cuts),
            cut=[*(given.cut or ()), *further] or None,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of reading, as Python calls them."""
        given = self.given
        if given.in_order and given.order_by:
            raise SettingError("--in-order and --order-by exclude each other")
        return {
            **{name: getattr(given, name) for name in _SAME},
            "order_by": False if given.in_order else given.order_by,
            "attributes": given.attribute or None,
            "cuts": read_cuts(given.cut) if given.cut else None,
            "ends": "cut off" if given.cut_off or getattr(given, "paper", False) else None,
            "open_since": _number_or_text(given.open_since),
        }

    def read(self, *paths: Path, known: Collection[str] | None = None, first: bool = True) -> Any:
        """Read and prepare events, of several files each; for a model, its labels tell which are rare.

        Without a model, labels are rare in the ``first`` of several, or else in all together.
        """
        found = self._prepared([self._read(path) for path in paths], known, first)
        return found[0] if len(found) == 1 else found

    @contextmanager
    def open(
        self, *paths: Path, known: Collection[str] | None = None, names: bool = False
    ) -> Iterator[list[EventSequences]]:
        """The same, in memory or streamed; with ``names`` a stream keeps those of the sequences."""
        with ExitStack() as opened:
            yield self._prepared([self._opened(path, opened, names) for path in paths], known)

    def streams(self, path: Path) -> bool:
        """Whether the events are streamed: where that is asked for, and folders, patterns and large files."""
        from summarkov.read.files import ENDINGS, STREAMED, are_several, format_of, name_of

        engine, most, several = self.given.engine, bytes_of(self.given.memory), are_several(path)
        if engine not in ("auto", "memory", "stream"):
            raise SettingError(f"--engine must be auto, memory or stream, not {engine!r}")
        if engine == "memory" and several:
            raise SettingError(f"{name_of(path)} is not one file; --engine stream reads folders and patterns")
        if engine != "auto" or several:
            return bool(engine != "memory")
        try:
            kind = format_of(name_of(path), self.given.format)
            is_packed = kind == "parquet" or name_of(path).lower().endswith(ENDINGS)
            return (
                kind in (*STREAMED, "tsv")
                and os.path.getsize(path) * (_PACKED if is_packed else _TEXT) > most
            )
        except Exception:  # reading will say what is wrong
            return False

    def _read(self, path: Path) -> EventSequences:
        from summarkov.read import read_events

        with reporting(), progress(f"Reading {shown(path)}"):
            return read_events(path, **self.settings)

    def _opened(self, path: Path, opened: ExitStack, names: bool) -> Any:
        """The events, in memory or streamed, not yet prepared."""
        if not self.streams(path):
            return self._read(path)
        from summarkov.read import scan_events

        how: dict[str, Any] = {**self.settings, "memory": bytes_of(self.given.memory)}
        with reporting(), progress("Reading", 1, "parts") as advance:
            jobs = getattr(self.given, "jobs", None)
            return opened.enter_context(scan_events(path, **how, n_jobs=jobs, names=names, progress=advance))

    def _prepared(
        self, parts: list[EventSequences], known: Collection[str] | None, first: bool = True
    ) -> list[EventSequences]:
        from summarkov.events.vocabulary import RARE, frequent_labels

        given = self.given
        if given.map is not None:
            mapping = read_map(given.map)
            parts = [part.map_labels(mapping) for part in parts]
        if given.min_count is not None:
            if known is not None and RARE not in known:
                raise SettingError(
                    f"the model was learned without --min-count: it knows no label {RARE!r}; leave it out"
                )
            kept = known or frequent_labels(parts[:1] if first else parts, given.min_count)
            parts = [part.pool_others(kept) for part in parts]
        for is_asked, change in (
            (given.drop_first, "drop_first"),
            (given.collapse, "collapse_repeats"),
            (given.start, "add_start"),
        ):
            if is_asked:
                parts = [getattr(part, change)() for part in parts]
        return parts


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
    from summarkov.read.files import name_of, text_lines
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


def families() -> dict[str, Any]:
    """All kinds of models, by their names on the command line."""
    from summarkov.models import JointSuMM
    from summarkov.models.model import all_families

    named = {each.command_name: each for each in all_families().values() if each.command_name}
    return {**named, "joint": JointSuMM}


def make_template(given: Any, among: Sequence[str] | None = None, but: Collection[str] = ()) -> Any:
    """The model that the options ask for, without a target; only the settings that were given are set.

    ``among`` are the kinds that the command takes; None: all. ``but`` are options that mean something else.
    """
    from summarkov.models import SummaryModel

    known_kinds = families()
    kind, kinds = given.model.lower(), sorted(known_kinds) if among is None else among
    if kind not in kinds:
        raise SettingError(
            f"--model must be one of {', '.join(kinds)}, not {given.model!r}{nearest(kind, kinds)}"
        )
    known = known_kinds[kind]().get_params(deep=False)
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
    template = known_kinds[kind](**typed)
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


# ---------------------------------------------------------------------- files

#: The tables that can be written, by the ends of their names.
TABLES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}


def suffix_of(path: Path) -> str:
    """The end of a file's name, such as ".csv"."""
    return path.suffix.lower()


def load_model(path: Path, *special: str) -> Any:
    """Read a model or a graph; a joint model or one of outcomes only where it is named."""
    from summarkov.models import load

    with progress(f"Loading {shown(path)}"):
        model = load(path)
    what = {"JointSuMM": "a joint model", "OutcomeModel": "a model of an outcome"}
    kind = type(model).__name__
    if kind in what and kind not in special:
        raise SettingError(
            f"{path} holds {what[kind]}, which this command does not take; show, report and predict do, and "
            "Python has everything else: summarkov.load"
        )
    return model


def check_output(path: Path | None, *inputs: Path | None, endings: str = "", safe_csv: bool = False) -> None:
    """Refuse a path that cannot be written, or that is read here, before any long work and not after it.

    ``endings`` says how its name may end, such as ".json or .md"; ``safe_csv`` that it is a table of text.
    """
    from summarkov.read.files import endings_of, name_of

    if path is not None and endings and suffix_of(path) not in re.findall(r"\.\w+", endings):
        raise SettingError(f"cannot tell the format of {shown(path)}; let its name end in {endings}")
    if safe_csv and (path is None or not name_of(path).lower().endswith(endings_of("csv", "tsv"))):
        raise SettingError("--safe-csv is for files that are written as .csv or .tsv; leave it out")
    if path is None:
        return
    why = ""
    if any(_is_read(path, each) for each in inputs if each is not None):
        why = "it is read here, and would be lost; name another file"
    elif path.is_dir():
        why = "it is a folder; name a file in it"
    elif path.exists() and not path.is_file():
        why = "it is not a regular file; name one"
    elif not path.parent.is_dir():
        why = f"there is no folder {path.parent}; make it first"
    elif not os.access(path.parent, os.W_OK):
        why = f"the folder {path.parent} may not be written to"
    if why:
        raise SettingError(f"cannot write {shown(path)}: {why}")


def _is_read(path: Path, source: Path) -> bool:
    """Whether a file is one that a path, a folder of files of events, or a pattern means."""
    from summarkov.read.files import format_of

    if not path.is_file():
        return False
    if source.is_dir():
        try:
            return path.resolve().is_relative_to(source.resolve()) and bool(format_of(str(path), None))
        except DataError:
            return False
    named = [str(source)] if source.exists() else glob.glob(str(source), recursive=True)
    return any(path.samefile(each) for each in named)


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """Name the file, not its temporary stand-in, where writing fails."""
    try:
        yield
    except OSError as problem:
        raise SettingError(f"cannot write {shown(path)}: {problem.strerror or problem}") from problem


def save_model(fitted: Any, path: Path | None) -> str | None:
    """Save what was learned, if a file is named, and return what that is called."""
    if path is None:
        return None
    with saving(path):
        fitted.save(path)
    return shown(path)


def write_text(path: Path, content: Any) -> None:
    """Write a file of text, or of JSON, whole or not at all."""
    from summarkov.read.files import write_atomically

    text = content if isinstance(content, str) else json.dumps(content, indent=1, allow_nan=False) + "\n"
    with saving(path):
        write_atomically(path, text)


@contextmanager
def known_labels() -> Iterator[None]:
    """Say what can be done about labels of a file that the model does not know."""
    try:
        yield
    except UnknownLabelError as problem:
        words = str(problem)
        words += " " if words.endswith("?") else "; "
        raise DataError(f"{words}--unknown ignore lets such labels pass") from None


def write_rows(parts: Iterable[Rows], path: Path, *, safe_csv: bool = False) -> int:
    """Write a table part by part, and return its number of rows; every part has the same columns."""
    from summarkov.read.files import replacing
    from summarkov.read.write import write_table

    n_rows, format = 0, TABLES[suffix_of(path)]

    def counted() -> Iterator[Rows]:
        nonlocal n_rows
        for part in parts:
            n_rows += len(next(iter(part.values())))
            yield part

    with saving(path), replacing(path) as temporary:
        if format == "jsonl":
            with open(temporary, "w", encoding="utf-8", newline="\n") as file:
                for part in counted():
                    file.writelines(f"{json.dumps(row)}\n" for row in plain_rows(part))
        else:
            with open(temporary, "wb") as binary:
                write_table(counted(), binary, format, safe_csv=safe_csv)
    return n_rows


def plain_rows(part: Rows) -> list[dict[str, Any]]:
    """One dict per row."""
    from summarkov.arrow import pa

    rows: list[dict[str, Any]] = pa.table(dict(part)).to_pylist()
    return rows
