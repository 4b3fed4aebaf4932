"""Does an edge depend on the order of events, or only on which events occur in the same sequence?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from summarkov.confidence.rate_ratio import FEW, Strata, binomial_tails
from summarkov.confidence.results import Edge, EdgeList
from summarkov.frames import Record, Records
from summarkov.typing import FloatArray
from summarkov.wording import plural

T = TypeVar("T")

#: The verdicts on an edge.
ORDERS = ("depends on order", "co-occurrence only", "unclear", "fixed order")
#: What older files call them.
OLD_ORDERS = {"about order": ORDERS[0], "company only": ORDERS[1]}
#: The expected share of false edges among those that depend on order.
RATE = 0.05
#: In so many sequences at least, and in this share of them, the influencer comes first: a fixed order.
FIXED_SEQUENCES, FIXED_SHARE = 50, 0.99


@dataclass(frozen=True)
class Remainder(Record):
    """An edge among the events that its influencer does not move the other way.

    One event stands at a position, so an influencer that makes some labels more likely makes the rest less
    likely, and the reverse: crowding out.

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


@dataclass(frozen=True)
class ShortScale(Record):
    """An edge in blocks that are hardly longer than the window.

    Attributes
    ----------
    ratio, low, high : float
        As ``local_ratio``, ``local_low`` and ``local_high`` of :class:`EdgeOrder`.
    p_value, adjusted : float
        As those of :class:`EdgeOrder`.
    """

    ratio: float
    low: float
    high: float
    p_value: float
    adjusted: float


@dataclass(frozen=True, repr=False)
class EdgeOrder(Edge):
    """An edge against the same sequences with the influencer's events moved against the others.

    Attributes
    ----------
    influencer, target : str
        The edge.
    order : str
        "fixed order" if the influencer comes first in at least 99% of the sequences with both labels, and
        there are 50 or more. Else "depends on order" if ``adjusted`` is at most 0.05. "co-occurrence only"
        if the interval of ``local_ratio`` holds 1 and does not reach the ratio that the graph shows, and
        ``hits`` or ``expected`` is at least ten. Else "unclear".
    ratio, low, high : float
        ``observed`` over ``shuffled``, and its 95% interval.
    p_value : float
        That of no difference (see ``against_shuffled``).
    adjusted : float
        The least share of false edges at which this one is kept: Benjamini and Hochberg over all pairs
        that the search could have chosen, those that it did not choose taken for p = 1.
    observed : float
        Mantel and Haenszel's ratio among the positions that the test compares: whose event is not the
        influencer and not that of the position before, nor follows the target. They are compared only with
        positions at which the target and its other influencers are in the window alike, and that are as near
        to the start of their sequence. Where labels excite themselves, only positions count whose own event
        is in the window, or not, just as the target is.
    shuffled : float
        The same of shuffled sequences.
    remainder : Remainder or None
        There for edges that depend on order and whose influencer moves other labels the other way.
    local_ratio, local_low, local_high : float or None
        ``ratio`` and its interval as comparisons inside blocks alone would give them. In short blocks
        shuffled sequences show a part of the effect too, so that ``ratio`` is nearer to 1. None in older
        files.
    hits, expected : float or None
        Hits with the influencer in the window, and their mean in shuffled sequences. None in older files.
    short : ShortScale or None
        The same test in blocks hardly longer than the window, for edges that depend on order and are more
        than crowding out. None if most events of the influencer are in sequences no longer than one block of
        the test itself.
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
    local_ratio: float | None = None
    local_low: float | None = None
    local_high: float | None = None
    hits: float | None = None
    expected: float | None = None
    short: ShortScale | None = None

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
    def is_crowding_out(self) -> bool:
        """Whether the edge is there only because other events became more or less likely.

        Nothing is left of it in its ``remainder``: ``adjusted`` is above 0.05 there, or the ratio is on the
        other side of 1. Where the remainder has nothing to compare, nothing can be said.
        """
        left = self.remainder
        if left is None or np.isnan(left.ratio):
            return False
        return not (left.adjusted <= RATE and (left.ratio < 1) == (self.ratio < 1))

    @property
    def order_scale(self) -> str | None:
        """How fast what is behind the edge changes.

        "short range" if the effect is there in blocks hardly longer than the window too; "slow change"
        (drift, a cycle, a regime) if it is not, and their interval excludes it. Else None.
        """
        short = self.short
        if short is None or self.local_ratio is None or self.order != ORDERS[0]:
            return None
        if short.adjusted <= RATE and (short.ratio > 1) == (self.ratio > 1):
            return "short range"
        return None if short.low <= self.local_ratio <= short.high else "slow change"


@dataclass(frozen=True, repr=False)
class OrderTest(EdgeList[EdgeOrder]):
    """The result of an order test: every edge of the graph against shuffled sequences.

    The frame has one row per edge.

    Attributes
    ----------
    n, seed : int
        How many shuffles there are of every edge, and their seed. Of edges near the decision there are ten
        times as many.
    within : int, str or None
        In blocks of how many positions, or of which time, events moved. None: in the whole sequence.
    n_pairs : int
        The number of pairs that the search could have chosen.
    edges : tuple of EdgeOrder
        Every edge, in the order of targets.
    within_short : int or None
        The number of positions of the blocks of ``EdgeOrder.short``; None where there is none.
    after_selection : bool
        Whether look-backs were learned from the same events. Each edge is tested with the look-back that was
        chosen, and its p-value does not allow for the choice.
    """

    n: int
    seed: int
    within: int | str | None
    n_pairs: int
    edges: tuple[EdgeOrder, ...]
    within_short: int | None = None
    after_selection: bool = False

    def _title(self) -> str:
        tested = f"{plural(len(self.edges), 'edge')} against {plural(self.n, 'shuffle')}"
        chosen = "; p-values after selection of look-backs" if self.after_selection else ""
        return f"{tested}, {len(self.depends_on_order)} depending on order{chosen}"

    @property
    def depends_on_order(self) -> Records[EdgeOrder]:
        """The edges that depend on order."""
        return Records((edge for edge in self.edges if edge.order == ORDERS[0]), EdgeOrder)


def competing(edges: Sequence[EdgeOrder]) -> tuple[list[int], list[int]]:
    """Edges whose influencer moves other labels the other way: those to doubt first, and the others.

    Only edges that depend on order count. What an influencer amplifies crowds out all others, and what it
    inhibits makes all others more likely. So whichever it does to fewer labels is believed first (amplifying,
    if to as many), and the edges the other way are doubted: they may be no more than crowding out. Once these
    are tested without the labels that are believed, the latter are tested without those of the others that
    are more than crowding out.

    >>> ratios = {"b": 6, "c": 0.5, "d": 0.5}
    >>> competing([EdgeOrder("a", x, "depends on order", r, r, r, 0, 0, r, 1) for x, r in ratios.items()])
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


