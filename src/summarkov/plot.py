"""Figures for papers (needs matplotlib), see :mod:`summarkov.show.figures`.

>>> import summarkov as sm
>>> from summarkov import plot
>>> events = sm.read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
>>> axes = plot.graph(sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events))
>>> plot.save(axes, "graph.pdf")  # doctest: +SKIP
"""

from summarkov.show.figures import calibration, forest, graph, save, states

__all__ = ["calibration", "forest", "graph", "save", "states"]
