"""Labels and tables that are short enough for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from summarkov.wording import visible


def shorten(text: str, width: int) -> str:
    """Clean a label and cut it to so many cells, the last of them an ellipsis.

    >>> shorten("construction activity", 12)
    'constructio…'
    """
    if not text.strip(" "):  # nothing to see, so show where it is
        text = f'"{text}"'
    text = visible(text[: 4 * width + 4])
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def label(text: str, width: int, style: str = "") -> Text:
    """A label for a cell of a table."""
    return Text(shorten(text, width), style=style, no_wrap=True)


def new_table(gap: int = 2) -> Table:
    """A table without lines; cells are as wide as what stands in them."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")


def page_width(console: Console) -> int:
    """How wide to print: the terminal, but no wider than the eye can follow."""
    return min(console.width, 120)


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
