"""Which events make which others more or less likely: summary Markov models for event sequences.

Public names load when first used, so that ``import summarkov`` is instant.

>>> import summarkov as sm
>>> events = sm.read_events([["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10)
>>> sm.BSuMM("B", lookback=1).fit(events).influencers_
('A',)
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes most of the time until the command is ready for Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from summarkov.comparison import compare, tune_joint
    from summarkov.engines import CountStore
    from summarkov.events import END, EventSequences
    from summarkov.kernels import backend
    from summarkov.models import (
        OTHER,
        BSuMM,
        CollapseRepeats,
        ContextTreeWeighting,
        CSuMM,
        InfluenceGraph,
        JointSuMM,
        LabelSets,
        MapLabels,
        MarkovChain,
        OSuMM,
        OutcomeModel,
        PoolRare,
        ReadEvents,
        SuMM,
        TreeSuMM,
        VariableOrderChain,
        compare_groups,
        drift,
        load,
        sensitivity,
    )
    from summarkov.read import read_events, scan_events, write_events
    from summarkov.simulate import Dynamics
    from summarkov.spark.predict import predict_frame
    from summarkov.spark.source import scan_spark
    from summarkov.summaries import register_summary

__version__ = "0.1.0"

#: In which room each public name lives.
_WHERE = {
    name: room
    for room, names in (
        ("engines", "CountStore"),
        ("comparison", "compare tune_joint"),
        ("events", "END EventSequences"),
        ("read", "read_events scan_events write_events"),
        ("kernels", "backend"),
        (
            "models",
            "BSuMM CSuMM CollapseRepeats ContextTreeWeighting InfluenceGraph JointSuMM "
            "LabelSets MapLabels MarkovChain OSuMM OTHER OutcomeModel PoolRare ReadEvents SuMM "
            "TreeSuMM VariableOrderChain compare_groups drift load "
            "sensitivity",
        ),
        ("simulate", "Dynamics"),
        ("spark.predict", "predict_frame"),
        ("spark.source", "scan_spark"),
        ("summaries", "register_summary"),
    )
    for name in names.split()
}

__all__ = [
    "END",
    "OTHER",
    "BSuMM",
    "CSuMM",
    "CollapseRepeats",
    "ContextTreeWeighting",
    "CountStore",
    "Dynamics",
    "EventSequences",
    "InfluenceGraph",
    "JointSuMM",
    "LabelSets",
    "MapLabels",
    "MarkovChain",
    "OSuMM",
    "OutcomeModel",
    "PoolRare",
    "ReadEvents",
    "SuMM",
    "TreeSuMM",
    "VariableOrderChain",
    "backend",
    "compare",
    "compare_groups",
    "drift",
    "load",
    "predict_frame",
    "read_events",
    "register_summary",
    "scan_events",
    "scan_spark",
    "sensitivity",
    "tune_joint",
    "write_events",
]
#: Rooms that people use by name, such as ``summarkov.plot.graphs``.
_ROOMS = ("errors", "plot", "text")


def __getattr__(name: str) -> Any:
    import importlib

    if name in _ROOMS:
        return importlib.import_module(f"summarkov.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'summarkov' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"summarkov.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__"])
