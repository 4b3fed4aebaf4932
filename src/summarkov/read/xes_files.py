"""Logs of the process-mining standard XES, read and written.

They are read by expat, piece by piece; document types, and so all entities, are refused as they begin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from summarkov.errors import DataError, SettingError, nearest
from summarkov.events import EventSequences
from summarkov.events.attributes import attribute_values
from summarkov.events.moments import time_column
from summarkov.read.encoding import Vocabulary
from summarkov.read.files import open_file, unpacked
from summarkov.read.lines import Collected
from summarkov.read.ordering import Keys, count_falls, sort_within
from summarkov.read.rows import LeftOut, changes, is_weight, refuse_separator
from summarkov.read.ticks import Order, as_column
from summarkov.read.wanted import Wanted

_BLOCK = 1 << 16
#: How far elements may stand in each other, and how many keys of attributes that are not asked for are noted.
_DEEPEST, _MOST_KEYS = 100, 100
#: Lifecycles to name where none of the events has the one that is asked for.
_MOST_SHOWN = 8
#: The name of a trace, and of an event; when that was; and what became of the activity.
NAME, TIME, LIFECYCLE = "concept:name", "time:timestamp", "lifecycle:transition"
#: The keys of a trace's weight, and of whether it is over.
WEIGHT, COMPLETE = "weight", "complete"
_BEGIN = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
  <classifier name="Activity" keys="concept:name"/>
"""

#: What XML cannot hold, not even escaped: control characters, and halves of characters.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_xes(path: str, wanted: Wanted) -> EventSequences:
    """Read one sequence per trace, its events in the order of the file.

    Columns are the keys of attributes: ``case`` of the trace (else ``concept:name``, if it is there),
    ``event`` of the event (else ``concept:name``), ``order`` to sort the events of a trace by. Where nothing
    is said of an order, equal time stamps in a row are counted, and those earlier than the one before.
    """
    asked = wanted.columns
    order = asked.order
    if wanted.needs_places and not order:
        if order == ():
            raise SettingError(
                "session_gap, times, ties and drop_duplicates need the time of every event; name it with "
                "order="
            )
        order = (TIME,)
    log = _Log(path, wanted, asked.event or (NAME,), order)
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
    log.left_out.refuse_all(wanted, len(log.collected.codes), path)
    return _finished(log, order or ())


def _finished(log: _Log, named: tuple[str, ...]) -> EventSequences:
    """Sort the events of every trace, if asked to; count ties of time, and what runs backwards."""
    wanted, asked, labels = log.wanted, log.wanted.columns, log.collected.labels.texts
    part = log.collected.part(wanted)
    starts = part.offsets[:-1][np.diff(part.offsets) > 0]
    order, columns = Order(named, wanted, "event"), [as_column(places) for places in log.places[: len(named)]]
    order.look(columns, log.path)
    keys, kinds = order.read(columns, log.path)
    backwards, moved = 0, slice(None)
    if not named and log.places and None not in log.places[0]:
        keys = _times(log)
        backwards = count_falls(keys, starts) if keys else 0
    elif keys and len(part.codes) and count_falls(keys, starts):
        moved = sort_within(keys, starts)
    part = replace(
        part,
        codes=part.codes[moved],
        ids=log.collected.names(),
        order=order,
        keys=[each[moved] for each in keys],
        kinds=kinds,
    )
    chosen = replace(
        asked,
        case=asked.case or NAME,
        event=log.event,
        order=named,
        lifecycle=LIFECYCLE if asked.with_lifecycle else None,
        other_lifecycle=None if asked.with_lifecycle or LIFECYCLE in log.event else LIFECYCLE,
    )
    return part.events(labels, chosen, wanted, log.left_out, log.path, backwards)


def _times(log: _Log) -> Keys:
    """The times of events, to count ties by; nothing if they cannot be read, since nobody asked for them."""
    order, columns = Order((TIME,), log.wanted, "event"), [as_column(log.places[0])]
    try:
        order.look(columns, log.path)
        return order.read(columns, log.path)[0]
    except DataError:
        return []


