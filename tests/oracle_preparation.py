"""What preparation means, slowly and obviously. Standard library only; imports nothing of the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

Lists = Sequence[Sequence[str]]


def sessions(rows: Sequence[tuple[str, str, int]], gap: float) -> dict[str, list[str]]:
    """Rows of case, label and time: sorted by time, a new session where more than the gap has passed."""
    found: dict[str, list[str]] = {}
    for case in dict.fromkeys(case for case, _, _ in rows):
        mine = sorted(((time, label) for c, label, time in rows if c == case), key=lambda row: row[0])
        number, before = 1, None
        for time, label in mine:
            if before is not None and time - before > gap:
                number += 1
            before = time
            found.setdefault(f"{case}/{number}", []).append(label)
    return found


def pool_rare(lists: Lists, min_count: int, into: str) -> list[list[str]]:
    """Labels that occur fewer than a number of times become one."""
    counts = Counter(label for labels in lists for label in labels)
    return [[label if counts[label] >= min_count else into for label in labels] for labels in lists]


def collapse_repeats(lists: Lists) -> list[list[str]]:
    """Of equal labels in a row only the first stays."""
    return [
        [label for at, label in enumerate(labels) if at == 0 or labels[at - 1] != label] for labels in lists
    ]


def map_labels(lists: Lists, mapping: Mapping[str, str]) -> list[list[str]]:
    """Labels become others; those that the mapping does not name stay."""
    return [[mapping.get(label, label) for label in labels] for labels in lists]


def add_start(lists: Lists, label: str) -> list[list[str]]:
    """One more event at the start of every sequence."""
    return [[label, *labels] for labels in lists]
