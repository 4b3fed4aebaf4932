"""Summaries: what of the history a model looks at."""

from summarkov.summaries.base import Memory, Reach, Summary
from summarkov.summaries.contexts import ChainSummary, ContextSummary
from summarkov.summaries.families import (
    BinarySummary,
    CountSummary,
    CustomSummary,
    HistorySummary,
    OrdinalSummary,
    register_summary,
    registered_summary,
)
from summarkov.summaries.history_tests import HistoryTest, HistoryTests, MoreRecent, Occurs, Start
from summarkov.summaries.tree import TreeSummary
from summarkov.summaries.window import WindowSummary
