"""Every pair of labels that a graph could have had as an edge, the likeliest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from summarkov.confidence.rate_ratio import RateRatio
from summarkov.confidence.results import Comparable
from summarkov.frames import Column, Records, Sheet, Tabular, columns_of, keep_records
from summarkov.typing import FloatArray
from summarkov.wording import plural


@dataclass(frozen=True)
class Pair(Comparable):
    """A possible edge, found or not, beside the influencers that the graph gives the target.

    ``ratio``, ``low`` and ``high`` are as those of edges, see :class:`summarkov.explain.Influence`. ``z`` is
    the distance of the ratio's logarithm from 0, in standard deviations. ``gain`` is by how much the score of
    the target is better with the influencer than without it: above 0 for edges of the graph (infinite for
    required ones), mostly below 0 for others. Where look-backs are learned, an influencer that the graph does
    not have is looked for at the one that scores best. ``frequency`` is the share of resampled graphs that
    have the edge; None if it was not asked for (:meth:`InfluenceGraph.confidence`).
    """

    influencer: str
    target: str
    in_graph: bool
    z: float
    gain: float
    ratio: float
    low: float
    high: float
    frequency: float | None = None


@dataclass(frozen=True, repr=False)
class Ranking(Tabular):
    """Every pair that the search could have chosen, those with the largest ``z`` first.

    The frame has one row per pair. To draw a curve of precision and recall, go down the rows and count.
    """

    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        keep_records(self, pairs=Pair)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(Pair, self.pairs)

    def summary(self) -> Sheet:
        """The first pairs, as a table that prints well and that notebooks show in HTML."""
        return Records(self.pairs, Pair).sheet(
            f"{plural(len(self.pairs), 'pair')}, the likeliest edges first"
        )

    @classmethod
    def of(cls, pairs: list[Pair]) -> Ranking:
        """Put pairs in order; of those that are alike the first target and influencer goes first."""
        return cls(tuple(sorted(pairs, key=lambda pair: (-pair.z, pair.target, pair.influencer))))


def standardised(found: RateRatio) -> FloatArray:
    """How many standard deviations the logarithm of a ratio is away from 0, from its 95% interval.

    Where the ratio is 0 or infinite, that of a normal variable with the same p-value; 0 where nothing can be
    compared.

    >>> from summarkov.confidence import Strata, rate_ratio
    >>> standardised(rate_ratio(Strata.of([[30], [0]], [[99], [99]], [[20], [50]], [[200], [999]]))).round(2)
    array([4.24, 2.37])
    """
    from scipy.special import ndtri

    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = (np.log(found.high) - np.log(found.low)) / (-2 * ndtri(0.025))
        from_ratio = np.abs(np.log(found.ratio)) / deviation
    from_p = np.maximum(-ndtri(np.maximum(found.p_value, 1e-300) / 2), 0.0)
    is_known = (found.ratio > 0) & np.isfinite(found.ratio)
    return np.where(np.isnan(found.ratio), 0.0, np.where(is_known, from_ratio, from_p))
