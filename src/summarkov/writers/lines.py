"""Events with one sequence per line: JSON lines and SPMF text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.readers.spmf_files import NAMED

#: Labels that SPMF can have for numbers of its own.
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")

#: A file without sequences is not empty, as one is that was cut short.
_NOTHING = b"\n"


def write_json_lines(events: EventSequences, file: Any) -> None:
    """Write a list of labels and a name a line. Everything can be held: JSON escapes what is no text."""
    if not len(events):
        file.write(_NOTHING)
    for line in json_lines(events):
        file.write(f"{line}\n".encode())


def json_lines(events: EventSequences) -> Iterator[str]:
    """One line per sequence."""
    for name, labels in zip(events.ids, events, strict=True):
        yield json.dumps({"id": name, "events": labels})


def write_spmf(events: EventSequences, file: Any) -> None:
    """Write itemsets of one item each; names of items, and of sequences, where they need them."""
    if not len(events):
        file.write(_NOTHING)
    labels = [label for label, n in zip(events.labels, events.label_counts.tolist(), strict=True) if n]
    items = {label: label for label in labels}
    if not all(map(_NUMBER.fullmatch, labels)):
        items = {label: str(item) for item, label in enumerate(labels, start=1)}
        file.write(b"@CONVERTED_FROM_TEXT\n")
        for label, item in items.items():
            if "\n" in label or "\r" in label:
                raise DataError(
                    f"the label {label[:80]!r} has a line break, which SPMF text cannot hold; write .jsonl, "
                    "or rename it: events.map_labels({...})"
                )
            file.write(f"@ITEM={item}={label}\n".encode())
    for number, (name, sequence) in enumerate(zip(events.ids, events, strict=True)):
        if name != str(number):
            file.write(f"{NAMED}{json.dumps(name)}\n".encode())
        file.write(("".join(f"{items[label]} -1 " for label in sequence) + "-2\n").encode())
