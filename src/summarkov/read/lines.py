"""Files with one sequence per line: JSON lines, plain text and SPMF text."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import attribute_values
from summarkov.events.describe import Origin
from summarkov.events.ends import AskedEnds
from summarkov.events.moments import time_column
from summarkov.events.vocabulary import label_text
from summarkov.read.columns import Columns
from summarkov.read.encoding import Encoded, Vocabulary
from summarkov.read.files import text_lines
from summarkov.read.ordering import OrderColumn
from summarkov.read.parts import Part
from summarkov.read.rows import LeftOut, is_weight, labelled, origin_of
from summarkov.read.ticks import Order, Ties, as_column, refuse_ties, times_of_texts
from summarkov.read.wanted import Wanted

#: The keys of an object in JSON lines: its name, its labels, their times, what it weighs, whether it is over.
ID, EVENTS, TIMES, WEIGHT, COMPLETE = "id", "events", "times", "weight", "complete"
#: A file without sequences is not empty, as one is that was cut short.
NOTHING = b"\n"


class Collected:
    """Sequences as they are read one by one.

    ``labels`` and ``values`` (of what does not change during a sequence) may be shared by several of these.
    """

    def __init__(
        self, labels: Vocabulary | None = None, values: dict[str, Vocabulary] | None = None, first: int = 0
    ) -> None:
        self.labels = Vocabulary() if labels is None else labels
        self.values, self._first = values or {}, first
        self.codes, self._offsets = array("i"), array("q", [0])
        self._ids: list[str] | None = None  # once a sequence has a name
        self._of_sequences = array("i")  # codes of what does not change, one after the other
        self._together = array("q")  # the events that happened together with the one before
        self.times: list[str | None] = []  # as they are written

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(
        self,
        labels: Iterable[str | None],
        name: str | None = None,
        together: Iterable[int] = (),
        times: Iterable[str | None] = (),
        values: Sequence[str | None] = (),
    ) -> None:
        """Add a sequence; one without a name has its number. None is an empty tick.

        ``together`` are the places in it of events that happened together with the one before.
        """
        self._together.extend(len(self.codes) + place for place in together)
        self.times.extend(times)
        each = zip(self.values.values(), values, strict=True)
        self._of_sequences.extend(-1 if value is None else known[value] for known, value in each)
        if name is not None and self._ids is None:
            self._ids = self.names()
        if self._ids is not None:
            self._ids.append(self.next_name() if name is None else name)
        self.codes.extend(map(self.labels.__getitem__, labels))
        self._offsets.append(len(self.codes))

    def next_name(self) -> str:
        """The name of the next sequence, if it has no other."""
        return str(self._first + len(self))

    def names(self) -> list[str]:
        """The names of the sequences."""
        return self._ids or [str(self._first + number) for number in range(len(self))]

    def part(self, wanted: Wanted, order: OrderColumn | None = None, source: str = "") -> Part:
        """All of them; ``order`` has looked at all times, if these are asked for."""
        codes = np.array(self.codes, np.int32)
        empty = self.labels.get(None)
        starts = None
        if empty is not None:
            codes[codes == empty] = -1
        if self._together or empty is not None:
            starts = np.ones(len(codes), bool)
            starts[np.array(self._together, np.int64)] = False
        offsets, times = np.asarray(self._offsets, np.int64), None
        if order is not None:
            times = times_of_texts(order, as_column(self.times), self._offsets, self.names(), source)
        of_sequences = np.array(self._of_sequences, np.int32).reshape(len(self), len(self.values)).T
        each = zip(self.values.items(), of_sequences, strict=True)
        of_cases = {name: Encoded(values, known.texts) for (name, known), values in each}
        return Part(
            codes, offsets, self._ids, Order((), wanted), starts=starts, times=times, of_cases=of_cases
        )


# ---------------------------------------------------------------------- JSON lines


class Line(NamedTuple):
    """A sequence: its labels, its name, if it has one, and the values of the keys that are asked for."""

    labels: list[str | None]  # None is an empty tick
    together: list[int]  # the places of labels that happened together with the one before
    name: str | None
    values: tuple[str | None, ...]
    times: list[str | None]  # one per label, if times are asked for


def with_told_ends(path: str, wanted: Wanted) -> Wanted:
    """The same, and to look at what the lines tell of their ends, if the first does and nothing is asked."""
    if wanted.ends is not None or wanted.cases is not None or COMPLETE in wanted.columns.attributes:
        return wanted
    first = next((line for _, line in text_lines(path) if line.strip()), "")
    try:
        content = _DECODER.decode(first)
    except (ValueError, RecursionError, DataError):
        return wanted  # reading it will say what is wrong
    if not isinstance(content, dict) or not isinstance(content.get(COMPLETE), bool):
        return wanted
    columns = replace(wanted.columns, attributes=(*wanted.columns.attributes, COMPLETE))
    return replace(wanted, columns=columns, ends=AskedEnds(column=COMPLETE))


def read_jsonl(path: str, wanted: Wanted) -> EventSequences:
    """Read a list, or an object with ``id`` and ``events``, from every line that is not blank."""
    left_out = LeftOut()
    collected = Collected(values={name: Vocabulary() for name in wanted.columns.per_case})
    for line in jsonl_sequences(path, wanted, left_out):
        collected.add(line.labels, line.name, line.together, line.times, line.values)
    order = times_column(wanted) if wanted.times else None
    if order is not None:
        order.look(as_column(collected.times), path)
    part = collected.part(wanted, order, path)
    found = part.events(collected.labels.texts, wanted.columns, wanted, left_out, path)
    return found.with_origin(jsonl_origin(wanted, left_out))


def jsonl_origin(wanted: Wanted, left_out: LeftOut) -> Origin | None:
    """How lines were read, where that is not as always."""
    asked = wanted.columns
    if not asked.names() and not left_out.unlabelled:
        return None
    return origin_of(
        replace(asked, case=asked.case or ID, event=asked.event or (EVENTS,), order=()), left_out
    )


def jsonl_sequences(path: str, wanted: Wanted, left_out: LeftOut) -> Iterator[Line]:
    """Yield the sequences of a file."""
    asked = wanted.columns
    one_each = asked.with_lifecycle or len(asked.event) > 1
    if (asked.order and not wanted.times) or one_each:
        raise SettingError(
            f"in {path} a line is a whole sequence, in the order of its list; leave out lifecycle= "
            "and further keys of events, and name a key of times with order= only with times=True"
        )
    key = times_column(wanted).name if wanted.times else None
    for number, line in text_lines(path):
        if not line.strip():
            continue
        try:
            content = _DECODER.decode(line)
            events, name = _parts(
                content, (*asked.event, EVENTS)[0], asked.case or ID, asked.case is not None
            )
            of_events = _times(content, key, len(events))
            labels, together, times = _flat(events, of_events, wanted, left_out)
            if together and wanted.ties in ("in row order", "error"):
                raise DataError(
                    "a list among the labels holds several that happened together, in no order; write them "
                    f"one after the other, or leave out ties={wanted.ties!r}"
                )
            values = _values(content, asked)
        except json.JSONDecodeError as error:
            reason = f"not JSON ({error.msg}, character {error.pos + 1}); expected a list of labels"
            raise DataError(f"{path}, line {number}: {reason}") from None
        except RecursionError:
            raise DataError(f"{path}, line {number}: too deeply nested; expected a list of labels") from None
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
        yield Line(labels, together, name, values, times)


def times_column(wanted: Wanted) -> OrderColumn:
    """The times of events, not looked at yet."""
    return OrderColumn((wanted.columns.order or (TIMES,))[0], wanted.date_format, "time")


def _times(content: object, key: str | None, n: int) -> list[str | None]:
    """The times of a line, one per event or tick; nothing if no key has any."""
    if key is None:
        return [None] * n
    found = content.get(key) if isinstance(content, dict) else None
    if not isinstance(found, list) or len(found) != n or not all(isinstance(time, str) for time in found):
        raise DataError(
            f"expected {key!r}, a list of {n} times, one per event; leave out times=True otherwise"
        )
    return list(found)


def _flat(
    events: list[object], times: list[str | None], wanted: Wanted, left_out: LeftOut
) -> tuple[list[str | None], list[int], list[str | None]]:
    """The labels of a line, the places of those that happened together with the one before, and their times.

    A list among the labels is a tick, and None an empty one. A tick all of whose labels are left out goes.
    """
    if not wanted.times and not any(isinstance(event, list) for event in events):
        return _labels(events, wanted, left_out), [], []
    flat, together, when = list[str | None](), list[int](), list[str | None]()
    for event, time in zip(events, times, strict=True):
        given = event if isinstance(event, list) else [event]
        tick = _labels(given, wanted, left_out)
        if tick or not given:
            together.extend(range(len(flat) + 1, len(flat) + len(tick)))
            flat.extend(tick or [None])
            when.extend([time] * max(1, len(tick)))
    return flat, together, when if wanted.times else []


def _labels(events: list[object], wanted: Wanted, left_out: LeftOut) -> list[str | None]:
    """Some labels; those that are missing are an error, left out, or named, as asked."""
    if wanted.missing != "error" and None in events:
        events = labelled(events, wanted, left_out)
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
        name = content.get(id_key)
        if id_key in content and not isinstance(name, str):
            raise DataError(f"{id_key!r} must be text or a number, not {_KINDS[type(name)]}")
        content = content[events_key]
    if not isinstance(content, list):
        raise DataError(f"expected a list of labels, found {_KINDS.get(type(content), 'a single label')}")
    return content, name


#: What JSON calls what Python has read; numbers stay text (see below), so they need no name.
_KINDS = {dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}


def _no_number(text: str) -> NoReturn:
    raise DataError(f"{text} is not a label; drop it or give it a name")


#: Numbers are labels, and labels are text: 1.50 stays "1.50", and a huge number costs nothing.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_no_number)


def write_json_lines(events: EventSequences, file: Any) -> None:
    """Write a list of labels and a name a line. Everything can be held: JSON escapes what is no text."""
    if not len(events):
        file.write(NOTHING)
    for line in json_lines(events):
        file.write(f"{line}\n".encode())


def json_lines(events: EventSequences) -> Iterator[str]:
    """One line per sequence, with the times of its ticks, its attributes and its weight, if it has any."""
    taken = (ID, EVENTS, TIMES, WEIGHT, COMPLETE)
    of_sequences: dict[str, list[Any]] = {**attribute_values(events.attributes, taken)}
    if not events.complete.all():
        of_sequences[COMPLETE] = events.complete.tolist()
    if events.weights is not None:
        of_sequences[WEIGHT] = events.weights.tolist()
    if events.moments is not None and events.moments.times is not None:
        starts, values = events.moments.starts, time_column(events.moments).values
        times = np.asarray(values)[starts]
        times = np.datetime_as_string(times) if times.dtype.kind == "M" else times
        bounds = np.append(0, np.cumsum(starts))[events.offsets].tolist()
        of_sequences[TIMES] = [times[start:stop].tolist() for start, stop in pairwise(bounds)]
    for at, (name, labels) in enumerate(zip(events.ids, events, strict=True)):
        more = {key: values[at] for key, values in of_sequences.items() if values[at] is not None}
        yield json.dumps({ID: name, EVENTS: labels, **more})


# ---------------------------------------------------------------------- plain text


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
        collected.add(words)
    return _without_columns(collected, wanted, path)


def _without_columns(
    collected: Collected, wanted: Wanted, path: str, ties: Ties | None = None
) -> EventSequences:
    part = replace(collected.part(wanted), ties=ties)
    found = part.events(collected.labels.texts, Columns(), wanted, LeftOut(), path)
    return found if ties else found.with_origin(None)


def _refuse_columns(path: str, wanted: Wanted, what: str) -> None:
    if wanted.is_about_columns:
        raise SettingError(
            f"case, event, order, weight and lifecycle name columns, and {path} is {what}, which has none"
        )


# ---------------------------------------------------------------------- SPMF text

#: The name of the next sequence; to SPMF, which has no such names, a comment.
NAMED = "# sequence "
_ITEM = re.compile(r"@ITEM=(-?[0-9]+)=(.*)", re.DOTALL)


def read_spmf(path: str, wanted: Wanted) -> EventSequences:
    """Read one sequence per line: ``1 -1 2 3 -1 -2``, with names for the numbers if there are any.

    ``-1`` ends an itemset, which is a tick, and ``-2`` the sequence. With ``ties="in row order"`` the items
    of a set are events in the order in which they stand, and are counted as ties.
    """
    _refuse_columns(path, wanted, "SPMF text")
    at_once = wanted.ties in (None, "together")
    collected, names, items = Collected(), dict[str, str](), dict[str, str]()
    name, tied = None, list[str]()  # the sequence of each event that is not the first of a set
    for number, line in text_lines(path):
        where = f"{path}, line {number}"
        if line.startswith(NAMED):
            with suppress(ValueError, RecursionError):
                given = json.loads(line.removeprefix(NAMED))
                name = given if isinstance(given, str) else None
        elif found := _ITEM.fullmatch(line):
            item, named = _number(found[1]), found[2]
            if names.setdefault(item, named) != named or items.setdefault(named, item) != item:
                raise DataError(f"{where}: item {item[:40]} or its name {named!r} came before; keep one")
        elif line.strip() and line[0] not in "#%@":
            labels, together = _items(line.split(), where)
            tied += [] if at_once else [name or collected.next_name()] * len(together)
            collected.add([names.get(item, item) for item in labels], name, together if at_once else ())
            name = None
    ties = Ties(len(tied), tied[0]) if tied else None
    refuse_ties(ties or Ties(), wanted, "itemset", path)
    return _without_columns(collected, wanted, path, ties)


def _number(token: str) -> str:
    return token.lstrip("0") or "0"


def _items(tokens: list[str], where: str) -> tuple[list[str], list[int]]:
    """The items of a line, and the places of those that are not the first of their itemset."""
    odd = next((token for token in tokens[:-1] if token != "-1" and not re.fullmatch("[0-9]+", token)), None)
    if tokens[-1] != "-2" or odd is not None:
        raise DataError(
            f"{where}: a sequence has whole numbers from 0 on, -1 after every itemset and -2 at its end, and "
            f"this has {(odd or tokens[-1])[:40]!r}; mend it"
        )
    items = [
        (_number(token), before != "-1") for before, token in pairwise(["-1", *tokens[:-1]]) if token != "-1"
    ]
    return [item for item, _ in items], [at for at, (_, together) in enumerate(items) if together]


def write_spmf(events: EventSequences, file: Any) -> None:
    """Write an itemset for every tick; names of items, and of sequences, where they need them."""
    if not len(events):
        file.write(NOTHING)
    labels = [label for label, n in zip(events.labels, events.label_counts.tolist(), strict=True) if n]
    items = {label: label for label in labels}
    if not all(re.fullmatch(r"0|[1-9][0-9]{0,8}", label) for label in labels):
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
        file.write(
            ("".join(f"{' '.join(items[label] for label in tick)} -1 " for tick in ticks) + "-2\n").encode()
        )
