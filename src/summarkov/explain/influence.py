"""Does an influencer make its target more or less likely?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from summarkov.confidence import credible_intervals
from summarkov.engines import StateCounts
from summarkov.explain.strengths import mean_log_ratio, presence_pairs
from summarkov.scores import probabilities

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Influence:
    r"""How an influencer Z changes the probability of a target label x.

    ``strength`` is the count-weighted mean, over the configurations of the other influencers that were seen
    with and without Z, of :math:`\log(\theta_{x|\text{with } Z} / \theta_{x|\text{without } Z})`.
    ``effect`` is "amplifies" where that is positive, "inhibits" where it is negative, "mixed" where
    configurations differ in sign beyond their 95% intervals, and "unclear" where Z was never seen both
    present and absent in one.
    ``n_with`` and ``n_without`` count the positions at which Z was in its window or not. ``frequency``,
    ``low`` and ``high`` say how sure it is, if ``InfluenceGraph.confidence`` was asked (else None), see
    :class:`summarkov.confidence.EdgeConfidence`.

    ``depends`` says, of a mixed influence, on which other influencer it depends, such as "amplifies with B,
    inhibits without"; nothing where no single one decides it.

    This is statistical influence (Granger style), not proof of a cause, and depends on the data set.
    """

    influencer: str
    target: str
    effect: str
    strength: float
    n_with: float
    n_without: float
    frequency: float | None = None
    low: float | None = None
    high: float | None = None
    depends: str = ""

    @property
    def ratio(self) -> float:
        """``exp(strength)``: the factor by which the probability changes, on average."""
        return math.exp(self.strength)


def influences_in(
    table: StateCounts, pseudo: FloatArray, scale: int, n_labels: int
) -> dict[tuple[int, int], tuple[str, float, float, float]]:
    """Effect, strength, and counts with and without the influencer, by its column and the outcome.

    Ordinal and count states are collapsed to presence first. The first ``n_labels`` outcomes are labels.
    """
    if not table.keys.shape[1]:
        return {}
    presence = table.regroup((table.keys > 0).astype(np.int32))
    counts = presence.counts / scale
    n, theta = counts.sum(axis=1), probabilities(counts, pseudo)
    bounds = credible_intervals(counts, pseudo)  # once for all influencers: they cost most
    found = {}
    for column in range(table.keys.shape[1]):
        here = presence.keys[:, column] > 0
        n_with, n_without = float(n[here].sum()), float(n[~here].sum())
        with_, without = presence_pairs(presence.keys, column)
        seen = (n[with_] > 0) & (n[without] > 0)
        with_, without = with_[seen], without[seen]
        for outcome in range(n_labels):
            effect, strength = "unclear", 0.0
            if len(with_):
                strength = float(mean_log_ratio(n, theta[:, outcome], with_, without))
                low, high = np.moveaxis(bounds[:, outcome], -1, 0)
                up, down = (low[with_] > high[without]).any(), (high[with_] < low[without]).any()
                effect = effect_of(strength, bool(up), bool(down))
            found[column, outcome] = effect, strength, n_with, n_without
    return found


def effect_of(strength: float, up: bool, down: bool) -> str:
    """The effect in a word; ``up`` and ``down`` tell signs that are beyond their intervals."""
    if up and down:
        return "mixed"
    return "amplifies" if strength > 0 else "inhibits" if strength < 0 else "unclear"
