"""Files with one sequence per line: plain text, JSON lines, and SPMF text."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.origin import Origin
from summarkov.events.vocabulary import label_text
from summarkov.io.case_attributes import attributes_of
from summarkov.io.columns import Columns
from summarkov.io.encoding import Collected
from summarkov.io.files import text_lines
from summarkov.io.per_case import CaseValues, is_weight, weights_of
from summarkov.io.rows import LeftOut
from summarkov.io.ticks import Ties, refuse_ties
from summarkov.io.wanted import Wanted

#: The keys of an object in JSON lines: its name, and its labels.
ID, EVENTS = "id", "events"


def read_text(path: str, wanted: Wanted, *, told: bool = True) -> EventSequences:
    """Read labels separated by white space; an empty line is an empty sequence.

    Unless ``told`` that it is plain text, what looks like SPMF text is refused.
    """
    _refuse_columns(path, wanted, "plain text")
    collected = Collected()
    for number, line in text_lines(path):
        words = line.split()
        if number == 1 and not told and words[-1:] == ["-2"] and "-1" in words:
            raise DataError(
                f"{path} looks like SPMF text, where -1 and -2 end itemsets and sequences; say which "
                "it is with format=: 'spmf', or 'text' if they are labels"
            )
        collected.add(list(words))
    return collected.finish(wanted.labels)


def _refuse_columns(path: str, wanted: Wanted, what: str) -> None:
    if wanted.is_about_columns:
        raise SettingError(
            f"case, event, order, weight and lifecycle name columns, and {path} is {what}, which has none"
        )


@dataclass(frozen=True)
class Line:
    """A sequence: its labels, its name, if it has one, and the values of the keys that are asked for."""

    labels: list[str | None]  # None is an empty tick
    together: list[int]  # the places of labels that happened together with the one before
    name: str | None
    values: tuple[str | None, ...]


def read_jsonl(path: str, wanted: Wanted) -> EventSequences:
    """Read a list, or an object with ``id`` and ``events``, from every line that is not blank."""
    collected, left_out = Collected(), LeftOut()
    columns = CaseValues(wanted.columns.per_case, sys.maxsize)
    values = []
    for line in jsonl_sequences(path, wanted, left_out):
        collected.add(line.labels, line.name, line.together)
        values.append(columns.codes(line.values))
    found = collected.finish(wanted.labels).with_origin(jsonl_origin(wanted, left_out))
    asked = wanted.columns
    of_lines = np.array(values, np.int32).reshape(len(values), len(asked.per_case))
    named = {name: columns.column(name, of_lines) for name in asked.attributes}
    found = found.with_attributes(attributes_of(named, wanted, path, found.ids))
    if asked.weight is None:
        return found
    return found.with_weights(weights_of(columns.column(asked.weight, of_lines)))


def jsonl_origin(wanted: Wanted, left_out: LeftOut) -> Origin | None:
    """How lines were read, where that is not as always."""
    columns = wanted.columns
    if not columns.names() and not left_out.unlabelled:
        return None
    return Origin(
        columns.case or ID,
        columns.event or (EVENTS,),
        weight=columns.weight,
        attributes=columns.attributes,
        unlabelled=left_out.unlabelled,
    )


def jsonl_sequences(
    path: str, wanted: Wanted, left_out: LeftOut, longest: int | None = None
) -> Iterator[Line]:
    """Yield the sequences of a file. Lines of more than ``longest`` bytes are refused."""
    asked = wanted.columns
    if asked.order or asked.with_lifecycle or len(asked.event) > 1:
        raise SettingError(
            f"in {path} a line is a whole sequence, in the order of its list; leave out order=, lifecycle= "
            "and further keys of events"
        )
    for number, line in text_lines(path, longest=longest):
        if not line.strip():
            continue
        try:
            content = _DECODER.decode(line)
            events, name = _parts(
                content, (*asked.event, EVENTS)[0], asked.case or ID, asked.case is not None
            )
            labels, together = _flat(events, wanted, left_out)
            values = _values(content, asked)
        except json.JSONDecodeError as error:
            reason = f"not JSON ({error.msg}, character {error.pos + 1}); expected a list of labels"
            raise DataError(f"{path}, line {number}: {reason}") from None
        except RecursionError:
            raise DataError(f"{path}, line {number}: too deeply nested; expected a list of labels") from None
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
        yield Line(labels, together, name, values)


def _flat(events: list[object], wanted: Wanted, left_out: LeftOut) -> tuple[list[str | None], list[int]]:
    """The labels of a line, and the places of those that happened together with the one before.

    A list among the labels is a tick, and None an empty one. A tick all of whose labels are left out goes.
    """
    if not any(isinstance(event, list) for event in events):
        return _labels(events, wanted, left_out), []
    flat, together = list[str | None](), list[int]()
    for event in events:
        given = event if isinstance(event, list) else [event]
        tick = _labels(given, wanted, left_out)
        if tick or not given:
            together.extend(range(len(flat) + 1, len(flat) + len(tick)))
            flat.extend(tick or [None])
    return flat, together


def _labels(events: list[object], wanted: Wanted, left_out: LeftOut) -> list[str | None]:
    """Some labels; those that are missing are an error, left out, or named, as asked."""
    if wanted.missing != "error" and None in events:
        left_out.unlabelled += events.count(None) if wanted.missing == "skip" else 0
        given = (event if event is not None else wanted.missing for event in events)
        events = [event for event in events if event is not None] if wanted.missing == "skip" else list(given)
    return [event if type(event) is str else label_text(event) for event in events]


def _values(content: object, asked: Columns) -> tuple[str | None, ...]:
    """The values of keys of a line; None where there is none."""
    if not asked.per_case:
        return ()
    found = content if isinstance(content, dict) else {}
    values = [found.get(key) for key in asked.per_case]
    for key, value in zip(asked.per_case, values, strict=True):
        if isinstance(value, dict | list):
            raise DataError(f"{key!r} must be text or a number, not {_KINDS[type(value)]}")
    texts = tuple(None if value is None else label_text(value) for value in values)
    if asked.weight is not None and not is_weight(texts[0]):
        told = "nothing" if texts[0] is None else repr(texts[0][:40])
        raise DataError(f"{asked.weight!r} holds {told}; a weight is a number from 0 on: correct it")
    return texts


def _parts(content: object, events_key: str, id_key: str, id_asked: bool) -> tuple[list[object], str | None]:
    """Return the events of a line and its id, if it has one."""
    name = None
    if isinstance(content, dict):
        for key, needed in ((events_key, True), (id_key, id_asked)):
            if needed and key not in content:
                keys = ", ".join(repr(key) for key in list(content)[:20]) or "none"
                raise DataError(f"the object has no {key!r}; its keys are {keys}")
        if id_key in content:
            name = _id(content[id_key], id_key)
        content = content[events_key]
    if not isinstance(content, list):
        raise DataError(f"expected a list of labels, found {_KINDS.get(type(content), 'a single label')}")
    return content, name


def _id(value: object, key: str) -> str:
    if isinstance(value, str):
        return value
    raise DataError(f"{key!r} must be text or a number, not {_KINDS[type(value)]}")


#: What JSON calls what Python has read; numbers stay text (see below), so they need no name.
_KINDS = {dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}


def _no_number(text: str) -> NoReturn:
    raise DataError(f"{text} is not a label; drop it or give it a name")


#: Numbers are labels, and labels are text: 1.50 stays "1.50", and a huge number costs nothing.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_no_number)


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
    _refuse_columns(path, wanted, "SPMF text")
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


#: Labels that SPMF can have for numbers of its own.
_OWN_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")

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
    """Write an itemset for every tick; names of items, and of sequences, where they need them."""
    if not len(events):
        file.write(_NOTHING)
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
