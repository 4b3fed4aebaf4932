"""Summaries: what of the history a model looks at. One file per summary."""

from summarkov.summaries.base import Memory, Reach, Summary
from summarkov.summaries.binary import BinarySummary
from summarkov.summaries.chain import ChainSummary
from summarkov.summaries.contexts import ContextSummary
from summarkov.summaries.count import CountSummary
from summarkov.summaries.custom import CustomSummary, HistorySummary, register_summary, registered_summary
from summarkov.summaries.history_tests import HistoryTest, HistoryTests, MoreRecent, Occurs, Start
from summarkov.summaries.ordinal import OrdinalSummary
from summarkov.summaries.tree import TreeSummary
from summarkov.summaries.window import WindowSummary
