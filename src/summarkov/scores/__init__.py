"""Scores: counts in, float out."""

from summarkov.scores.estimates import Prior, log_likelihood, probabilities, pseudo_counts
from summarkov.scores.scorer import SCORES, Scorer, half_log, log_evidence
from summarkov.scores.trees import Tree, shrunken, split_gains, unexplained
