"""The order test: the edges of a graph against the same sequences shuffled inside, and what is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.confidence import (
    ORDERS,
    EdgeOrder,
    OrderTest,
    Remainder,
    ShortScale,
    Strata,
    Sums,
    against_shuffled,
    benjamini_hochberg,
    competing,
    order_word,
)
from summarkov.confidence.order import RATE, AgainstShuffled
from summarkov.engines import CountSource, Layout
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
from summarkov.explain import Influence
from summarkov.kernels import UNLIMITED
from summarkov.models.bootstrap import Resampled, check_resampling
from summarkov.models.tree import tested_codes
from summarkov.settings import Duration, Progress, is_whole, read_time, reporter, seed_of, span_of
from summarkov.summaries import Reach
from summarkov.typing import FloatArray

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel

#: Events of each sequence that stay in place: nothing came before the first that could have influenced it.
_KEPT = 1
#: How many times as long as the longest look-back the blocks are in which events move.
_TIMES = 4
#: With an adjusted p-value from this on and below 1 an edge is near the decision, and gets so many times as
#: many shuffles more.
_NEAR, _MORE = RATE / 10, 9
#: A shift of other events is large from this share of the width of the ratio's interval on, as logarithms.
_SHIFT = 0.2
#: More would take longer than anybody waits.
_MOST_SHUFFLES = 100_000


def order_test(
    models: Sequence[SummaryModel],
    source: CountSource,
    *,
    n: int = 99,
    within: Any = "auto",
    seed: int = 0,
    progress: Progress = None,
) -> OrderTest:
    """Test the edges of fitted models of one kind; see :meth:`InfluenceGraph.order_test`."""
    check_resampling(models, source, n, seed)
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
        _Edge(model, column)
        for model in models
        for column, z in enumerate(model.fitted.influencers)
        if model.fitted.labels[z] not in model.fitted.layout.attributes  # which stand in no order
    ]
    reach = longest_reach([edge.window for edge in edges])
    if within == "auto":  # long enough for what happens within a look-back, and short beside slow changes
        within = None if reach is None else _TIMES * reach
    shuffles = Shuffles(int(n), int(seed), within, _KEPT)
    n_pairs = sum(map(_n_candidates, models))
    test = _Test(source, shuffles, n_pairs, full_stratum(reach))
    found, alone = test.edges(edges, reporter(progress))
    found = test.with_remainders(edges, found)
    short = _short_scale(reach, within)
    if short is not None:
        found = test.with_short(edges, found, alone, short)
    shown = within.text if isinstance(within, Duration) else within
    lookbacks = [model.fitted.settings.get("lookback") for model in models]
    learned = any(isinstance(given, tuple) or given == "auto" for given in lookbacks)
    return OrderTest(int(n), int(seed), shown, n_pairs, tuple(found), short, learned)


def _short_scale(reach: int | None, within: Any) -> int | None:
    """The size of blocks hardly longer than the window, where those of the test are much longer."""
    if reach is None or isinstance(within, Duration):
        return None
    short = reach + 1
    return short if short > 2 - _KEPT and (within is None or within >= 2 * short) else None


def _checked(source: CountSource, within: Any) -> Any:
    """How far events may change places: positions, a time, "auto" or None."""
    if isinstance(within, str) and within == "auto":
        return within
    if isinstance(within, str) and read_time(within, "within") is None:
        raise _unfit(within)
    within = span_of(within, "within")
    if isinstance(within, Duration):
        if Layout.of(source).time != ("clock" if within.is_clock else "number"):
            raise SettingError(f"within {within} is a time, and these events have none that is measured so")
    elif within is not None and not (is_whole(within) and 2 <= within <= UNLIMITED):
        raise _unfit(within)
    return within


def _unfit(within: object) -> SettingError:
    return SettingError(
        "within must be a number of positions from 2 on and at most 2^62, a time such as '7d', 'auto', or "
        f"None for whole sequences, not {within!r}"
    )


class OrderTested(Resampled):
    """A graph whose edges can be tested against shuffled sequences."""

    _order: OrderTest | None

    def order_test(
        self,
        events: Any,
        *,
        n: int = 99,
        within: Any = "auto",
        seed: int = 0,
        random_state: int | None = None,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> OrderTest:
        """Test which edges depend on the order of events, and which only on what occurs in one sequence.

        For each edge, the influencer's events stay in place and all others rotate against them by a
        random number of steps inside blocks, ``n`` times. That keeps what each block is made of, and the
        runs of influencer and target, and destroys the order between them. For an influence on itself or on
        the end of a case the influencer's events are scattered over their block instead. The result is kept
        in ``order_``, merged into ``edges_``, shown with the graph and saved with it. See
        :class:`summarkov.confidence.EdgeOrder` for the verdicts.

        The first event of each sequence stays in place: nothing came before it that could have influenced it.
        So does the end of a case.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.
        n : int
            How many shuffles of every edge. Edges near the decision, whose adjusted p-value is from 0.005 to
            less than 1 then, get nine times as many in addition.
        within : int, time, "auto" or None
            Events move only inside blocks of this number of positions of their sequence, or of this time,
            such as "7d". What changes more slowly than that stays in the shuffled data. "auto" is four times
            the longest look-back; None takes whole sequences.
        seed : int
            The order in each sequence follows from the seed, the number of the shuffle and the name of the
            sequence, so that it is the same in memory, streamed and on a cluster, in whatever order sequences
            or files come. Where two sequences have the same name, it follows from their numbers instead.
        random_state : int, optional
            Another name for ``seed``; give one of them.
        progress : function or True, optional
            Called as ``progress(done, total)``; True writes that to the standard error.

        >>> import summarkov as sm
        >>> made = [["A", "B", "C", "D"] * 8, ["D", "D", "A", "B", "C", "C"] * 8] * 20
        >>> events = sm.read_events(made, ends="cut off")
        >>> graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
        >>> [(edge.influencer, edge.target) for edge in graph.order_test(events).depends_on_order][:2]
        [('D', 'A'), ('A', 'B')]
        """
        source, seed = self._resampled_source(events, sample_weight), seed_of(seed, random_state)
        models = list(self.models_.values())
        self._order = order_test(models, source, n=n, within=within, seed=seed, progress=progress)
        return self._order

    @property
    def order_(self) -> OrderTest | None:
        """What :meth:`order_test` found; None if it was not asked since the graph was fitted."""
        return getattr(self, "_order", None)


def with_order(edge: Influence, found: EdgeOrder | None) -> Influence:
    """An edge with the result of the order test."""
    if found is None:
        return edge
    return replace(
        edge,
        order=found.order,
        order_ratio=found.ratio,
        order_low=found.low,
        order_high=found.high,
        order_p=found.p_value,
        order_q=found.adjusted,
        order_scale=found.order_scale,
        competition=None if found.remainder is None else found.is_crowding_out,
    )


def _n_candidates(model: SummaryModel) -> int:
    """How many influencers the search could choose from."""
    fitted = model.fitted
    candidates, forbidden = fitted.settings["candidates"], fitted.settings["forbidden"]
    return len(tested_codes(fitted.labels, candidates, forbidden, fitted.target))


@dataclass(frozen=True)
class _Edge:
    """The influencer in ``column`` of a model."""

    model: SummaryModel
    column: int

    @property
    def influencer(self) -> str:
        return self.model.fitted.influencer_labels[self.column]

    @property
    def target(self) -> str:
        return self.model.target_[0]

    @property
    def window(self) -> Reach:
        return self.model.fitted.reach(self.influencer)

    @property
    def shown(self) -> Influence | None:
        """The edge that the graph shows."""
        edges = {edge.influencer: edge for edge in self.model.fitted.influences}
        return edges.get(self.influencer)

    def question(self, left_out: Collection[str] = ()) -> OrderQuestion:
        """What to count of it, without the events of some labels."""
        fitted = self.model.fitted
        z, x = fitted.influencers[self.column], fitted.target.codes[0]
        windows = {u: fitted.reach(fitted.labels[u]) for u in fitted.influencers}
        windows.setdefault(x, windows[z])
        strata = tuple(u for u in windows if u not in (z, x))[:MOST_STRATA]
        if x == z or self.target in (END, *fitted.layout.outcomes):  # Z moves, and what was beside it stays
            strata = tuple(u for u in strata if fitted.labels[u] in fitted.layout.attributes)
        else:
            strata = (*strata, x)
        gone = tuple(code for code, label in enumerate(fitted.labels) if label in left_out)
        of_strata = tuple(windows[u] for u in strata)
        return OrderQuestion(z, x, windows[z], strata, of_strata, gone, fitted.target.only)


@dataclass(frozen=True)
class _Test:
    """Tests edges on the events of a source."""

    source: CountSource
    shuffles: Shuffles
    n_pairs: int
    full: int  # from which stratum of positions on windows are full

    def _against(
        self,
        questions: Sequence[OrderQuestion],
        shuffles: Shuffles,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[list[AgainstShuffled[float]], list[float], list[bool]]:
        """Observed against shuffled, adjusted p-values, and whether most Z are in sequences of one block."""
        counted = self._counted(questions, shuffles, progress)
        widths = [len(question.strata) for question in questions]
        restricted = self._restricted(counted, widths)
        sums = self._sums(counted, widths, restricted)
        found = _numbers(against_shuffled(sums))
        adjusted = benjamini_hochberg([one.p_value for one in found], self.n_pairs)
        near = [at for at, q in enumerate(adjusted) if _NEAR <= q < 1]
        if near:
            more = replace(shuffles, n=_MORE * shuffles.n, done=shuffles.n)
            again = self._counted([questions[at] for at in near], more)
            others = self._sums(again, [widths[at] for at in near], [restricted[at] for at in near])
            both = (np.concatenate([a[near], b[:, 1:]], axis=1) for a, b in zip(sums, others, strict=True))
            for at, one in zip(near, _numbers(against_shuffled(Sums(*both))), strict=True):
                found[at] = one
            adjusted = benjamini_hochberg([one.p_value for one in found], self.n_pairs)
        return found, adjusted, [2 * one.in_one_block > one.influencers for one in counted]

    def _counted(
        self,
        questions: Sequence[OrderQuestion],
        shuffles: Shuffles,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Moved]:
        counted: list[Moved] = []
        count_moved(self.source, questions, shuffles, counted.append, progress)
        return counted

    def _restricted(self, counted: Sequence[Moved], widths: Sequence[int]) -> list[bool]:
        """Whether the target is compared only with events that are in their window just as it is.

        Where labels excite themselves, those in the window come again, and Z takes places of the window. So Z
        makes all that is not in the window more likely, the target among it. That shows in the other events:
        with Z, more or fewer of them are in their window just as the target is. Comparing only with these is
        free of it, but leaves fewer to compare with, and needs full windows. So it is done where the shift is
        large beside what is known of the ratio, and most positions are beyond the first two windows.
        """
        ratios = against_shuffled(self._sums(counted, widths, [False] * len(counted)))
        shifts = against_shuffled(
            _joined([self._sums_of(m.alike(w, self.full)) for m, w in zip(counted, widths, strict=True)])
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            is_large = np.abs(np.log(shifts.ratio)) > _SHIFT * np.log(ratios.high / ratios.low)
        mostly_late = [
            2 * one.apart(n, self.full).positions.sum() >= one.positions.sum()
            for one, n in zip(counted, widths, strict=True)
        ]
        return [bool(large and late) for large, late in zip(is_large, mostly_late, strict=True)]

    def _sums(self, counted: Sequence[Moved], widths: Sequence[int], restricted: Sequence[bool]) -> Sums:
        """The sums of each edge in each shuffle."""
        each = zip(counted, widths, restricted, strict=True)
        return _joined(
            [self._sums_of(one.apart(n, self.full) if apart else one.merged(n)) for one, n, apart in each]
        )

    def _sums_of(self, moved: Moved) -> Sums:
        hits, n = moved.hits_with / self.source.scale, moved.with_ / self.source.scale
        rest = moved.hits / self.source.scale - hits, moved.positions / self.source.scale - n
        return Sums.of(Strata.of(hits, n, *rest))

    def edges(
        self, edges: Sequence[_Edge], progress: Callable[[int, int], None] | None
    ) -> tuple[list[EdgeOrder], list[bool]]:
        """Every edge; and whether most of its influencer's events are in sequences of one block."""
        if not edges:
            return [], []
        found, adjusted, alone = self._against([edge.question() for edge in edges], self.shuffles, progress)
        result = []
        for edge, one, q in zip(edges, found, adjusted, strict=True):
            ratio = np.nan if edge.shown is None else edge.shown.ratio
            evidence = max(one.hits, one.expected)
            fixed = edge.shown is not None and edge.shown.has_fixed_order
            if edge.shown is not None and edge.shown.comes_first:
                evidence = 0.0  # a log that shows an order is not contradicted
            word = order_word(ratio, one.local_low, one.local_high, q, evidence, fixed=fixed)
            numbers = *one[:4], q, one.observed, one.shuffled
            result.append(EdgeOrder(edge.influencer, edge.target, word, *numbers, None, *one[6:]))
        return result, alone

    def with_short(
        self, edges: Sequence[_Edge], found: Sequence[EdgeOrder], alone: Sequence[bool], within: int
    ) -> list[EdgeOrder]:
        """Add the same test in short blocks to edges that depend on order and are not crowding out."""
        result = list(found)
        which = [
            at
            for at, one in enumerate(found)
            if one.order == ORDERS[0] and not one.is_crowding_out and not alone[at]
        ]
        if not which:
            return result
        questions = [edges[at].question() for at in which]
        again, adjusted, _ = self._against(questions, replace(self.shuffles, within=within))
        for at, one, q in zip(which, again, adjusted, strict=True):
            local = one.local_ratio, one.local_low, one.local_high
            result[at] = replace(found[at], short=ShortScale(*local, one.p_value, q))
        return result

    def with_remainders(self, edges: Sequence[_Edge], found: Sequence[EdgeOrder]) -> list[EdgeOrder]:
        """Add to edges what is left without the labels that their influencer moves the other way."""
        first, second = competing(found)
        moved = _targets(found[at] for at in (*first, *second))
        result = self._without(edges, found, first, moved)
        more = _targets(result[at] for at in first if not result[at].is_crowding_out)
        return self._without(edges, result, second, more)

    def _without(
        self,
        edges: Sequence[_Edge],
        found: Sequence[EdgeOrder],
        which: Sequence[int],
        moved: Mapping[tuple[str, bool], set[str]],
    ) -> list[EdgeOrder]:
        """Add to some of the edges what is left without the events of labels that are moved the other way."""
        result = list(found)
        left_out = {at: moved.get((found[at].influencer, found[at].ratio < 1), set()) for at in which}
        which = [at for at in which if left_out[at]]
        if not which:
            return result
        questions = [edges[at].question(left_out[at]) for at in which]
        left, adjusted, _ = self._against(questions, self.shuffles)
        for at, one, q in zip(which, left, adjusted, strict=True):
            remainder = Remainder(tuple(sorted(left_out[at])), *one[:4], q)
            result[at] = replace(found[at], remainder=remainder)
        return result


def _joined(sums: Sequence[Sums]) -> Sums:
    return Sums(*(np.array(each) for each in zip(*sums, strict=True)))


def _numbers(found: AgainstShuffled[FloatArray]) -> list[AgainstShuffled[float]]:
    return [AgainstShuffled(*each) for each in zip(*(each.tolist() for each in found), strict=True)]


def _targets(edges: Iterable[EdgeOrder]) -> dict[tuple[str, bool], set[str]]:
    """The labels that every influencer amplifies (True) or inhibits (False)."""
    of: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for edge in edges:
        of[edge.influencer, edge.ratio > 1].add(edge.target)
    return of
