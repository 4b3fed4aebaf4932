"""Engines: count requests in, counts out."""

from summarkov.engines.counts import CandidateCounts, StateCounts
from summarkov.engines.local import LocalSource
from summarkov.engines.past import Past, joint_memory
from summarkov.engines.requests import CandidatesRequest, Request, StatesRequest
from summarkov.engines.source import CountSource, as_source
from summarkov.engines.target import Target

__all__ = [
    "CandidateCounts",
    "CandidatesRequest",
    "CountSource",
    "LocalSource",
    "Past",
    "Request",
    "StateCounts",
    "StatesRequest",
    "Target",
    "as_source",
    "joint_memory",
]
