"""Where the labels stand: near those that they influence, with few lines that cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: A picture is about so much wider than high; the page stretches it to the screen.
ASPECT = 1.4
#: Groups of up to so many labels are worth several attempts, and at most so many.
SMALL, ATTEMPTS = 40, 30


def places(n_labels: int, edges: Sequence[tuple[int, int, float]]) -> list[list[float]]:
    """A place for every label, x and y from 0 to 1; ``edges`` are influencer, target and strength.

    Labels that hang together are drawn together (Fruchterman and Reingold, by networkx); groups that do not
    hang together stand side by side, the largest first, and single labels below. Always the same for the same
    edges.

    >>> places(1, [])
    [[0.5, 0.5]]
    """
    import networkx

    network = networkx.Graph()
    network.add_nodes_from(range(n_labels))
    for z, target, strength in edges:
        if z != target:
            network.add_edge(z, target, weight=1 + min(abs(strength), 3.0))
    groups = sorted((sorted(group) for group in networkx.connected_components(network)), key=_by_size)
    looped = {z for z, x, _ in edges if z == x}
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
        place[group] = _draw(networkx, network, group) * [0.8 * w, 0.8 * h] + [x + 0.1 * w, y + 0.1 * h]
        x, height = x + w, max(height, h)
    in_a_row = max(1, min(len(single), round(across / 0.45)))
    for number, label in enumerate(single):
        row, column = divmod(number, in_a_row)
        place[label] = (column + 0.5) * across / in_a_row, y + height + 0.25 + row * 0.27
    return [[round(a, 4), round(b, 4)] for a, b in _unit(place).tolist()]


def _by_size(group: list[int]) -> tuple[int, list[int]]:
    return -len(group), group


def _draw(networkx: Any, network: Any, group: list[int]) -> FloatArray:
    """Places of labels that hang together, from 0 to 1: the attempt in which fewest lines cross or touch."""
    if len(group) == 1:
        return np.full((1, 2), 0.5)
    ordered = networkx.Graph()
    ordered.add_nodes_from(group)  # a subgraph would come in another order from run to run
    ordered.add_weighted_edges_from(sorted(network.subgraph(group).edges(data="weight")))
    row = {label: number for number, label in enumerate(group)}
    lines = np.array([(row[a], row[b]) for a, b in ordered.edges])
    best: FloatArray | None = None
    least = math.inf
    worth = min(ATTEMPTS, 6 * len(group) - 17) if 3 < len(group) <= SMALL else 1  # three lines cross nowhere
    for seed in range(worth):
        found = networkx.spring_layout(
            ordered, k=1.6 / math.sqrt(len(group)), iterations=150, seed=seed, weight="weight"
        )
        place = _unit(_lying(np.array([found[label] for label in group])))
        clutter = _clutter(place, lines) if len(group) <= SMALL else 0.0
        if clutter < least:
            best, least = place, clutter
    assert best is not None
    return best


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


def _clutter(place: FloatArray, lines: IntArray) -> float:
    """How many pairs of lines cross, labels that lie on a line of others, and labels that are too close."""
    wide = place * [ASPECT, 1.0]
    a, b = wide[lines[:, 0]], wide[lines[:, 1]]
    side = _side(a[:, None], b[:, None], a[None]) * _side(a[:, None], b[:, None], b[None])
    shared = (lines[:, None, :, None] == lines[None, :, None, :]).any(axis=(2, 3))
    crossings = int(((side < 0) & (side.T < 0) & ~shared).sum()) / 2
    along = b - a
    share = ((wide[None] - a[:, None]) * along[:, None]).sum(-1) / (along**2).sum(-1)[:, None]
    nearest = a[:, None] + np.clip(share, 0, 1)[..., None] * along[:, None]
    own = (lines[:, :, None] == np.arange(len(place))).any(axis=1)
    on_line = int(((np.linalg.norm(wide[None] - nearest, axis=-1) < 0.07) & ~own).sum())
    gaps = np.linalg.norm(wide[:, None] - wide[None], axis=-1)[np.triu_indices(len(place), 1)]
    return crossings + 2 * on_line + float(np.maximum(0, 0.3 - gaps).sum()) * 4


def _side(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """On which side of the line from a to b lies c?"""
    return np.asarray(np.sign((b - a)[..., 0] * (c - a)[..., 1] - (b - a)[..., 1] * (c - a)[..., 0]))
