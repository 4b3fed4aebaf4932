"""Ratios with their limits in files: JSON has no infinity, so that what is infinite or not known is null."""

from __future__ import annotations

import math
from typing import Any

from summarkov.store import Node


def plain_numbers(record: object) -> dict[str, Any]:
    """The fields of a record; numbers that are infinite or not known are null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in vars(record).items()
    }


def read_ratio(node: Node, which: str = "") -> tuple[float, float, float]:
    """A ratio and its limits ``low`` and ``high``, whose names may begin with a word.

    Nothing is known of a ratio without limits; one that has a lower limit only is infinite.
    """
    low, high = size(node[f"{which}low"], 0.0), size(node[f"{which}high"], math.inf)
    if not low <= high:
        node[f"{which}low"].wrong(f"a number up to '{which}high'")
    unknown = math.inf if low > 0 and high == math.inf else math.nan
    return size(node[f"{which}ratio"], unknown), low, high


def size(node: Node, missing: float) -> float:
    """A number from 0 on; ``missing`` where it is null."""
    if node.value is None:
        return missing
    value = node.number()
    if value < 0:
        node.wrong("a number from 0 on")
    return value
