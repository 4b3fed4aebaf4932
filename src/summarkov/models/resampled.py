"""How sure the edges of a graph are: from resampled data, and from halves of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from summarkov.confidence import Confidence, Discoveries, EdgeConfidence
from summarkov.engines import CountSource
from summarkov.explain import Influence
from summarkov.settings import Progress, seed_of

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


class Resampled:
    """A graph whose edges can be looked for again in resampled data."""

    n_jobs: int | None
    _confidence: Confidence | None

    @property
    def models_(self) -> dict[str, SummaryModel]:
        """The fitted model of every target."""
        raise NotImplementedError

    def confidence(
        self,
        events: Any,
        *,
        n: int = 100,
        seed: int = 0,
        random_state: int | None = None,
        blocks: Any = None,
        level: float = 0.95,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Confidence:
        """How sure each edge is: learn ``n`` graphs from resampled data and see which edges they have.

        Sequences are drawn with replacement, as many as there are; with one weight for each instead of
        copies, so that all graphs are counted together. What was found is kept in ``confidence_``, shown with
        the graph and saved with it.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.
        n : int
            How many graphs.
        seed : int
            Each graph has its own stream of random numbers, so the first 100 of 200 are those of 100.
        random_state : int, optional
            Another name for ``seed``; give one of them.
        blocks : int or names, optional
            What to draw instead of sequences, for events that hang together: names of groups, one a sequence;
            or blocks inside of sequences, as a number of events in a row or as a name an event (such as the
            document it is from). The past of an event is what it was, whatever else is drawn. One single
            sequence is cut into blocks of N^(1/3) events unless told otherwise.
        level : float
            Of the intervals of strengths, from their percentiles.
        progress : function or True, optional
            Called as ``progress(done, total)``; True writes that to the standard error.

        >>> from summarkov import BSuMM, InfluenceGraph, read_events
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit(events)
        >>> [edge.frequency for edge in graph.confidence(events, n=20).edges if edge.in_graph]
        [0.9, 1.0, 1.0]
        """
        from summarkov.models.bootstrap import bootstrap

        source = self._resampled_source(events, sample_weight)
        settings = {
            "n": n,
            "seed": seed_of(seed, random_state),
            "blocks": blocks,
            "level": level,
            "progress": progress,
        }
        found = bootstrap(list(self.models_.values()), source, **settings)
        self._confidence = found
        return found

    def discoveries(
        self,
        events: Any,
        *,
        rate: float = 0.1,
        seed: int = 0,
        random_state: int | None = None,
        blocks: Any = None,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Discoveries:
        """Which edges hold if at most a share of ``rate`` may be false: for graphs over many labels.

        One half of the sequences, drawn at random, proposes the influencers of every target; the other half
        tests each of them, given the target's other influencers (a conditional G-test, see
        :func:`summarkov.confidence.conditional_test`). Of all tests together those are kept that the
        procedure of Benjamini and Yekutieli allows. Half the data find less than all of them, so edges of the
        graph that are not kept need not be wrong; see :meth:`confidence` for those. The promise is about
        edges that do not hold given the others proposed: one that stands for an influencer that the first
        half missed is not false in this sense.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.
        rate : float
            The share of false edges among those kept, on average, that one is ready to accept.
        seed, random_state, blocks, progress
            As for :meth:`confidence`; the halves are of sequences, or of blocks.

        >>> from summarkov import BSuMM, InfluenceGraph, read_events
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> found = InfluenceGraph(BSuMM(lookback=1)).fit(events).discoveries(events, rate=0.05)
        >>> [(edge.influencer, edge.target) for edge in found.kept]
        [('C', 'A'), ('A', 'B'), ('B', 'C')]
        """
        from summarkov.models.halves import discoveries

        source = self._resampled_source(events, sample_weight)
        settings = {"rate": rate, "seed": seed_of(seed, random_state), "blocks": blocks, "progress": progress}
        return discoveries(list(self.models_.values()), source, **settings)

    def _resampled_source(self, events: Any, sample_weight: Any) -> CountSource:
        first = next(iter(self.models_.values()))
        return first._source(events, sample_weight=sample_weight, n_jobs=self.n_jobs)

    @property
    def confidence_(self) -> Confidence | None:
        """What :meth:`confidence` found; None if it was not asked since the graph was fitted."""
        return getattr(self, "_confidence", None)


def with_confidence(edge: Influence, sure: EdgeConfidence | None) -> Influence:
    """An edge with what the resampled data say of it."""
    if sure is None:
        return edge
    return replace(
        edge,
        effect=sure.effect,
        low=sure.low,
        high=sure.high,
        interval=edge.interval if (sure.low, sure.high) == (edge.low, edge.high) else "resampled",
        frequency=sure.frequency,
    )
