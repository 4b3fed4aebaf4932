"""How sure the edges of models are: learned again from resampled data, and tested on shuffled data."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.engines import Bootstrap, Draws, EventSource, StateCounts, StatesRequest
from summarkov.errors import DataError, SettingError
from summarkov.events.draws import EVERYTHING, Drawn
from summarkov.evidence import (
    Confidence,
    EdgeConfidence,
    OrderTest,
    contrast,
    influence_of,
    presence,
    rate_ratio,
    widening,
)
from summarkov.evidence.order import order_test
from summarkov.evidence.results import edge_confidence
from summarkov.models.fitted import Fitted
from summarkov.models.learning import learn_replicates, progress_counter
from summarkov.models.parameters import tested_codes
from summarkov.settings import MOST_REPLICATES, Progress, check_level, check_seed, check_whole
from summarkov.summaries import WindowSummary
from summarkov.typing import HashArray

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


#: Replicates that are learned together: what they have in common is counted once.
_TOGETHER = 128
#: Edges that the graph has not are listed from this frequency on.
_LISTED = 0.1

Edge = tuple[int, int, int]  # model, influencer, label of the target


def bootstrap(
    models: Sequence[SummaryModel],
    source: EventSource,
    *,
    n: int = 100,
    seed: int = 0,
    blocks: Any = None,
    level: float = 0.95,
    progress: Progress = None,
) -> Confidence:
    """Learn fitted models of one kind again ``n`` times; see :meth:`InfluenceGraph.confidence`."""
    local = check_resampling(models, source, n, seed, level)
    parts = [_Part(Bootstrap(n, seed), at, min(_TOGETHER, n - at)) for at in range(0, n, _TOGETHER)]
    replicated = [local.replicated(part, blocks) for part in parts]
    templates = [type(model)(**model.fitted.settings) for model in models]
    on_done = progress_counter(progress, len(models) * len(parts))
    found: Counter[Edge] = Counter()
    lookbacks: dict[tuple[int, int], Counter[int | None]] = defaultdict(Counter)  # how often each was found
    for one in replicated:
        learned = learn_replicates(templates, one, models[0].fitted.n_targets, on_done)
        for at, results in enumerate(learned):
            for result in results[:-1]:  # the last is the model itself
                for z in set(result.influencers) - set(models[at].fitted.given):
                    lookbacks[at, z][result.summary.reach(local.labels[z])[1]] += 1
                    found.update((at, z, x) for x in models[at].fitted.target.codes)
    edges = list(_listed(models, found, n))
    requests = {(at, z): _request(models[at].fitted, z, lookbacks[at, z]) for at, z, _ in edges}
    if not models[0].fitted.summary.by_level:  # such a model looks at more than presence
        requests = {}
    answers = [dict(zip(requests, one.count(list(requests.values())), strict=True)) for one in replicated]

    def sure(edge: Edge) -> EdgeConfidence:
        """What is said of an edge, beside its target's influencers."""
        at, z, x = edge
        fitted, frequency = models[at].fitted, found[edge] / n
        names, is_there = (fitted.labels[z], fitted.labels[x]), z in fitted.influencers
        if not requests:
            known = {(one.influencer, one.target): one for one in fitted.influences}
            return edge_confidence(names, known.get(names), frequency)
        place = requests[at, z].influencers.index(z), fitted.target.codes.index(x)
        tables = [part[at, z] for part in answers]
        drawn = [contrast(presence(_table(one)), local.scale, *place).strata.ratio()[:-1] for one in tables]
        data = contrast(presence(_table(tables[0], -1)), local.scale, *place)
        wider = float(widening(rate_ratio(data.strata), np.concatenate(drawn)))
        margin = clusters = None
        if is_there:
            column = fitted.influencers.index(z)
            margin = None if fitted.margins is None else fitted.margins[column]
            clusters = None if fitted.clusters is None else fitted.clusters.edge(column, place[1])
        found_in_data = influence_of(*names, data, (), None, margin, clusters, wider, float(level))
        return edge_confidence(names, found_in_data, frequency, is_there)

    return Confidence(
        n,
        seed,
        float(level),
        replicated[0].units,
        replicated[0].n_units,
        tuple(map(sure, edges)),
        tuple((local.labels[e[1]], local.labels[e[2]], found[e]) for e in sorted(found.keys() - set(edges))),
    )


def _table(answer: object, replicate: int | None = None) -> StateCounts:
    """A table of all replicates, or of one."""
    assert isinstance(answer, StateCounts)
    return answer if replicate is None else StateCounts(answer.keys, answer.counts[replicate])


@dataclass(frozen=True)
class _Part:
    """Some of the replicates of other draws, and last the data themselves."""

    draws: Draws
    start: int
    size: int

    @property
    def n(self) -> int:
        return self.size + 1

    def drawn(self, replicate: int, keys: HashArray) -> Drawn:
        return EVERYTHING if replicate == self.size else self.draws.drawn(self.start + replicate, keys)


def check_resampling(
    models: Sequence[SummaryModel], source: EventSource, n: int, seed: int, level: float = 0.95
) -> EventSource:
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
    return source


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
    events = check_resampling(models, source, n, seed)
    n_pairs, is_guarded = 0, True  # that the search could choose from; whether it lets few through by chance
    for fitted in (model.fitted for model in models):
        by_chance = None if fitted.settings.get("paper") else fitted.settings.get("false_edges")
        is_guarded &= by_chance is not None and by_chance <= 1
        limits = fitted.settings["candidates"], fitted.settings["forbidden"]
        n_pairs += len(tested_codes(fitted.labels, *limits, fitted.target))
    return order_test(models, events, n_pairs, is_guarded=is_guarded, n=n, seed=seed, **how)
