"""Every way in and out: files, tables and lists to :class:`summarkov.events.EventSequences`, and back."""

from summarkov.read.read import read_events
from summarkov.read.scan import scan_events
from summarkov.read.write import write_events

__all__ = ["read_events", "scan_events", "write_events"]
