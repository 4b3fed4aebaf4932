"""How often targets follow influencers, in model files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from summarkov.engines.followings import Followed, Following, Occurrences
from summarkov.kernels import LAG_BINS
from summarkov.store import Node

#: The fields of an influence that tell of followings, for models whose files keep influences themselves.
FOLLOW_FIELDS = (
    *("cases_with", "cases_followed", "occurrences", "followed", "follow_rate"),
    *("occurrences_other", "followed_other", "follow_rate_other", "left_out", "follow_rule"),
    *("cases_both", "cases_first"),
)
_RULES = ("counted", "complete windows", "product-limit")
_CASES = ("cases_with", "cases_followed", "cases_both", "cases_first")
#: Of each, at most as many as of that before it in the row.
_FEWER = (
    ("cases_with", "cases_followed"),
    ("cases_with", "cases_both", "cases_first"),
    ("n", "followed", "followed_whole"),
    ("n", "n_whole", "followed_whole"),
)


def following_document(counted: Following) -> dict[str, Any]:
    """What was counted of an edge as plain values; lags only where a window was cut off."""
    found: dict[str, Any] = {name: getattr(counted, name) for name in _CASES}
    for name in ("own", "others"):
        each = getattr(counted, name)
        found[name] = None if each is None else dict(vars(each))
    if counted.own is not None and counted.own.n_whole < counted.own.n and counted.lags is not None:
        found["lags"] = counted.lags.tolist()
    return {name: value for name, value in found.items() if value is not None}


def read_followed(node: Node, influencers: list[str], target: tuple[str, ...]) -> Followed | None:
    """Read back how often a target follows its influencers; None if a file is too old to say."""
    if "followings" in node:
        given = _each(node["followings"], influencers)
        return Followed(tuple(tuple(_read(one[label]) for label in target) for one in given))
    if "sequences" not in node:
        return None
    # In older files 'present' left out sequences that end with the influencer.
    given = _each(node["sequences"], influencers)
    return Followed(
        tuple(tuple(Following(_size(one["followed"][label])) for label in target) for one in given)
    )


def read_follow_fields(node: Node) -> dict[str, Any]:
    """Those of ``FOLLOW_FIELDS`` that a file has."""
    known = [name for name in FOLLOW_FIELDS if name in node and node[name].value is not None]
    found: dict[str, Any] = {
        name: node[name].one_of(_RULES) if name == "follow_rule" else _size(node[name]) for name in known
    }
    if "cases_followed" not in node and "sequences" in node and node["sequences"].value is not None:
        found["cases_followed"] = _size(node["sequences"])  # as older files call it
    for name in ("follow_rate", "follow_rate_other"):
        if found.get(name, 0.0) > 1:
            node[name].wrong("a number from 0 to 1")
    return found


def _each(node: Node, influencers: list[str]) -> list[Node]:
    given = dict(node.items())
    if list(given) != influencers:
        node.wrong(f"one entry for each of {', '.join(influencers) or 'no influencers'}")
    return list(given.values())


def _read(node: Node) -> Following:
    cases: dict[str, Any] = {name: _size(node[name]) for name in _CASES if name in node}
    if "cases_followed" not in cases:
        node.wrong("'cases_followed'")
    _check(node, cases)
    groups: dict[str, Any] = {
        name: _read_occurrences(node[name]) for name in ("own", "others") if name in node
    }
    lags = None
    if "lags" in node:
        rows = [[item.number() for item in row.list(4)] for row in node["lags"].list()]
        lags = np.array(rows, float).reshape(-1, 4)
        if (
            (lags < 0).any()
            or (lags[:, :2] > 1).any()
            or (lags[:, :3] % 1).any()
            or (lags[:, 2] >= LAG_BINS).any()
        ):
            node["lags"].wrong("rows of 0 or 1, 0 or 1, the bin of a lag and a number from 0 on")
    return Following(**cases, **groups, lags=lags)


def _read_occurrences(node: Node) -> Occurrences:
    found = {name: _size(node[name]) for name in Occurrences.__dataclass_fields__}
    _check(node, found)
    return Occurrences(**found)


def _check(node: Node, numbers: dict[str, float]) -> None:
    for names in _FEWER:
        most, largest = math.inf, ""
        for name in names:
            if name in numbers:
                if numbers[name] > most:
                    node[name].wrong(f"at most {most:g}, as '{largest}' has it")
                most, largest = numbers[name], name


def _size(node: Node) -> float:
    """A number of sequences or occurrences; weights may make it fractional."""
    n: float = node.number()
    if n < 0:
        node.wrong("a number from 0 on")
    return n
