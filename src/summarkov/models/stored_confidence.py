"""Edge confidence in a graph's file."""

from __future__ import annotations

import math
from typing import Any

from summarkov.confidence import Confidence, EdgeConfidence
from summarkov.models.graph import InfluenceGraph
from summarkov.store import Node

_EFFECTS = ("amplifies", "inhibits", "unclear")


def confidence_document(confidence: Confidence) -> dict[str, Any]:
    """As plain values; NaN is null."""
    edges = [
        {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in vars(edge).items()}
        for edge in confidence.edges
    ]
    return {**vars(confidence), "edges": edges}


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
    strength, low, high = (_number(node[name]) for name in ("strength", "low", "high"))
    if low > high or math.isnan(low) != math.isnan(high):
        node["low"].wrong("a number up to 'high'")
    effect = node["effect"].one_of(_EFFECTS)
    if effect != ("amplifies" if low > 0 else "inhibits" if high < 0 else "unclear"):
        node["effect"].wrong("what 'low' and 'high' say")
    return EdgeConfidence(z, x, bool(node["in_graph"].value), effect, strength, low, high, frequency)


def _number(node: Node) -> float:
    return math.nan if node.value is None else node.number()
