"""SPMF text: one sequence of itemsets per line."""

from __future__ import annotations

import json
import re
from typing import Any

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin
from summarkov.io.encoding import Collected
from summarkov.io.files import text_lines
from summarkov.io.line_files import NOTHING, refuse_columns
from summarkov.io.ticks import Ties, refuse_ties
from summarkov.io.wanted import Wanted

#: Labels that SPMF can have for numbers of its own.
_OWN_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
#: The name of the next sequence; to SPMF, which has no such names, a comment.
NAMED = "# sequence "
_ITEM = re.compile(r"@ITEM=(-?[0-9]+)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+")


def read_spmf(path: str, wanted: Wanted) -> EventSequences:
    """Read one sequence per line: ``1 -1 2 3 -1 -2``, with names for the numbers if there are any.

    A line is a sequence of itemsets; ``-1`` ends an itemset and ``-2`` the sequence. The items of one itemset
    happened at once, and are a tick; with ``ties="in row order"`` they become events in the order in which
    they stand, and are counted as ties, as rows with the same time are. Labels are the names of items, or
    their numbers where they have none.
    """
    refuse_columns(path, wanted, "SPMF text")
    collected, names, numbers = Collected(), dict[str, str](), dict[str, str]()
    name, tied = None, list[int]()  # the number of the sequence of each event that is not the first of a set
    for number, line in text_lines(path):
        where = f"{path}, line {number}"
        if line.startswith("@ITEM"):
            _name_item(line, names, numbers, where)
        elif line.startswith(NAMED):
            name = _name(line)
        elif line.strip() and line[0] not in "#%@":
            items, together = _items(line.split(), where)
            at_once = wanted.ties in (None, "together")
            collected.add([names.get(item, item) for item in items], name, together if at_once else ())
            tied += [] if at_once else [len(collected.offsets) - 2] * len(together)
            name = None
    found = collected.finish(wanted.labels, tied_order=len(tied))
    ties = Ties(len(tied), found.ids[tied[0]] if tied else None)
    refuse_ties(ties, wanted, "itemset", path)
    return found.with_origin(Origin(tied_case=ties.case)) if tied else found


def _items(tokens: list[str], where: str) -> tuple[list[str], list[int]]:
    """The items of a line, and the places of those that are not the first of their itemset."""
    if tokens[-1] != "-2":
        raise DataError(
            f"{where}: a sequence must end in -2, and this ends in {tokens[-1][:40]!r}; write -1 after every "
            "itemset and -2 after the sequence (transactions have neither, and no order to learn from)"
        )
    items, together, open_ = list[str](), list[int](), False
    for token in tokens[:-1]:
        if token == "-1":
            open_ = False
        elif _NUMBER.fullmatch(token):
            if open_:
                together.append(len(items))
            items.append(token.lstrip("0") or "0")
            open_ = True
        else:
            raise DataError(
                f"{where}: items are whole numbers from 0 on, and this has {token[:40]!r}; mend it"
            )
    return items, together


def _name_item(line: str, names: dict[str, str], items: dict[str, str], where: str) -> None:
    """Note the name of an item; ``items`` are the items by name."""
    found = _ITEM.fullmatch(line)
    if found is None:
        raise DataError(f"{where}: a name of an item is written @ITEM=1=name, not {line[:40]!r}; mend it")
    item, name = found.groups()
    if item.startswith("-"):
        return  # SPMF may name its -1, too
    item = item.lstrip("0") or "0"
    if names.get(item, name) != name:
        raise DataError(f"{where}: item {item[:40]} has the names {names[item]!r} and {name!r}; keep one")
    twin = items.setdefault(name, item)
    if twin != item:
        raise DataError(
            f"{where}: items {twin[:40]} and {item[:40]} are both named {name!r}; give them two names"
        )
    names[item] = name


def _name(line: str) -> str | None:
    """The name of a sequence as it was written here; any other comment says nothing."""
    try:
        name = json.loads(line.removeprefix(NAMED))
    except (ValueError, RecursionError):
        return None
    return name if isinstance(name, str) else None


def write_spmf(events: EventSequences, file: Any) -> None:
    """Write an itemset for every tick; names of items, and of sequences, where they need them."""
    if not len(events):
        file.write(NOTHING)
    labels = [label for label, n in zip(events.labels, events.label_counts.tolist(), strict=True) if n]
    items = {label: label for label in labels}
    if not all(map(_OWN_NUMBER.fullmatch, labels)):
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
        ticks = ([tick] if isinstance(tick, str) else tick for tick in sequence)
        written = (f"{' '.join(items[label] for label in tick)} -1 " for tick in ticks)
        file.write(("".join(written) + "-2\n").encode())
