"""Does an influencer make its target more or less likely, where a tree asks about it?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.explain.influence import effect_of
from summarkov.summaries import TreeSummary

FloatArray = npt.NDArray[np.float64]


def influence_in_tree(
    tree: TreeSummary,
    n: FloatArray,
    theta: FloatArray,
    intervals: FloatArray,
    asked: FloatArray,
    influencer: int,
) -> tuple[str, float, float, float]:
    r"""Effect, strength, and counts with and without an influencer, for one outcome.

    The strength is the count-weighted mean of :math:`\log(\theta_{yes} / \theta_{no})` over the nodes that
    test the influencer. Where it is compared with another label, "yes" is that it is the more recent one.
    Counts are of the positions that the first such test on each path sends to yes and to no.

    ``n``, ``theta``, ``intervals[.., (low, high)]`` and ``asked`` have an entry a node of the tree. ``asked``
    is how likely the node's test is asked, 1 but in an average over prunings. It weighs the node; where it is
    less than one half, the node has no say in the effect.
    """
    total = strength = n_with = n_without = 0.0
    up = down = clear = False
    for row, test in enumerate(tree.nodes):
        if test is None or influencer not in test.labels:
            continue
        yes, no = tree.branches[row].tolist()
        if test.labels[0] != influencer:  # the one that is compared with
            yes, no = no, yes
        weight = float(n[row] * asked[row])
        strength += weight * float(np.log(theta[yes] / theta[no]))
        total += weight
        if asked[row] >= 0.5:
            clear = True
            up |= bool(intervals[yes, 0] > intervals[no, 1])
            down |= bool(intervals[yes, 1] < intervals[no, 0])
        if not any(influencer in earlier.labels for earlier, _ in tree.path(row)):
            n_with += float(n[yes])
            n_without += float(n[no])
    strength = strength / total if total else 0.0
    return effect_of(strength, up, down) if clear else "unclear", strength, n_with, n_without
