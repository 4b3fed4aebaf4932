"""The order test: the edges of a graph against the same sequences shuffled inside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.confidence import (
    EdgeOrder,
    OrderTest,
    RateRatio,
    Remainder,
    Sums,
    against_shuffled,
    benjamini_hochberg,
    order_word,
)
from summarkov.durations import Duration, span_of
from summarkov.engines import CountSource, Layout, MemorySource, StateCounts
from summarkov.engines.shuffled import Shuffles, count_shuffled, longest_reach
from summarkov.engines.surveys import Asked
from summarkov.errors import SettingError
from summarkov.explain import Influence, contrast
from summarkov.kernels import UNLIMITED
from summarkov.models.bootstrap import check_resampling
from summarkov.models.tree import tested_codes
from summarkov.settings import Progress, is_whole, reporter, seed_of
from summarkov.typing import FloatArray

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


#: Events of each sequence that stay in place: nothing came before the first that could have influenced it.
_KEPT = 1
#: How many times as long as the longest look-back the blocks are in which events change places.
_TIMES = 4
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
    asked = [_asked(model) for model in influenced]
    positions = _positions(asked) if within == "auto" else within
    blocks = None if isinstance(positions, str) else positions
    shuffled = _Shuffled(source, Shuffles(int(n), int(seed), blocks, _KEPT))
    edges = shuffled.edges(influenced, asked, reporter(progress))
    n_pairs = sum(map(_n_candidates, models))
    found = _with_remainders(shuffled, edges, _tested(edges, n_pairs), n_pairs)
    told = positions.text if isinstance(positions, Duration) else positions
    return OrderTest(int(n), int(seed), told, n_pairs, tuple(found))


def _checked(source: CountSource, within: Any) -> tuple[CountSource, Any]:
    """How far events may change places: positions, a time, "auto", None, or "periods" that they then have."""
    if isinstance(within, str) and within == "auto":
        return source, within
    if not isinstance(within, str) and hasattr(within, "__len__"):
        if not isinstance(source, MemorySource):
            raise SettingError("within names a period for each event, which needs the events in memory")
        return source.with_periods(within), "periods"
    within = span_of(within, "within")
    if isinstance(within, Duration):
        if Layout.of(source).time != ("clock" if within.is_clock else "number"):
            raise SettingError(f"within {within} is a time, and these events have none that is measured so")
    elif within is not None and not (is_whole(within) and 2 <= within <= UNLIMITED):
        raise SettingError(
            "within must be a number of positions from 2 on and at most 2^62, a time such as '7d', the "
            f"period of each event, 'auto', or None for whole sequences, not {within!r}"
        )
    return source, within


def _positions(asked: Sequence[Asked]) -> int | None:
    """Blocks long enough for what happens within a look-back, and not for slow changes."""
    reach = longest_reach(asked)
    return None if reach is None else _TIMES * reach


def _asked(model: SummaryModel, more: Iterable[int] = ()) -> Asked:
    """A target beside its influencers, and some labels more."""
    fitted = model.fitted
    windows = tuple(fitted.reach(fitted.labels[z]) for z in fitted.influencers)
    return Asked(fitted.influencers, windows, tuple(sorted({*fitted.target.codes, *more})))


def _n_candidates(model: SummaryModel) -> int:
    """How many influencers the search could choose from."""
    fitted = model.fitted
    candidates, forbidden = fitted.settings["candidates"], fitted.settings["forbidden"]
    return len(tested_codes(fitted.labels, candidates, forbidden, fitted.target))


@dataclass(frozen=True)
class _Shuffled:
    """Where the counts of edges come from."""

    source: CountSource
    shuffles: Shuffles

    def edges(
        self,
        models: Sequence[SummaryModel],
        asked: Sequence[Asked],
        progress: Callable[[int, int], None] | None = None,
    ) -> list[_Edge]:
        """All edges of some models, with what was counted."""
        tables = count_shuffled(self.source, asked, self.shuffles, progress) if asked else []
        return [
            _Edge(model, one, table, self.source.scale, column)
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


def _estimates(sums: Sequence[Sums]) -> tuple[RateRatio, FloatArray]:
    return against_shuffled(Sums(*(np.array(each) for each in zip(*sums, strict=True))))


def _tested(edges: Sequence[_Edge], n_pairs: int) -> list[EdgeOrder]:
    if not edges:
        return []
    sums = [edge.sums() for edge in edges]
    found, shuffled = _estimates(sums)
    adjusted = benjamini_hochberg(found.p_value.tolist(), n_pairs)
    numbers = zip(found.ratio.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = [float(each.above[0] / each.below[0]) for each in sums]
    return [
        EdgeOrder(
            edge.influencer,
            edge.target,
            order_word(edge.shown, low, high, adjusted[at]),
            ratio,
            low,
            high,
            float(found.p_value[at]),
            adjusted[at],
            observed[at],
            float(shuffled[at]),
        )
        for at, (edge, (ratio, low, high)) in enumerate(zip(edges, numbers, strict=True))
    ]


def _with_remainders(
    shuffled: _Shuffled, edges: Sequence[_Edge], found: Sequence[EdgeOrder], n_pairs: int
) -> list[EdgeOrder]:
    """Add to inhibitions about order what is left without the labels that their influencer amplifies."""
    amplified: dict[str, set[str]] = defaultdict(set)
    for one in found:
        if one.order == "about order" and one.ratio > 1:
            amplified[one.influencer].add(one.target)
    again = [
        at
        for at, one in enumerate(found)
        if one.order == "about order" and one.ratio < 1 and one.influencer in amplified
    ]
    result = list(found)
    if not again:
        return result
    models = {edges[at].target: edges[at].model for at in again}
    beside: dict[str, set[int]] = defaultdict(set)
    for at in again:
        labels = edges[at].model.fitted.labels
        beside[edges[at].target] |= {labels.index(label) for label in amplified[found[at].influencer]}
    asked = [_asked(model, beside[target]) for target, model in models.items()]
    counted = {(e.influencer, e.target): e for e in shuffled.edges(list(models.values()), asked)}
    sums = [
        counted[found[at].influencer, found[at].target].sums(amplified[found[at].influencer]) for at in again
    ]
    left, _ = _estimates(sums)
    adjusted = benjamini_hochberg(left.p_value.tolist(), n_pairs)
    for row, at in enumerate(again):
        remainder = Remainder(
            tuple(sorted(amplified[found[at].influencer])),
            float(left.ratio[row]),
            float(left.low[row]),
            float(left.high[row]),
            float(left.p_value[row]),
            adjusted[row],
        )
        result[at] = replace(found[at], remainder=remainder)
    return result


class OrderTested:
    """A graph whose edges can be tested against shuffled sequences."""

    n_jobs: int | None
    _order: OrderTest | None

    @property
    def models_(self) -> dict[str, SummaryModel]:
        """The fitted model of every target."""
        raise NotImplementedError  # each class that takes this in has its own

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
        within : int, time, names, "auto" or None
            Events change places only inside of blocks of this number of positions of their sequence, or of
            this time, such as "7d", so that slow changes, such as drift and hidden regimes, stay in the
            shuffled data. Names, one per event, such as a column of months, are periods to stay in. "auto" is
            four times the longest look-back; None shuffles whole sequences.
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
        first = next(iter(self.models_.values()))
        source = first._source(events, sample_weight=sample_weight, n_jobs=self.n_jobs)
        models = list(self.models_.values())
        seed = seed_of(seed, random_state)
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
        competition=None if found.remainder is None else found.remainder.is_competition,
    )
