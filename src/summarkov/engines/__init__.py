"""Engines: count requests in, counts out."""

from summarkov.engines.counts import (
    CandidateCounts,
    CandidatesRequest,
    RecencyCounts,
    RecencyRequest,
    Request,
    StateCounts,
    StatesRequest,
    Target,
)
from summarkov.engines.source import (
    IN_A_ROW,
    EventSource,
    Layout,
    MemorySource,
    as_events,
    as_source,
    make_source,
)
from summarkov.events.draws import Bootstrap
