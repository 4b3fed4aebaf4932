"""Every way in and out: files, tables and lists to :class:`summarkov.events.EventSequences`, and back."""

from summarkov.io.read import read_events
from summarkov.io.write import write_events

__all__ = ["read_events", "write_events"]
