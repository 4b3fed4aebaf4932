"""Rows to sequences, in the most obvious way: the twin of the readers. It imports nothing of the package."""

from datetime import datetime
from itertools import pairwise


def read_rows(rows, *, event, order_by=(), date_format=None, lifecycle=None, missing="error"):
    """Sequences by case of first appearance, ties, and events left out: without a label, of other lifecycle.

    ``rows`` are dicts of texts, None where a value is missing; orders are whole numbers, or dates.
    """

    def place(row):
        return tuple(_place(row[name], date_format) for name in order_by)

    cases, unlabelled, other = {}, 0, 0
    for row in rows:
        if lifecycle is not None and row["lifecycle"].lower() != lifecycle.lower():
            other += 1
            continue
        label = missing if row[event] is None else row[event]
        if row[event] is None and missing == "skip":
            unlabelled += 1
            continue
        cases.setdefault(row["case"], []).append((place(row), label))
    ties = 0
    for events in cases.values():
        events.sort(key=lambda pair: pair[0])
        if order_by:
            ties += sum(one[0] == other[0] for one, other in pairwise(events))
    return {case: [label for _, label in events] for case, events in cases.items()}, ties, unlabelled, other


def _place(text, date_format):
    return int(text) if date_format is None or text.isdigit() else datetime.strptime(text, date_format)
