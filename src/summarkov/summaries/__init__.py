"""Summaries: what of the history a model looks at."""

from summarkov.summaries.base import CustomSummary, HistorySummary, Names, Reach, Summary
from summarkov.summaries.contexts import ChainSummary, ContextSummary
from summarkov.summaries.tree import HistoryTest, HistoryTests, TreeSummary
from summarkov.summaries.window import BinarySummary, CountSummary, OrdinalSummary, WindowSummary
