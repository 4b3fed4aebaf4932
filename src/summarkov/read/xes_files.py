"""Logs of the process-mining standard XES.

They are read by expat, piece by piece; document types, and so all entities, are refused as they begin.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any
from xml.parsers import expat

import numpy as np

from summarkov.arrow import pa, text_array
from summarkov.errors import DataError, nearest
from summarkov.read.columns import Columns, Wanted
from summarkov.read.files import open_file, unpacked
from summarkov.read.rows import Block, Source
from summarkov.read.values import Encoded

_BLOCK = 1 << 16
#: How far elements may stand in each other, and how many keys of attributes that are not asked for are noted.
_DEEPEST, _MOST_KEYS = 100, 100
#: The name of a trace, and of an event; when that was; and what became of the activity.
NAME, TIME, LIFECYCLE = "concept:name", "time:timestamp", "lifecycle:transition"


def xes_source(path: str, wanted: Wanted) -> Source:
    """A log as a table: one row per event, in the order of the file, and one sequence per trace.

    Columns are the keys of attributes: ``case`` of the trace (else ``concept:name``, if it is there),
    ``event`` of the event (else ``concept:name``), ``order_by`` to sort the events of a trace by. Where
    nothing is said of an order, equal time stamps in a row are counted, and those earlier than the
    one before.
    """
    asked = wanted.columns
    order = asked.order
    if wanted.needs_places and order is None:
        order = (TIME,)
    event = asked.event or NAME
    chosen = replace(
        asked,
        case=asked.case or NAME,
        event=event,
        order=order or (),
        other_order=TIME if order is None else None,
        lifecycle=LIFECYCLE if asked.with_lifecycle else None,
        other_lifecycle=None if asked.with_lifecycle or event == LIFECYCLE else LIFECYCLE,
    )
    log = _Log(path, chosen, wanted)
    with open_file(path) as file:
        content = unpacked(file, path)
        try:
            while block := content.read(_BLOCK):
                log.parser.Parse(block, False)
            log.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise DataError(
                f"{path}, line {error.lineno}: not XML ({expat.ErrorString(error.code)}); expected an XES log"
            ) from error
        except DataError:
            raise
        except (LookupError, ValueError) as error:  # an encoding that Python does not have, or not for XML
            raise DataError(
                f"{path}: the encoding that it says it has is not known; save it as UTF-8"
            ) from error
    return Source(path, wanted, chosen, [log.block()], "event")


class _Log:
    """What expat has come upon so far: a column of texts for every key that is needed."""

    def __init__(self, path: str, chosen: Columns, wanted: Wanted) -> None:
        self.path, self.chosen, self.needs_case = path, chosen, wanted.columns.case is not None
        self.needed = [(key, "order") for key in chosen.order or ()]
        if chosen.lifecycle is not None:
            self.needed.append((LIFECYCLE, "lifecycle"))
        elif wanted.missing == "error":
            self.needed.append((str(chosen.event), "event"))
        others = (chosen.lifecycle, chosen.other_lifecycle, chosen.other_order)
        rows = (str(chosen.event), *(chosen.order or ()), *(key for key in others if key is not None))
        self.rows: dict[str, list[str | None]] = {key: [] for key in (*rows, *chosen.per_case)}
        self.names = list[str]()
        self.sequence = array("q")  # the trace of every event
        self.first = 0  # of the events of the trace
        self.open: list[str] = []  # the elements that are open
        self.trace: dict[str, str] = {}
        self.event: dict[str, str] = {}
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse

    def refuse(self, *_: object) -> Any:
        """Entities can grow without bound or name other files; XES needs none."""
        raise DataError(
            f"{self.where()}: a document type (<!DOCTYPE>) may hide a bomb or name other files, and XES has "
            "none; remove it"
        )

    def where(self) -> str:
        return f"{self.path}, line {self.parser.CurrentLineNumber}"

    def start(self, name: str, given: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]  # whatever its namespace
        self.open.append(name)
        depth, inside = len(self.open), self.open[1:2] == ["trace"]
        if depth > _DEEPEST:
            raise DataError(
                f"{self.where()}: elements stand in each other more than {_DEEPEST} times; mend it"
            )
        if depth == 1 and name != "log":
            raise DataError(f"{self.where()}: expected an XES <log>, found <{name[:40]}>")
        if depth == 2 and name == "trace":
            self.trace, self.first = {}, len(self.sequence)
        elif depth == 2 and name == "event":
            raise DataError(f"{self.where()}: this event belongs to no trace; put it into one, or remove it")
        elif depth == 3 and name == "event" and inside:
            self.event = {}
        elif inside and (depth == 3 or (depth == 4 and self.open[2] == "event")) and given.keys() >= _PAIR:
            of, key = self.trace if depth == 3 else self.event, given["key"]
            if len(of) < _MOST_KEYS or key in self.rows or key == self.chosen.case:
                of[key] = given["value"]

    def end(self, _: str) -> None:
        name, depth = self.open.pop(), len(self.open)
        if depth == 2 and name == "event" and self.open[1] == "trace":
            self.sequence.append(len(self.names))
            for key, column in self.rows.items():
                column.append(self.event.get(key))
            for key, role in self.needed:
                self.refuse_none(key, self.event, "event", role)
        elif depth == 1 and name == "trace":
            self.end_of_trace()

    def end_of_trace(self) -> None:
        """Note the name of the trace, and what is asked of it; what it does not have, its events may have."""
        case = str(self.chosen.case)
        if self.needs_case:
            self.refuse_none(case, self.trace, "trace", "case")
        n = len(self.sequence) - self.first
        for key in self.chosen.per_case if n else ():
            if key in self.trace:
                self.rows[key][-n:] = [self.trace[key]] * n
        self.names.append(self.trace.get(case, str(len(self.names))))

    def refuse_none(self, key: str, there: dict[str, str], what: str, role: str) -> None:
        """Refuse a trace or an event that lacks a key."""
        if key not in there:
            keys = ", ".join(repr(name[:40]) for name in list(there)[:8]) or "no keys"
            raise DataError(
                f"{self.where()}: the {what} that ends here has no {key!r}, only {keys}; "
                f"mend it, or name another key with {role}={nearest(key, there)}"
            )

    def block(self) -> Block:
        """All events."""
        rows = pa.table({key: text_array(column) for key, column in self.rows.items()})
        return Block(rows, self.path, case=Encoded(np.array(self.sequence, np.int64), self.names))


#: What an attribute has.
_PAIR = {"key", "value"}
