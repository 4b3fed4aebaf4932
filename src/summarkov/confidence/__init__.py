"""How sure: credible intervals of probabilities, and edges that resampled data give again."""

from summarkov.confidence.edges import Confidence, EdgeConfidence
from summarkov.confidence.intervals import credible_intervals
from summarkov.confidence.support import seen

__all__ = ["Confidence", "EdgeConfidence", "credible_intervals", "seen"]
