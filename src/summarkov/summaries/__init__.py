"""Summaries: what of the history a model looks at."""

from summarkov.summaries.base import Reach, Summary
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
from summarkov.summaries.tree import HistoryTest, HistoryTests, TreeSummary
from summarkov.summaries.window import WindowSummary
