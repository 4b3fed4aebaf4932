"""Summaries: what of the history a model looks at. One file a summary."""

from summarkov.summaries.base import KeyArray, Summary
from summarkov.summaries.binary import BinarySummary
from summarkov.summaries.chain import ChainSummary
from summarkov.summaries.contexts import ContextSummary
from summarkov.summaries.count import CountSummary
from summarkov.summaries.custom import CustomSummary, register_summary, registered_summary
from summarkov.summaries.ordinal import OrdinalSummary
from summarkov.summaries.window import WindowSummary

__all__ = [
    "BinarySummary",
    "ChainSummary",
    "ContextSummary",
    "CountSummary",
    "CustomSummary",
    "KeyArray",
    "OrdinalSummary",
    "Summary",
    "WindowSummary",
    "register_summary",
    "registered_summary",
]
