"""One renderer for all results: a command gives a document, which is printed for people or as JSON.

A document has parts: a headline, tables, sentences and notes. Results go to stdout; progress and errors go to
stderr.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table as Grid
from rich.text import Text

from summarkov.errors import without_secrets
from summarkov.wording import visible

if TYPE_CHECKING:
    from summarkov.frames import Sheet

#: ``advance(done, total)``: how far some work has come; a third argument says what is done now.
Advance = Callable[..., None]
#: The least that a name is given before columns that can be spared are left out.
_NAME = 14
#: Labels longer than this are shortened in tables, however much space there is.
_LONGEST = 60

# ---------------------------------------------------------------------- the parts of a document


class Headline(str):
    """The result in one sentence."""


class Note(str):
    """How to read a result, or what to keep in mind."""


class Line(str):
    """A line that people may copy, such as a path or a command: it is neither wrapped nor cut."""


class Drawn(str):
    """A line of a drawing: it is cut, not wrapped."""


class Quote(str):
    """Words of a document of the user's, set apart."""


class Raw(str):
    """Text for other programs, written as it is."""


@dataclass(frozen=True)
class Table:
    """Rows below headings.

    A heading that begins with ">" is of numbers, at the right. One that begins with "*" is of names, to be
    wrapped where there is little space. Columns that do not fit beside each other are printed in blocks, the
    first column in each; but ``spare`` are headings of columns that are left out then, and it is said which.
    ``sections`` are titles, each with the number of rows below it; ``more`` stands below all.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    spare: Sequence[str] = ()
    more: str = ""
    sections: Sequence[tuple[str, int]] = ()
    styles: Sequence[str] = ()


Part = str | Table


def sheet(found: Sheet) -> Iterator[Part]:
    """What Python shows of a result, as parts."""
    first, *rest = found.title.split("\n")
    yield from ([Headline(first)] if first else []) + rest
    if found.rows:
        columns = list(zip(*found.rows, strict=True))
        head = [_kind(cells) + heading for heading, cells in zip(found.head, columns, strict=True)]
        left = found.total - len(found.rows)
        yield Table(
            head,
            [[x and name(x) for x in row] for row in found.rows],
            more=f"... and {left:,} more" if left > 0 else "",
        )
    yield from found.notes


def _kind(cells: Sequence[str]) -> str:
    """Whether a column is of numbers, of intervals and the like, or of names."""
    if all(re.fullmatch(r"([<>×+-]*[\d.,]+%?)?", cell) for cell in cells):
        return ">"
    return "" if all(re.match(r"$|[<>×(+-]*\d|not known|at |over |under ", cell) for cell in cells) else "*"


@dataclass(frozen=True)
class Document:
    """What a command found: ``data`` for programs, ``parts`` for people; only one of them is ever asked for.

    ``save`` is called once it is printed, so that a result is not lost where it cannot be saved.
    """

    data: Callable[[], Any]
    parts: Iterable[Part] = ()
    save: Callable[[], Iterable[Part]] = tuple

    def give(self, *, as_json: bool) -> None:
        """Print it."""
        if as_json:
            print_json(self.data())
        else:
            Page().show(self.parts)
        done = list(self.save())
        if not as_json:
            Page().show(done)


def saved(what: str, **data: Any) -> Document:
    """That something was written."""
    return Document(lambda: data, [Line(what)])


def print_json(document: Any) -> None:
    """Print one JSON document, in ASCII so that no label can reach the terminal as it is.

    Numbers that are infinite or not known, such as the ratio of what happens only then, are null.
    """
    from summarkov.store import finite

    sys.stdout.write(json.dumps(finite(document), indent=1, allow_nan=False, default=str) + "\n")


# ---------------------------------------------------------------------- for people


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

    def show(self, parts: Iterable[Part]) -> None:
        """Print parts one after the other, with an empty line around each table."""
        last: Part | None = None
        for part in parts:
            is_apart = isinstance(part, Table) or (isinstance(last, Table) and part != "")
            if last not in (None, "") and is_apart and not isinstance(part, Raw):
                self.print()
            self._show(part)
            last = part

    def _show(self, part: Part) -> None:
        if isinstance(part, Table):
            self._show_table(part)
        elif isinstance(part, Raw):
            sys.stdout.write(part)
        elif isinstance(part, Line):
            self.print(visible(part), soft_wrap=True)
        elif isinstance(part, Drawn):
            self.print(self._signs(shorten(part, self.page_width)), soft_wrap=True)
        elif isinstance(part, Quote):
            self.print(Padding(Text(visible(part)), (0, 0, 0, 2)), width=self.page_width)
        else:
            style = "bold" if isinstance(part, Headline) else "dim" if isinstance(part, Note) else ""
            self.print(self._signs(part), style=style, width=self.page_width)

    def _signs(self, text: str) -> str:
        """Text with signs that the terminal has, all of it visible."""
        if self.is_plain:
            for sign, plain in _PLAIN.items():
                text = text.replace(sign, plain)
        return visible(text)

    def _show_table(self, table: Table) -> None:
        blocks = self._fit(table)
        for n, widths in enumerate(blocks):
            if n:
                self.print()
            first = 0
            for title, n_rows in table.sections or [("", len(table.rows))]:
                if title:
                    self.print(
                        ("\n" if first else "") + self._signs(title), style="dim", width=self.page_width
                    )
                self.print(self._grid(table, widths, first, first + n_rows))
                first += n_rows
        shown = [heading for block in blocks for heading in _headings(table, block)]
        lost = [
            each
            for each in _headings(table, range(len(table.head)))
            if each in table.spare and each not in shown
        ]
        left_out = f"Left out for want of space, --json has it: {', '.join(lost)}" if lost else ""
        for note in filter(None, (left_out, table.more)):
            self.print(self._signs(note), style="dim", width=self.page_width)

    def _grid(self, table: Table, widths: Mapping[int, int], first: int, end: int) -> Grid:
        """Some rows of some columns; the headings stand above the first."""
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_header=not first)
        for at, heading in zip(widths, _headings(table, widths), strict=True):
            grid.add_column(
                self._signs(heading),
                justify="right" if table.head[at][:1] == ">" else "left",
                width=widths[at],
                no_wrap=table.head[at][:1] != "*",
                overflow="fold",
            )
        for row in range(first, end):
            style = table.styles[row] if table.styles else ""
            grid.add_row(*(Text(self._signs(table.rows[row][at]), style=style) for at in widths))
        return grid

    def _fit(self, table: Table) -> list[dict[int, int]]:
        """The columns that stand beside each other, and how wide each is; the first stands in every block."""
        every = range(len(table.head))
        full = {
            at: widest([*_headings(table, [at]), *(row[at] for row in table.rows)])
            for at in every
            if any(row[at] for row in table.rows)
        }
        names = {at for at in full if table.head[at][:1] == "*"}
        least = {at: min(width, _NAME) if at in names else width for at, width in full.items()}
        for spare in table.spare:
            if sum(least.values()) + 2 * len(least) - 2 > self.page_width:
                least = {at: width for at, width in least.items() if spare not in _headings(table, [at])}
        blocks: list[dict[int, int]] = [{}]
        for at, width in least.items():
            if (
                len(blocks[-1]) > 1
                and sum(2 + each for each in blocks[-1].values()) + width > self.page_width
            ):
                blocks.append({0: least[0]})
            blocks[-1][at] = width
        for block in blocks:
            left = self.page_width - sum(2 + width for width in block.values()) + 2
            for at in sorted(names & set(block), key=full.__getitem__):  # the narrow ones are whole first
                more = max(0, min(full[at] - block[at], left))
                block[at], left = block[at] + more, left - more
        return blocks


def _headings(table: Table, which: Iterable[int]) -> list[str]:
    """Headings of columns without the marks of their kinds."""
    return [table.head[at].lstrip(">*") for at in which]


#: What stands for signs on a terminal without them.
_PLAIN = {"→": "->", "×": "x", "├─": "|-", "└─": "`-", "│": "|", "█": "#", "…": "~"}


def name(text: str) -> str:
    """A label for a cell of names."""
    return shorten(text, _LONGEST)


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


def widest(texts: Iterable[str], most: int = 1000) -> int:
    """The number of cells that the widest of some labels takes, within bounds."""
    return max((min(cell_len(visible(text[:most])), most) for text in texts), default=0)


def bar(share: float, width: int = 10) -> str:
    """A bar.

    >>> bar(0.5, 4)
    '██'
    """
    return "█" * round(max(0.0, min(1.0, share)) * width)


def shown(path: Path) -> str:
    """What a file is called, without secrets: of an address, pathlib leaves one slash of two."""
    from summarkov.read.addresses import name_of

    return without_secrets(name_of(path))


# ---------------------------------------------------------------------- while something goes on


def errors() -> Page:
    """Where everything goes that is not a result."""
    return Page(stderr=True)


@contextmanager
def progress(what: str, total: int, unit: str) -> Iterator[Advance]:
    """Show a bar on stderr while something runs, if that is a terminal."""
    columns = BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn(unit, markup=False)
    with _going_on(what, *columns, total=total) as update:
        yield lambda done, total, now=what: update(completed=done, total=total, description=now.capitalize())


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
    with Progress(*begin, *columns, TimeElapsedColumn(), console=errors(), transient=True) as going:
        task = going.add_task(visible(what), total=total)
        yield lambda **now: going.update(task, **now)
