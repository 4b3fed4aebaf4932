"""The order test: the edges of a graph against the same sequences shuffled inside, and what is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.confidence import (
    EdgeOrder,
    OrderTest,
    Remainder,
    Sums,
    against_shuffled,
    benjamini_hochberg,
    competing,
    order_word,
)
from summarkov.engines import CountSource, Layout, MemorySource, StateCounts
from summarkov.engines.followings import Asked
from summarkov.engines.shuffles import Shuffles, count_shuffled, longest_reach
from summarkov.errors import SettingError
from summarkov.explain import Influence, contrast
from summarkov.kernels import UNLIMITED
from summarkov.models.bootstrap import Resampled, check_resampling
from summarkov.models.tree import tested_codes
from summarkov.settings import Duration, Progress, is_whole, read_time, reporter, seed_of, span_of

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel

_Numbers = tuple[float, float, float, float, float]

#: Events of each sequence that stay in place: nothing came before the first that could have influenced it.
_KEPT = 1
#: How many times as long as the longest look-back the blocks are in which events change places.
_TIMES = 4
#: What is said of periods that were given for each event, and so have no column.
GIVEN_PERIODS = "periods"
#: The counts of every shuffle are kept until all are there.
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
    source, within = _checked(source, within)
    if not models[0].fitted.summary.by_label:
        raise SettingError(f"a {type(models[0]).__name__} has no edges; use a BSuMM, OSuMM or CSuMM")
    influenced = [model for model in models if model.fitted.influencers]
    asked = [_asked_of(model) for model in influenced]
    if within == "auto":  # long enough for what happens within a look-back, and not for slow changes
        reach = longest_reach(asked)
        within = None if reach is None else _TIMES * reach
    by_period = isinstance(within, str)
    shuffles = Shuffles(int(n), int(seed), None if by_period else within, _KEPT, by_period)
    counted = partial(_counted, source, shuffles)
    edges, n_pairs = counted(influenced, asked, reporter(progress)), sum(map(_n_candidates, models))
    found = _with_remainders(counted, edges, _tested(edges, n_pairs), n_pairs)
    told = within.text if isinstance(within, Duration) else within
    return OrderTest(int(n), int(seed), told, n_pairs, tuple(found))


def _checked(source: CountSource, within: Any) -> tuple[CountSource, Any]:
    """How far events may change places: positions, a time, "auto", None, or what their periods are called."""
    if isinstance(within, str) and within == "auto":
        return source, within
    if not isinstance(within, str) and hasattr(within, "__len__"):
        if not isinstance(source, MemorySource):
            raise SettingError(
                "within names a period for each event, which needs the events in memory; read these with "
                "period=, a column, and give within the name of that column"
            )
        return source.with_periods(within), GIVEN_PERIODS
    if isinstance(within, str) and read_time(within, "within") is None:
        _refuse_other_column(source, within)
        return source, within
    within = span_of(within, "within")
    if isinstance(within, Duration):
        if Layout.of(source).time != ("clock" if within.is_clock else "number"):
            raise SettingError(f"within {within} is a time, and these events have none that is measured so")
    elif within is not None and not (is_whole(within) and 2 <= within <= UNLIMITED):
        raise SettingError(
            "within must be a number of positions from 2 on and at most 2^62, a time such as '7d', the "
            "column that events were read with as period=, the period of each event, 'auto', or None for "
            f"whole sequences, not {within!r}"
        )
    return source, within


def _refuse_other_column(source: CountSource, within: str) -> None:
    """Refuse the name of a column that is not the one of the periods of events."""
    origin = getattr(source, "origin", None)
    period = None if origin is None else origin.period
    if period != within:
        those = "were read without one" if period is None else f"have the periods of column {period!r}"
        raise SettingError(
            f"within={within!r} is neither 'auto' nor a time such as '7d', so it must be the column of the "
            f"periods of events, and these {those}; read them with period={within!r}"
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
        """Which edges are about the order of events, and which only about what keeps company in a sequence.

        The events of every sequence are shuffled inside of it, ``n`` times. That keeps what each sequence is
        made of and destroys the order; an edge that looks the same in shuffled sequences says nothing about
        order. What was found is kept in ``order_``, merged into ``edges_``, shown with the graph and saved
        with it. See :class:`summarkov.confidence.EdgeOrder` for what is said of an edge and when.

        The first event of each sequence stays where it is: nothing came before it that could have influenced
        it, and it is often of a special kind.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.
        n : int
            How many shuffles.
        within : int, time, column, names, "auto" or None
            Events change places only inside of blocks of this number of positions of their sequence, or of
            this time, such as "7d", so that slow changes, such as drift and hidden regimes, stay in the
            shuffled data. A column, such as "month", which the events were read with as ``period=``, tells
            the periods to stay in: events in a row of one value change places. So do names, one per event in
            memory. "auto" is four times the longest look-back; None shuffles whole sequences.
        seed : int
            The order of each sequence follows from the seed, the number of the shuffle and the name of the
            sequence, so that it is the same in memory, streamed and on a cluster, in whatever order sequences
            or files come. Where two sequences have the same name, it follows from their numbers instead.
        random_state : int, optional
            Another name for ``seed``; give one of them.
        progress : function or True, optional
            Called as ``progress(done, total)``; True writes that to the standard error.

        >>> import summarkov as sm
        >>> events = sm.read_events([["A", "B", "C", "D"] * 8, ["D", "D", "A", "B", "C", "C"] * 8] * 20)
        >>> graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
        >>> [(edge.influencer, edge.target) for edge in graph.order_test(events).about_order][:2]
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
    """An edge with what the order test found of it."""
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
        competition=None if found.remainder is None else found.is_competition,
    )


