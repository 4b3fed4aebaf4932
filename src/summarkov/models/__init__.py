"""The estimators that people use, and their results. Each loads when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from summarkov.models.changes import Change, StableEdge, compare_groups, drift, sensitivity
    from summarkov.models.files import load
    from summarkov.models.fitted import Edges, Row, StateTable
    from summarkov.models.graph import InfluenceGraph
    from summarkov.models.joint import JointSuMM
    from summarkov.models.model import BSuMM, CSuMM, OSuMM, SuMM, SummaryModel
    from summarkov.models.outcome import OutcomeModel
    from summarkov.models.pipeline import Pipeline
    from summarkov.models.prediction import OTHER, Evaluation, Figures, Predictions
    from summarkov.models.trees import MarkovChain, TreeSuMM, VariableOrderChain

#: In which module each name is.
_WHERE = {
    "changes": "Change StableEdge compare_groups drift sensitivity",
    "files": "load",
    "fitted": "Edges Row StateTable",
    "graph": "InfluenceGraph",
    "joint": "JointSuMM",
    "model": "BSuMM CSuMM OSuMM SuMM SummaryModel",
    "outcome": "OutcomeModel",
    "pipeline": "Pipeline",
    "prediction": "OTHER Evaluation Figures Predictions",
    "trees": "MarkovChain TreeSuMM VariableOrderChain",
}


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _WHERE.items():
        if name in names.split():
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
