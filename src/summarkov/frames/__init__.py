"""Results as data frames, and as small tables to look at: one way for all of them."""

from summarkov.frames.sheet import MOST, Sheet
from summarkov.frames.tabular import Column, FrameLibrary, Records, Tabular, columns_of, keep_records

__all__ = ["MOST", "Column", "FrameLibrary", "Records", "Sheet", "Tabular", "columns_of", "keep_records"]
