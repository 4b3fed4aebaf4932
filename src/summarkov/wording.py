"""Numbers and labels as people read them: on the terminal, in pages, figures and notebooks."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable

#: What comes next after the last event of a complete sequence: a possible target, never an influencer.
END = "(end of case)"


class AttributeName(str):
    """A value of an attribute, such as "ward=a", among labels: it holds all along, so it has no look-back."""

    __slots__ = ()


def with_attributes(labels: Iterable[str], attributes: Collection[str]) -> tuple[str, ...]:
    """Labels, in which those that are attributes can be told."""
    if not attributes:
        return tuple(labels)
    held = set(attributes)
    return tuple(AttributeName(label) if label in held else label for label in labels)


#: Characters without a glyph of their own that scripts and emoji need.
_JOINERS = "\u200c\u200d"


def visible(text: str) -> str:
    r"""Write every character that a terminal might obey, or not show, as an escape.

    >>> visible("red \x1b[31m\n")
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


def cut(text: str, most: int) -> str:
    r"""A text of at most ``most`` characters, all of them visible.

    >>> cut("a\tb", 9), cut("construction", 9)
    ('a\\tb', 'construc…')
    """
    shown = visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def width(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> width("Tokyo"), width("東京")
    (5, 4)
    """
    wide = (2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text if not unicodedata.combining(c))
    return sum(wide)


def several(names: Iterable[str], last: str = "and") -> str:
    """Names one after the other, with a word before the last.

    >>> several(["a"]), several(["a", "b"], "or"), several(["a", "b", "c"])
    ('a', 'a or b', 'a, b and c')
    """
    *rest, end = names
    return f"{', '.join(rest)} {last} {end}" if rest else end


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
    """A probability. 0% and 100% are said of exactly that only; nothing is said of NaN.

    >>> percent(0.226), percent(0.0047), percent(0.00001), percent(0.0), percent(0.9999)
    ('22.6%', '0.47%', '<0.01%', '0%', '>99.9%')
    """
    if math.isnan(p):
        return ""
    if p == 0 or p == 1:
        return f"{100 * p:.0f}%"
    if p < 0.0001:
        return "<0.01%"
    if p > 0.999:
        return ">99.9%"
    return f"{100 * p:.2f}%" if p < 0.00995 else f"{100 * p:.1f}%"


def interval(low: float, high: float) -> str:
    """An interval of probabilities.

    >>> interval(0.2, 0.25)
    '20.0% to 25.0%'
    """
    return f"{percent(low)} to {percent(high)}"


def factor(ratio: float) -> str:
    """By how much something is multiplied: two digits; nothing where that is not known.

    >>> factor(4.44), factor(0.283), factor(25.3), factor(7e4), factor(0.0012)
    ('×4.4', '×0.28', '×25', 'over ×100', 'under ×0.01')
    >>> factor(0.0), factor(math.inf), factor(math.nan)
    ('under ×0.01', 'over ×100', '')
    """
    if math.isnan(ratio):
        return ""
    if ratio > 100:
        return "over ×100"
    return "under ×0.01" if ratio < 0.01 else f"×{_two_digits(ratio)}"


def factor_interval(low: float, high: float) -> str:
    """Between which limits a factor lies.

    >>> factor_interval(3.86, 5.04), factor_interval(0, 0.77), factor_interval(6.02, math.inf)
    ('3.9 to 5.0', 'at most 0.77', 'at least 6.0')
    >>> factor_interval(200, 3000), factor_interval(0, math.inf)
    ('over 100', 'not known')
    """
    if math.isnan(low) or math.isnan(high) or (low == 0 and high == math.inf):
        return "not known"
    if low > 100:
        return "over 100"
    if high < 0.01:
        return "under 0.01"
    if low == 0:
        return "not known" if high > 100 else f"at most {_two_digits(high)}"
    if high == math.inf:
        return f"at least {_limit(low)}"
    return f"{_limit(low)} to {_limit(high)}"


def _limit(value: float) -> str:
    return "over 100" if value > 100 else "under 0.01" if value < 0.01 else _two_digits(value)


def _two_digits(value: float) -> str:
    """Two significant digits, also where one would do: 1.0, 0.30."""
    return f"{value:.0f}" if float(f"{value:.2g}") >= 10 else f"{value:#.2g}"


def whole(n: float) -> float | int:
    """A count; weights may make it fractional.

    >>> whole(3.0), whole(0.5)
    (3, 0.5)
    """
    return int(n) if n == int(n) else n


def rounded(value: float, digits: int) -> float | int:
    """A number with at most ``digits`` significant digits.

    >>> rounded(1 / 3, 4), rounded(2.0, 4)
    (0.3333, 2)
    """
    return whole(float(f"{value:.{digits}g}"))
