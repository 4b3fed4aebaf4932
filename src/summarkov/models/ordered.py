"""What the order test adds to a graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from summarkov.confidence import EdgeOrder, OrderTest
from summarkov.explain import Influence
from summarkov.settings import Progress, seed_of

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


class OrderTested:
    """A graph whose edges can be tested against shuffled sequences."""

    n_jobs: int | None
    _order: OrderTest | None

    @property
    def models_(self) -> dict[str, SummaryModel]:
        """The fitted model of every target."""
        raise NotImplementedError

    def order_test(
        self,
        events: Any,
        *,
        n: int = 99,
        within: int | str | None = "auto",
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
        within : int, "auto" or None
            Events change places only inside of blocks of so many positions of their sequence, so that slow
            changes, such as drift and hidden regimes, stay in the shuffled data. "auto" is four times the
            longest look-back; None shuffles whole sequences.
        seed : int
            The order of each sequence follows from the seed, the number of the shuffle and the number of the
            sequence, so that it is the same in memory, streamed and on a cluster.
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
        from summarkov.models.order import order_test

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
