"""The influences of a bag in its file: they were counted on data that its models have not."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from summarkov.explain import Influence, effect_of, ranked
from summarkov.models.bag import Bag
from summarkov.store import Node

#: What a number is that is null: infinite, or not known.
_MISSING = {"ratio": math.nan, "low": 0.0, "high": math.inf}
#: What the order test says.
_ONLY_OF_GRAPHS = ("order", "order_ratio", "order_low", "order_high", "order_p", "order_q", "competition")
_COUNTS = ("hits_with", "n_with", "hits_without", "n_without")


def influence_documents(bag: Bag) -> list[dict[str, Any]]:
    """As plain values; what is infinite or not known is null."""
    return [
        {
            name: None if isinstance(v, float) and not math.isfinite(v) else v
            for name, v in vars(edge).items()
            if name not in _ONLY_OF_GRAPHS
        }
        for edge in bag.influences_
    ]


def read_influences(node: Node, bag: Bag) -> tuple[Influence, ...]:
    """Read them back: at most one for each influencer and label of the target."""
    edges = [_edge(item, bag) for item in node.list()]
    if len({(edge.influencer, edge.target) for edge in edges}) < len(edges):
        node.wrong("each influence once")
    return tuple(ranked(edges))


def _edge(node: Node, bag: Bag) -> Influence:
    values: dict[str, Any] = {
        "influencer": node["influencer"].one_of(tuple(bag.usage_)),
        "target": node["target"].one_of(bag.target_),
        "effect": node["effect"].one_of(("amplifies", "inhibits", "mixed", "unclear")),
        "interval": node["interval"].one_of(("counts",)),
        "depends": node["depends"].one_of(("",)),
    }
    for name in (*_MISSING, *_COUNTS, "sequences", "sequences_with"):
        values[name] = _number(node[name], name)
    if values["effect"] != "mixed" and values["effect"] != effect_of(values["low"], values["high"]):
        node["effect"].wrong("what 'low' and 'high' say")
    for hits, n in ((_COUNTS[0], _COUNTS[1]), (_COUNTS[2], _COUNTS[3])):
        if values[hits] > values[n]:
            node[hits].wrong(f"at most {values[n]:g}, as '{n}' has it")
    values["frequency"] = bag.usage_[values["influencer"]]
    if not math.isclose(node["frequency"].number(), values["frequency"], rel_tol=1e-9):
        node["frequency"].wrong(f"{values['frequency']}, as 'usage' has it")
    assert {*values, *_ONLY_OF_GRAPHS} == {field.name for field in fields(Influence)}
    return Influence(**values)


def _number(node: Node, name: str) -> float | None:
    if node.value is None and name not in _COUNTS:
        return _MISSING.get(name)
    value = node.number()
    if value < 0:
        node.wrong("a number from 0 on")
    return value
