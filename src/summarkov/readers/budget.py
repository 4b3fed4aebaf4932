"""What reading may hold in memory, and what to say where that cannot be kept."""

from __future__ import annotations

from summarkov.errors import TooLargeError

#: From here on ``memory=`` is kept: Arrow and Python themselves need some room to work in.
LEAST = 1 << 26
#: What an event of a list takes while it is read.
LISTED_BYTES = 36


def refuse_beyond(memory: int, needed: int, what: str) -> None:
    """Refuse what would need more than ``memory`` bytes; ``what`` names it, in the plural.

    >>> refuse_beyond(1 << 26, 10**8, "the labels")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    summarkov.errors.TooLargeError: the labels need about 100 MB; set memory= to at least 96M ...
    """
    if needed > max(memory, LEAST):
        size = -(-needed // 2**20)
        raise TooLargeError(
            f"{what} need about {needed / 1e6:,.0f} MB; set memory= to at least {size}M ({size << 20} bytes)"
        )
