"""False-discovery control: edges proposed by one half of the data, tested on the other; all pairs ranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.confidence import (
    Confidence,
    Discoveries,
    Discovery,
    Pair,
    Ranking,
    RateRatio,
    Strata,
    benjamini_yekutieli,
    rate_ratio,
    standardised,
)
from summarkov.engines import CandidateCounts, CandidatesRequest, StateCounts
from summarkov.errors import DataError, SettingError
from summarkov.events.draws import Drawn, deal
from summarkov.explain import contrasts_in_table
from summarkov.models.bootstrap import Resampled, check_resampling
from summarkov.models.learning import learn_replicates, progress_counter, together
from summarkov.models.model import SummaryModel
from summarkov.search import LookbackProblem, Problem
from summarkov.settings import Progress, check_level, seed_of
from summarkov.summaries import WindowSummary
from summarkov.typing import FloatArray, HashArray


@dataclass(frozen=True)
class Halves:
    """Two replicates: a half of the units, chosen at random, and the other."""

    seed: int = 0
    n: int = 2

    def drawn(self, replicate: int, keys: HashArray) -> Drawn:
        """The units of the half."""
        return deal(keys, [(len(keys) + 1) // 2], self.seed)[replicate]


def _frequencies(sure: Confidence) -> Mapping[tuple[str, str], float]:
    """The share of replicates that have a pair, of those that some have."""
    often = {(edge.influencer, edge.target): edge.frequency for edge in sure.edges}
    return {**often, **{(z, x): k / sure.n for z, x, k in sure.seldom}}


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


class Ranked(Resampled):
    """A graph whose edges can be tested on one half of the data, and of which all pairs can be ranked."""

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
        tests the ratio of each of them (see :func:`summarkov.confidence.rate_ratio`), given the target's
        other influencers. Of all tests together those are kept that the procedure of Benjamini and Yekutieli
        allows. Half the data find less than all of them, so edges of the
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
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5, ends="cut off")
        >>> found = InfluenceGraph(BSuMM(lookback=1)).fit(events).discoveries(events, rate=0.05)
        >>> [(edge.influencer, edge.target) for edge in found.kept]
        [('C', 'A'), ('A', 'B'), ('B', 'C')]
        """
        models, seed = list(self.models_.values()), seed_of(seed, random_state)
        local = check_resampling(models, self._resampled_source(events, sample_weight), 2, seed)
        if not models[0].fitted.summary.by_level:
            name = type(models[0]).__name__
            raise SettingError(f"edges of a {name} cannot be tested; use a BSuMM, OSuMM or CSuMM")
        check_level("rate", rate)
        halves = local.replicated(Halves(seed), blocks)
        if halves.n_units < 2:
            raise DataError(f"there is nothing to split in halves; give at least two {halves.units}")
        templates = [type(model)(**model.fitted.settings) for model in models]
        on_done = progress_counter(progress, len(models))
        n_targets = models[0].fitted.n_targets
        learned = learn_replicates(templates, halves, n_targets, on_done)
        proposed = [results[0] for results in learned]
        requests = [  # with the summary that this half learned, where one is
            replace(model.fitted.request, summary=half.summary, influencers=half.influencers, replicates=(1,))
            for model, half in zip(models, proposed, strict=True)
        ]
        names, tests = [], []
        for model, half, table in zip(models, proposed, halves.count(requests), strict=True):
            assert isinstance(table, StateCounts)
            one = StateCounts(table.keys, table.counts[0])
            for column, outcome, found in contrasts_in_table(one, halves.scale, len(model.target_)):
                names.append((model.labels_[half.influencers[column]], model.target_[outcome]))
                test = rate_ratio(found.strata)
                tests.append((float(test.ratio), float(test.low), float(test.high), float(test.p_value)))
        adjusted = benjamini_yekutieli([p_value for *_, p_value in tests])
        tested = tuple(
            Discovery(*name, *test, q, q <= rate)
            for name, test, q in zip(names, tests, adjusted, strict=True)
        )
        return Discoveries(float(rate), seed, halves.units, halves.n_units, tested)

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
        models, sure = list(self.models_.values()), self.confidence_
        source = check_resampling(models, self._resampled_source(events, sample_weight), 1, 0)
        if not isinstance(models[0].fitted.summary, WindowSummary):
            name = type(models[0]).__name__
            raise SettingError(f"pairs are not ranked for a {name}; use a BSuMM, OSuMM or CSuMM")
        frequencies = None if sure is None else _frequencies(sure)
        summary = models[0].copy(**models[0].fitted.settings).make_summary()
        problems = [model._problem(model.fitted, summary) for model in models]
        found: list[Pair] = []
        for some in together(problems, 1):
            asked = [list(_requests(models[at], problems[at])) for at in some]
            answers = iter(source.count([request for requests in asked for _, request in requests]))
            for at, requests in zip(some, asked, strict=True):
                counted = [(problem, request, next(answers)) for problem, request in requests]
                found += _pairs_of(models[at], counted, source.scale, frequencies)
        return Ranking.of(found)
