"""The order test: the edges of a graph against the same sequences shuffled inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from summarkov.confidence import EdgeOrder, OrderTest
from summarkov.engines import CountSource, Layout, MemorySource
from summarkov.engines.shuffled import longest_reach
from summarkov.engines.shuffles import Shuffles
from summarkov.engines.surveys import Asked
from summarkov.errors import SettingError
from summarkov.explain import Influence
from summarkov.kernels import UNLIMITED
from summarkov.models.bootstrap import Resampled, check_resampling
from summarkov.models.order_edges import asked_of, n_candidates, tested_edges
from summarkov.settings import Duration, Progress, is_whole, read_time, reporter, seed_of, span_of

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


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
    positions = _positions(map(asked_of, influenced)) if within == "auto" else within
    by_period = isinstance(positions, str)
    shuffles = Shuffles(int(n), int(seed), None if by_period else positions, _KEPT, by_period)
    n_pairs = sum(map(n_candidates, models))
    found = tested_edges(influenced, source, shuffles, n_pairs, reporter(progress))
    told = positions.text if isinstance(positions, Duration) else positions
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


def _positions(asked: Iterable[Asked]) -> int | None:
    """Blocks long enough for what happens within a look-back, and not for slow changes."""
    reach = longest_reach(list(asked))
    return None if reach is None else _TIMES * reach


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
