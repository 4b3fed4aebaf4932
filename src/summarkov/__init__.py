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

    from summarkov.engines import CountStore, EventSource, MappedSource, open_events, scan_events, scan_spark
    from summarkov.evaluation import compare
    from summarkov.events import EventSequences
    from summarkov.io import read_events, write_events
    from summarkov.kernels import backend
    from summarkov.models import (
        OTHER,
        AddEnd,
        Bag,
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
        compare_groups_by,
        drift,
        load,
        predict_frame,
        scorer,
        sensitivity,
    )
    from summarkov.simulate import Dynamics
    from summarkov.summaries import register_summary

__version__ = "0.1.0"

_WHERE = {
    "AddEnd": "models",
    "CollapseRepeats": "models",
    "MapLabels": "models",
    "PoolRare": "models",
    "ReadEvents": "models",
    "scan_events": "engines",
    "CountStore": "engines",
    "MappedSource": "engines",
    "scan_spark": "engines",
    "scorer": "models",
    "BSuMM": "models",
    "Bag": "models",
    "OutcomeModel": "models",
    "CSuMM": "models",
    "ContextTreeWeighting": "models",
    "Dynamics": "simulate",
    "EventSequences": "events",
    "EventSource": "engines",
    "InfluenceGraph": "models",
    "JointSuMM": "models",
    "LabelSets": "models",
    "MarkovChain": "models",
    "OSuMM": "models",
    "OTHER": "models",
    "SuMM": "models",
    "TreeSuMM": "models",
    "VariableOrderChain": "models",
    "backend": "kernels",
    "compare": "evaluation",
    "compare_groups": "models",
    "compare_groups_by": "models",
    "load": "models",
    "open_events": "engines",
    "predict_frame": "models",
    "read_events": "io",
    "register_summary": "summaries",
    "drift": "models",
    "sensitivity": "models",
    "write_events": "io",
}

__all__ = [
    "OTHER",
    "AddEnd",
    "BSuMM",
    "Bag",
    "CSuMM",
    "CollapseRepeats",
    "ContextTreeWeighting",
    "CountStore",
    "Dynamics",
    "EventSequences",
    "EventSource",
    "InfluenceGraph",
    "JointSuMM",
    "LabelSets",
    "MapLabels",
    "MappedSource",
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
    "compare_groups_by",
    "drift",
    "load",
    "open_events",
    "predict_frame",
    "read_events",
    "register_summary",
    "scan_events",
    "scan_spark",
    "scorer",
    "sensitivity",
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
