"""Engines: count requests in, counts out."""

from summarkov.engines.counts import CandidateCounts, RecencyCounts, StateCounts
from summarkov.engines.event_source import EventSource
from summarkov.engines.local import LocalSource
from summarkov.engines.opening import open_events
from summarkov.engines.past import Past, joint_memory, most_memory
from summarkov.engines.replicated import ReplicatedSource
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, StatesRequest, Target
from summarkov.engines.source import CountSource, Replicable, Replicates, as_source
from summarkov.engines.weights import Bootstrap, Draws, units_of

__all__ = [
    "Bootstrap",
    "CandidateCounts",
    "CandidatesRequest",
    "CountSource",
    "Draws",
    "EventSource",
    "LocalSource",
    "Past",
    "RecencyCounts",
    "RecencyRequest",
    "Replicable",
    "ReplicatedSource",
    "Replicates",
    "Request",
    "StateCounts",
    "StatesRequest",
    "Target",
    "as_source",
    "joint_memory",
    "most_memory",
    "open_events",
    "units_of",
]
