"""How sure the edges of models are: learned again from resampled data, and tested on shuffled data."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.engines import Bootstrap, EventSource, StateCounts, StatesRequest
from summarkov.errors import DataError, SettingError
from summarkov.evidence import (
    Confidence,
    Influence,
    OrderTest,
    contrast,
    influence_of,
    presence,
    rate_ratio,
    widening,
)
from summarkov.evidence.edges import CORRECTED
from summarkov.evidence.order import order_test
from summarkov.models.fitted import Fitted
from summarkov.models.learning import learn_replicates, progress_counter
from summarkov.models.parameters import tested_codes
from summarkov.search import SearchResult
from summarkov.settings import (
    MOST_REPLICATES,
    Progress,
    check_level,
    check_seed,
    check_whole,
    until_interrupted,
)
from summarkov.summaries import WindowSummary

if TYPE_CHECKING:
    from summarkov.engines.replicates import ReplicatedSource
    from summarkov.models.model import SummaryModel


#: Replicates that are learned together; an interrupt loses those of the last part.
_TOGETHER = 10
#: Edges that the graph has not are listed from this frequency on.
_LISTED = 0.1

Edge = tuple[int, int, int]  # model, influencer, label of the target
Found = tuple[int, int, int | None]  # model, influencer, how far it looks back


def bootstrap(
    models: Sequence[SummaryModel],
    source: EventSource,
    *,
    n: int = 100,
    seed: int = 0,
    level: float = 0.95,
    progress: Progress = None,
) -> Confidence:
    """Learn fitted models of one kind again ``n`` times; see :meth:`InfluenceGraph.confidence`."""
    check_resampling(models, source, n, seed, level)
    parts = [Bootstrap(min(_TOGETHER, n - at), seed, at) for at in range(0, n, _TOGETHER)]
    templates = [type(model)(**model.fitted.settings) for model in models]
    on_done = progress_counter(progress, len(models) * n)

    def learned() -> Iterator[tuple[ReplicatedSource, Counter[Found]]]:
        for part in parts:
            one = source.replicated(part)
            results = learn_replicates(templates, one, models[0].fitted.n_targets, on_done)
            yield one, Counter(_found(models, source.labels, results))

    finished = until_interrupted(learned(), n, "resampled graphs", _TOGETHER)
    found: Counter[Edge] = Counter()
    lookbacks: dict[tuple[int, int], Counter[int | None]] = defaultdict(Counter)  # how often each was found
    for (at, z, lookback), times in sum((each for _, each in finished), Counter[Found]()).items():
        lookbacks[at, z][lookback] += times
        found.update(dict.fromkeys(((at, z, x) for x in models[at].fitted.target.codes), times))
    replicated = [one for one, _ in finished]
    if len(finished) < len(parts):  # interrupted, so no more is counted than the data themselves
        n, replicated = len(finished) * _TOGETHER, []
    edges = list(_listed(models, found, n))
    requests = {(at, z): _request(models[at].fitted, z, lookbacks[at, z]) for at, z, _ in edges}
    if not models[0].fitted.summary.by_level:  # such a model looks at more than presence
        requests = {}
    asked = list(requests.values())
    answers = [source.count(asked), *(one.in_each(asked) for one in replicated)]
    counted = [dict(zip(requests, each, strict=True)) for each in answers]

    known = {(one.influencer, one.target): one for model in models for one in model.fitted.influences}

    def sure(edge: Edge) -> Influence:
        """What is said of an edge, beside its target's influencers."""
        at, z, x = edge
        fitted, frequency = models[at].fitted, found[edge] / n
        names, is_there = (fitted.labels[z], fitted.labels[x]), z in fitted.influencers
        mine = known.get(names)
        if not requests:
            nothing = Influence(*names, "unclear", math.nan, 0.0, math.inf, 0.0, 0.0, 0.0, 0.0)
            return replace(mine or nothing, frequency=frequency)
        outcome, place = fitted.target.codes.index(x), requests[at, z].influencers.index(z)
        tables = [table for part in counted if isinstance(table := part[at, z], StateCounts)]
        data, *drawn = (contrast(presence(table), source.scale, place, outcome) for table in tables)
        drawn_ratios = np.concatenate([np.empty(0), *(each.strata.ratio() for each in drawn)])
        wider, margin = float(widening(rate_ratio(data.strata), drawn_ratios)), None
        if is_there:
            column = fitted.influencers.index(z)
            margin = None if fitted.margins is None else fitted.margins[column]
            wider = max(wider, fitted.wider(column, outcome, data, level) or 1.0)
        made = influence_of(*names, data, margin=margin, wider=wider, level=float(level))
        if mine is None:
            return replace(made, frequency=frequency)
        interval = mine.interval if (made.low, made.high) == (mine.low, mine.high) else "resampled"
        taken = {name: getattr(made, name) for name in ("effect", "low", "high", *CORRECTED)}
        return replace(mine, **taken, interval=interval, frequency=frequency)

    seldom, told = sorted(found.keys() - set(edges)), list(map(sure, edges))
    return Confidence(
        n,
        seed,
        float(level),
        finished[0][0].n_sequences,
        tuple(one for one in told if (one.influencer, one.target) in known),
        tuple(one for one in told if (one.influencer, one.target) not in known),
        tuple((source.labels[z], source.labels[x], found[at, z, x]) for at, z, x in seldom),
    )


