"""What a fitted model says, in numbers and in words."""

from summarkov.explain.explanation import Active, Counterfactual, Explanation
from summarkov.explain.influence import Influence, influences_in
from summarkov.explain.patterns import Pattern, mixed_by, pattern_of
from summarkov.explain.rules import influence_in_tree
from summarkov.explain.strengths import strengths

__all__ = [
    "Active",
    "Counterfactual",
    "Explanation",
    "Influence",
    "Pattern",
    "influence_in_tree",
    "influences_in",
    "mixed_by",
    "pattern_of",
    "strengths",
]
