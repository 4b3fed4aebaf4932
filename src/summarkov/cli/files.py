"""Files that the commands read and write."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from summarkov.cli.console import working
from summarkov.errors import DataError, SettingError, UnknownLabelError


def load_model(path: Path, *, bags: bool = False) -> Any:
    """Read a model or a graph; a bag of models only where the command can use one."""
    from summarkov.models import load

    with working(f"Loading {path}"):
        model = load(path)
    if is_bag(model) and not bags:
        raise SettingError(
            f"{path} holds a bag of models; it can be shown (summarkov show) and predict (summarkov predict) "
            "a file; everything else from Python: summarkov.load"
        )
    return model


def is_bag(model: Any) -> bool:
    """Whether what was loaded is a bag of models."""
    from summarkov.models import Bag

    return isinstance(model, Bag)


def check_output(path: Path | None, *inputs: Path | None) -> None:
    """Refuse a path that cannot be written, or that is read here, before any long work and not after it."""
    if path is None:
        return
    folder = path.parent
    if path.is_dir():
        raise SettingError(f"cannot write {path}: it is a folder; name a file in it")
    if path.exists():
        if not path.is_file():
            raise SettingError(f"cannot write {path}: it is not a regular file; name one")
        if any(_is_read(path, each) for each in inputs if each is not None):
            raise SettingError(f"cannot write {path}: it is read here, and would be lost; name another file")
    if not folder.is_dir():
        raise SettingError(f"cannot write {path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"cannot write {path}: the folder {folder} may not be written to")


def refuse_unless_csv(path: Path | None) -> None:
    """Refuse to make anything but a table of text safe for spreadsheets."""
    from summarkov.io.files import endings_of

    if path is None or not path.name.lower().endswith(endings_of("csv", "tsv")):
        raise SettingError("--safe-csv is for files that are written as .csv or .tsv; leave it out")


def _is_read(path: Path, source: Path) -> bool:
    """Whether a file is one that a path, a folder or a pattern means."""
    if source.is_dir():  # where only files of events are read
        return path.resolve().is_relative_to(source.resolve()) and _has_events(path)
    named = [str(source)] if source.exists() else glob.glob(str(source), recursive=True)
    return any(path.samefile(each) for each in named)


def _has_events(path: Path) -> bool:
    from summarkov.io.files import format_of

    try:
        return bool(format_of(str(path), None))
    except DataError:
        return False


@contextmanager
def saving(path: Path) -> Iterator[None]:
    """Name the file, not its temporary stand-in, where writing fails."""
    try:
        yield
    except OSError as problem:
        raise SettingError(f"cannot write {path}: {problem.strerror or problem}") from problem


@contextmanager
def known_labels() -> Iterator[None]:
    """Say what can be done about labels of a file that the model does not know."""
    try:
        yield
    except UnknownLabelError as problem:
        told = str(problem)
        told += " " if told.endswith("?") else "; "
        raise DataError(f"{told}--unknown ignore lets such labels pass") from None
