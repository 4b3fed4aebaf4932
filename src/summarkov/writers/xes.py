"""Events as a log of the process-mining standard XES."""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from summarkov.errors import DataError
from summarkov.events import EventSequences

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
