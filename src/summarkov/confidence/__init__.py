"""How sure: credible intervals of probabilities, and edges that resampled data give again."""

from summarkov.confidence.edges import Confidence, EdgeConfidence
from summarkov.confidence.intervals import credible_intervals

__all__ = ["Confidence", "EdgeConfidence", "credible_intervals"]
