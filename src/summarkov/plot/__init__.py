"""Figures for papers (needs matplotlib): each function draws on axes that it is given, or makes, and returns
them.

>>> import summarkov as sm
>>> from summarkov import plot
>>> events = sm.read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
>>> axes = plot.graph(sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events))
>>> plot.save(axes, "graph.pdf")  # doctest: +SKIP
"""

from summarkov.plot.canvas import save
from summarkov.plot.graphs import graph
from summarkov.plot.models import calibration, path, states, tree

__all__ = ["calibration", "graph", "path", "save", "states", "tree"]