class AgainstShuffled(NamedTuple, Generic[T]):
    """Observed over shuffled, one entry for each edge: see :class:`EdgeOrder`."""

    ratio: T
    low: T
    high: T
    p_value: T
    observed: T
    shuffled: T
    local_ratio: T
    local_low: T
    local_high: T
    hits: T
    expected: T


def against_shuffled(sums: Sums, level: float = 0.95) -> AgainstShuffled[FloatArray]:
    r"""Observed over shuffled: a ratio of ratios, its interval and its p-value.

    With A of a hits and B of b hits (:func:`summarkov.confidence.rate_ratio`), a hit with weighs
    :math:`w_1 = \sum A / \sum a` and one without :math:`w_0 = \sum B / \sum b` on average, over the data
    and all shuffles. So :math:`S = (A / w_1) / (A / w_1 + B / w_0)` is the share of the hits that are with,
    other influencers equal, and A / B are its odds but for a constant factor. S has a mean :math:`\pi` and a
    variance V over the n shuffles; if order does not matter, the data are one more of them. It is taken for
    the share of hits among :math:`m = \pi (1 - \pi) / V` trials of chance :math:`\pi`, which has the same
    mean and variance and, unlike a normal variable, the right tails where hits are few. With
    :math:`k = S_0 m`

    .. math:: p = 2 \min(P_{>} + P_{=} / 2, P_{<} + P_{=} / 2), \quad X \sim \mathrm{Binomial}(m, \pi)

    with :math:`P_{>} = P(X > k)` and so on: the mid-p-value, as with all of :math:`P_{=}` it would reject
    too seldom where hits are few. The binomial is continued to fractions by the incomplete beta function. As
    mean and variance are estimated from n shuffles, the normal quantile of p is read as one of Student's t
    with n - 1 degrees of freedom, times :math:`\sqrt{1 + 1/n}`. The interval has all chances of which
    :math:`S_0` is not as far in a tail, as odds over those of :math:`\pi`: it leaves out 1 just where p is
    less than one minus its level. Where all shuffles agree nothing can be said, and p is 1.

    Of h hits that are as many trials of their own, V would be :math:`\pi (1 - \pi) / h`. It is less inside
    blocks, where part of what is with the influencer stays with it. An effect shows up as much weaker there,
    so the local ratio and its interval are those above to the power of :math:`m / h`, at least 1.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        weights = [
            total.sum(axis=-1, keepdims=True) / hits.sum(axis=-1, keepdims=True)
            for total, hits in ((sums.above, sums.hits_with), (sums.below, sums.hits_without))
        ]
        with_, without = sums.above / weights[0], sums.below / weights[1]
        share = with_ / (with_ + without)
    first, drawn = share[..., 0], share[..., 1:]
    usable = np.isfinite(drawn)
    n = usable.sum(axis=-1)
    mean = np.where(usable, drawn, 0.0).sum(axis=-1) / np.maximum(n, 1)
    spread = np.where(usable, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / np.maximum(n - 1, 1)
    ratio, low, high = np.full(mean.shape, np.nan), np.zeros(mean.shape), np.full(mean.shape, np.inf)
    p_value, power = np.ones(mean.shape), np.ones(mean.shape)
    can = np.isfinite(first) & (n > 1) & (spread > 1e-15)
    if can.any():
        chance, s, free = mean[can], first[can], n[can] - 1.0
        trials = chance * (1 - chance) / spread[can]
        k = s * trials
        wider = np.sqrt(1 + 1 / n[can])
        misses = np.maximum(trials - k, 0.0)
        quantile = ndtri(np.minimum(_mid_tail(k, misses, chance), _mid_tail(misses, k, 1 - chance)))
        p_value[can] = 2 * stdtr(free, quantile / wider)
        tail = ndtr(stdtrit(free, (1 - level) / 2) * wider)
        lowest, rest = _lowest(k, misses, tail), _lowest(misses, k, tail)
        ratio[can] = _odds(s) / _odds(chance)
        low[can], high[can] = _odds(lowest) / _odds(chance), _odds(1 - rest) / _odds(chance)
        all_hits = (sums.hits_with + sums.hits_without)[..., 0][can]
        power[can] = np.maximum(trials / np.maximum(all_hits, 1.0), 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        observed = sums.above[..., 0] / sums.below[..., 0]
        shuffled = _odds(mean) * (weights[0] / weights[1])[..., 0]
        local = [each**power for each in (ratio, low, high)]
    hits, expected = sums.hits_with[..., 0], sums.hits_with[..., 1:].mean(axis=-1)
    ratios = ratio, low, high, p_value, observed, shuffled
    return AgainstShuffled(*ratios, local[0], local[1], local[2], hits, expected)


def _mid_tail(hits: FloatArray, misses: FloatArray, chance: FloatArray) -> FloatArray:
    """The chance of more hits than these, and half of the chance of just these."""
    from scipy.special import betainc

    more = np.where(misses > 0, betainc(hits + 1, np.maximum(misses, 1e-300), chance), 0.0)
    return np.asarray((binomial_tails(hits, misses, chance)[0] + more) / 2)


def _lowest(hits: FloatArray, misses: FloatArray, tail: FloatArray) -> FloatArray:
    """The chance at which these hits are so far in the upper tail, by halving."""
    low, high = np.zeros(hits.shape), np.ones(hits.shape)
    for _ in range(60):
        middle = (low + high) / 2
        is_less = _mid_tail(hits, misses, middle) < tail
        low, high = np.where(is_less, middle, low), np.where(is_less, high, middle)
    return low


def _odds(share: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(share / (1 - share))


def is_fixed_order(both: float | None, first: float | None) -> bool:
    """Whether the influencer comes first in nearly all of the sequences with both labels.

    >>> is_fixed_order(1125, 1117), is_fixed_order(49, 49), is_fixed_order(100, 98)
    (True, False, False)
    """
    if both is None or first is None:
        return False
    return both >= FIXED_SEQUENCES and first >= FIXED_SHARE * both


def order_word(
    ratio: float, low: float, high: float, adjusted: float, evidence: float = np.inf, *, fixed: bool = False
) -> str:
    """The verdict on an edge that shows ``ratio``, from the interval of observed over shuffled.

    ``evidence`` is the number of hits with the influencer, or of those expected if that is larger. ``fixed``
    says that the influencer nearly always comes first.

    >>> order_word(2.0, 1.5, 2.4, 0.001), order_word(2.0, 0.9, 1.2, 0.6), order_word(2.0, 0.8, 2.3, 0.6)
    ('depends on order', 'co-occurrence only', 'unclear')
    >>> order_word(2.0, 0.9, 1.2, 0.6, evidence=3), order_word(2.0, 0.9, 1.2, 0.6, fixed=True)
    ('unclear', 'fixed order')
    """
    if fixed:
        return ORDERS[3]
    if adjusted <= RATE:
        return ORDERS[0]
    reaches = low <= ratio <= high
    is_clear = low <= 1 <= high and not reaches and np.isfinite(ratio) and evidence >= FEW
    return ORDERS[1] if is_clear else ORDERS[2]
