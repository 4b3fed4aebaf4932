"""Where the labels stand: near those that they influence, with few lines that cross."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.evidence import Influence, weight
from summarkov.typing import FloatArray
from summarkov.wording import rounded

#: How many times as wide as high a picture is, about; the page stretches it to the screen.
ASPECT = 1.4
#: Labels on themselves are drawn where there are at most ``SMALL``; distances take long from ``MANY`` on.
SMALL, MANY = 40, 200
#: Up to this incoherence the labels of a group come one after the other, as the steps of a process do.
ORDERLY = 0.25


def places(n_labels: int, edges: Sequence[tuple[int, int, float]]) -> list[list[float]]:
    """A place for every label, x and y from 0 to 1; ``edges`` are influencer, target and strength.

    Strength is negative where the influencer inhibits. Labels that hang together are drawn together: from
    left to right if most amplify what comes after them, as in a process, else by their distances (Kamada and
    Kawai, by networkx). Groups that do not hang together stand side by side, the largest first, and single
    labels below. Always the same for the same edges.

    >>> places(1, [])
    [[0.5, 0.5]]
    """
    import networkx

    network = networkx.Graph()
    network.add_nodes_from(range(n_labels))
    for z, target, strength in edges:
        if z != target:
            network.add_edge(z, target, weight=1 + min(abs(strength), 3.0))
    groups = sorted(map(sorted, networkx.connected_components(network)), key=lambda some: (-len(some), some))
    looped = {z for z, x, _ in edges if z == x and n_labels <= SMALL}  # of many labels the page omits these
    joined = [group for group in groups if len(group) > 1 or group[0] in looped]
    single = [group[0] for group in groups if len(group) == 1 and group[0] not in looped]
    boxes = [(math.sqrt(len(group) * ASPECT), math.sqrt(len(group) / ASPECT)) for group in joined]
    room = sum(w * h for w, h in boxes) + len(single) * 0.12
    across = max([w for w, _ in boxes] + [math.sqrt(room * ASPECT)])
    place = np.zeros((n_labels, 2))
    x = y = height = 0.0
    for group, (w, h) in zip(joined, boxes, strict=True):
        if x and x + w > across * 1.05:
            x, y, height = 0.0, y + height, 0.0
        place[group] = _draw(networkx, network, group, edges) * [0.8 * w, 0.8 * h] + [
            x + 0.1 * w,
            y + 0.1 * h,
        ]
        x, height = x + w, max(height, h)
    in_a_row = max(1, min(len(single), round(across / 0.45)))
    for number, label in enumerate(single):
        row, column = divmod(number, in_a_row)
        place[label] = (column + 0.5) * across / in_a_row, y + height + 0.25 + row * 0.27
    return [[round(a, 4), round(b, 4)] for a, b in _unit(place).tolist()]


def layout_edges(
    influences: Sequence[Influence], codes: Mapping[str, int], start: float = 0.0
) -> list[tuple[int, int, float]]:
    """The edges by which labels are placed: influencer, target and strength, negative for what inhibits."""
    return [
        (codes[e.influencer], codes[e.target], -weight(e) if e.shown_effect == "inhibits" else weight(e))
        for e in influences
        if rounded(weight(e), 6) >= start
    ]


def apart(place: FloatArray, size: FloatArray, width: float | None = None) -> FloatArray:
    """Places pushed apart until boxes of these sizes around them do not overlap: each pair the shorter way.

    With a ``width`` the boxes stay between 0 and it, and go up and down instead.

    >>> apart(np.array([[0.0, 0.0], [1.0, 0.2]]), np.array([[2.0, 1.0], [2.0, 1.0]])).round(3).tolist()
    [[0.0, -0.4], [1.0, 0.6]]
    """
    place = place.copy()
    for _ in range(200):
        gap = place[None] - place[:, None]
        over = (size[None] + size[:, None]) / 2 - np.abs(gap)
        pairs = np.argwhere(np.triu((over > 1e-9).all(axis=-1), 1))
        if not len(pairs):
            break
        for a, b in pairs.tolist():
            gap_now = place[b] - place[a]
            over_now = (size[a] + size[b]) / 2 - np.abs(gap_now)
            if (over_now <= 0).any():
                continue
            along = int(over_now[1] <= over_now[0])
            push = over_now[along] / 2 * (-1 if gap_now[along] < 0 else 1)
            place[a, along] -= push
            place[b, along] += push
        if width is not None:
            half = np.minimum(size[:, 0], width) / 2
            place[:, 0] = np.clip(place[:, 0], half, width - half)
    return place


def _levels(n_labels: int, edges: Sequence[tuple[int, int, float]]) -> tuple[FloatArray, float]:
    r"""A level for every label, one step up for each influence as well as can be; and how far from that.

    Trophic levels h minimise the incoherence :math:`F = \sum w (h_x - h_z - 1)^2 / \sum w` over edges z → x.
    It is 0 where every edge goes up one level, and 1 where levels tell nothing.

    Reference: MacKay, Johnson and Sansom, "How directed is a directed network?", Royal Society Open Science 7
    (2020).

    >>> level, incoherence = _levels(3, [(0, 1, 1.0), (1, 2, 1.0)])
    >>> (level - level.min()).round(6).tolist(), round(incoherence, 6)
    ([0.0, 1.0, 2.0], 0.0)
    """
    if not edges:
        return np.zeros(n_labels), 1.0
    z, x = np.array([(a, b) for a, b, _ in edges]).T
    w = np.array([strength for *_, strength in edges])
    weights = np.zeros((n_labels, n_labels))
    np.add.at(weights, (z, x), w)
    both = weights + weights.T
    balance = weights.sum(axis=0) - weights.sum(axis=1)
    level = np.linalg.lstsq(np.diag(both.sum(axis=1)) - both, balance, rcond=None)[0]
    return level, float((w * (level[x] - level[z] - 1) ** 2).sum() / w.sum())


def _draw(
    networkx: Any, network: Any, group: list[int], edges: Sequence[tuple[int, int, float]]
) -> FloatArray:
    """Places of labels that hang together, from 0 to 1: as far apart as there are lines between them.

    In a process a label's level says how far to the right it stands, and forces say the rest.
    """
    if len(group) == 1:
        return np.full((1, 2), 0.5)
    ordered = networkx.Graph()
    ordered.add_nodes_from(group)  # a subgraph would come in another order from run to run
    ordered.add_weighted_edges_from(sorted(network.subgraph(group).edges(data="weight")))
    row = {label: number for number, label in enumerate(group)}
    up = [(row[z], row[x], s) for z, x, s in edges if z != x and z in row and x in row and s > 0]
    level, incoherence = _levels(len(group), up)
    # fewer lines than labels, as of a tree, can always go up
    is_process = incoherence <= ORDERLY and len(up) >= len(group) > 3
    forces = {"k": 1.6 / math.sqrt(len(group)), "iterations": 50, "seed": 0}
    if len(group) <= MANY:
        found = networkx.kamada_kawai_layout(ordered, weight=None)
    else:
        found = networkx.spring_layout(ordered, **forces)
    if is_process:
        start = {label: (level[row[label]], y) for label, (_, y) in found.items()}
        found = networkx.spring_layout(ordered, pos=start, **forces)
    place = _lying(np.array([found[label] for label in group]))
    if is_process:
        place[:, 0] = level
    return _unit(place)


def _lying(place: FloatArray) -> FloatArray:
    """Turned so that the longer side lies across."""
    centred = place - place.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes *= np.where(axes[:, :1] < 0, -1.0, 1.0)  # a library may give an axis or its opposite
    return np.asarray(centred @ axes.T)


def _unit(place: FloatArray) -> FloatArray:
    """Stretched to the unit square; what has no extent stands in its middle."""
    low, size = place.min(axis=0), np.ptp(place, axis=0)
    return np.where(size > 1e-9, (place - low) / np.maximum(size, 1e-9), 0.5)
