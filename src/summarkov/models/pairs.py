"""A ranking of all pairs of labels: what each would add to the graph as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.confidence import Confidence, Pair, Ranking, RateRatio, Strata, rate_ratio, standardised
from summarkov.engines import CandidateCounts, CandidatesRequest, CountSource, StateCounts
from summarkov.errors import SettingError
from summarkov.models.bootstrap import check_resampling
from summarkov.models.discoveries import Halved
from summarkov.models.learning import together
from summarkov.search import LookbackProblem, Problem
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


def rank_pairs(models: Sequence[SummaryModel], source: CountSource, sure: Confidence | None) -> Ranking:
    """See :meth:`InfluenceGraph.ranking`."""
    check_resampling(models, source, 1, 0)
    if not isinstance(models[0].fitted.summary, WindowSummary):
        name = type(models[0]).__name__
        raise SettingError(f"pairs are not ranked for a {name}; use a BSuMM, OSuMM or CSuMM")
    frequencies = None if sure is None else _frequencies(sure)
    problems = [_problem(model) for model in models]
    found: list[Pair] = []
    for some in together(problems, 1):
        asked = [list(_requests(models[at], problems[at])) for at in some]
        answers = iter(source.count([request for requests in asked for _, request in requests]))
        for at, requests in zip(some, asked, strict=True):
            counted = [(problem, request, next(answers)) for problem, request in requests]
            found += _pairs_of(models[at], counted, source.scale, frequencies)
    return Ranking.of(found)


def _frequencies(sure: Confidence) -> Mapping[tuple[str, str], float]:
    """The share of replicates that have a pair, of those that some have."""
    often = {(edge.influencer, edge.target): edge.frequency for edge in sure.edges}
    return {**often, **{(z, x): k / sure.n for z, x, k in sure.seldom}}


def _problem(model: SummaryModel) -> Problem:
    fitted = model.fitted
    as_fitted = model.copy(**fitted.settings)
    problem = as_fitted.make_problem(
        fitted.labels, fitted.target, as_fitted.make_summary(), fitted.n_events, fitted.scale
    )
    return replace(problem, n_targets=fitted.n_targets)


def _requests(model: SummaryModel, problem: Problem) -> Iterator[tuple[Problem, CandidatesRequest]]:
    """What to count to see every label that is no influencer join those that are; at each look-back."""
    fitted = model.fitted
    others = tuple(z for z in problem.optional if z not in fitted.influencers)
    if not others:
        return
    each: list[Problem] = [problem]
    if isinstance(problem, LookbackProblem):
        place = {z: fitted.reach(fitted.labels[z])[1] for z in fitted.influencers}
        each = [problem.at(place, k) for k in problem.lookbacks]
    for one in each:
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
    for column, _, contrast in fitted.contrasts():
        name, ratio = fitted.influencer_labels[column], rate_ratio(contrast.strata)
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


class Ranked(Halved):
    """A graph of which all possible edges can be ranked."""

    def ranking(self, events: Any, *, sample_weight: Any = None) -> Ranking:
        """Every pair that the search could have chosen, the likeliest edges first.

        A pair is ranked by how clearly its ratio differs from 1, beside the influencers that the graph gives
        the target. That ranks true edges no worse than their frequency in resampled graphs, which is told too
        if :meth:`confidence` was asked before, and takes one pass over the data. For curves of precision and
        recall, and to see what was nearly found.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.

        >>> from summarkov import BSuMM, InfluenceGraph, read_events
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> pairs = InfluenceGraph(BSuMM(lookback=1)).fit(events).ranking(events).pairs
        >>> len(pairs), [(pair.influencer, pair.target, pair.in_graph) for pair in pairs[:1]]
        (9, [('A', 'B', True)])
        """
        source = self._resampled_source(events, sample_weight)
        return rank_pairs(list(self.models_.values()), source, self.confidence_)
