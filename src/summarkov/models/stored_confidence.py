"""Edge confidence in a graph's file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from summarkov.confidence import Confidence, EdgeConfidence
from summarkov.explain import Influence, effect_of
from summarkov.models.bootstrap import edge_confidence
from summarkov.models.graph import InfluenceGraph
from summarkov.models.stored_ratios import plain_numbers, read_ratio
from summarkov.store import Node

_EFFECTS = ("amplifies", "inhibits", "mixed", "unclear")


def confidence_document(confidence: Confidence) -> dict[str, Any]:
    """As plain values; what is infinite or not known is null."""
    return {**vars(confidence), "edges": [plain_numbers(edge) for edge in confidence.edges]}


def read_confidence(node: Node, graph: InfluenceGraph) -> Confidence:
    """Read it back; it must be about the edges of the graph."""
    n, level = node["n"].count(), node["level"].number()
    if n < 1:
        node["n"].wrong("a whole number from 1 on")
    if not 0 < level < 1:
        node["level"].wrong("a number between 0 and 1")
    edges = tuple(_edge(item, graph, n) for item in node["edges"].list())
    names = [(edge.influencer, edge.target) for edge in edges]
    of_graph = {(z, x) for x, found in graph.influencers_.items() for z in found}
    if len(set(names)) < len(names) or not of_graph <= set(names):
        node["edges"].wrong("every edge of the graph, and each once")
    units = node["units"].one_of(("sequences", "blocks"))
    return Confidence(n, node["seed"].count(), level, units, node["n_units"].count(), edges)


def _edge(node: Node, graph: InfluenceGraph, n: int) -> EdgeConfidence:
    z, x = node["influencer"].one_of(graph.labels_), node["target"].one_of(tuple(graph.models_))
    if node["in_graph"].value is not (z in graph.influencers_[x]):
        node["in_graph"].wrong(f"{str(z in graph.influencers_[x]).lower()}, as 'targets' has it")
    frequency = node["frequency"].number()
    if not 0 <= frequency <= 1 or abs(frequency * n - round(frequency * n)) > 1e-6:
        node["frequency"].wrong(f"a share of {n}")
    known = next((i for i in graph.models_[x].fitted.influences if i.influencer == z), None)
    if "ratio" not in node:  # of the first version, which had another measure: counts tell the ratio
        return edge_confidence(z, x, known, frequency)
    ratio, low, high = read_ratio(node)
    effect = node["effect"].one_of(_EFFECTS)
    if effect != "mixed" and effect != effect_of(low, high):
        node["effect"].wrong("what 'low' and 'high' say")
    if known is not None:
        if (effect == "mixed") != (known.effect == "mixed"):
            node["effect"].wrong("'mixed' just where the counts say so")
        if not np.isclose(ratio, known.ratio, rtol=1e-9, equal_nan=True) and math.isfinite(known.ratio):
            node["ratio"].wrong(f"{known.ratio:.6g}, which is what the counts say")
        ratio = known.ratio
    return EdgeConfidence(
        z, x, known is not None, effect, ratio, low, high, frequency, *_corrected(node, known)
    )


def _corrected(node: Node, known: Influence | None) -> tuple[float, float, float] | tuple[None, None, None]:
    """The ratio that allows for selection, where the edge was selected by a margin that is known."""
    if "corrected_low" not in node:  # younger than the format
        return None, None, None
    is_given = node["corrected_low"].value is not None
    if is_given != (known is not None and known.corrected_low is not None):
        node["corrected_low"].wrong("a number just for edges of the graph, if its models tell margins")
    return read_ratio(node, "corrected_") if is_given else (None, None, None)
