"""Numbers as short as they may be."""

from __future__ import annotations

from collections.abc import Iterable


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


def all_rounded(values: Iterable[float], digits: int) -> list[float | int]:
    """Numbers with at most ``digits`` significant digits."""
    return [rounded(value, digits) for value in values]
