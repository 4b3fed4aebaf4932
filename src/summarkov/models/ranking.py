"""All pairs of labels ranked, found or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from summarkov.engines import CandidateCounts, CandidatesRequest, EventSource, StateCounts
from summarkov.errors import SettingError
from summarkov.evidence import Confidence, Pair, Ranking, Strata, rate_ratio
from summarkov.evidence.ratios import RateRatio
from summarkov.evidence.results import standardised
from summarkov.models.bootstrap import check_resampling
from summarkov.models.learning import together
from summarkov.models.model import SummaryModel
from summarkov.search import Problem
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray


def rank_pairs(models: Sequence[SummaryModel], source: EventSource, sure: Confidence | None) -> Ranking:
    """Every pair that the search could have chosen; see :meth:`InfluenceGraph.ranking`."""
    source = check_resampling(models, source, 1, 0)
    if not isinstance(models[0].fitted.summary, WindowSummary):
        name = type(models[0]).__name__
        raise SettingError(f"pairs are not ranked for a {name}; use a BSuMM, OSuMM or CSuMM")
    frequencies = None
    if sure is not None:
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