@dataclass
class _Log:
    """What expat has come upon so far. ``order=None`` notes the times, which need not be there."""

    path: str
    wanted: Wanted
    event: tuple[str, ...]
    order: tuple[str, ...] | None
    left_out: LeftOut = field(default_factory=LeftOut)
    seen: bool = False

    def __post_init__(self) -> None:
        asked = self.wanted.columns
        self.case = asked.case
        self.places: list[list[str | None]] = [[] for _ in ((TIME,) if self.order is None else self.order)]
        self.collected = Collected(values={name: Vocabulary() for name in asked.per_case})
        self.needed = {NAME, TIME, LIFECYCLE, *asked.names(), *self.event, *(self.order or ())}
        self.open: list[str] = []  # the elements that are open
        self.trace: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.of_events: list[
            tuple[str | None, ...]
        ] = []  # the values of columns, of every event of the trace
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
            self.trace, self.labels, self.of_events = {}, [], []
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
        if key in self.needed:
            attributes[key] = value
        elif len(attributes) < _MOST_KEYS:
            attributes[key] = ""

    def end(self, _: str) -> None:
        name, depth = self.open.pop(), len(self.open)
        if depth == 2 and name == "event" and self.open[1] == "trace":
            label = self.label()
            if label is None:
                return
            self.labels.append(label)
            asked = self.wanted.columns
            self.of_events.append(tuple(map(self.attributes.get, asked.per_case)))
            if self.order is None:
                self.places[0].append(self.attributes.get(TIME))
            else:
                for places, key in zip(self.places, self.order, strict=True):
                    places.append(self.value(key, "order"))
        elif depth == 1 and name == "trace":
            if self.case is not None and self.case not in self.trace:
                raise DataError(self.missing(self.case, "trace", "case", self.trace))
            case = self.trace.get(self.case or NAME)
            self.collected.add(self.labels, case, values=self.trace_values())

    def label(self) -> str | None:
        """The label of the event at hand; None if it is left out."""
        wanted = self.wanted
        if wanted.lifecycle is not None:
            found = self.value(LIFECYCLE, "lifecycle")
            if found.casefold() != wanted.lifecycle.casefold():
                self.left_out.lifecycle += 1
                if len(self.left_out.lifecycles) < _MOST_SHOWN:
                    self.left_out.lifecycles.add(found)
                return None
        else:
            self.left_out.look_at_one(self.attributes.get(LIFECYCLE, ""))
        if wanted.missing == "error":
            parts: list[str | None] = [self.value(key, "event") for key in self.event]
        else:
            parts = [self.attributes.get(key) for key in self.event]
        if wanted.missing == "skip" and None in parts:
            self.left_out.unlabelled += 1
            return None
        texts = [wanted.missing if part is None else part for part in parts]
        for key, text in zip(self.event, texts[:-1], strict=False):
            refuse_separator(text, wanted.separator, f"{self.where()}: {key!r}")
        return wanted.separator.join(texts)

    def trace_values(self) -> list[str | None]:
        """What is asked for of the trace at hand; what it does not have, its events may have."""
        asked = self.wanted.columns
        values = [self.trace.get(key) for key in asked.per_case]
        for at, key in enumerate(asked.per_case):
            found = list(dict.fromkeys(of_event[at] for of_event in self.of_events))
            if key not in self.trace and len(found) > 1:
                name = self.trace.get(self.case or NAME, self.collected.next_name())
                raise changes(key, name, self.path, *found[:2])
            values[at] = self.trace.get(key, next(iter(found), None))
        if asked.weight is not None and not is_weight(values[0]):
            if values[0] is None:
                raise DataError(self.missing(asked.weight, "trace", "weight", self.trace))
            raise DataError(
                f"{self.where()}: {asked.weight!r} of the trace holds {values[0][:40]!r}; a weight is a "
                "number from 0 on: correct it"
            )
        return values

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


# ---------------------------------------------------------------------- writing


def write_xes(events: EventSequences, file: Any) -> None:
    """Write one trace per sequence, with its attributes and its weight.

    ``concept:name`` names traces and events, ``time:timestamp`` is the time of an event.
    """
    times = _dates(events)
    occurring = np.flatnonzero(events.label_counts).tolist()
    names = {code: _key("string", NAME, events.labels[code]) for code in occurring}
    of_traces: dict[str, list[Any]] = {**attribute_values(events.attributes, (NAME, WEIGHT, COMPLETE))}
    if events.weights is not None:
        of_traces[WEIGHT] = events.weights.tolist()
    if not events.complete.all():
        of_traces[COMPLETE] = ["true" if each else "false" for each in events.complete.tolist()]
    file.write(_BEGIN.encode())
    for at, (start, stop) in enumerate(pairwise(events.offsets.tolist())):
        values = {key: found[at] for key, found in of_traces.items() if found[at] is not None}
        keys = [_key("string" if key != WEIGHT else "float", key, value) for key, value in values.items()]
        each = [names[code] for code in events.codes[start:stop].tolist()]
        if times is not None:
            each = [name + time for name, time in zip(each, times[start:stop], strict=True)]
        lines = [_key("string", NAME, events.ids[at]), *keys, *(f"<event>{one}</event>" for one in each)]
        file.write(("  <trace>\n    " + "\n    ".join(lines) + "\n  </trace>\n").encode())
    file.write(b"</log>\n")


def _dates(events: EventSequences) -> list[str] | None:
    """The time of every event as XES has it, None where there are none; refuse ticks that no times tell."""
    moments = events.moments
    if moments is None:
        return None
    if moments.times is None:
        if moments.has_ticks:
            raise DataError(
                "some events happened together, which XES without times cannot hold; write .jsonl or .spmf"
            )
        return None
    if not moments.unit.is_clock:
        raise DataError(
            "the times of events are numbers, and XES has dates and times of day only; write .jsonl, "
            ".parquet or .csv, or read the events without times"
        )
    if moments.has_empty:
        raise DataError("a tick is empty, which XES cannot hold; write .jsonl")
    first = np.zeros(len(moments.starts), bool)
    first[events.offsets[:-1][events.lengths > 0]] = True
    if moments.has_ticks and (np.diff(moments.times, prepend=0)[moments.starts & ~first] == 0).any():
        raise DataError(
            "some ticks of one sequence have the same time, so that XES would make them one; write .jsonl"
        )
    times = np.asarray(time_column(moments).values)
    seconds = times.astype("datetime64[s]") if np.datetime_data(times.dtype)[0] == "D" else times
    return [f'<date key="{TIME}" value="{time}"/>' for time in np.datetime_as_string(seconds).tolist()]


def _key(kind: str, key: str, value: object) -> str:
    """An attribute of a trace or an event."""
    for text in (key, str(value)):
        found = _NO_XML.search(text)
        if found:
            raise DataError(
                f"{text[:80]!r} holds the character {found[0]!r}, which XES, being XML, cannot hold; write "
                ".jsonl, or rename it: events.map_labels({...})"
            )
    return f"<{kind} key={quoteattr(key)} value={quoteattr(str(value))}/>"
