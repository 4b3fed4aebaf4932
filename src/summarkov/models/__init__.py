"""The estimators that people use."""

from summarkov.models.bag import Bag
from summarkov.models.comparing_groups import compare_groups
from summarkov.models.context_tree import ContextTreeWeighting, VariableOrderChain
from summarkov.models.families import BSuMM, CSuMM, MarkovChain, OSuMM, SuMM
from summarkov.models.graph import InfluenceGraph
from summarkov.models.loading import load
from summarkov.models.measures import scorer
from summarkov.models.model import SummaryModel
from summarkov.models.predictions import OTHER, predict_frame
from summarkov.models.stability import Stability, StabilityRow, StableEdge, sensitivity
from summarkov.models.transformers import AddEnd, CollapseRepeats, MapLabels, PoolRare, ReadEvents
from summarkov.models.tree import TreeSuMM

__all__ = [
    "OTHER",
    "AddEnd",
    "BSuMM",
    "Bag",
    "CSuMM",
    "CollapseRepeats",
    "ContextTreeWeighting",
    "InfluenceGraph",
    "MapLabels",
    "MarkovChain",
    "OSuMM",
    "PoolRare",
    "ReadEvents",
    "Stability",
    "StabilityRow",
    "StableEdge",
    "SuMM",
    "SummaryModel",
    "TreeSuMM",
    "VariableOrderChain",
    "compare_groups",
    "load",
    "predict_frame",
    "scorer",
    "sensitivity",
]
