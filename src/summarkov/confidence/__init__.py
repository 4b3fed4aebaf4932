"""How sure an estimate is."""

from summarkov.confidence.intervals import credible_intervals

__all__ = ["credible_intervals"]
