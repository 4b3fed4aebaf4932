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

    from summarkov.comparison import compare as compare
    from summarkov.engines.count_store import CountStore as CountStore
    from summarkov.events import END as END
    from summarkov.events import EventSequences as EventSequences
    from summarkov.models import OTHER as OTHER
    from summarkov.models import BSuMM as BSuMM
    from summarkov.models import CSuMM as CSuMM
    from summarkov.models import InfluenceGraph as InfluenceGraph
    from summarkov.models import JointSuMM as JointSuMM
    from summarkov.models import MarkovChain as MarkovChain
    from summarkov.models import OSuMM as OSuMM
    from summarkov.models import OutcomeModel as OutcomeModel
    from summarkov.models import SuMM as SuMM
    from summarkov.models import TreeSuMM as TreeSuMM
    from summarkov.models import VariableOrderChain as VariableOrderChain
    from summarkov.models import compare_groups as compare_groups
    from summarkov.models import drift as drift
    from summarkov.models import load as load
    from summarkov.models import sensitivity as sensitivity
    from summarkov.read import read_events as read_events
    from summarkov.read import scan_events as scan_events
    from summarkov.read import write_events as write_events
    from summarkov.simulate import Dynamics as Dynamics
    from summarkov.spark.predict import predict_spark as predict_spark
    from summarkov.spark.source import scan_spark as scan_spark

__version__ = "0.1.0"

#: In which room each public name lives.
_WHERE = {
    name: room
    for room, names in (
        ("engines.count_store", "CountStore"),
        ("comparison", "compare"),
        ("events", "END EventSequences"),
        ("read", "read_events scan_events write_events"),
        (
            "models",
            "BSuMM CSuMM InfluenceGraph JointSuMM MarkovChain OSuMM OTHER OutcomeModel SuMM "
            "TreeSuMM VariableOrderChain compare_groups drift load sensitivity",
        ),
        ("simulate", "Dynamics"),
        ("spark.predict", "predict_spark"),
        ("spark.source", "scan_spark"),
    )
    for name in names.split()
}

__all__ = [*_WHERE]
#: Rooms that people use by name, such as ``summarkov.plot.graph``.
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
