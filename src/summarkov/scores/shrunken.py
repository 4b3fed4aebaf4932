"""Estimates in a tree, each drawn towards that of its parent."""

from __future__ import annotations

import numpy as np

from summarkov.scores.estimates import probabilities
from summarkov.scores.trees import Tree
from summarkov.typing import FloatArray


def shrunken(tree: Tree, counts: FloatArray, pseudo: FloatArray) -> FloatArray:
    r"""Estimates of all nodes of a tree, each shrunk towards its parent, the root towards the prior.

    .. math:: \theta_{x|s} = \frac{N(x;s) + w \, \theta_{x|\text{parent of } s}}{N(s) + w}

    ``counts[s, x]`` is N(x; s) of a node with all its descendants, ``pseudo[x]`` the prior's pseudo-counts,
    whose sum is w.

    >>> shrunken(Tree(np.array([-1, 0, 0])), np.array([[6.0, 2], [6, 0], [0, 2]]), np.array([1.0, 1.0]))
    array([[0.7  , 0.3  ],
           [0.925, 0.075],
           [0.35 , 0.65 ]])
    """
    weight = float(pseudo.sum())
    theta = probabilities(counts, pseudo)
    for nodes in tree.levels[1:]:
        n = counts[nodes]
        theta[nodes] = (n + weight * theta[tree.parent[nodes]]) / (n.sum(axis=1, keepdims=True) + weight)
    return theta


def split_gains(yes: FloatArray, whole: FloatArray) -> FloatArray:
    r"""What the largest log-likelihood gains where a table is split in two; 0 where one part is empty.

    .. math:: \sum_x N(x;1) \log\frac{N(x;1)}{N(1)} + \sum_x N(x;0) \log\frac{N(x;0)}{N(0)}
        - \sum_x N(x) \log\frac{N(x)}{N}

    ``whole[..., x]`` is N(x), ``yes[..., test, x]`` is N(x; 1) for each of several ways to split.

    >>> split_gains(np.array([[3.0, 1.0], [2.0, 2.0]]), np.array([4.0, 4.0])).round(4)
    array([1.0465, 0.    ])
    """
    gain = _fit(yes) + _fit(whole[..., None, :] - yes) - _fit(whole)[..., None]
    return np.maximum(gain, 0.0)  # which rounding could leave below 0


def unexplained(counts: FloatArray) -> FloatArray:
    """The most that any splits could gain: less the largest log-likelihood of ``counts[..., x]``."""
    return np.asarray(-_fit(counts))


def _fit(counts: FloatArray) -> FloatArray:
    return np.asarray(_sum(_x_log_x(counts)) - _x_log_x(_sum(counts)))


def _sum(x: FloatArray) -> FloatArray:
    """Over outcomes; there are many tests and few outcomes, so one outcome at a time is much faster."""
    total = x[..., 0]
    for outcome in range(1, x.shape[-1]):
        total = total + x[..., outcome]
    return total


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(x * np.log(np.maximum(x, 1e-300)))
