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
from summarkov.cli.page import shown, working
from summarkov.errors import DataError, SettingError, UnknownLabelError

if TYPE_CHECKING:
    from summarkov.read.write import Rows

#: The tables that can be written, by the ends of their names.
TABLES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet"}
#: What only some commands can use: what it is, and which other commands can.
_SPECIAL = {
    "JointSuMM": ("a joint model", "show, report, export, evaluate, simulate"),
    "OutcomeModel": ("a model of an outcome", "show, report"),
}


def suffix_of(path: Path) -> str:
    """The end of a file's name, such as ".csv"; addresses may have settings after it."""
    from summarkov.read.files import plain_name

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
    from summarkov.read.files import endings_of, is_address, plain_name

    if path is not None and endings and suffix_of(path) not in re.findall(r"\.\w+", endings):
        raise SettingError(f"cannot tell the format of {shown(path)}; let its name end in {endings}")
    if safe_csv and (path is None or not plain_name(path).lower().endswith(endings_of("csv", "tsv"))):
        raise SettingError("--safe-csv is for files that are written as .csv or .tsv; leave it out")
    if path is None:
        return
    why = ""
    if any(_is_read(path, each) for each in inputs if each is not None):
        why = "it is read here, and would be lost; name another file"
    elif is_address(path):  # whether it may be written there, only writing tells
        return
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
    from summarkov.read.files import format_of, is_address

    if is_address(path) or is_address(source):
        return shown(path) == shown(source)
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
