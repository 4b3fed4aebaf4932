"""Events as a log of the process-mining standard XES."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.attributes import attribute_values
from summarkov.events.moments import time_column
from summarkov.io.xes_files import NAME, TIME

#: The key of a trace's weight.
WEIGHT = "weight"
_BEGIN = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
  <classifier name="Activity" keys="concept:name"/>
"""

#: What XML cannot hold, not even escaped: control characters, and halves of characters.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_xes(events: EventSequences, file: Any) -> None:
    """Write one trace per sequence, with its attributes and its weight.

    ``concept:name`` names traces and events, ``time:timestamp`` is the time of an event.
    """
    times = _times(events)
    occurring = np.flatnonzero(events.label_counts).tolist()
    names = {code: _key("string", NAME, events.labels[code]) for code in occurring}
    of_traces: dict[str, list[Any]] = {**attribute_values(events.attributes, (NAME, WEIGHT))}
    if events.weights is not None:
        of_traces[WEIGHT] = events.weights.tolist()
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


def _times(events: EventSequences) -> list[str] | None:
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
