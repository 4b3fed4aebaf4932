"""Is an edge about the order of events, or only about which events keep company in a sequence?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from summarkov.confidence.rate_ratio import RateRatio, Strata, binomial_tails
from summarkov.confidence.results import Edge, EdgeList
from summarkov.frames import Record, Records
from summarkov.typing import FloatArray
from summarkov.wording import plural

#: What can be said of an edge.
ORDERS = ("about order", "company only", "unclear")
#: The share of false ones among the edges about order, on average, that is accepted.
RATE = 0.05


@dataclass(frozen=True)
class Remainder(Record):
    """An edge among the events that its influencer does not move the other way.

    One event stands at a position, so an influencer that makes some labels more likely makes the rest less
    likely, and the other way round.

    Attributes
    ----------
    without : tuple of str
        The labels that the influencer of an inhibition amplifies, or that of an amplification inhibits.
        Their events are left out.
    ratio, low, high, p_value, adjusted : float
        As those of :class:`EdgeOrder`.
    """

    without: tuple[str, ...]
    ratio: float
    low: float
    high: float
    p_value: float
    adjusted: float


@dataclass(frozen=True, repr=False)
class EdgeOrder(Edge):
    """What is left of an edge once it is known what each sequence is made of.

    Attributes
    ----------
    influencer, target : str
        The edge.
    order : str
        "about order" if ``adjusted`` is at most 0.05. "company only" if the interval holds 1 and does not
        reach the ratio that the graph shows: the order of events cannot account for that ratio, but what
        sequences are made of, and where in them events stand, can. Else "unclear".
    ratio, low, high : float
        ``observed`` over ``shuffled``, and its 95% interval.
    p_value : float
        That of no difference (see ``against_shuffled``).
    adjusted : float
        The least share of false edges at which this one is kept: Benjamini and Hochberg over all pairs
        that the search could have chosen, those that it did not choose taken for p = 1.
    observed : float
        Mantel and Haenszel's ratio as in :class:`summarkov.explain.Influence`, positions that are as near
        to the start of their sequence compared only with each other.
    shuffled : float
        The same of sequences shuffled inside.
    remainder : Remainder or None
        There for edges about order whose influencer moves other labels the other way.
    """

    order: str
    ratio: float
    low: float
    high: float
    p_value: float
    adjusted: float
    observed: float
    shuffled: float
    remainder: Remainder | None = None

    shown_columns: ClassVar[tuple[str, ...]] = (
        "influencer",
        "target",
        "order",
        "ratio",
        "low",
        "high",
        "adjusted",
        "observed",
        "shuffled",
    )

    @property
    def is_competition(self) -> bool:
        """Whether the edge is no more than the room that other labels take or leave.

        Nothing is left of it in its ``remainder``: ``adjusted`` is above 0.05 there, or the ratio is on the
        other side of 1.
        """
        left = self.remainder
        return left is not None and not (left.adjusted <= RATE and (left.ratio < 1) == (self.ratio < 1))


@dataclass(frozen=True, repr=False)
class OrderTest(EdgeList[EdgeOrder]):
    """The result of an order test: every edge of the graph against shuffled sequences.

    The frame has one row per edge.

    Attributes
    ----------
    n, seed : int
        How many shuffles there are, and their seed.
    within : int, str or None
        In blocks of how many positions, or of which time, events changed places; or of which column the
        value stayed the same ("periods" if they were given for each event). None: in the whole sequence.
    n_pairs : int
        The number of pairs that the search could have chosen.
    edges : tuple of EdgeOrder
        Every edge, in the order of targets.
    """

    n: int
    seed: int
    within: int | str | None
    n_pairs: int
    edges: tuple[EdgeOrder, ...]

    def _title(self) -> str:
        tested = f"{plural(len(self.edges), 'edge')} against {plural(self.n, 'shuffle')}"
        return f"{tested}, {len(self.about_order)} about order"

    @property
    def about_order(self) -> Records[EdgeOrder]:
        """The edges that are about order."""
        return Records((edge for edge in self.edges if edge.order == ORDERS[0]), EdgeOrder)


def competing(edges: Sequence[EdgeOrder]) -> tuple[list[int], list[int]]:
    """Edges whose influencer moves other labels the other way: those to doubt first, and the others.

    Only edges about order count. What an influencer amplifies takes room from all others, what it inhibits
    leaves room to all others. So whichever it does to fewer labels is believed first (amplifying, if to as
    many), and the edges the other way are doubted: they may be no more than competition. Once these are
    tested without the labels that are believed, the latter are tested without those of the others that are
    more than competition.

    >>> ratios = {"b": 6, "c": 0.5, "d": 0.5}
    >>> competing([EdgeOrder("a", x, "about order", r, r, r, 0, 0, r, 1) for x, r in ratios.items()])
    ([1, 2], [0])
    """
    about = [at for at, edge in enumerate(edges) if edge.order == ORDERS[0]]
    up = Counter(edges[at].influencer for at in about if edges[at].ratio > 1)
    down = Counter(edges[at].influencer for at in about if edges[at].ratio < 1)
    both = [at for at in about if up[edges[at].influencer] and down[edges[at].influencer]]
    first = [
        at for at in both if (edges[at].ratio < 1) == (up[edges[at].influencer] <= down[edges[at].influencer])
    ]
    return first, [at for at in both if at not in set(first)]


class Sums(NamedTuple):
    """Mantel and Haenszel's two sums, A and B, and how many hits each is of; ``[..., b]``.

    b = 0 is the data as they are, the others are shuffles.
    """

    above: FloatArray
    below: FloatArray
    hits_with: FloatArray
    hits_without: FloatArray

    @classmethod
    def of(cls, strata: Strata) -> Sums:
        """The sums over strata, the last axis."""
        return cls(*strata.sums(), strata.hits_with.sum(axis=-1), strata.hits_without.sum(axis=-1))


def against_shuffled(sums: Sums, level: float = 0.95) -> tuple[RateRatio, FloatArray]:
    r"""Observed over shuffled: a ratio of ratios, its interval and its p-value; and the shuffled ratio.

    With A of a hits and B of b hits (:func:`summarkov.confidence.rate_ratio`), a hit with weighs
    :math:`w_1 = \sum A / \sum a` and one without :math:`w_0 = \sum B / \sum b` on average, over the data
    and all shuffles. So :math:`S = (A / w_1) / (A / w_1 + B / w_0)` is the share of the hits that are with,
    other influencers equal, and A / B are its odds but for a constant factor. S has a mean :math:`\pi` and a
    variance V over the n shuffles; if order does not matter, the data are one more of them. It is taken for
    the share of hits among :math:`m = \pi (1 - \pi) / V` trials of chance :math:`\pi`, which has the same
    mean and variance and, unlike a normal variable, the right tails where hits are few. With
    :math:`k = S_0 m`

    .. math:: p = 2 \min(P(X \ge k), P(X \le k)), \quad X \sim \mathrm{Binomial}(m, \pi)

    where the binomial is continued to fractions by the incomplete beta function. As mean and variance are
    estimated from n shuffles, the normal quantile of p is read as one of Student's t with n - 1 degrees of
    freedom, times :math:`\sqrt{1 + 1/n}`. The interval is Clopper and Pearson's for :math:`S_0`, at the level
    that corresponds, as odds over those of :math:`\pi`: it leaves out 1 just where p is less than one minus
    its level. Where all shuffles agree nothing can be said, and p is 1.
    """
    from scipy.special import betaincinv, ndtr, ndtri, stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        weights = [
            total.sum(axis=-1, keepdims=True) / hits.sum(axis=-1, keepdims=True)
            for total, hits in ((sums.above, sums.hits_with), (sums.below, sums.hits_without))
        ]
        with_, without = sums.above / weights[0], sums.below / weights[1]
        share = with_ / (with_ + without)
    observed, drawn = share[..., 0], share[..., 1:]
    usable = np.isfinite(drawn)
    n = usable.sum(axis=-1)
    mean = np.where(usable, drawn, 0.0).sum(axis=-1) / np.maximum(n, 1)
    spread = np.where(usable, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / np.maximum(n - 1, 1)
    ratio, low, high = np.full(mean.shape, np.nan), np.zeros(mean.shape), np.full(mean.shape, np.inf)
    p_value = np.ones(mean.shape)
    can = np.isfinite(observed) & (n > 1) & (spread > 1e-15)
    if can.any():
        chance, s, free = mean[can], observed[can], n[can] - 1.0
        trials = chance * (1 - chance) / spread[can]
        k = s * trials
        wider = np.sqrt(1 + 1 / n[can])
        more, less = binomial_tails(k, trials - k, chance)
        quantile = ndtri(np.minimum(np.minimum(more, less), 0.5))
        p_value[can] = 2 * stdtr(free, quantile / wider)
        tail = ndtr(stdtrit(free, (1 - level) / 2) * wider)
        lowest = np.where(k > 0, betaincinv(np.maximum(k, 1e-300), trials - k + 1, tail), 0.0)
        rest = np.where(s < 1, betaincinv(np.maximum(trials - k, 1e-300), k + 1, tail), 0.0)
        ratio[can] = _odds(s) / _odds(chance)
        low[can], high[can] = _odds(lowest) / _odds(chance), _odds(1 - rest) / _odds(chance)
    with np.errstate(divide="ignore", invalid="ignore"):
        shuffled = _odds(mean) * (weights[0] / weights[1])[..., 0]
    return RateRatio(ratio, low, high, p_value), shuffled


def _odds(share: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(share / (1 - share))


def order_word(ratio: float, low: float, high: float, adjusted: float) -> str:
    """What is said of an edge that shows ``ratio``, from the interval of observed over shuffled.

    >>> order_word(2.0, 1.5, 2.4, 0.001), order_word(2.0, 0.9, 1.2, 0.6), order_word(2.0, 0.8, 2.3, 0.6)
    ('about order', 'company only', 'unclear')
    """
    if adjusted <= RATE:
        return ORDERS[0]
    reaches = low <= ratio <= high
    return ORDERS[1] if low <= 1 <= high and not reaches and np.isfinite(ratio) else ORDERS[2]
