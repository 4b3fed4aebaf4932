"""Files with one sequence per line: plain text, and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NoReturn

from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.labels import label_text
from summarkov.readers.collected import Collected
from summarkov.readers.columns import Columns
from summarkov.readers.files import text_lines


def read_text(
    path: str, asked: Columns, labels: Sequence[str] | None, *, told: bool = True
) -> EventSequences:
    """Read labels separated by white space; an empty line is an empty sequence.

    Unless ``told`` that it is plain text, what looks like SPMF text is refused.
    """
    if asked.names():
        raise SettingError(f"case, event and order name columns, and {path} is plain text, which has none")
    collected = Collected()
    for number, line in text_lines(path):
        words = line.split()
        if number == 1 and not told and words[-1:] == ["-2"] and "-1" in words:
            raise DataError(
                f"{path} looks like SPMF text, where -1 and -2 end itemsets and sequences; say which "
                "it is with format=: 'spmf', or 'text' if they are labels"
            )
        collected.add(words)
    return collected.finish(labels)


def read_jsonl(path: str, asked: Columns, labels: Sequence[str] | None) -> EventSequences:
    """Read a list, or an object with ``id`` and ``events``, from every line that is not blank."""
    collected = Collected()
    for events, name in jsonl_sequences(path, asked):
        collected.add(events, name)
    return collected.finish(labels)


def jsonl_sequences(
    path: str, asked: Columns, longest: int | None = None
) -> Iterator[tuple[list[str], str | None]]:
    """Yield the labels and the name, if it has one, of every sequence of a file.

    Lines of more than ``longest`` bytes are refused.
    """
    if isinstance(asked.order, str):
        raise SettingError(
            f"in {path} a line is a whole sequence, in the order of its list; leave out order="
        )
    for number, line in text_lines(path, longest=longest):
        if not line.strip():
            continue
        try:
            content = _DECODER.decode(line)
            events, name = _parts(
                content, asked.event or "events", asked.case or "id", asked.case is not None
            )
            labels = [event if type(event) is str else label_text(event) for event in events]
        except json.JSONDecodeError as error:
            reason = f"not JSON ({error.msg}, character {error.pos + 1}); expected a list of labels"
            raise DataError(f"{path}, line {number}: {reason}") from None
        except RecursionError:
            raise DataError(f"{path}, line {number}: too deeply nested; expected a list of labels") from None
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
        yield labels, name


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
