"""Engines: count requests in, counts out."""

from summarkov.engines.counts import CandidateCounts, RecencyCounts, StateCounts
from summarkov.engines.local import LocalSource
from summarkov.engines.past import Past, joint_memory
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, StatesRequest
from summarkov.engines.source import CountSource, as_source
from summarkov.engines.target import Target

__all__ = [
    "CandidateCounts",
    "CandidatesRequest",
    "CountSource",
    "LocalSource",
    "Past",
    "RecencyCounts",
    "RecencyRequest",
    "Request",
    "StateCounts",
    "StatesRequest",
    "Target",
    "as_source",
    "joint_memory",
]
