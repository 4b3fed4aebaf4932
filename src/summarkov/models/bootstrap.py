"""How sure the edges of a graph are: the same models learned again from resampled data."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.confidence import (
    Confidence,
    EdgeConfidence,
    RateRatio,
    Strata,
    directions,
    given_selected,
    rate_ratio,
    robust_widening,
    widened,
    widening,
)
from summarkov.engines import (
    Bootstrap,
    CountSource,
    Draws,
    EventSource,
    ReplicatedSource,
    StateCounts,
    StatesRequest,
)
from summarkov.errors import DataError, SettingError
from summarkov.events.draws import EVERYTHING, Drawn
from summarkov.explain import Influence, contrast, effect_of, presence
from summarkov.models.fitted import Fitted
from summarkov.models.learning import learn_replicates, progress_counter
from summarkov.settings import MOST_REPLICATES, Progress, check_level, check_whole, seed_of
from summarkov.summaries import WindowSummary
from summarkov.typing import HashArray

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


#: Replicates that are learned together: what they have in common is counted once.
_TOGETHER = 128
#: Edges that the graph has not are listed from this frequency on.
_LISTED = 0.1

#: What is said of an edge that allows for selection.
_CORRECTED = ("corrected_ratio", "corrected_low", "corrected_high")

Edge = tuple[int, int, int]  # model, influencer, label of the target
Votes = dict[tuple[int, int], Counter[int | None]]  # how often replicates had an influencer at a look-back


def bootstrap(
    models: Sequence[SummaryModel],
    source: CountSource,
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
    n_targets = models[0].fitted.n_targets
    found: dict[Edge, int] = {}
    lookbacks: Votes = defaultdict(Counter)
    for one in replicated:
        learned = learn_replicates(templates, one, n_targets, on_done)
        for at, results in enumerate(learned):
            for result in results[:-1]:  # the last is the model itself
                for z in set(result.influencers) - set(models[at].fitted.given):
                    reach = result.summary.reach(local.labels[z])[1]
                    lookbacks[at, z][reach] += 1
                    for x in models[at].fitted.target.codes:
                        found[at, z, x] = found.get((at, z, x), 0) + 1
    edges = list(_listed(models, found, n))
    requests = {(at, z): _request(models[at].fitted, z, lookbacks.get((at, z))) for at, z, _ in edges}
    drawn = _strata(models, replicated, edges, requests)
    return Confidence(
        n,
        seed,
        float(level),
        replicated[0].units,
        replicated[0].n_units,
        tuple(
            _edge(models[edge[0]], edge, found.get(edge, 0) / n, strata, level)
            for edge, strata in zip(edges, drawn, strict=True)
        ),
        tuple(
            (local.labels[z], local.labels[x], found[at, z, x])
            for at, z, x in sorted(found.keys() - set(edges))
        ),
    )


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
    models: Sequence[SummaryModel], source: CountSource, n: int, seed: int, level: float = 0.95
) -> EventSource:
    """Refuse what cannot be resampled, and settings that make no sense."""
    fitted = models[0].fitted
    if not models[0].has_edges:
        raise SettingError(f"a {type(models[0]).__name__} has no edges that could be sure or not")
    check_whole("n", n, 1, MOST_REPLICATES)
    seed_of(seed, None)
    check_level("level", level)
    if not isinstance(source, EventSource):
        raise SettingError(f"a {type(source).__name__} cannot be resampled; give the events themselves")
    if not np.array_equal(source.label_counts * fitted.scale, fitted.label_counts * source.scale):
        raise DataError(
            "these are not the events that the model was learned from; give those, with their weights"
        )
    return source


def _listed(models: Sequence[SummaryModel], found: dict[Edge, int], n: int) -> Iterator[Edge]:
    for at, model in enumerate(models):
        fitted = model.fitted
        for x in fitted.target.codes:
            edges = {(at, z, x) for z in set(fitted.influencers) - set(fitted.given)}
            edges |= {
                edge for edge, k in found.items() if edge[0] == at and edge[2] == x and k >= _LISTED * n
            }
            yield from sorted(edges, key=lambda edge: (-found.get(edge, 0), edge[1]))


def _strata(
    models: Sequence[SummaryModel],
    sources: Sequence[ReplicatedSource],
    edges: Sequence[Edge],
    beside: Mapping[tuple[int, int], StatesRequest],
) -> list[list[Strata] | None]:
    """The counts of each edge beside its target's influencers, in the replicates and last in the data."""
    if not models[0].fitted.summary.by_level:  # such a model looks at more than presence
        return [None] * len(edges)
    sets = [(at, beside[at, z].influencers) for at, z, _ in edges]
    requests = {(at, beside[at, z].influencers): beside[at, z] for at, z, _ in edges}
    parts: list[list[Strata]] = [[] for _ in edges]
    for source in sources:
        answers = dict(zip(requests, source.count(list(requests.values())), strict=True))
        for part, (at, z, x), (_, u) in zip(parts, edges, sets, strict=True):
            table, target = answers[at, u], models[at].fitted.target
            assert isinstance(table, StateCounts)
            part.append(contrast(presence(table), source.scale, u.index(z), target.codes.index(x)).strata)
    return list(parts)


