"""JSON lines: every line is a sequence, in memory or on its way to disk."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import attribute_values
from summarkov.events.describe import Origin
from summarkov.events.ends import AskedEnds
from summarkov.events.moments import time_column
from summarkov.events.vocabulary import label_text
from summarkov.io.addresses import size_of
from summarkov.io.columns import Columns
from summarkov.io.files import LEAST, ROW_BYTES, TextBudget, text_lines
from summarkov.io.line_files import NOTHING, Collected
from summarkov.io.ordering import OrderColumn
from summarkov.io.rows import CaseValues, LeftOut, is_weight, labelled, origin_of, per_sequence, text_of
from summarkov.io.ticks import as_column
from summarkov.io.wanted import Wanted

if TYPE_CHECKING:
    from summarkov.io.scan import Found, Task
    from summarkov.io.spill import SpillWriter

#: The keys of an object in JSON lines: its name, its labels, their times, what it weighs, whether it is over.
ID, EVENTS, TIMES, WEIGHT, COMPLETE = "id", "events", "times", "weight", "complete"
#: What a byte of a line takes while it is parsed.
_PARSED_BYTES = 16


@dataclass(frozen=True)
class Line:
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
    collected = Collected(values=CaseValues(wanted.columns.per_case, TextBudget(sys.maxsize)))
    for line in jsonl_sequences(path, wanted, left_out):
        collected.add(line.labels, line.name, line.together, line.times, line.values)
    order = _times_column(wanted) if wanted.times else None
    found = collected.finish(wanted.labels, order, path).with_origin(jsonl_origin(wanted, left_out))
    if not wanted.columns.per_case:
        return found
    of_lines = per_sequence(collected.columns(), wanted, path, found.ids)
    return found.with_attributes(of_lines["attributes"]).with_weights(of_lines["weights"])


def add_lines(task: Task, found: Found, writer: SpillWriter) -> None:
    """Write the sequences of all files to disk. What kind of times they have is decided by all lines."""
    files, done = task.files, 0
    order = _looked_at(task) if files.wanted.times else None
    collected = Collected(found.labels, found.values)
    for path in files.paths:
        done += size_of(path)
        found.budget.share = done / files.n_bytes
        for lines in _blocks(task, path, found.left_out):
            for line in lines:
                name = collected.next_name() if line.name is None else line.name
                more = (text_of(each, int(each.codes[0])) for each in task.from_table([name]))
                collected.add(line.labels, name, line.together, line.times, [*line.values, *more])
            collected.write(writer, order, path)
        task.tell(done, files.n_bytes, "reading")


def _looked_at(task: Task) -> OrderColumn:
    """The times of all lines, looked at."""
    order = _times_column(task.files.wanted)
    for path in task.files.paths:
        row = 0
        for lines in _blocks(task, path, LeftOut()):
            times = [time for line in lines for time in line.times]
            order.look(as_column(times), path, row)
            row += len(times)
    return order


def _blocks(task: Task, path: str, left_out: LeftOut) -> Iterator[list[Line]]:
    """The lines of a file, as many at a time as memory allows."""
    lines, held = list[Line](), 0
    longest = max(task.memory, LEAST) // (2 * _PARSED_BYTES)
    for line in jsonl_sequences(path, task.files.wanted, left_out, longest):
        lines.append(line)
        held += _n_rows(line)
        if held >= task.n_rows:
            yield lines
            lines, held = [], 0
    yield lines


def _n_rows(line: Line) -> int:
    """How many rows of a table take as much memory as a line: names and times may be long texts."""
    long = len(line.name or "") + sum(len(time or "") for time in line.times)
    return 2 + len(line.labels) + long // ROW_BYTES


def jsonl_origin(wanted: Wanted, left_out: LeftOut) -> Origin | None:
    """How lines were read, where that is not as always."""
    asked = wanted.columns
    if not asked.names() and not left_out.unlabelled:
        return None
    return origin_of(
        replace(asked, case=asked.case or ID, event=asked.event or (EVENTS,), order=()), left_out
    )


def jsonl_sequences(
    path: str, wanted: Wanted, left_out: LeftOut, longest: int | None = None
) -> Iterator[Line]:
    """Yield the sequences of a file. Lines of more than ``longest`` bytes are refused."""
    asked = wanted.columns
    one_each = asked.with_lifecycle or len(asked.event) > 1
    if (asked.order and not wanted.times) or one_each:
        raise SettingError(
            f"in {path} a line is a whole sequence, in the order of its list; leave out lifecycle= "
            "and further keys of events, and name a key of times with order= only with times=True"
        )
    key = _times_column(wanted).name if wanted.times else None
    for number, line in text_lines(path, longest=longest):
        if not line.strip():
            continue
        try:
            content = _DECODER.decode(line)
            events, name = _parts(
                content, (*asked.event, EVENTS)[0], asked.case or ID, asked.case is not None
            )
            of_events = _times(content, key, len(events))
            labels, together, times = _flat(events, of_events, wanted, left_out)
            _refuse_together(together, wanted)
            values = _values(content, asked)
        except json.JSONDecodeError as error:
            reason = f"not JSON ({error.msg}, character {error.pos + 1}); expected a list of labels"
            raise DataError(f"{path}, line {number}: {reason}") from None
        except RecursionError:
            raise DataError(f"{path}, line {number}: too deeply nested; expected a list of labels") from None
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
        yield Line(labels, together, name, values, times)


def _refuse_together(together: list[int], wanted: Wanted) -> None:
    """Refuse a tick where all events are to stand one after the other."""
    if together and wanted.ties in ("in row order", "error"):
        raise DataError(
            "a list among the labels holds several that happened together, in no order; write them one after "
            f"the other, or leave out ties={wanted.ties!r}"
        )


def _times_column(wanted: Wanted) -> OrderColumn:
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
    return flat, together, when


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
