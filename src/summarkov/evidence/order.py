"""The order test: does an edge depend on the order of events, or only on which events occur together?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.engines import EventSource, Layout
from summarkov.engines.shuffles import (
    MOST_STRATA,
    Moved,
    OrderQuestion,
    Shuffles,
    count_moved,
    full_stratum,
    longest_reach,
)
from summarkov.errors import SettingError
from summarkov.events.vocabulary import END
from summarkov.evidence.edges import (
    FIXED_SEQUENCES,
    FIXED_SHARE,
    ORDERS,
    Difference,
    Edge,
    EdgeList,
    Influence,
)
from summarkov.evidence.ratios import FEW, Strata, benjamini_hochberg, binomial_tails
from summarkov.frames import Records
from summarkov.kernels import UNLIMITED
from summarkov.settings import Duration, Progress, is_whole, read_time, reporter, span_of
from summarkov.typing import BoolArray, FloatArray
from summarkov.wording import plural

#: The expected share of false edges among those that depend on order.
RATE = 0.05
#: From this share of sequences on, what comes first is not said to be mere co-occurrence.
MOSTLY_FIRST = 0.95
#: Events of each sequence that stay in place: nothing came before the first that could have influenced it.
_KEPT = 1
#: How many times as long as the longest look-back the blocks are in which events move.
_TIMES = 4
#: With an adjusted p-value from this on and below 1 an edge is near the decision: it is tested with all
#: shuffles, and then with so many times as many.
_NEAR, _MORE = RATE / 10, 10
#: In data of more events than this, so many shuffles come first, with a part of the sequences that holds so
#: many events of the influencer; and of what is far from the influencer a part that holds so many events.
LARGE, _FIRST, _ENOUGH, _BASE = 1 << 17, 19, 1 << 13, 1 << 14
#: Where the influencer is scattered, which takes longer, so many of its events have to do in any case.
_ENOUGH_SCATTERED = 1 << 15
#: There more shuffles are left out if so many events of the influencer would move.
_MOST_MOVED = 4_000_000
#: A shift of other events is large from this share of the width of the ratio's interval on, as logarithms.
_SHIFT = 0.2
#: More would take longer than anybody waits.
_MOST_SHUFFLES = 100_000


@dataclass(frozen=True)
class Remainder(Difference):
    """An edge without the events of labels, ``without``, that its influencer moves the other way.

    One event stands at a position, so an influencer that makes some labels more likely makes the rest less
    likely, and the reverse: crowding out. All else is as in :class:`EdgeOrder`.
    """

    without: tuple[str, ...] = ()


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
    ratio, low, high, p_value : float
        ``observed`` over ``shuffled``, its 95% interval, and the p-value of no difference.
    adjusted : float
        The least share of false edges at which this one is kept: Benjamini and Hochberg over the edges
        between different labels, and over those of labels on themselves. Where the search asks for less than
        ``false_edges=1``, it is over all pairs that it could have chosen.
    observed, shuffled : float
        Mantel and Haenszel's ratio among the positions that the test compares, and the same of shuffled
        sequences. Their event is not the influencer, nor that of the position before, nor follows the target.
        The target and the other influencers are in the window alike, and they are as near to the start of
        their sequence. Where labels excite themselves, their own event is in the window just as the target.
    remainder : Remainder or None
        There for edges that depend on order and whose influencer moves other labels the other way.
    local_ratio, local_low, local_high : float or None
        ``ratio`` and its interval as comparisons inside blocks alone would give them: in short blocks
        shuffled sequences show a part of the effect too. None in older files.
    hits, expected : float or None
        Hits with the influencer in the window, and their mean in shuffled sequences. None in older files.
    short : Difference or None
        The local ratio of the same test in blocks hardly longer than the window, for edges that depend on
        order and are more than crowding out, unless most events of the influencer are in short sequences.
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
    short: Difference | None = None

    shown_columns: ClassVar[tuple[str, ...]] = (
        *("influencer", "target", "order", "ratio", "low", "high", "adjusted", "observed", "shuffled"),
    )

    def added_to(self, edge: Influence) -> Influence:
        return replace(
            edge,
            order=self.order,
            order_ratio=self.ratio,
            order_low=self.low,
            order_high=self.high,
            order_p=self.p_value,
            order_q=self.adjusted,
            order_scale=self.order_scale,
            competition=None if self.remainder is None else self.is_crowding_out,
        )

    @property
    def is_crowding_out(self) -> bool:
        """Whether other events becoming more or less likely explain most of it.

        In its ``remainder``, ``adjusted`` is above 0.05, or less than half of the effect is left (of the
        logarithm of the ratio).
        """
        left = self.remainder
        if left is None or np.isnan(left.ratio):
            return False
        half = np.sqrt(self.ratio)
        is_left = left.ratio <= half if self.ratio < 1 else left.ratio >= half
        return left.adjusted > RATE or not is_left

    @property
    def order_scale(self) -> str | None:
        """How fast what is behind the edge changes, by blocks hardly longer than the window.

        "short range" if the effect is there too and not surely weaker; "slow change" (drift, a cycle, a
        regime) if it is not there and surely weaker. Else None.
        """
        short = self.short
        if short is None or self.local_ratio is None or self.order != ORDERS[0]:
            return None
        is_weaker = short.high < self.local_ratio if self.ratio > 1 else short.low > self.local_ratio
        if short.adjusted <= RATE and (short.ratio > 1) == (self.ratio > 1):
            return None if is_weaker else "short range"
        return "slow change" if is_weaker else None


@dataclass(frozen=True, repr=False)
class OrderTest(EdgeList):
    """The result of an order test: every edge of the graph against shuffled sequences; a row for each.

    Attributes
    ----------
    n, seed : int
        How many shuffles there are of every edge (of edges near the decision ten times as many), and their
        seed.
    within : int, str or None
        In blocks of how many positions, or of which time, events moved; None: in the whole sequence.
    n_pairs : int
        The number of pairs that the search could have chosen.
    edges : tuple of EdgeOrder
        Every edge, in the order of targets.
    within_short : int or None
        The number of positions of the blocks of ``EdgeOrder.short``; None where there is none.
    after_selection : bool
        Whether look-backs were learned from the same events; p-values do not allow for that choice.
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


