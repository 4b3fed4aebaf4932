"""One renderer for all results: a command gives a document, which is printed for people or as JSON.

A document has parts: sentences, and sheets (a headline, a table, notes), as Python shows them too. Results go
to stdout; progress and errors go to stderr.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from summarkov.frames import Sheet
from summarkov.wording import visible

#: ``advance(done, total)``: how far some work has come; a third argument says what is done now.
Advance = Callable[..., None]
#: The least that a name is given before columns that can be spared are left out; wider columns are names, and
#: longer cells are cut.
_NAME, _LONG, _LONGEST = 14, 40, 400
#: How many lines a first screen has.
SCREEN = 24
#: What stands for signs on a terminal without them.
_PLAIN = {"→": "->", "×": "x", "├─": "|-", "└─": "`-", "│": "|", "█": "#", "…": "~"}
#: Cells that are numbers, and stand at the right; and cells that are not wrapped.
_NUMBER = re.compile(r"(([<>×+-]*[\d.,]+%?|about .*)( of [\d,.]+)?|never seen|)")
_WHOLE = re.compile(r"$|█|[<>×*(+-]*\d|(not known|at|over|under|never|only|unclear|mixed|raw|hardly)\b")


class Headline(str):
    """The result in one sentence."""


class Note(str):
    """How to read a result, or what to keep in mind."""


class Line(str):
    """A line that people may copy, such as a path or a command, or of a drawing: it is not wrapped."""


class Raw(str):
    """Text for other programs, written as it is."""


@dataclass(frozen=True, repr=False)
class Table(Sheet):
    """A sheet whose rows stand below titles: ``sections`` are these, each with the number of rows below it.

    ``spare`` are headings of columns that are left out where there is little space, and it is said which;
    ``styles`` are those of the rows.
    """

    spare: Sequence[str] = ()
    sections: Sequence[tuple[str, int]] = ()
    styles: Sequence[str] = ()


Part = str | Sheet


@dataclass(frozen=True)
class Document:
    """What a command found: ``data`` for programs, ``parts`` for people; only one of them is ever asked for.

    ``more`` says how to see rows that are left out: all that do not fit on a screen, where ``is_short``.
    ``save`` is called once it is printed, so that a result is not lost where it cannot be saved.
    """

    data: Callable[[], Any]
    parts: Iterable[Part] = ()
    save: Callable[[], Iterable[Part]] = tuple
    more: str = "--rows 0 prints all"
    is_short: bool = False

    def give(self, *, as_json: bool) -> None:
        """Print it. JSON is in ASCII, so that no label can reach the terminal as it is.

        Numbers that are infinite or not known, such as the ratio of what happens only then, are null.
        """
        if as_json:
            text = json.dumps(plain(self.data()), indent=1, allow_nan=False, default=str)
            sys.stdout.write(text + "\n")
        else:
            page = Page()
            page.show(page.on_a_screen(self.parts, self.more) if self.is_short else self.parts, self.more)
        done = list(self.save())
        if not as_json:
            Page().show(done)


def plain(value: Any) -> Any:
    """Records as JSON has them: their fields, and what their class lists in ``derived_columns``.

    >>> plain({"ratio": math.inf, "limits": (0.5, math.nan)})
    {'ratio': None, 'limits': [0.5, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        names = [*(each.name for each in fields(value)), *getattr(value, "derived_columns", ())]
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if hasattr(value, "tolist"):  # of NumPy
        return plain(value.tolist())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def saved(what: str, **data: Any) -> Document:
    """That something was written."""
    return Document(lambda: data, [Line(what)])


class Page(Console):
    """A console for results. Labels are text: no markup, emoji codes or highlights are looked for."""

    def __init__(self, **how: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **how)

    @property
    def page_width(self) -> int:
        """How wide to print: the terminal, but no wider than the eye can follow."""
        return min(self.width, 120)

    def show(self, parts: Iterable[Part], more: str = "") -> None:
        """Print parts one after the other, with an empty line around each table."""
        is_apart = is_first = True
        for part in parts:
            if not isinstance(part, Sheet):
                if not is_apart and part and not isinstance(part, Raw):
                    self.print()
                self._say(part)
                is_apart, is_first = True, not part
                continue
            title = [line for line in part.title.split("\n") if line]
            if title and not is_apart:
                self.print()
            for line, style in zip(title, ["bold"] + [""] * len(title), strict=False):
                self._print(line, style)
            if part.rows:
                if title or not is_first:
                    self.print()
                self._show_table(part, more)
            elif part.total:
                self._print(f"{part.head[0]}: {part.total:,}; {more}", "dim")
            for at, note in enumerate(part.notes):
                self._print(note if at or not part.rows else f"\n{note}")
            is_apart, is_first = not part.rows or bool(part.notes), False

    def on_a_screen(self, parts: Iterable[Part], more: str) -> list[Part]:
        """The parts without what a screen has no room for: rows of the longest tables, tables, notes."""
        fitting = [_with_rows(part, SCREEN) if isinstance(part, Sheet) else part for part in parts]
        while True:
            written = StringIO()
            Page(file=written, width=self.width).show(fitting, more)
            over = written.getvalue().count("\n") - SCREEN
            n_rows = [len(part.rows) if isinstance(part, Sheet) else 0 for part in fitting]
            notes = [at for at, part in enumerate(fitting) if isinstance(part, Note)]
            tables = [at for at, n in enumerate(n_rows) if n]
            if over > 0 and max(n_rows, default=0) > 1:
                at = n_rows.index(max(n_rows))
                fitting[at] = _with_rows(fitting[at], max(1, n_rows[at] - max(1, over // 4)))
            elif over > 0 and len(tables) > 1:
                fitting[tables[-1]] = _with_rows(fitting[tables[-1]], 0)
            elif over > 0 and notes:
                del fitting[notes[-1]]
            else:
                return fitting

    def _say(self, part: str) -> None:
        if isinstance(part, Raw):
            sys.stdout.write(part)
        elif isinstance(part, Line):
            self.print(self._signs(part), soft_wrap=True)
        else:
            self._print(
                part, "bold" if isinstance(part, Headline) else "dim" if isinstance(part, Note) else ""
            )

    def _print(self, text: str, style: str = "") -> None:
        self.print("\n".join(map(self._signs, text.split("\n"))), style=style, width=self.page_width)

    def _signs(self, text: str) -> str:
        """Text with signs that the terminal has, all of it visible."""
        if self.options.ascii_only:
            for sign, plain in _PLAIN.items():
                text = text.replace(sign, plain)
        return visible(text)

    def _show_table(self, table: Sheet, more: str) -> None:
        """Print the rows, below titles if there are any; columns that do not fit in further blocks."""
        rows = [[shorten(cell, _LONGEST) if cell else "" for cell in row] for row in table.rows]
        cells = [list(column) for column in zip(*rows, strict=True)]
        numbers = [all(map(_NUMBER.fullmatch, column)) for column in cells]
        full = {
            at: max(map(cell_len, [table.head[at], *column]))
            for at, column in enumerate(cells)
            if any(column)
        }
        names = {at for at in full if full[at] > _LONG or not all(map(_WHOLE.match, cells[at]))}
        blocks = self._blocks(table, full, names)
        sections = getattr(table, "sections", ()) or [("", len(rows))]
        styles = getattr(table, "styles", ()) or [""] * len(rows)
        for n, widths in enumerate(blocks):
            first = 0
            for title, n_rows in sections:
                if title:
                    self._print(("\n" if first or n else "") + title, "dim")
                grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
                grid.show_header = not first
                for at, width in widths.items():
                    side: Any = "right" if numbers[at] else "left"
                    how: Any = {"justify": side, "width": width, "overflow": "fold"}
                    grid.add_column(self._signs(table.head[at]), no_wrap=at not in names, **how)
                for row, style in zip(rows[first:][:n_rows], styles[first:], strict=False):
                    grid.add_row(*(Text(self._signs(row[at]), style=style) for at in widths))
                if n and not title and not first:
                    self.print()
                self.print(grid)
                first += n_rows
        shown = {at for block in blocks for at in block}
        lost = [table.head[at] for at in full if at not in shown]
        if lost:
            self._print(f"Left out for want of space, --json has it: {', '.join(lost)}", "dim")
        if table.total > len(rows):
            self._print(f"... and {table.total - len(rows):,} more{more and '; '}{more}", "dim")

    def _blocks(self, table: Sheet, full: dict[int, int], names: set[int]) -> list[dict[int, int]]:
        """The columns that stand beside each other, and how wide each is; the first stands in every block."""
        least = {at: min(width, _NAME) if at in names else width for at, width in full.items()}
        for spare in getattr(table, "spare", ()):
            if sum(least.values()) + 2 * len(least) - 2 > self.page_width:
                least = {at: width for at, width in least.items() if table.head[at] != spare}
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


def _with_rows(table: Any, most: int) -> Any:
    """A table with its first rows alone."""
    changed: dict[str, Any] = {}
    if getattr(table, "sections", ()):
        ends = list(itertools.accumulate(n for _, n in table.sections))
        sizes = [
            (title, n - max(0, end - most)) for (title, n), end in zip(table.sections, ends, strict=True)
        ]
        changed["sections"] = [(title, n) for title, n in sizes if n > 0]
    return replace(table, rows=table.rows[:most], **changed)


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


def shown(path: Path) -> str:
    """What a file is called."""
    return str(path)


# ---------------------------------------------------------------------- while something goes on


def errors() -> Page:
    """Where everything goes that is not a result."""
    return Page(stderr=True)


@contextmanager
def progress(what: str, total: int | None = None, unit: str = "") -> Iterator[Advance]:
    """Show on stderr, if that is a terminal, what is going on and how long; with a bar if it has a total."""
    from rich import progress as bars

    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *done: None
        return
    columns: list[Any] = [bars.SpinnerColumn("line"), bars.TextColumn("{task.description}", markup=False)]
    if total is not None:
        columns += [
            bars.BarColumn(bar_width=24),
            bars.MofNCompleteColumn(),
            bars.TextColumn(unit, markup=False),
            bars.TimeRemainingColumn(elapsed_when_finished=False),
            bars.TextColumn("left,", markup=False),
        ]
    with bars.Progress(*columns, bars.TimeElapsedColumn(), console=errors(), transient=True) as going:
        task = going.add_task(visible(what), total=total)
        yield lambda done, total, now=what: going.update(
            task, completed=done, total=total, description=visible(now.capitalize())
        )
