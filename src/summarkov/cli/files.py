"""Files that the commands read and write: models, tables, results; checked before any long work."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from summarkov.cli.documents import is_a
from summarkov.cli.errors import report
from summarkov.cli.page import shown, working
from summarkov.errors import DataError, SettingError, UnknownLabelError

if TYPE_CHECKING:
    from summarkov.read.write import Rows

#: How the names of tables end that can be written.
TABLES = (".csv", ".parquet")
_SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}
_READ_HERE = "it is read here, and would be lost; name another file"
#: What only some commands can use: what it is, and which other commands can.
_SPECIAL = {
    "JointSuMM": ("a joint model", "show, report, export, evaluate, simulate"),
    "OutcomeModel": ("a model of an outcome", "show, report"),
}


def suffix_of(path: Path) -> str:
    """The end of a file's name, such as ".csv"; addresses may have settings after it."""
    from summarkov.read.addresses import plain_name

    return PurePath(plain_name(path)).suffix.lower()


def load_model(path: Path, *special: str) -> Any:
    """Read a model or a graph; a joint model or one of outcomes only where it is named."""
    from summarkov.models import load

    with working(f"Loading {shown(path)}"):
        model = load(path)
    for kind, (what, where) in _SPECIAL.items():
        if kind not in special and is_a(model, kind):
            raise SettingError(
                f"{path} holds {what}; it can be looked at (summarkov {where}) and predict (summarkov "
                "predict); everything else from Python: summarkov.load"
            )
    return model


def check_output(path: Path | None, *inputs: Path | None, endings: str = "", safe_csv: bool = False) -> None:
    """Refuse a path that cannot be written, or that is read here, before any long work and not after it.

    ``endings`` says how its name may end, such as ".json or .md"; ``safe_csv`` that it is a table of text.
    """
    from summarkov.read.addresses import is_address

    if path is not None and endings and suffix_of(path) not in re.findall(r"\.\w+", endings):
        raise SettingError(f"cannot tell the format of {shown(path)}; let its name end in {endings}")
    if safe_csv:
        refuse_unless_csv(path)
    if path is None:
        return
    why = ""
    if is_address(path):  # whether it may be written there, only writing tells
        why = _READ_HERE if shown(path) in [shown(each) for each in inputs if each is not None] else ""
    elif path.is_dir():
        why = "it is a folder; name a file in it"
    elif path.exists() and not path.is_file():
        why = "it is not a regular file; name one"
    elif path.exists() and any(_is_read(path, each) for each in inputs if each is not None):
        why = _READ_HERE
    elif not path.parent.is_dir():
        why = f"there is no folder {path.parent}; make it first"
    elif not os.access(path.parent, os.W_OK):
        why = f"the folder {path.parent} may not be written to"
    if why:
        raise SettingError(f"cannot write {shown(path)}: {why}")


def refuse_unless_csv(path: Path | None) -> None:
    """Refuse to make anything but a table of text safe for spreadsheets."""
    from summarkov.read.addresses import plain_name
    from summarkov.read.files import endings_of

    if path is None or not plain_name(path).lower().endswith(endings_of("csv", "tsv")):
        raise SettingError("--safe-csv is for files that are written as .csv or .tsv; leave it out")


def _is_read(path: Path, source: Path) -> bool:
    """Whether a file is one that a path, a folder or a pattern means."""
    from summarkov.read.addresses import is_address
    from summarkov.read.files import format_of

    if is_address(source):
        return False
    if source.is_dir():  # where only files of events are read
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


def write_text(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    from summarkov.read.temporary import write_atomically

    with saving(path):
        write_atomically(path, text)


def json_text(document: Any) -> str:
    """The text of a file of JSON."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


@contextmanager
def known_labels() -> Iterator[None]:
    """Say what can be done about labels of a file that the model does not know."""
    try:
        yield
    except UnknownLabelError as problem:
        words = str(problem)
        words += " " if words.endswith("?") else "; "
        raise DataError(f"{words}--unknown ignore lets such labels pass") from None


@contextmanager
def going_on(path: Path | None) -> Iterator[Path | None]:
    """The file to keep finished trials in; an interrupted user is told how to go on from there."""
    from summarkov.read.addresses import is_address

    partial = None if path is None or is_address(path) else path.with_name(path.name + ".partial")
    try:
        yield partial
    except KeyboardInterrupt:
        if partial is None:
            report("nothing is kept; with -o FILE of this machine a run can go on later", name="Note")
        elif partial.exists():
            report(f"what is done is kept in {partial}; run the same command again to go on", name="Note")
        else:
            report("nothing was done yet", name="Note")
        raise


def table_format(path: Path) -> str:
    """The format that the end of a file's name tells."""
    if suffix_of(path) not in _SUFFIXES:
        raise SettingError(
            f"cannot tell the format of {shown(path)}; let its name end in .csv, .jsonl or .parquet"
        )
    return _SUFFIXES[suffix_of(path)]


def write_rows(parts: Iterable[Rows], path: Path, *, safe_csv: bool = False) -> int:
    """Write a table part by part, and return its number of rows; every part has the same columns.

    ``safe_csv``: for spreadsheets.
    """
    from summarkov.read.temporary import replacing
    from summarkov.read.write import write_table

    n_rows = 0

    def counted() -> Iterator[Rows]:
        nonlocal n_rows
        for part in parts:
            n_rows += len(next(iter(part.values())))
            yield part

    with replacing(path) as temporary:
        if table_format(path) == "jsonl":
            with open(temporary, "w", encoding="utf-8", newline="\n") as file:
                for part in counted():
                    file.writelines(f"{json.dumps(row)}\n" for row in plain_rows(part))
        else:
            with open(temporary, "wb") as binary:
                write_table(counted(), binary, table_format(path), safe_csv=safe_csv)
    return n_rows


def save_table(table: Any, path: Path, *, safe_csv: bool = False) -> None:
    """Write a table of results."""
    frame = table.to_frame("pyarrow")
    with saving(path):
        write_rows([dict(zip(frame.column_names, frame.columns, strict=True))], path, safe_csv=safe_csv)


def plain_rows(part: Rows) -> Iterator[dict[str, Any]]:
    """One dict per row."""
    columns = [values if isinstance(values, list) else values.tolist() for values in part.values()]
    for values in zip(*columns, strict=True):
        yield dict(zip(part, values, strict=True))
