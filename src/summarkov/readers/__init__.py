"""Every file format and data frame ends here, as :class:`summarkov.events.EventSequences`."""

from summarkov.readers.read import read_events

__all__ = ["read_events"]
