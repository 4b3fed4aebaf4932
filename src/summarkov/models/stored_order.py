"""The order test in a graph's file."""

from __future__ import annotations

import math
from typing import Any

from summarkov.confidence import ORDERS, EdgeOrder, OrderTest, Remainder, benjamini_hochberg, order_word
from summarkov.models.graph import InfluenceGraph
from summarkov.models.stored_ratios import plain_numbers, read_ratio, size
from summarkov.store import Node


def order_document(found: OrderTest) -> dict[str, Any]:
    """As plain values; what is infinite or not known is null."""
    edges = []
    for edge in found.edges:
        remainder = None if edge.remainder is None else plain_numbers(edge.remainder)
        edges.append({**plain_numbers(edge), "remainder": remainder})
    return {**vars(found), "edges": edges}


def read_order(node: Node, graph: InfluenceGraph) -> OrderTest:
    """Read it back; it must be about the edges of the graph, and say what its numbers say."""
    n, n_pairs = node["n"].count(), node["n_pairs"].count()
    if n < 1:
        node["n"].wrong("a whole number from 1 on")
    within = None if node["within"].value is None else node["within"].count()
    edges = tuple(_edge(item, graph) for item in node["edges"].list())
    names = [(edge.influencer, edge.target) for edge in edges]
    of_graph = [(z, x) for x, found in graph.influencers_.items() for z in found]
    if sorted(names) != sorted(of_graph):
        node["edges"].wrong("every edge of the graph, and each once")
    if n_pairs < len(edges):
        node["n_pairs"].wrong("at least as many pairs as there are edges")
    _check_adjusted(node["edges"], [edge.p_value for edge in edges], [e.adjusted for e in edges], n_pairs)
    left = [edge.remainder for edge in edges if edge.remainder is not None]
    _check_adjusted(node["edges"], [one.p_value for one in left], [one.adjusted for one in left], n_pairs)
    return OrderTest(n, node["seed"].count(), within, n_pairs, edges)


def _check_adjusted(node: Node, p_values: list[float], adjusted: list[float], n_pairs: int) -> None:
    for right, given in zip(benjamini_hochberg(p_values, n_pairs), adjusted, strict=True):
        if not math.isclose(right, given, rel_tol=1e-9, abs_tol=1e-300):
            node.wrong(f"an adjusted p-value of {right:.6g} where there is {given:.6g}")


def _edge(node: Node, graph: InfluenceGraph) -> EdgeOrder:
    z, x = node["influencer"].one_of(graph.labels_), node["target"].one_of(tuple(graph.models_))
    ratio, low, high, p_value, adjusted = _estimate(node)
    observed, shuffled = (size(node[name], math.nan) for name in ("observed", "shuffled"))
    shown = next((i.ratio for i in graph.models_[x].fitted.influences if i.influencer == z), math.nan)
    order = node["order"].one_of(ORDERS)
    if order != order_word(shown, low, high, adjusted):
        node["order"].wrong("what 'low', 'high' and 'adjusted' say")
    return EdgeOrder(
        z,
        x,
        order,
        ratio,
        low,
        high,
        p_value,
        adjusted,
        observed,
        shuffled,
        _remainder(node["remainder"], graph),
    )


def _remainder(node: Node, graph: InfluenceGraph) -> Remainder | None:
    if node.value is None:
        return None
    amplified = tuple(item.one_of(graph.labels_) for item in node["amplified"].list())
    return Remainder(amplified, *_estimate(node))


def _estimate(node: Node) -> tuple[float, float, float, float, float]:
    """Ratio, limits, p-value and adjusted p-value."""
    ratio, low, high = read_ratio(node)
    p_value, adjusted = node["p_value"].number(), node["adjusted"].number()
    if not 0 <= p_value <= adjusted <= 1:
        node["p_value"].wrong("a number from 0 to 'adjusted', and that at most 1")
    return ratio, low, high, p_value, adjusted