# ---------------------------------------------------------------------- observed against shuffled


class AgainstShuffled(NamedTuple):
    """Observed over shuffled, one entry for each edge: see :class:`EdgeOrder`."""

    ratio: Any
    low: Any
    high: Any
    p_value: Any
    observed: Any
    shuffled: Any
    local_ratio: Any
    local_low: Any
    local_high: Any
    hits: Any
    expected: Any


def sums_of(strata: Strata) -> FloatArray:
    """Mantel and Haenszel's two sums over strata, A and B, and how many hits each is of: ``[4, ...]``."""
    return np.stack([*strata.sums(), strata.hits_with.sum(axis=-1), strata.hits_without.sum(axis=-1)])


def against_shuffled(sums: npt.ArrayLike, level: float = 0.95) -> AgainstShuffled:
    r"""Observed over shuffled: a ratio of ratios, its interval and its p-value.

    With A of a hits and B of b hits (:func:`summarkov.evidence.rate_ratio`), a hit with weighs
    :math:`w_1 = \sum A / \sum a` and one without :math:`w_0 = \sum B / \sum b` on average, over the data
    and all shuffles. So :math:`S = (A / w_1) / (A / w_1 + B / w_0)` is the share of the hits that are with,
    other influencers equal, and A / B are its odds but for a constant factor. S has a mean :math:`\pi` and a
    variance V over the n shuffles; if order does not matter, the data are one more of them. It is taken for
    the share of hits among :math:`m = \pi (1 - \pi) / V` trials of chance :math:`\pi`, which has the same
    mean and variance and, unlike a normal variable, the right tails where hits are few. With
    :math:`k = S_0 m`

    .. math:: p = 2 \min(P_{>} + P_{=} / 2, P_{<} + P_{=} / 2), \quad X \sim \mathrm{Binomial}(m, \pi)

    with :math:`P_{>} = P(X > k)` and so on: the mid-p-value. The binomial is continued to fractions by the
    incomplete beta function. As mean and variance are estimated from n shuffles, the normal quantile of p is
    read as one of Student's t with n - 1 degrees of freedom, times :math:`\sqrt{1 + 1/n}`. The interval has
    all chances of which :math:`S_0` is not as far in a tail, as odds over those of :math:`\pi`: it leaves out
    1 just where p is less than one minus its level. Where all shuffles agree nothing can be said, and p is 1.

    Of h hits that are as many trials of their own, V would be :math:`\pi (1 - \pi) / h`. It is less inside
    blocks, where part of what is with the influencer stays with it. An effect shows up as much weaker there,
    so the local ratio and its interval are those above to the power of :math:`m / h`, at least 1.

    ``sums[4, ..., b]`` are those of :func:`sums_of`; b = 0 is the data as they are, the others are shuffles.
    """
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    above, below, hits_with, hits_without = np.asarray(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = [
            total.sum(axis=-1, keepdims=True) / hits.sum(axis=-1, keepdims=True)
            for total, hits in ((above, hits_with), (below, hits_without))
        ]
        with_, without = above / weights[0], below / weights[1]
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
        ratio[can], low[can], high[can] = (_odds(p) / _odds(chance) for p in (s, lowest, 1 - rest))
        power[can] = np.maximum(trials / np.maximum((hits_with + hits_without)[..., 0][can], 1.0), 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        observed = above[..., 0] / below[..., 0]
        shuffled = _odds(mean) * (weights[0] / weights[1])[..., 0]
        local = [each**power for each in (ratio, low, high)]
    hits, expected = hits_with[..., 0], hits_with[..., 1:].mean(axis=-1)
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


def order_word(
    ratio: float, low: float, high: float, adjusted: float, evidence: float = np.inf, *, fixed: bool = False
) -> str:
    """The verdict on an edge that shows ``ratio``, from the interval of observed over shuffled.

    ``evidence`` is the number of hits, or of those expected if that is larger.
    """
    if fixed:
        return ORDERS[3]
    if adjusted <= RATE:
        return ORDERS[0]
    reaches = low <= ratio <= high
    is_clear = low <= 1 <= high and not reaches and np.isfinite(ratio) and evidence >= FEW
    return ORDERS[1] if is_clear else ORDERS[2]


def competing(edges: Sequence[EdgeOrder]) -> tuple[list[int], list[int]]:
    """Edges whose influencer moves other labels the other way: those to doubt first, and the others.

    Only edges that depend on order count. What an influencer amplifies crowds out all others, and what it
    inhibits makes all others more likely. So whichever it does to fewer labels is believed first (amplifying,
    if to as many), and the edges the other way are doubted: they may be no more than crowding out.

    >>> ratios = {"b": 6, "c": 0.5, "d": 0.5}
    >>> competing([EdgeOrder("a", x, "depends on order", r, r, r, 0, 0, r, 1) for x, r in ratios.items()])
    ([1, 2], [0])
    """
    about = [at for at, edge in enumerate(edges) if edge.order == ORDERS[0]]
    up = Counter(edges[at].influencer for at in about if edges[at].ratio > 1)
    down = Counter(edges[at].influencer for at in about if edges[at].ratio < 1)
    doubted, believed = list[int](), list[int]()
    for at in about:
        z = edges[at].influencer
        if up[z] and down[z]:
            (doubted if (edges[at].ratio < 1) == (up[z] <= down[z]) else believed).append(at)
    return doubted, believed


# ---------------------------------------------------------------------- the test


def order_test(
    models: Sequence[Any],
    source: EventSource,
    n_pairs: int,
    *,
    is_guarded: bool = False,
    n: int = 99,
    within: Any = "auto",
    seed: int = 0,
    progress: Progress = None,
) -> OrderTest:
    """Test the edges of fitted models of one kind; see :meth:`InfluenceGraph.order_test`.

    ``is_guarded`` says that the search lets through hardly any of the ``n_pairs`` by chance.
    """
    if n < 19:
        raise SettingError(f"n must be at least 19 shuffles, not {n}; a spread from fewer means little")
    if n > _MOST_SHUFFLES:
        raise SettingError(
            f"n must be at most {_MOST_SHUFFLES:,} shuffles, not {n:,}: the counts of each are kept"
        )
    within = _checked(source, within)
    if not models[0].fitted.summary.by_label:
        raise SettingError(f"a {type(models[0]).__name__} has no edges; use a BSuMM, OSuMM or CSuMM")
    edges = [
        (model.fitted, z)
        for model in models
        for z in model.fitted.influencers
        if model.fitted.labels[z] not in model.fitted.layout.attributes  # which stand in no order
    ]
    reach = longest_reach([fitted.reach(fitted.labels[z]) for fitted, z in edges])
    if within == "auto":  # long enough for what happens within a look-back, and short beside slow changes
        within = None if reach is None else _TIMES * reach
    n_tests = None if is_guarded else n_pairs
    test = _Test(source, Shuffles(int(n), int(seed), within, _KEPT), n_tests, full_stratum(reach))
    tested = test([_question(*edge) for edge in edges], reporter(progress))
    found = [_edge_order(*edge, numbers, q) for edge, (numbers, q, _) in zip(edges, tested, strict=True)]
    doubted, believed = competing(found)
    movers = [*doubted, *believed]
    for which in (doubted, believed):
        moved: dict[tuple[str, bool], set[str]] = defaultdict(set)
        for at in movers:
            moved[found[at].influencer, found[at].ratio > 1].add(found[at].target)
        others = {at: moved[found[at].influencer, found[at].ratio < 1] for at in which}
        left_out = {at: labels for at, labels in others.items() if labels}
        left = test([_question(*edges[at], labels) for at, labels in left_out.items()])
        for (at, labels), (one, q, _) in zip(left_out.items(), left, strict=True):
            found[at] = replace(found[at], remainder=Remainder(*one[:4], q, tuple(sorted(labels))))
        movers = [at for at in doubted if not found[at].is_crowding_out]
    short = None  # the size of blocks hardly longer than the window, where those of the test are much longer
    if reach and not isinstance(within, Duration) and (within is None or within >= 2 * (reach + 1)):
        short = reach + 1
        graded = [
            at
            for at, one in enumerate(found)
            if one.order == ORDERS[0] and not one.is_crowding_out and not tested[at][2]
        ]
        again = replace(test, shuffles=replace(test.shuffles, within=short), n_tests=n_pairs)
        for at, (one, q, _) in zip(graded, again([_question(*edges[at]) for at in graded]), strict=True):
            local = one.local_ratio, one.local_low, one.local_high
            found[at] = replace(found[at], short=Difference(*local, one.p_value, q))
    shown = within.text if isinstance(within, Duration) else within
    lookbacks = [model.fitted.settings.get("lookback") for model in models]
    is_learned = any(isinstance(given, tuple) or given == "auto" for given in lookbacks)
    return OrderTest(int(n), int(seed), shown, n_pairs, tuple(found), short, is_learned)


def _checked(source: EventSource, within: Any) -> Any:
    """How far events may change places: positions, a time, "auto" or None."""
    if isinstance(within, str) and within == "auto":
        return within
    unfit = SettingError(
        "within must be a number of positions from 2 on and at most 2^62, a time such as '7d', 'auto', or "
        f"None for whole sequences, not {within!r}"
    )
    if isinstance(within, str) and read_time(within, "within") is None:
        raise unfit
    within = span_of(within, "within")
    if isinstance(within, Duration):
        if Layout.of(source).time != ("clock" if within.is_clock else "number"):
            raise SettingError(f"within {within} is a time, and these events have none that is measured so")
    elif within is not None and not (is_whole(within) and 2 <= within <= UNLIMITED):
        raise unfit
    return within


def _question(fitted: Any, z: int, left_out: Collection[str] = ()) -> OrderQuestion:
    """What to count of the edge from influencer z of a model, without the events of some labels."""
    x, labels, layout = fitted.target.codes[0], fitted.labels, fitted.layout
    windows = {u: fitted.reach(labels[u]) for u in fitted.influencers}
    windows.setdefault(x, windows[z])
    strata = tuple(u for u in windows if u not in (z, x))[:MOST_STRATA]
    if x == z or labels[x] in (END, *layout.outcomes):  # Z moves, and what was beside it stays
        strata = tuple(u for u in strata if labels[u] in layout.attributes)
    else:
        strata = (*strata, x)
    gone = tuple(code for code, label in enumerate(labels) if label in left_out)
    of_strata = tuple(windows[u] for u in strata)
    return OrderQuestion(z, x, windows[z], strata, of_strata, gone, fitted.target.only)


def _edge_order(fitted: Any, z: int, found: AgainstShuffled, adjusted: float) -> EdgeOrder:
    """What is said of an edge, beside what the graph shows of it."""
    names = fitted.labels[z], fitted.labels[fitted.target.codes[0]]
    shown = next((edge for edge in fitted.influences if edge.influencer == names[0]), None)
    ratio, evidence, fixed = np.nan, max(found.hits, found.expected), False
    if shown is not None:
        ratio, both, first = shown.ratio, shown.cases_both or 0.0, shown.cases_first or 0.0
        fixed = both >= FIXED_SEQUENCES and first >= FIXED_SHARE * both
        if (shown.precedence or 0.0) >= MOSTLY_FIRST:
            evidence = 0.0  # a log that shows an order is not contradicted
    word = order_word(ratio, found.local_low, found.local_high, adjusted, evidence, fixed=fixed)
    return EdgeOrder(*names, word, adjusted=adjusted, **found._asdict())


@dataclass(frozen=True)
class _Test:
    """Tests edges on the events of a source."""

    source: EventSource
    shuffles: Shuffles
    n_tests: int | None  # of how many tests these are some; None: these are all
    full: int  # from which stratum of positions on windows are full

    def __call__(
        self, questions: Sequence[OrderQuestion], progress: Callable[[int, int], None] | None = None
    ) -> list[tuple[AgainstShuffled, float, bool]]:
        """Observed against shuffled, the adjusted p-value, whether most Z are in sequences of one block."""
        if not questions:
            return []
        n = self.source.label_counts / self.source.scale
        size = [max(n[one.influencer], 1.0) for one in questions]
        asked, n_first, most_moved = list(questions), self.shuffles.n, np.inf
        if n.sum() > LARGE:
            stays = {END, *Layout.of(self.source).outcomes}

            def with_part(one: OrderQuestion, events: float, others: int) -> OrderQuestion:
                part = min(1.0, events / max(n[one.influencer], 1.0))
                return replace(one, part=part, base=min(1.0, others / (n.sum() * part)))

            asked = [with_part(one, _ENOUGH, _BASE) for one in questions]
            moves = [q.influencer == q.target or self.source.labels[q.target] in stays for q in questions]
            questions = [
                with_part(one, _ENOUGH_SCATTERED if moving else np.inf, LARGE)
                for one, moving in zip(questions, moves, strict=True)
            ]
            n_first, most_moved = min(_FIRST, n_first), _MOST_MOVED
        apart, alone = np.zeros(len(asked), bool), [False] * len(asked)
        sums: list[FloatArray] = [np.empty((4, 0))] * len(asked)

        def count(which: Sequence[int], n: int, progress: Callable[[int, int], None] | None = None) -> None:
            some, how = [asked[at] for at in which], replace(self.shuffles, n=n)
            moved = count_moved(self.source, some, how, progress)
            apart[which] = self._are_apart(some, moved)
            for at, one, each in zip(which, moved, self._sums(some, moved, apart[which]), strict=True):
                alone[at], sums[at] = 2 * one.in_one_block > one.influencers, each

        count(range(len(asked)), n_first, progress)
        near = self._near(questions, sums)
        if near and n.sum() > LARGE:
            for at in near:
                asked[at] = questions[at]
            count(near, n_first)
        for done, stop in pairwise(dict.fromkeys((n_first, self.shuffles.n, _MORE * self.shuffles.n))):
            near = [at for at in self._near(questions, sums) if asked[at] == questions[at]]
            near = [at for at in near if stop * size[at] < most_moved]
            if not near:
                break
            some, more = [asked[at] for at in near], replace(self.shuffles, n=stop - done, done=done)
            moved = count_moved(self.source, some, more)
            for at, each in zip(near, self._sums(some, moved, apart[near]), strict=True):
                sums[at] = np.concatenate([sums[at], each[:, 1:]], axis=1)
        found = _compared(sums)
        numbers = [AgainstShuffled(*each) for each in zip(*(each.tolist() for each in found), strict=True)]
        return list(zip(numbers, self._adjusted(questions, found.p_value), alone, strict=True))

    def _near(self, questions: Sequence[OrderQuestion], sums: Sequence[FloatArray]) -> list[int]:
        """Which edges are near the decision."""
        adjusted = self._adjusted(questions, _compared(sums).p_value)
        return [at for at, q in enumerate(adjusted) if _NEAR <= q < 1]

    def _adjusted(self, questions: Sequence[OrderQuestion], p_values: FloatArray) -> list[float]:
        """Adjusted p-values. Those on itself are mostly there, and leave no room to others."""
        on_itself = np.array([asked.influencer == asked.target for asked in questions])
        adjusted = np.ones(len(questions))
        for some in (on_itself, ~on_itself):
            adjusted[some] = benjamini_hochberg(p_values[some], self.n_tests or int(some.sum()))
        return adjusted.tolist()

    def _are_apart(self, questions: Sequence[OrderQuestion], counted: Sequence[Moved]) -> BoolArray:
        """Whether the target is compared only with events that are in their window just as it is.

        Where labels excite themselves, those in the window come again, and Z takes places of the window. So Z
        makes all that is not in the window more likely. Comparing only alike events is free of that, but
        leaves fewer, and needs full windows. So it is done where the shift of other events is large beside
        what is known of the ratio, and most positions are beyond the first two windows.
        """
        each = [(one, len(asked.strata)) for asked, one in zip(questions, counted, strict=True)]
        ratios = _compared(self._sums(questions, counted, np.zeros(len(counted), bool)))
        shifts = _compared([self._sum(one.alike(n, self.full)) for one, n in each])
        with np.errstate(divide="ignore", invalid="ignore"):
            is_large = np.abs(np.log(shifts.ratio)) > _SHIFT * np.log(ratios.high / ratios.low)
        late = [2 * one.apart(n, self.full).positions.sum() >= one.positions.sum() for one, n in each]
        return np.asarray(is_large & late)

    def _sums(
        self, questions: Sequence[OrderQuestion], counted: Sequence[Moved], apart: BoolArray
    ) -> list[FloatArray]:
        """The sums of each edge in each shuffle: ``[4, b]``."""
        each = zip(counted, [len(asked.strata) for asked in questions], apart, strict=True)
        moved = (one.apart(n, self.full) if is_apart else one.merged(n) for one, n, is_apart in each)
        return [self._sum(one) for one in moved]

    def _sum(self, moved: Moved) -> FloatArray:
        scale = self.source.scale
        hits, n = moved.hits_with / scale, moved.with_ / scale
        return sums_of(Strata.of(hits, n, moved.hits / scale - hits, moved.positions / scale - n))


def _compared(sums: Sequence[FloatArray]) -> AgainstShuffled:
    """Observed against shuffled, from the sums of each edge, ``[4, b]``; some have fewer shuffles."""
    found = AgainstShuffled(*np.empty((len(AgainstShuffled._fields), len(sums))))
    for n in {each.shape[1] for each in sums}:
        some = [at for at, each in enumerate(sums) if each.shape[1] == n]
        stacked = np.stack([sums[at] for at in some], axis=1)
        for numbers, part in zip(found, against_shuffled(stacked), strict=True):
            numbers[some] = part
    return found
