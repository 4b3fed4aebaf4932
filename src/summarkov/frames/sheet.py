"""A small table to look at: as text, and as HTML where a notebook shows it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from summarkov.wording import visible

#: Show at most this many rows.
MOST = 30
#: Longer texts are cut: in cells, and in titles and notes.
_LONGEST, _LONGEST_LINE = 80, 400


@dataclass(frozen=True, repr=False)
class Sheet:
    """A title, a table of texts and notes below it.

    ``rows`` are those to show, of ``total`` that there are. ``colours`` may give the cell of a row and column
    a colour in HTML. Whatever comes from data is escaped, and long texts are cut.

    >>> from summarkov.frames import Sheet
    >>> Sheet("Fruit", ("name", "n"), [("apple", "3"), ("fig", "12")], total=5, notes=("Fresh ones.",))
    Fruit
    name    n
    apple   3
    fig    12
    ... and 3 more
    Fresh ones.
    """

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    total: int = 0
    notes: Sequence[str] = ()
    colours: Sequence[Sequence[str | None]] = ()

    def __str__(self) -> str:
        lines = [_cut(line, _LONGEST_LINE) for line in self.title.split("\n") if line]
        table = [[_cut(cell) for cell in row] for row in (self.head, *self.rows)] if self.rows else []
        if table:
            widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
            lines += [
                "  ".join(
                    " " * (w - _width(cell)) + cell if to_right else cell + " " * (w - _width(cell))
                    for cell, w, to_right in zip(row, widths, self._to_the_right, strict=True)
                ).rstrip()
                for row in table
            ]
        if self._more:
            lines.append(self._more)
        return "\n".join([*lines, *(_cut(note, _LONGEST_LINE) for note in self.notes)])

    __repr__ = __str__

    @property
    def _more(self) -> str:
        left = self.total - len(self.rows)
        return f"... and {left:,} more" if left > 0 else ""

    @property
    def _to_the_right(self) -> list[bool]:
        """Columns of numbers only."""
        return [all(map(_is_number, column)) for column in zip(*self.rows, strict=True)]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        title = "<br>".join(_html(line, _LONGEST_LINE) for line in self.title.split("\n") if line)
        notes = "".join(f"<p>{_html(text, _LONGEST_LINE)}</p>" for text in (self._more, *self.notes) if text)
        if not self.rows:
            return f"<p>{title}</p>{notes}"
        styles = [_style(to_right) for to_right in self._to_the_right]
        cells = "".join(f"<th{s}>{_html(name)}</th>" for name, s in zip(self.head, styles, strict=True))
        body = "".join(
            "<tr>" + "".join(f"<td{s}>{self._cell(i, j)}</td>" for j, s in enumerate(styles)) + "</tr>"
            for i in range(len(self.rows))
        )
        return (
            f"<table><caption>{title}</caption><thead><tr>{cells}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}"
        )

    def _cell(self, row: int, column: int) -> str:
        text = _html(self.rows[row][column])
        colour = self.colours[row][column] if self.colours else None
        return f'<span style="color:{colour}">{text}</span>' if colour else text


def _style(to_right: bool) -> str:
    """How the cells of a column stand: in one line each, with room between columns, as in the text."""
    return f' style="text-align:{"right" if to_right else "left"};white-space:nowrap;padding:0.1em 0.6em"'


def _cut(text: str, longest: int = _LONGEST) -> str:
    shown = visible(text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _html(text: str, longest: int = _LONGEST) -> str:
    """Text from data as text, in its own direction of writing."""
    return f"<bdi>{escape(_cut(text, longest))}</bdi>"


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _is_number(text: str) -> bool:
    return not text or text.strip("×%<>~+-").replace(",", "").replace(".", "").isdecimal()
