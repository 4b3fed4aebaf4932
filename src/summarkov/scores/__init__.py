"""Scores: counts in, float out."""

from summarkov.scores.estimates import Prior, log_likelihood, probabilities, pseudo_counts
from summarkov.scores.scorer import SCORES, Scorer

__all__ = ["SCORES", "Prior", "Scorer", "log_likelihood", "probabilities", "pseudo_counts"]
