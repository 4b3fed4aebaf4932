"""The influences of a bag in its file: they were counted on data that its models have not."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from summarkov.explain import Influence, effect_of, ranked
from summarkov.models.bag import Bag
from summarkov.models.stored_ratios import plain_numbers, read_ratio, size
from summarkov.store import Node

#: What the order test says, and what allows for selection: a bag has not one margin but many.
_ONLY_OF_GRAPHS = (
    *("order", "order_ratio", "order_low", "order_high", "order_p", "order_q", "competition"),
    *("corrected_ratio", "corrected_low", "corrected_high"),
)
_COUNTS = ("hits_with", "n_with", "hits_without", "n_without")


def influence_documents(bag: Bag) -> list[dict[str, Any]]:
    """As plain values; what is infinite or not known is null."""
    return [
        {name: value for name, value in plain_numbers(edge).items() if name not in _ONLY_OF_GRAPHS}
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
    values["ratio"], values["low"], values["high"] = read_ratio(node)
    values |= {name: size(node[name], 0.0) for name in _COUNTS}
    for name in ("sequences", "sequences_with"):
        values[name] = None if node[name].value is None else size(node[name], 0.0)
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
