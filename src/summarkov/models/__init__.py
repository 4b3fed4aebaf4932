"""The estimators that people use, and their results. Each loads when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from summarkov.models.chains import MarkovChain, VariableOrderChain
    from summarkov.models.changes import Change, Drift, drift
    from summarkov.models.distribution import OTHER, Predictions
    from summarkov.models.files import load
    from summarkov.models.fitted import Row, StateTable
    from summarkov.models.graph import InfluenceGraph
    from summarkov.models.groups import compare_groups
    from summarkov.models.joint import JointSuMM
    from summarkov.models.measures import Evaluation, Figures
    from summarkov.models.model import BSuMM, CSuMM, OSuMM, SuMM, SummaryModel
    from summarkov.models.outcome import OutcomeModel
    from summarkov.models.pipeline import Pipeline
    from summarkov.models.predictor import Edges
    from summarkov.models.stability import Stability, StabilityRow, StableEdge, sensitivity
    from summarkov.models.transformers import PoolRare
    from summarkov.models.tree import TreeSuMM

#: In which module each name is.
_WHERE = {
    "chains": "MarkovChain VariableOrderChain",
    "changes": "Change Drift drift",
    "distribution": "OTHER Predictions",
    "files": "load",
    "fitted": "Row StateTable",
    "graph": "InfluenceGraph",
    "groups": "compare_groups",
    "joint": "JointSuMM",
    "measures": "Evaluation Figures",
    "model": "BSuMM CSuMM OSuMM SuMM SummaryModel",
    "outcome": "OutcomeModel",
    "pipeline": "Pipeline",
    "predictor": "Edges",
    "stability": "Stability StabilityRow StableEdge sensitivity",
    "transformers": "PoolRare",
    "tree": "TreeSuMM",
}


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _WHERE.items():
        if name in names.split():
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