def _asked_of(model: SummaryModel, more: Iterable[int] = ()) -> Asked:
    """A target beside its influencers, and some labels more."""
    fitted = model.fitted
    windows = tuple(fitted.reach(fitted.labels[z]) for z in fitted.influencers)
    return Asked(fitted.influencers, windows, tuple(sorted({*fitted.target.codes, *more})))


def _n_candidates(model: SummaryModel) -> int:
    """How many influencers the search could choose from."""
    fitted = model.fitted
    candidates, forbidden = fitted.settings["candidates"], fitted.settings["forbidden"]
    return len(tested_codes(fitted.labels, candidates, forbidden, fitted.target))


def _counted(
    source: CountSource,
    shuffles: Shuffles,
    models: Sequence[SummaryModel],
    asked: Sequence[Asked],
    progress: Callable[[int, int], None] | None = None,
) -> list[_Edge]:
    """All edges of some models, with what was counted in the data and in the shuffles."""
    tables = count_shuffled(source, asked, shuffles, progress) if asked else []
    return [
        _Edge(model, one, table, source.scale, column)
        for model, one, table in zip(models, asked, tables, strict=True)
        for column, z in enumerate(one.influencers)
        if model.fitted.labels[z] not in model.fitted.layout.attributes  # which stand in no order
    ]


@dataclass(frozen=True)
class _Edge:
    """The influencer in ``column`` of a model, and the counts of the data and of the shuffles."""

    model: SummaryModel
    asked: Asked
    table: StateCounts
    scale: int
    column: int

    @property
    def influencer(self) -> str:
        return self.model.fitted.labels[self.asked.influencers[self.column]]

    @property
    def target(self) -> str:
        return self.model.target_[0]

    @property
    def shown(self) -> float:
        """The ratio that the graph shows."""
        edges = {i.influencer: i.ratio for i in self.model.fitted.influences}
        return edges.get(self.influencer, np.nan)

    def sums(self, left_out: Collection[str] = ()) -> Sums:
        """The sums of the data and of each shuffle, without the events of some labels."""
        names = self.model.fitted.labels
        gone = [at for at, code in enumerate(self.asked.labels) if names[code] in left_out]
        if self.model.fitted.target.only:
            gone.append(len(self.asked.labels))  # what is no outcome is not counted
        kept = [code for code in self.asked.labels if names[code] not in left_out]
        table = StateCounts(self.table.keys, np.delete(self.table.counts, gone, axis=-1))
        outcome = kept.index(self.model.fitted.target.codes[0])
        return Sums.of(contrast(table, self.scale, self.column, outcome).strata)