def _request(fitted: Fitted, z: int, votes: Counter[int | None] | None) -> StatesRequest:
    """What to count to see a label beside the influencers of a model.

    Where look-backs are learned, one that is not among them is looked for where most replicates found it.
    """
    request = replace(fitted.request, influencers=tuple(sorted({*fitted.influencers, z})))
    summary = fitted.summary
    if z in fitted.influencers or not isinstance(summary, WindowSummary) or not summary.only:
        return request
    assert isinstance(summary.lookback, Mapping)
    assert votes is not None  # it is listed because replicates found it
    best = max(votes, key=lambda k: (votes[k], -math.inf if k is None else -k))
    return replace(request, summary=replace(summary, lookback={**summary.lookback, fitted.labels[z]: best}))


def _edge(
    model: SummaryModel, edge: Edge, frequency: float, strata: list[Strata] | None, level: float
) -> EdgeConfidence:
    _, z, x = edge
    fitted = model.fitted
    names, in_graph = (fitted.labels[z], fitted.labels[x]), z in fitted.influencers
    if strata is None:
        known = next((i for i in fitted.influences if (i.influencer, i.target) == names), None)
        return edge_confidence(*names, known, frequency)
    data = Strata(*(numbers[-1] for numbers in vars(strata[0]).values()))
    drawn = np.concatenate([part.ratio()[:-1] for part in strata])
    found = rate_ratio(data, float(level))
    wider = max(float(widening(rate_ratio(data), drawn)), _robust(fitted, (z, x), found, data, float(level)))
    low, high = (float(limit) for limit in widened(found, np.asarray(wider)))
    more, less = directions(data)
    effect = effect_of(low, high, is_mixed=bool(more.any() and less.any()))
    sure = EdgeConfidence(*names, in_graph, effect, float(found.ratio), low, high, frequency)
    if not in_graph or fitted.margins is None:
        return sure
    margin = fitted.margins[fitted.influencers.index(z)]
    ratio, least, most = given_selected(data, margin, float(level), wider)
    return replace(sure, corrected_ratio=ratio, corrected_low=least, corrected_high=most)


def _robust(fitted: Fitted, edge: tuple[int, int], found: RateRatio, data: Strata, level: float) -> float:
    """How many times wider than from counts the interval of an edge is without resampling; 1 if not known."""
    z, x = edge
    if fitted.clusters is None or z not in fitted.influencers:
        return 1.0
    clusters = fitted.clusters.edge(fitted.influencers.index(z), fitted.target.codes.index(x))
    return robust_widening(found, data, *clusters, level) or 1.0


def edge_confidence(
    influencer: str, target: str, known: Influence | None, frequency: float
) -> EdgeConfidence:
    """An edge of which there is no more than the graph says, and nothing if the graph does not have it."""
    if known is None:
        return EdgeConfidence(influencer, target, False, "unclear", math.nan, 0.0, math.inf, frequency)
    effect, ratio, low, high = known.effect, known.ratio, known.low, known.high
    sure = EdgeConfidence(influencer, target, True, effect, ratio, low, high, frequency)
    return replace(sure, **{name: getattr(known, name) for name in _CORRECTED})


class Resampled:
    """A graph whose edges can be looked for again in resampled data."""

    n_jobs: int | None
    _confidence: Confidence | None

    @property
    def models_(self) -> dict[str, SummaryModel]:
        """The fitted model of every target."""
        raise NotImplementedError  # each class that takes this in has its own

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
        source = self._resampled_source(events, sample_weight)
        models, seed = list(self.models_.values()), seed_of(seed, random_state)
        how: dict[str, Any] = {"blocks": blocks, "level": level, "progress": progress}
        self._confidence = found = bootstrap(models, source, n=n, seed=seed, **how)
        return found

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
    taken = ("effect", "low", "high", "frequency", *(() if sure.corrected_low is None else _CORRECTED))
    interval = edge.interval if (sure.low, sure.high) == (edge.low, edge.high) else "resampled"
    return replace(edge, interval=interval, **{name: getattr(sure, name) for name in taken})
