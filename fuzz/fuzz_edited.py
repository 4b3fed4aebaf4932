"""Bytes as edits of a model that was valid: valid JSON that says what it should not."""

from __future__ import annotations

import copy
import json
from typing import Any

from fuzz.stored import documents, load_and_use, places

_VALUES: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3, 7, 100, 1000, 10**6, 2**31 - 1, 2**31, 2**53, 2**62, 2**63, 10**400,
    0.5, -0.5, 1e-320, 1e-12, 1e12, 1e15, 1e300, "", "a", "b", "c", "d", "auto", "error", "first", "marginal",
    "base-rate", "reachable", "exact", "sweep", "InfluenceGraph", "BSuMM", "OSuMM", "CSuMM",
    "TreeSuMM", "MarkovChain", "\ud800", "\x1b[31m", [], [[]], [1], [None], ["a"], ["a", "b"], {},
    {"a": 1}, {"a": 0, "b": 0},
]  # fmt: skip


def check(data: bytes) -> None:
    """The first byte chooses a model, every three after it an edit: where, and what."""
    if not data:
        return
    document = copy.deepcopy(documents()[data[0] % len(documents())])
    for at in range(1, min(len(data) - 2, 25), 3):
        where = list(places(document))
        if not where:
            break
        *path, last = where[(data[at] * 256 + data[at + 1]) % len(where)]
        holder = document
        for key in path:
            holder = holder[key]
        what = data[at + 2]
        if what < len(_VALUES):
            holder[last] = copy.deepcopy(_VALUES[what])
        elif what < 100:
            del holder[last]
        elif what < 150 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        elif what < 200 and isinstance(holder[last], int | float):
            holder[last] += what - 175
        elif isinstance(holder[last], int | float) and abs(holder[last]) < 1e15:
            holder[last] *= 2.0 ** (what - 228)
    load_and_use(json.dumps(document).encode())
