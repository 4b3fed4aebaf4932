"""What a fitted model says, in numbers and in words."""

from summarkov.explain import sentences
from summarkov.explain.contrasts import (
    Contrast,
    Pattern,
    contrast,
    contrast_in_tree,
    contrasts_in_table,
    influence_of,
    pattern_of,
    presence,
)
from summarkov.explain.explanation import Active, Counterfactual, Explanation, Share, SharedExplanation
from summarkov.explain.fitted_model import (
    FittedBag,
    FittedDistribution,
    FittedGraph,
    FittedModel,
    FittedOutcome,
    Shown,
    influences_of,
    is_bag,
    is_graph,
    is_joint,
    is_outcome,
    models_of,
)
from summarkov.explain.group_comparison import (
    EdgeDifference,
    GroupComparison,
    GroupShare,
    LabelDifference,
    SeveralGroups,
)
from summarkov.explain.influence import Influence, effect_of, ranked, weight
