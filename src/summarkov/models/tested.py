"""The edges of a graph put to the test on resampled and shuffled data; and all pairs ranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, CountSource, StateCounts
from summarkov.errors import SettingError
from summarkov.evidence import Confidence, OrderTest, Pair, Ranking, RateRatio, Strata, rate_ratio
from summarkov.evidence.order import order_test
from summarkov.evidence.results import standardised
from summarkov.models.bootstrap import bootstrap, check_resampling
from summarkov.models.learning import together
from summarkov.models.model import SummaryModel
from summarkov.models.tree import tested_codes
from summarkov.search import Problem
from summarkov.settings import Progress, check_seed
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray


def order_of(models: Sequence[SummaryModel], source: CountSource, n: int, seed: int, **how: Any) -> OrderTest:
    """Test the edges of fitted models of one kind; see :meth:`InfluenceGraph.order_test`."""
    events = check_resampling(models, source, n, seed)
    n_pairs = 0  # that the search could choose from
    for fitted in (model.fitted for model in models):
        limits = fitted.settings["candidates"], fitted.settings["forbidden"]
        n_pairs += len(tested_codes(fitted.labels, *limits, fitted.target))
    return order_test(models, events, n_pairs, n=n, seed=seed, **how)


class Tested:
    """A graph whose edges can be put to the test."""

    n_jobs: int | None
    _confidence: Confidence | None
    _order: OrderTest | None

    @property
    def models_(self) -> dict[str, SummaryModel]:
        """The fitted model of every target."""
        raise NotImplementedError  # each class that takes this in has its own

    def _tested(self, events: Any, sample_weight: Any) -> tuple[list[SummaryModel], CountSource]:
        models = list(self.models_.values())
        return models, models[0]._source(events, sample_weight=sample_weight, n_jobs=self.n_jobs)

    @property
    def confidence_(self) -> Confidence | None:
        """What :meth:`confidence` found; None if it was not asked since the graph was fitted."""
        return getattr(self, "_confidence", None)

    @property
    def order_(self) -> OrderTest | None:
        """What :meth:`order_test` found; None if it was not asked since the graph was fitted."""
        return getattr(self, "_order", None)

    def confidence(
        self,
        events: Any,
        *,
        n: int = 100,
        random_state: int = 0,
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
        random_state : int
            Each graph has its own stream of random numbers, so the first 100 of 200 are those of 100.
        blocks : int or names, optional
            What to draw instead of sequences, for events that hang together: names of groups, one per
            sequence; or blocks inside sequences, as a number of events in a row or as one name per event
            (such as the document it is from). The past of an event is what it was, whatever else is drawn. A
            single sequence is cut into blocks of N^(1/3) events unless told otherwise.
        level : float
            Of the intervals of strengths, from their percentiles.
        progress : function or True, optional
            Called as ``progress(done, total)``; True writes that to the standard error.

        >>> from summarkov import BSuMM, InfluenceGraph, read_events
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5, ends="cut off")
        >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit(events)
        >>> [edge.frequency for edge in graph.confidence(events, n=20).edges if edge.in_graph]
        [0.9, 1.0, 1.0]
        """
        models, source = self._tested(events, sample_weight)
        how: dict[str, Any] = {"blocks": blocks, "level": level, "progress": progress}
        self._confidence = found = bootstrap(models, source, n=n, seed=check_seed(random_state), **how)
        return found

    def order_test(
        self,
        events: Any,
        *,
        n: int = 99,
        within: Any = "auto",
        random_state: int = 0,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> OrderTest:
        """Test which edges depend on the order of events, and which only on what occurs in one sequence.

        For each edge, the influencer's events stay in place and all others rotate against them by a
        random number of steps inside blocks, ``n`` times. That keeps what each block is made of, and the
        runs of influencer and target, and destroys the order between them. For an influence on itself or on
        the end of a case the influencer's events are scattered over their block instead. The result is kept
        in ``order_``, merged into ``edges_``, shown with the graph and saved with it. See
        :class:`summarkov.evidence.EdgeOrder` for the verdicts.

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
        random_state : int
            The order in each sequence follows from it, the number of the shuffle and the name of the
            sequence, so that it is the same in memory, streamed and on a cluster, in whatever order sequences
            or files come. Where two sequences have the same name, it follows from their numbers instead.
        progress : function or True, optional
            Called as ``progress(done, total)``; True writes that to the standard error.

        >>> import summarkov as sm
        >>> made = [["A", "B", "C", "D"] * 8, ["D", "D", "A", "B", "C", "C"] * 8] * 20
        >>> events = sm.read_events(made, ends="cut off")
        >>> graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
        >>> [(edge.influencer, edge.target) for edge in graph.order_test(events).depends_on_order][:2]
        [('D', 'A'), ('A', 'B')]
        """
        models, source = self._tested(events, sample_weight)
        how: dict[str, Any] = {"within": within, "progress": progress}
        self._order = found = order_of(models, source, n, check_seed(random_state), **how)
        return found

    def ranking(self, events: Any, *, sample_weight: Any = None) -> Ranking:
        """Every pair that the search could have chosen, the likeliest edges first.

        A pair is ranked by how clearly its ratio differs from 1, beside the influencers that the graph gives
        the target. That ranks true edges no worse than their frequency in resampled graphs, shown too
        if :meth:`confidence` was asked before, and takes one pass over the data. For curves of precision and
        recall, and to see what was nearly found.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.

        >>> from summarkov import BSuMM, InfluenceGraph, read_events
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5, ends="cut off")
        >>> pairs = InfluenceGraph(BSuMM(lookback=1)).fit(events).ranking(events).pairs
        >>> len(pairs), [(pair.influencer, pair.target, pair.in_graph) for pair in pairs[:1]]
        (9, [('A', 'B', True)])
        """
        models, source = self._tested(events, sample_weight)
        source = check_resampling(models, source, 1, 0)
        if not isinstance(models[0].fitted.summary, WindowSummary):
            name = type(models[0]).__name__
            raise SettingError(f"pairs are not ranked for a {name}; use a BSuMM, OSuMM or CSuMM")
        frequencies = None
        if (sure := self.confidence_) is not None:
            frequencies = {(edge.influencer, edge.target): edge.frequency for edge in sure.edges}
            frequencies |= {(z, x): k / sure.n for z, x, k in sure.seldom}
        summary = models[0].copy(**models[0].fitted.settings).make_summary()
        problems = [model._problem(model.fitted, summary) for model in models]
        found: list[Pair] = []
        for some in together(problems, 1):
            asked = [list(_requests(models[at], problems[at])) for at in some]
            answers = iter(source.count([request for requests in asked for _, request in requests]))
            for at, requests in zip(some, asked, strict=True):
                counted = [(problem, request, next(answers)) for problem, request in requests]
                found += _pairs_of(models[at], counted, source.scale, frequencies)
        return Ranking(tuple(sorted(found, key=lambda pair: (-pair.z, pair.target, pair.influencer))))


def _requests(model: SummaryModel, problem: Problem) -> Iterator[tuple[Problem, CandidatesRequest]]:
    """What to count to see every label that is no influencer join those that are; at each look-back."""
    fitted = model.fitted
    others = tuple(z for z in problem.optional if z not in fitted.influencers)
    if not others:
        return
    chosen = {z: fitted.reach(fitted.labels[z])[1] for z in fitted.influencers}
    for one in [problem.at(chosen, k) for k in problem.lookbacks or (None,)]:
        assert isinstance(one.summary, WindowSummary)
        yield one, CandidatesRequest(one.summary, fitted.influencers, fitted.target, others)


def _pairs_of(
    model: SummaryModel,
    counted: Sequence[tuple[Problem, CandidatesRequest, object]],
    scale: int,
    frequencies: Mapping[tuple[str, str], float] | None,
) -> Iterator[Pair]:
    """All pairs of one target."""
    fitted, (target,) = model.fitted, model.target_

    def frequency(influencer: str) -> float | None:
        return None if frequencies is None else frequencies.get((influencer, target), 0.0)

    assert fitted.margins is not None
    for column, _, found in fitted.contrasts():
        name, ratio = fitted.influencer_labels[column], rate_ratio(found.strata)
        yield Pair(name, target, True, *_numbers(ratio, (), fitted.margins[column]), frequency(name))
    if not counted:
        return
    gains: list[FloatArray] = []
    ratios: list[RateRatio] = []
    for problem, request, counts in counted:
        assert isinstance(counts, CandidateCounts)
        scores = problem.joined_scores(counts, fitted.influencers, request.candidates)
        gains.append(scores - fitted.score)
        ratios.append(_ratios(counts, scale))
    best = np.argmax(gains, axis=0)
    for column, z in enumerate(counted[0][1].candidates):
        name, at = fitted.labels[z], best[column]
        numbers = _numbers(ratios[at], column, gains[at][column])
        yield Pair(name, target, False, *numbers, frequency(name))


def _numbers(ratio: RateRatio, at: int | tuple[()], gain: float) -> tuple[float, float, float, float, float]:
    """What is said of a pair: z, gain, ratio, low and high."""
    z, *limits = (float(each[at]) for each in (standardised(ratio), ratio.ratio, ratio.low, ratio.high))
    return z, float(gain), limits[0], limits[1], limits[2]


def _ratios(counts: CandidateCounts, scale: int) -> RateRatio:
    """The ratio of each candidate, given presence of the influencers."""
    keys = (counts.keys > 0).astype(np.int32)
    everywhere = StateCounts(counts.keys, counts.counts).regroup(keys).counts / scale
    with_ = StateCounts(counts.keys, counts.present.sum(axis=2)).regroup(keys).counts / scale
    without = everywhere - with_  # [candidate, state, outcome]
    each = with_[..., 0], with_.sum(axis=-1), without[..., 0], without.sum(axis=-1)
    return rate_ratio(Strata.of(*each))
