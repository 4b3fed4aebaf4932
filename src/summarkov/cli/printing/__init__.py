"""Results for people to read, and as JSON for programs: where they go, and what fits a terminal.

Results go to stdout; progress, notes and errors to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column, Table
from rich.text import Text

from summarkov.errors import without_secrets
from summarkov.wording import visible

#: ``advance(done, total)``: how far some work has come.
Advance = Callable[[int, int], None]


class Page(Console):
    """A console for results. Labels are text: no markup, emoji codes or highlights are looked for."""

    def __init__(self, **how: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **how)

    @property
    def page_width(self) -> int:
        """How wide to print: the terminal, but no wider than the eye can follow."""
        return min(self.width, 120)

    @property
    def is_plain(self) -> bool:
        """Whether the terminal may have no block characters, nor other signs beyond ASCII."""
        return self.options.ascii_only

    def signs(self, text: str) -> str:
        """Text with signs that the terminal has."""
        return text.replace("→", "->").replace("×", "x") if self.is_plain else text

    def print_line(self, line: str, style: str = "") -> None:
        """Print a line that may be copied, such as a path or a command: never wrapped nor cut."""
        self.print(visible(line), style=style, soft_wrap=True)


def results() -> Page:
    """Where results go."""
    return Page()


def errors() -> Page:
    """Where everything goes that is not a result."""
    return Page(stderr=True)


def shown(path: Path) -> str:
    """What a file is called, without secrets: of an address, pathlib leaves one slash of two."""
    from summarkov.read.addresses import name_of

    return without_secrets(name_of(path))


def print_json(document: Any) -> None:
    """Print one JSON document, in ASCII so that no label can reach the terminal as it is.

    Numbers that are infinite or not known, such as the factor of what happens only then, are null.
    """
    from summarkov.store import finite

    sys.stdout.write(json.dumps(finite(document), indent=1, allow_nan=False, default=str) + "\n")


def print_result(json: bool, document: Any, show: Callable[..., None], *told: Any) -> None:
    """Print a result as JSON, or ``show`` it on the console for results with what else it takes."""
    if json:
        print_json(document)
    else:
        show(results(), *told)


@contextmanager
def progress(what: str, total: int, unit: str) -> Iterator[Advance]:
    """Show a bar on stderr while something runs, if that is a terminal."""
    columns = BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn(unit, markup=False)
    with _going_on(what, *columns, total=total) as update:
        yield lambda done, total: update(completed=done, total=total)


@contextmanager
def stages() -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar on stderr for work that has several stages, if that is a terminal."""
    with _going_on("Reading", BarColumn(bar_width=24), TaskProgressColumn(markup=False)) as update:
        yield lambda done, total, what: update(description=what.capitalize(), completed=done, total=total)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr that something is going on whose end cannot be told, if that is a terminal."""
    with _going_on(what):
        yield


@contextmanager
def _going_on(what: str, *columns: ProgressColumn, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show what is going on, these columns, and for how long; gives what changes them."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda **now: None
        return
    begin = SpinnerColumn("line"), TextColumn("{task.description}", markup=False)
    with Progress(*begin, *columns, TimeElapsedColumn(), console=errors(), transient=True) as shown:
        task = shown.add_task(visible(what), total=total)
        yield lambda **now: shown.update(task, **now)


def shorten(text: str, width: int) -> str:
    """Clean a label and cut it to at most ``width`` cells, the last of them an ellipsis.

    >>> shorten("construction activity", 12)
    'constructio…'
    """
    if not text.strip(" "):  # nothing to see, so show where it is
        text = f'"{text}"'
    text = visible(text[: 4 * width + 4])
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def first_of(texts: Sequence[str], most: int, between: str = ", ", last: str = " and ") -> str:
    """The first of some texts, and how many more there are.

    >>> first_of(["A", "B", "C"], 2)
    'A, B and 1 more'
    """
    more = f"{last}{len(texts) - most} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


def label(text: str, width: int, style: str = "") -> Text:
    """A label for a cell of a table."""
    return Text(shorten(text, width), style=style, no_wrap=True)


def new_table(*columns: str | Column, gap: int = 2) -> Table:
    """A table without lines. A column is its heading, with ">" before it if cells stand at the right."""
    made = (
        Column(each.removeprefix(">"), justify="right" if each[:1] == ">" else "left", no_wrap=True)
        if isinstance(each, str)
        else each
        for each in columns
    )
    return Table(*made, box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")


def widest(texts: Sequence[str], most: int = 1000) -> int:
    """The number of cells that the widest of some labels takes, within bounds."""
    return max((min(cell_len(visible(text[:most])), most) for text in texts), default=0)


def bar(share: float, width: int, *, plain: bool = False) -> str:
    """A bar, in eighths of a cell.

    >>> bar(0.5, 4), bar(0.5, 4, plain=True)
    ('██', '##')
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if plain:
        return "#" * round(eighths / 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
