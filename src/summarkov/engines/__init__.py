"""Engines: count requests in, counts out."""

from summarkov.engines.count_store import CountStore
from summarkov.engines.counts import CandidateCounts, RecencyCounts, StateCounts
from summarkov.engines.replicates import ReplicatedSource
from summarkov.engines.requests import CandidatesRequest, RecencyRequest, Request, StatesRequest, Target
from summarkov.engines.source import (
    IN_A_ROW,
    EventSource,
    Layout,
    MemorySource,
    as_events,
    as_source,
    make_source,
)
from summarkov.engines.weights import units_of
from summarkov.events.draws import Bootstrap, Draws
