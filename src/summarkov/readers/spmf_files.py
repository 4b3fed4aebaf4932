"""SPMF's text format for sequences: ``1 -1 2 3 -1 -2``, with names for the numbers if there are any.

A line is a sequence of itemsets; ``-1`` ends an itemset and ``-2`` the sequence. The items of one itemset
happened at once, and here one thing happens at a time: they become events in the order in which they stand,
and are counted as ties, as rows with the same time are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.readers.collected import Collected
from summarkov.readers.columns import Columns
from summarkov.readers.files import text_lines

#: The name of the next sequence; to SPMF, which has no such names, a comment.
NAMED = "# sequence "
_ITEM = re.compile(r"@ITEM=(-?[0-9]+)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+")


def read_spmf(path: str, asked: Columns, labels: Sequence[str] | None) -> EventSequences:
    """Read one sequence per line. Labels are the names of items, or their numbers where they have none."""
    if asked.names():
        raise SettingError(f"case, event and order name columns, and {path} is SPMF text, which has none")
    collected, names, numbers = Collected(), dict[str, str](), dict[str, str]()
    name = None
    for number, line in text_lines(path):
        where = f"{path}, line {number}"
        if line.startswith("@ITEM"):
            _name_item(line, names, numbers, where)
        elif line.startswith(NAMED):
            name = _name(line)
        elif line.strip() and line[0] not in "#%@":
            items, tied = _items(line.split(), where)
            collected.add((names.get(item, item) for item in items), name)
            collected.tied_order += tied
            name = None
    return collected.finish(labels)


def _items(tokens: list[str], where: str) -> tuple[list[str], int]:
    """The items of a line, and how many of them were not the first of their itemset."""
    if tokens[-1] != "-2":
        raise DataError(
            f"{where}: a sequence must end in -2, and this ends in {tokens[-1][:40]!r}; write -1 after every "
            "itemset and -2 after the sequence (transactions have neither, and no order to learn from)"
        )
    items, tied, open_ = list[str](), 0, False
    for token in tokens[:-1]:
        if token == "-1":
            open_ = False
        elif _NUMBER.fullmatch(token):
            items.append(token.lstrip("0") or "0")
            tied += open_
            open_ = True
        else:
            raise DataError(
                f"{where}: items are whole numbers from 0 on, and this has {token[:40]!r}; mend it"
            )
    return items, tied


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
