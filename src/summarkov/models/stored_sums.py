"""What files have of edges that their states do not tell: counts of a tree, and sums over sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.engines.clusters import Clusters
from summarkov.explain.contrasts import Totals
from summarkov.models.fitted import Fitted
from summarkov.store import Node
from summarkov.typing import FloatArray


def sums_document(fitted: Fitted) -> dict[str, Any]:
    """The counts of each edge of a tree over all positions, and how much sequences move each ratio."""
    target = [fitted.labels[x] for x in fitted.target.codes]
    found: dict[str, Any] = {}
    if fitted.moments is not None:
        found["moments"] = {
            z: {x: Totals(*n)._asdict() for x, n in zip(target, each.tolist(), strict=True)}
            for z, each in zip(fitted.influencer_labels, fitted.moments, strict=True)
        }
    if (clusters := fitted.clusters) is not None:
        found["clusters"] = {
            z: {
                "n": clusters.n[:, u].tolist(),
                "squares": {x: clusters.squares[:, at, u].tolist() for at, x in enumerate(target)},
            }
            for u, z in enumerate(fitted.influencer_labels)
        }
    return found


def read_sums(node: Node, influencers: list[str], target: tuple[str, ...]) -> dict[str, Any]:
    """What :func:`sums_document` wrote, of a file that has it."""
    found: dict[str, Any] = {}
    if "moments" in node:
        found["moments"] = _moments(_entries(node["moments"], influencers), target)
    if "clusters" in node:
        found["clusters"] = _clusters(_entries(node["clusters"], influencers), target)
    return found


def _entries(node: Node, influencers: list[str]) -> list[Node]:
    given = dict(node.items())
    if list(given) != influencers:
        node.wrong(f"one entry for each of {', '.join(influencers) or 'no influencers'}")
    return list(given.values())


def _moments(entries: list[Node], target: tuple[str, ...]) -> FloatArray:
    found = np.zeros((len(entries), len(target), len(Totals._fields)))
    for u, one in enumerate(entries):
        for at, x in enumerate(target):
            found[u, at] = [_size(one[x][name]) for name in Totals._fields]
            for hits, n in (Totals._fields[:2], Totals._fields[2:]):
                if one[x][hits].number() > one[x][n].number():
                    one[x][hits].wrong(f"at most '{n}'")
    return found


def _clusters(entries: list[Node], target: tuple[str, ...]) -> Clusters:
    squares, n = np.zeros((2, len(target), len(entries))), np.zeros((2, len(entries)))
    for u, one in enumerate(entries):
        n[:, u] = [_size(number) for number in one["n"].list(2)]
        for at, x in enumerate(target):
            squares[:, at, u] = [_size(number) for number in one["squares"][x].list(2)]
    return Clusters(squares, n)


def _size(node: Node) -> float:
    value = node.number()
    if value < 0:
        node.wrong("a number from 0 on")
    return value
