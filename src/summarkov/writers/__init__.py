"""Events back into files, all or nothing, as :func:`summarkov.read_events` reads them."""

from summarkov.writers.write import write_events

__all__ = ["write_events"]
