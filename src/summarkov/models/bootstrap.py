"""How sure the edges of models are: learned again from resampled data, and tested on shuffled data."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.engines import Bootstrap, EventSource, StateCounts
from summarkov.errors import DataError, SettingError
from summarkov.evidence import (
    Confidence,
    Contrast,
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

if TYPE_CHECKING:
    from summarkov.engines.replicates import ReplicatedSource
    from summarkov.models.model import SummaryModel


#: Replicates that are learned together; an interrupt loses those of the last part.
_TOGETHER = 10
Edge = tuple[int, int, int]  # model, influencer, label of the target


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

    def learned() -> Iterator[tuple[ReplicatedSource, Counter[Edge]]]:
        for part in parts:
            one = source.replicated(part)
            results = learn_replicates(templates, one, models[0].fitted.n_targets, on_done)
            yield one, Counter(_found(models, results))

    finished = until_interrupted(learned(), n, "resampled graphs", _TOGETHER)
    found = sum((each for _, each in finished), Counter[Edge]())
    replicated = [one for one, _ in finished]
    if len(finished) < len(parts):  # interrupted, so no more is counted than the data themselves
        n, replicated = len(finished) * _TOGETHER, []
    asked = [at for at, model in enumerate(models) if model.influencers_ and model.fitted.summary.by_level]
    drawn: dict[int, list[StateCounts]] = {at: [] for at in asked}
    for one in replicated:
        for at, table in zip(asked, one.in_each([models[at].fitted.request for at in asked]), strict=True):
            drawn[at].append(presence(table))
    edges: list[Influence] = []
    for at, fitted in enumerate(model.fitted for model in models):
        told, mine = {(edge.influencer, edge.target): edge for edge in fitted.influences}, list[Influence]()
        for column, outcome, data in fitted.contrasts():
            z, x = fitted.influencers[column], fitted.target.codes[outcome]
            edge = told.get((fitted.labels[z], fitted.labels[x]))
            if edge is not None:  # of what was given nothing is told
                edge = replace(edge, frequency=found.pop((at, z, x), 0) / n)
                tables = [contrast(table, source.scale, column, outcome) for table in drawn.get(at, ())]
                mine.append(
                    _widened(edge, fitted, column, outcome, data, tables, level) if at in drawn else edge
                )
        edges += sorted(mine, key=lambda edge: (edge.target, -(edge.frequency or 0.0), edge.influencer))
    labels, others = source.labels, sorted(found.items(), key=lambda each: (-each[1], each[0]))
    sizes = n, seed, float(level), finished[0][0].n_sequences
    return Confidence(*sizes, tuple(edges), tuple((labels[z], labels[x], k / n) for (_, z, x), k in others))


def _widened(
    edge: Influence,
    fitted: Fitted,
    column: int,
    outcome: int,
    data: Contrast,
    drawn: Sequence[Contrast],
    level: float,
) -> Influence:
    """An edge with an interval at a level, as wide as the ratios of replicates spread if they spread more."""
    ratios = np.concatenate([np.empty(0), *(each.strata.ratio() for each in drawn)])
    spread = float(widening(rate_ratio(data.strata), ratios))
    wider = max(spread, fitted.wider(column, outcome, data, level) or 1.0)
    margin = None if fitted.margins is None else fitted.margins[column]
    names = edge.influencer, edge.target
    made = influence_of(*names, data, margin=margin, wider=wider, level=float(level))
    interval = edge.interval if (made.low, made.high) == (edge.low, edge.high) else "resampled"
    taken = {name: getattr(made, name) for name in ("effect", "low", "high", *CORRECTED)}
    return replace(edge, **taken, interval=interval)


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


def _found(models: Sequence[SummaryModel], results: Sequence[Sequence[SearchResult]]) -> Iterator[Edge]:
    """What each model has found in each replicate, without what it was given."""
    for at, model in enumerate(models):
        for result in results[at]:
            chosen = set(result.influencers) - set(model.fitted.given)
            yield from itertools.product([at], chosen, model.fitted.target.codes)


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
