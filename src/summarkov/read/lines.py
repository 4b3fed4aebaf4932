"""Files with one sequence per line: JSON lines, plain text and SPMF text, read as rows of labels."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, NoReturn

import numpy as np

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import AskedEnds, attribute_values
from summarkov.events.moments import time_column
from summarkov.events.vocabulary import label_text
from summarkov.read.columns import Columns, Wanted
from summarkov.read.files import text_lines
from summarkov.read.rows import Line, Lines, Source, label_reader

#: The keys of an object in JSON lines: its name, its labels, their times, what it weighs, whether it is over.
ID, EVENTS, TIMES, WEIGHT, COMPLETE = "id", "events", "times", "weight", "complete"
#: Events to read at a time.
_EVENTS = 1 << 15
#: How JSON writes characters beyond the first plane, as two halves; one without the other is none.
_HALF, _SURROGATE = re.compile(r"\\u[dD][89a-fA-F]"), re.compile("[\ud800-\udfff]")


def line_source(paths: Sequence[str], name: str, kind: str, wanted: Wanted, *, told: bool) -> Source:
    """Files of lines, block by block.

    Unless ``told`` that it is plain text, what looks like SPMF text is refused.
    """
    wanted = _with_told_ends(paths[0], wanted) if kind == "jsonl" else wanted
    asked = wanted.columns
    if kind == "jsonl":
        of_rows = asked.with_lifecycle or wanted.gap is not None or wanted.drop_duplicates
        if (asked.order and not wanted.times) or of_rows:
            raise SettingError(
                f"in {paths[0]} a line is a whole sequence, in the order of its list; leave out lifecycle=, "
                "session_gap and drop_duplicates, and name a key of times with order_by= only with times=True"
            )
        times = (asked.order or (TIMES,))[:1] if wanted.times else ()
        chosen = replace(asked, case=asked.case or ID, event=asked.event or EVENTS, order=times)
    else:
        (wanted if kind == "text" else replace(wanted, ties=None)).refuse_columns(paths[0])
        chosen = Columns(ID, EVENTS, ())
    read: Callable[[str], Iterator[Line]] = {
        "jsonl": lambda path: _json_sequences(path, chosen, wanted),
        "text": lambda path: _words(path, told=told),
        "spmf": _itemsets,
    }[kind]
    return Source(name, wanted, chosen, _blocks(paths, read), "line")


def _blocks(paths: Sequence[str], read: Callable[[str], Iterator[Line]]) -> Iterator[Lines]:
    """Some sequences at a time."""
    number = 0
    for path in paths:
        lines, n = list[Line](), 0
        for line in read(path):
            lines.append(line)
            n += len(line.events) + 1
            if n >= _EVENTS:
                yield Lines(path, number, lines)
                number, lines, n = number + len(lines), [], 0
        yield Lines(path, number, lines)
        number += len(lines)


# ---------------------------------------------------------------------- JSON lines


def _with_told_ends(path: str, wanted: Wanted) -> Wanted:
    """The same, and to look at what the lines tell of their ends, if the first does and nothing is asked."""
    if wanted.ends is not None or COMPLETE in wanted.columns.attributes:
        return wanted
    first = next((line for _, line in text_lines(path) if line.strip()), "")
    try:
        content = _DECODER.decode(first)
    except (ValueError, RecursionError):
        return wanted  # reading it will say what is wrong
    if not isinstance(content, dict) or not isinstance(content.get(COMPLETE), bool):
        return wanted
    columns = replace(wanted.columns, attributes=(*wanted.columns.attributes, COMPLETE))
    return replace(wanted, columns=columns, ends=AskedEnds(column=COMPLETE))


def _json_sequences(path: str, chosen: Columns, wanted: Wanted) -> Iterator[Line]:
    """A list, or an object with ``id`` and ``events``, from every line that is not blank."""
    for number, line in text_lines(path):
        if not line.strip():
            continue
        try:
            content = _DECODER.decode(line)
            if _HALF.search(line) and (half := _SURROGATE.search(json.dumps(content, ensure_ascii=False))):
                raise DataError(f"holds {half[0]!r}, half of a character; mend the data")
            yield _json_sequence(content, chosen, wanted)
        except json.JSONDecodeError as error:
            reason = f"not JSON ({error.msg}, character {error.pos + 1}); expected a list of labels"
            raise DataError(f"{path}, line {number}: {reason}") from None
        except RecursionError:
            raise DataError(f"{path}, line {number}: too deeply nested; expected a list of labels") from None
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from None


def _json_sequence(content: Any, chosen: Columns, wanted: Wanted) -> Line:
    """What a line holds; labels that are missing are an error, or None."""
    name, given, case, events = None, dict[str, Any](), str(chosen.case), str(chosen.event)
    if isinstance(content, dict):
        for key in (events, *(() if wanted.columns.case is None else (case,))):
            if key not in content:
                keys = ", ".join(repr(key) for key in list(content)[:20]) or "none"
                raise DataError(f"the object has no {key!r}; its keys are {keys}")
        name, given, content = content.get(case), content, content[events]
        if case in given and not isinstance(name, str):
            raise DataError(f"{case!r} must be text or a number, not {_KINDS[type(name)]}")
    if not isinstance(content, list):
        raise DataError(f"expected a list of labels, found {_KINDS.get(type(content), 'a single label')}")
    values, when = dict[str, str | None](), dict[str, list[str]]()
    for key in chosen.per_case:
        if isinstance(given.get(key), dict | list):
            raise DataError(f"{key!r} must be text or a number, not {_KINDS[type(given[key])]}")
        value = given.get(key)
        values[key] = None if value is None else label_text(value)
    for key in chosen.order or ():
        when[key] = times = given.get(key, ())
        if not isinstance(times, list) or [type(time) for time in times] != [str] * len(content):
            raise DataError(
                f"expected {key!r}, a list of {len(content)} times, one per event; leave out times=True "
                "otherwise"
            )
    if {*map(type, content)} <= {str}:  # the usual case, and faster
        return Line(content, name, when, values)
    text_of = label_reader(wanted.missing)
    for label in chain.from_iterable(each if isinstance(each, list) else (each,) for each in content):
        text_of(label)  # refuses what is none here, where the line is known
    return Line(content, name, when, values)


#: What JSON calls what Python has read; numbers stay text (see below), so they need no name.
_KINDS = {dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}


def _no_number(text: str) -> NoReturn:
    raise DataError(f"{text} is not a label; drop it or give it a name")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key = next(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        raise DataError(f"the object has the key {key[:40]!r} more than once; keep one")
    return found


#: Numbers are labels, and labels are text: 1.50 stays "1.50", and a huge number costs nothing.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=str, parse_float=str, parse_constant=_no_number
)


def json_lines(events: EventSequences) -> Iterator[str]:
    """One line per sequence, with the times of its ticks, its attributes and its weight, if it has any."""
    taken = (ID, EVENTS, TIMES, WEIGHT, COMPLETE)
    of_sequences: dict[str, list[Any]] = {**attribute_values(events.attributes, taken)}
    if not events.complete.all():
        of_sequences[COMPLETE] = events.complete.tolist()
    if events.weights is not None:
        of_sequences[WEIGHT] = events.weights.tolist()
    if events.times is not None:
        starts, values = events.moments.starts, time_column(events.moments).values
        times = np.asarray(values)[starts]
        times = np.datetime_as_string(times) if times.dtype.kind == "M" else times
        bounds = np.append(0, np.cumsum(starts))[events.offsets].tolist()
        of_sequences[TIMES] = [times[start:stop].tolist() for start, stop in pairwise(bounds)]
    for at, (name, labels) in enumerate(zip(events.ids, events, strict=True)):
        more = {key: values[at] for key, values in of_sequences.items() if values[at] is not None}
        yield json.dumps({ID: name, EVENTS: labels, **more})


# ---------------------------------------------------------------------- plain text and SPMF text

_ITEM = re.compile(r"@ITEM=(-?[0-9]+)=(.*)", re.DOTALL)


def _words(path: str, *, told: bool) -> Iterator[Line]:
    """Labels separated by white space; an empty line is an empty sequence."""
    for number, line in text_lines(path):
        words = line.split()
        if number == 1 and not told and words[-1:] == ["-2"] and "-1" in words:
            raise DataError(
                f"{path} looks like SPMF text, where -1 and -2 end itemsets and sequences; say which "
                "it is with format=: 'spmf', or 'text' if they are labels"
            )
        yield Line(words)


def _itemsets(path: str) -> Iterator[Line]:
    """One sequence per line: ``1 -1 2 3 -1 -2``, with names for the numbers if there are any.

    ``-1`` ends an itemset, which is a tick, and ``-2`` the sequence.
    """
    names, items = dict[str, str](), dict[str, str]()
    for number, line in text_lines(path):
        where = f"{path}, line {number}"
        if found := _ITEM.fullmatch(line):
            item, named = _number(found[1]), found[2]
            if names.setdefault(item, named) != named or items.setdefault(named, item) != item:
                raise DataError(f"{where}: item {item[:40]} or its name {named!r} came before; keep one")
        elif line.strip() and line[0] not in "#%@":
            *tokens, last = line.split()
            odd = next((each for each in tokens if not re.fullmatch("-1|[0-9]+", each)), None)
            if last != "-2" or odd is not None:
                raise DataError(
                    f"{where}: a sequence has whole numbers from 0 on, -1 after every itemset and -2 at its "
                    f"end, and this has {(odd or last)[:40]!r}; mend it"
                )
            sets = (each.split() for each in " ".join(tokens).split("-1"))
            labels = [[names.get(_number(item), _number(item)) for item in each] for each in sets if each]
            yield Line([each[0] if len(each) == 1 else each for each in labels])


def _number(token: str) -> str:
    return token.lstrip("0") or "0"
