"""Logs of the process-mining standard XES.

They are streamed by expat; document types, and so all entities, are refused as they begin.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import EventSequences
from summarkov.io.columns import Columns
from summarkov.io.encoding import Collected
from summarkov.io.files import open_file, unpacked
from summarkov.io.grouping import Gap, count_ties, cut_sessions, sort_within, sorted_within
from summarkov.io.ordering import as_ordered, sort_keys

_BLOCK = 1 << 16
#: How far elements may stand in each other, and how many keys of attributes that are not asked for are noted.
_DEEPEST, _MOST_KEYS = 100, 100
#: The name of a trace, and of an event; and when it was.
NAME, TIME = "concept:name", "time:timestamp"


def read_xes(path: str, asked: Columns, labels: Sequence[str] | None, gap: Gap | None) -> EventSequences:
    """Read one sequence per trace, its events in the order of the file.

    ``asked`` names the keys of attributes: ``case`` of the trace (else ``concept:name``, if it is there),
    ``event`` of the event (else ``concept:name``), ``order`` to sort the events of a trace by.
    """
    order = asked.order if isinstance(asked.order, str) else None
    if gap is not None and order is None:
        if asked.order is False:
            raise SettingError("session_gap needs the time of every event; name it with order=")
        order = TIME
    log = _Log(path, asked.case, asked.event or NAME, order)
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
        except (LookupError, ValueError) as error:  # an encoding that Python does not have, or not for XML
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"{path}: the encoding that it says it has is not known; save it as UTF-8"
            ) from error
    if not log.seen:
        raise DataError(f"{path} holds no <log>; expected an XES log")
    return log.collected.finish(labels) if order is None else _ordered(log, labels, gap)


def _ordered(log: _Log, labels: Sequence[str] | None, gap: Gap | None) -> EventSequences:
    """Sort the events of every trace, and cut it into sessions if asked to."""
    import pyarrow as pa

    assert log.order is not None
    column = as_ordered(pa.chunked_array([pa.array(log.places, pa.string())]), log.order, log.path)
    keys = sort_keys(column, log.order, log.path)
    events = log.collected.finish(labels)
    codes, offsets, ids = events.codes, events.offsets, events.ids
    starts = offsets[:-1][np.diff(offsets) > 0]
    if len(keys) and not sorted_within(keys, starts):
        moved = sort_within(keys, starts)
        codes, keys = codes[moved], keys[moved]
    ties = count_ties(keys, starts) if len(keys) else 0
    if gap is not None:
        offsets, names = cut_sessions(keys, offsets, ids, gap.in_keys(column.type, log.order, log.path))
        ids = tuple(names)
    return EventSequences(codes, offsets, events.labels, ids, tied_order=ties)


@dataclass
class _Log:
    """What expat has come upon so far."""

    path: str
    case: str | None
    event: str
    order: str | None
    collected: Collected = field(default_factory=Collected)
    places: list[str] = field(default_factory=list)
    seen: bool = False

    def __post_init__(self) -> None:
        self.open: list[str] = []  # the elements that are open
        self.trace: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.labels: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse
        self.parser.ExternalEntityRefHandler = self.refuse

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
        depth = len(self.open)
        if depth > _DEEPEST:
            raise DataError(
                f"{self.where()}: elements stand in each other more than {_DEEPEST} times; mend it"
            )
        if depth == 1:
            if name != "log":
                raise DataError(f"{self.where()}: expected an XES <log>, found <{name[:40]}>")
            self.seen = True
        elif depth == 2 and name == "trace":
            self.trace, self.labels = {}, []
        elif depth == 2 and name == "event":
            raise DataError(f"{self.where()}: this event belongs to no trace; put it into one, or remove it")
        elif depth >= 3 and self.open[1] == "trace":
            if depth == 3 and name == "event":
                self.attributes = {}
            elif "key" in given and "value" in given:
                if depth == 3:
                    self.note(self.trace, given["key"], given["value"])
                elif depth == 4 and self.open[2] == "event":
                    self.note(self.attributes, given["key"], given["value"])

    def note(self, attributes: dict[str, str], key: str, value: str) -> None:
        """Keep an attribute that is asked for; of the others some keys, to tell what there is."""
        if key in (self.case, self.event, self.order, NAME):
            attributes[key] = value
        elif len(attributes) < _MOST_KEYS:
            attributes[key] = ""

    def end(self, _: str) -> None:
        name, depth = self.open.pop(), len(self.open)
        if depth == 2 and name == "event" and self.open[1] == "trace":
            self.labels.append(self.value(self.event, "event"))
            if self.order is not None:
                self.places.append(self.value(self.order, "order"))
        elif depth == 1 and name == "trace":
            if self.case is not None and self.case not in self.trace:
                raise DataError(self.missing(self.case, "trace", "case", self.trace))
            self.collected.add(self.labels, self.trace.get(self.case or NAME))

    def value(self, key: str, role: str) -> str:
        """An attribute of the event at hand."""
        try:
            return self.attributes[key]
        except KeyError:
            raise DataError(self.missing(key, "event", role, self.attributes)) from None

    def missing(self, key: str, what: str, role: str, there: dict[str, str]) -> str:
        keys = ", ".join(repr(name[:40]) for name in list(there)[:8]) or "no keys"
        return (
            f"{self.where()}: the {what} that ends here has no {key!r}, only {keys}; "
            f"mend it, or name another key with {role}={nearest(key, there)}"
        )


_BEGIN = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <classifier name="Activity" keys="concept:name"/>
"""

#: What XML cannot hold, not even escaped: control characters, and halves of characters.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_xes(events: EventSequences, file: Any) -> None:
    """Write one trace per sequence; ``concept:name`` names traces and events."""
    occurring = np.flatnonzero(events.label_counts).tolist()
    named = {code: f"    <event>{_name(events.labels[code])}</event>\n".encode() for code in occurring}
    file.write(_BEGIN.encode())
    for at, name in enumerate(events.ids):
        file.write(f"  <trace>\n    {_name(name)}\n".encode())
        codes = events.codes[events.offsets[at] : events.offsets[at + 1]]
        file.write(b"".join(named[code] for code in codes.tolist()))
        file.write(b"  </trace>\n")
    file.write(b"</log>\n")


def _name(text: str) -> str:
    found = _NO_XML.search(text)
    if found:
        raise DataError(
            f"{text[:80]!r} holds the character {found[0]!r}, which XES, being XML, cannot hold; write "
            ".jsonl, or rename it: events.map_labels({...})"
        )
    return f'<string key="concept:name" value={quoteattr(text)}/>'