def check_resampling(
    models: Sequence[SummaryModel], source: EventSource, n: int, seed: int, level: float = 0.95
) -> None:
    """Refuse what cannot be resampled, and settings that make no sense."""
    fitted = models[0].fitted
    if not models[0].has_edges:
        raise SettingError(f"a {type(models[0]).__name__} has no edges that could be sure or not")
    check_whole("n", n, 1, MOST_REPLICATES)
    check_seed(seed)
    check_level("level", level)
    if not np.array_equal(source.label_counts * fitted.scale, fitted.label_counts * source.scale):
        raise DataError(
            "these are not the events that the model was learned from; give those, with their weights"
        )


def _found(
    models: Sequence[SummaryModel], labels: Sequence[str], results: Sequence[Sequence[SearchResult]]
) -> Iterator[Found]:
    """What each model has found in each replicate, without what it was given."""
    for at, model in enumerate(models):
        for result in results[at]:
            for z in set(result.influencers) - set(model.fitted.given):
                yield at, z, result.summary.reach(labels[z])[1]


def _listed(models: Sequence[SummaryModel], found: Counter[Edge], n: int) -> Iterator[Edge]:
    for at, model in enumerate(models):
        fitted = model.fitted
        for x in fitted.target.codes:
            edges = {(at, z, x) for z in set(fitted.influencers) - set(fitted.given)}
            edges |= {e for e, k in found.items() if (e[0], e[2]) == (at, x) and k >= _LISTED * n}
            yield from sorted(edges, key=lambda edge: (-found[edge], edge[1]))


def _request(fitted: Fitted, z: int, votes: Counter[int | None]) -> StatesRequest:
    """What to count to see a label beside the influencers of a model.

    Where look-backs are learned, one that is not among them is looked for where most replicates found it.
    """
    request = replace(fitted.request, influencers=tuple(sorted({*fitted.influencers, z})))
    summary = fitted.summary
    if z in fitted.influencers or not isinstance(summary, WindowSummary) or not summary.only:
        return request
    assert isinstance(summary.lookback, Mapping)
    best = max(votes, key=lambda k: (votes[k], -math.inf if k is None else -k))
    return replace(request, summary=replace(summary, lookback={**summary.lookback, fitted.labels[z]: best}))


# ---------------------------------------------------------------------- the order test


def order_of(models: Sequence[SummaryModel], source: EventSource, n: int, seed: int, **how: Any) -> OrderTest:
    """Test the edges of fitted models of one kind; see :meth:`InfluenceGraph.order_test`."""
    check_resampling(models, source, n, seed)
    n_pairs, is_guarded = 0, True  # that the search could choose from; whether it lets few through by chance
    for fitted in (model.fitted for model in models):
        by_chance = None if fitted.settings.get("paper") else fitted.settings.get("false_edges")
        is_guarded &= by_chance is not None and by_chance <= 1
        limits = fitted.settings["candidates"], fitted.settings["forbidden"]
        n_pairs += len(tested_codes(fitted.labels, *limits, fitted.target))
    return order_test(models, source, n_pairs, is_guarded=is_guarded, n=n, seed=seed, **how)
