"""Where output goes: results to stdout; progress, warnings and errors to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from summarkov.wording import visible

#: ``advance(done, total)``: how far some work has come.
Advance = Callable[[int, int], None]


def output() -> Console:
    """The console for results. Labels are text: no markup, emoji codes or highlights are looked for."""
    return Console(markup=False, emoji=False, highlight=False)


def errors() -> Console:
    """The console for everything that is not a result."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def print_json(document: Any) -> None:
    """Print one JSON document, in ASCII so that no label can reach the terminal as it is."""
    sys.stdout.write(json.dumps(document, indent=1, allow_nan=False, default=str) + "\n")


def print_line(console: Console, line: str, style: str = "") -> None:
    """Print a line that may be copied, such as a path or a command: never wrapped nor cut."""
    console.print(Text(visible(line), style=style), soft_wrap=True)


@contextmanager
def progress(what: str, total: int, unit: str) -> Iterator[Advance]:
    """Show a bar on stderr while something runs, if that is a terminal."""
    if not _terminal():
        yield lambda done, total: None
        return
    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn(unit, markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors(), transient=True) as shown:
        task = shown.add_task(visible(what), total=total)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on stderr for work that has several stages, if that is a terminal."""
    if not _terminal():
        yield lambda what, done, total: None
        return
    columns = (
        SpinnerColumn("line"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors(), transient=True) as shown:
        task = shown.add_task("Reading", total=None)
        yield lambda what, done, total: shown.update(
            task, description=what.capitalize(), completed=done, total=total
        )


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr that something is going on whose end cannot be told, if that is a terminal."""
    if not _terminal():
        yield
        return
    columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=errors(), transient=True) as shown:
        shown.add_task(visible(what), total=None)
        yield


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
