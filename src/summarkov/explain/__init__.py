"""What a fitted model says, in numbers and in words."""

from summarkov.explain import sentences
from summarkov.explain.contrasts import (
    Contrast,
    contrast,
    contrast_in_tree,
    contrasts_in_table,
    influence_of,
    presence,
)
from summarkov.explain.explanation import Active, Counterfactual, Explanation
from summarkov.explain.group_comparison import EdgeDifference, GroupComparison, LabelDifference
from summarkov.explain.influence import Influence, effect_of, ranked
from summarkov.explain.patterns import Pattern, pattern_of

__all__ = [
    "Active",
    "Contrast",
    "Counterfactual",
    "EdgeDifference",
    "Explanation",
    "GroupComparison",
    "Influence",
    "LabelDifference",
    "Pattern",
    "contrast",
    "contrast_in_tree",
    "contrasts_in_table",
    "effect_of",
    "influence_of",
    "pattern_of",
    "presence",
    "ranked",
    "sentences",
]