def _estimates(sums: Sequence[Sums], n_pairs: int) -> tuple[list[_Numbers], list[float]]:
    """Ratio, low, high, p-value and adjusted p-value of each edge; and the ratio of the shuffles."""
    found, shuffled = against_shuffled(Sums(*(np.array(each) for each in zip(*sums, strict=True))))
    ratio, low, high, p_value = (each.tolist() for each in vars(found).values())
    adjusted = benjamini_hochberg(p_value, n_pairs)
    return list(zip(ratio, low, high, p_value, adjusted, strict=True)), shuffled.tolist()


def _tested(edges: Sequence[_Edge], n_pairs: int) -> list[EdgeOrder]:
    if not edges:
        return []
    sums = [edge.sums() for edge in edges]
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = [float(each.above[0] / each.below[0]) for each in sums]
    result = []
    estimates, shuffled = _estimates(sums, n_pairs)
    for edge, numbers, one, other in zip(edges, estimates, observed, shuffled, strict=True):
        _, low, high, _, adjusted = numbers
        word = order_word(edge.shown, low, high, adjusted)
        result.append(EdgeOrder(edge.influencer, edge.target, word, *numbers, one, other))
    return result


def _with_remainders(
    counted: Callable[..., list[_Edge]], edges: Sequence[_Edge], found: Sequence[EdgeOrder], n_pairs: int
) -> list[EdgeOrder]:
    """Add to edges about order what is left without the labels that their influencer moves the other way."""
    first, second = competing(found)
    if not first:
        return list(found)
    moved = _targets(found[at] for at in (*first, *second))
    models = {edges[at].target: edges[at].model for at in (*first, *second)}
    beside: dict[str, set[int]] = defaultdict(set)
    for at in (*first, *second):
        labels = edges[at].model.fitted.labels
        beside[edges[at].target] |= {
            labels.index(x) for x in moved[found[at].influencer, found[at].ratio < 1]
        }
    asked = [_asked_of(model, beside[target]) for target, model in models.items()]
    by_pair = {(e.influencer, e.target): e for e in counted(list(models.values()), asked)}
    result = _without(found, first, moved, by_pair, n_pairs)
    more = _targets(result[at] for at in first if not result[at].is_competition)
    return _without(result, second, more, by_pair, n_pairs)


def _targets(edges: Iterable[EdgeOrder]) -> dict[tuple[str, bool], set[str]]:
    """The labels that every influencer amplifies (True) or inhibits (False)."""
    of: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for edge in edges:
        of[edge.influencer, edge.ratio > 1].add(edge.target)
    return of


def _without(
    found: Sequence[EdgeOrder],
    which: Sequence[int],
    moved: Mapping[tuple[str, bool], set[str]],
    counted: Mapping[tuple[str, str], _Edge],
    n_pairs: int,
) -> list[EdgeOrder]:
    """Add to some of the edges what is left without the events of labels that are moved the other way."""
    result = list(found)
    left_out = {at: moved.get((found[at].influencer, found[at].ratio < 1), set()) for at in which}
    which = [at for at in which if left_out[at]]
    if not which:
        return result
    sums = [counted[found[at].influencer, found[at].target].sums(left_out[at]) for at in which]
    for at, numbers in zip(which, _estimates(sums, n_pairs)[0], strict=True):
        result[at] = replace(found[at], remainder=Remainder(tuple(sorted(left_out[at])), *numbers))
    return result
