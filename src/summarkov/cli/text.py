"""Labels and numbers as text that is safe and short enough for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Characters without a glyph of their own that scripts and emoji need.
_JOINERS = "\u200c\u200d"


def clean(text: str) -> str:
    r"""Write every character that a terminal might obey, or not show, as an escape.

    >>> clean("red \x1b[31m\n")
    'red \\x1b[31m\\n'
    """
    if text.isprintable():
        return text
    return "".join(c if is_visible(c) else escape(c) for c in text)


def is_visible(character: str) -> bool:
    """Whether a character is shown as it is."""
    return character.isprintable() or character in _JOINERS


def escape(character: str) -> str:
    """A character as Python writes it."""
    return character.encode("unicode_escape").decode("ascii")


def shorten(text: str, width: int) -> str:
    """Clean a label and cut it to so many cells, the last of them an ellipsis.

    >>> shorten("construction activity", 12)
    'constructio…'
    """
    if not text.strip(" "):  # nothing to see, so show where it is
        text = f'"{text}"'
    text = clean(text[: 4 * width + 4])
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)).rstrip() + "…"


def label(text: str, width: int, style: str = "") -> Text:
    """A label for a cell of a table."""
    return Text(shorten(text, width), style=style, no_wrap=True)


def new_table(gap: int = 2) -> Table:
    """A table without lines; cells are as wide as what stands in them."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")


def page_width(console: Console) -> int:
    """How wide to print: the terminal, but no wider than the eye can follow."""
    return min(console.width, 100)


def widest(texts: Sequence[str], most: int = 1000) -> int:
    """The number of cells that the widest of some labels takes, within bounds."""
    return max((min(cell_len(clean(text[:most])), most) for text in texts), default=0)


def number(n: float) -> str:
    """A count, with separators; weights may make it fractional.

    >>> number(1234.0), number(0.5)
    ('1,234', '0.5')
    """
    return f"{n:,.0f}" if n == round(n) else f"{n:,.1f}"


def plural(n: float, thing: str) -> str:
    """A number of things.

    >>> plural(1, "event"), plural(2000, "event")
    ('1 event', '2,000 events')
    """
    return f"{number(n)} {thing}{'' if n == 1 else 's'}"


def percent(p: float) -> str:
    """A probability.

    >>> percent(0.226), percent(0.0047), percent(0.00001), percent(0.0)
    ('22.6%', '0.47%', '<0.01%', '0%')
    """
    if p == 0 or p == 1:
        return f"{100 * p:.0f}%"
    if p < 0.0001:
        return "<0.01%"
    return f"{100 * p:.2f}%" if p < 0.01 else f"{100 * p:.1f}%"


def interval(low: float, high: float) -> str:
    """An interval of probabilities.

    >>> interval(0.2, 0.25)
    '20.0% to 25.0%'
    """
    return f"{percent(low)} to {percent(high)}"


def factor(ratio: float) -> str:
    """By how much something is multiplied.

    >>> factor(4.44), factor(0.283), factor(25.3), factor(0.0012)
    ('x4.4', 'x0.28', 'x25', 'x0.0012')
    """
    if ratio >= 10_000:
        return f"x{ratio:.0e}"
    return f"x{ratio:,.0f}" if ratio >= 10 else f"x{ratio:.1f}" if ratio >= 1 else f"x{ratio:.2g}"


def bar(share: float, width: int, *, plain: bool = False) -> str:
    """A bar, in eighths of a cell.

    >>> bar(0.5, 4), bar(0.5, 4, plain=True)
    ('██', '##')
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if plain:
        return "#" * round(eighths / 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
