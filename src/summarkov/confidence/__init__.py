"""How sure: intervals of probabilities, edges that resampled data give again, tests of edges."""

from summarkov.confidence.dependence import DependenceTest, conditional_test
from summarkov.confidence.discoveries import Discoveries, Discovery, benjamini_yekutieli
from summarkov.confidence.edges import Confidence, EdgeConfidence
from summarkov.confidence.groups import EdgeDifference, GroupComparison
from summarkov.confidence.intervals import credible_intervals
from summarkov.confidence.support import seen

__all__ = [
    "Confidence",
    "DependenceTest",
    "Discoveries",
    "Discovery",
    "EdgeConfidence",
    "EdgeDifference",
    "GroupComparison",
    "benjamini_yekutieli",
    "conditional_test",
    "credible_intervals",
    "seen",
]
