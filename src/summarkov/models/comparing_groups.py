"""The same graph in two groups: which labels and edges differ, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from summarkov.confidence import rate_ratio, widening
from summarkov.confidence.adjusted import compared_rates, compared_ratios, limits_of_ratios, limits_of_shares
from summarkov.engines import Bootstrap, MemorySource, ReplicatedSource, StateCounts, StatesRequest
from summarkov.engines.weights import fixed_point
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.attributes import join_attributes
from summarkov.events.moments import join_moments
from summarkov.explain import (
    Contrast,
    EdgeDifference,
    GroupComparison,
    Influence,
    LabelDifference,
    contrast,
    influence_of,
    presence,
)
from summarkov.io import read_events
from summarkov.models.graph import InfluenceGraph
from summarkov.models.model import SummaryModel
from summarkov.models.tree import TreeSuMM
from summarkov.settings import MOST_REPLICATES, Progress, check_level, check_whole, reporter, seed_of
from summarkov.summaries import BinarySummary, Summary
from summarkov.typing import BoolArray, FloatArray


def compare_groups(
    model: SummaryModel,
    first: Any,
    second: Any,
    *,
    names: tuple[str, str] = ("first", "second"),
    targets: Iterable[str] | None = None,
    sample_weight: tuple[Any, Any] | None = None,
    n: int = 200,
    seed: int = 0,
    random_state: int | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> GroupComparison:
    r"""Learn the same graph from two groups of sequences, and say which labels and edges differ.

    Labels come first: in which share of the sequences each occurs, and its share of all events. Then edges: a
    graph is learned from each group and one from both together, and for each edge of any of them the ratio
    (see :class:`Influence`) is worked out in both groups, beside the same influencers (all that the three
    graphs give the target).

    Every difference is a ratio, second group by first, with an interval that allows for all comparisons of
    its kind; it differs surely if 1 lies outside. The intervals of edges are from counts, or wider if ``n``
    resampled groups spread more, because sequences differ.

    Parameters
    ----------
    model : SummaryModel
        The template: a BSuMM, OSuMM, CSuMM or TreeSuMM without a target. Trees are compared by whether each
        label that one of them asks about occurred as far back as any of them asks.
    first, second
        Events of the groups, as ``fit`` takes them; sequences belong to one group each.
    names : two texts
        What the groups are called.
    targets : labels, optional
        Compare these labels and their influencers only.
    sample_weight : two lists of numbers, optional
        A weight for every sequence, of the first group and of the second.
    n : int
        How many resampled groups.
    seed, random_state, level, n_jobs, progress
        As for :meth:`InfluenceGraph.confidence`.

    Returns
    -------
    GroupComparison
        With ``labels``, ``edges``, ``differing_labels()`` and ``differing()``.

    >>> from summarkov import BSuMM
    >>> before, after = [["A", "B", "C"] * 5] * 30, [["A", "C", "B"] * 5] * 30
    >>> found = compare_groups(BSuMM(lookback=1, candidates=["A"]), before, after, targets=["B"], n=50)
    >>> [(edge.influencer, edge.first.effect, edge.second.effect) for edge in found.differing()]
    [('A', 'amplifies', 'inhibits')]
    >>> len(found.differing_labels())  # B is as frequent in both
    0
    """
    seed, tell = seed_of(seed, random_state), reporter(progress)
    check_whole("n", n, 2, MOST_REPLICATES)
    check_level("level", level)
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise SettingError(f"names must be two texts, one for each group, not {names!r}")
    if not isinstance(model, SummaryModel) or not (
        model.make_summary().by_level or isinstance(model, TreeSuMM)
    ):
        raise SettingError(
            "groups are compared by edges; give a template such as BSuMM(lookback=5) or TreeSuMM()"
        )
    lookback = getattr(model, "lookback", None)
    if isinstance(lookback, tuple) or lookback == "auto":
        raise SettingError(
            "groups are compared at the same look-backs; give a number, a time, None or a mapping instead of "
            f"lookback={model.get_params(deep=False)['lookback']!r}"
        )
    groups = [read_events(events) for events in (first, second)]
    groups = groups if sample_weight is None else _weighted(groups, sample_weight)
    groups = [events[_is_counted(events)] for events in groups]
    if any(len(events) < 2 for events in groups):
        raise DataError("each group needs at least two sequences that are not empty, nor of weight 0")
    both = _together(*groups)
    cut = len(groups[0])
    parts = slice(0, cut), slice(cut, None)
    sources, graphs = [], []
    for done, part in enumerate((*parts, slice(None))):
        sources.append(MemorySource(both[part], sample_weight=both[part].weights, n_jobs=n_jobs))
        graphs.append(InfluenceGraph(model, targets=targets, n_jobs=n_jobs).fit(sources[-1]))
        tell(done + 1, 5)
    sizes, chosen = (cut, len(groups[1])), list(graphs[0].models_)
    labels = _label_differences([both[part] for part in parts], chosen, level)
    edges = _edge_differences(graphs, sources[:2], (int(n), int(seed)), level, tell)
    return GroupComparison((names[0], names[1]), int(n), int(seed), float(level), sizes, labels, edges)


def _label_differences(
    groups: Sequence[EventSequences], chosen: Sequence[str], level: float
) -> tuple[LabelDifference, ...]:
    """How chosen labels differ: the sequences that they reach, and their share of events."""
    codes = [groups[0].labels.index(label) for label in chosen]
    reached, totals, hits, lengths = [], [], [], []
    for events in groups:
        weight = _weights(events)
        counts = np.zeros((len(events), len(events.labels)), np.int64)
        np.add.at(counts, (np.repeat(np.arange(len(events)), events.lengths), events.codes), 1)
        counts = counts[:, codes]
        reached.append(weight @ (counts > 0))
        totals.append(np.full(len(codes), weight.sum()))
        hits.append(weight[:, None] * counts)
        lengths.append(weight * events.lengths)
    reach = compared_rates(reached, totals, level)
    first, second = (limits_of_shares(c, n) for c, n in zip(hits, lengths, strict=True))
    rate = compared_ratios(first, second, len(codes), level)
    found = [
        LabelDifference(
            label,
            float(reached[0][at] / totals[0][at]),
            float(reached[1][at] / totals[1][at]),
            reach[at],
            float(hits[0][:, at].sum() / lengths[0].sum()),
            float(hits[1][:, at].sum() / lengths[1].sum()),
            rate[at],
        )
        for at, label in enumerate(chosen)
    ]
    return tuple(sorted(found, key=lambda one: (min(one.reach.adjusted, one.rate.adjusted), one.label)))


def _weighted(groups: Sequence[EventSequences], sample_weight: tuple[Any, Any]) -> list[EventSequences]:
    """The groups with the weights that were given."""
    if any(events.weights is not None for events in groups):
        raise SettingError(
            "the events have weights of their own, from a weight column; leave out sample_weight"
        )
    if [np.shape(weights) for weights in sample_weight] != [(len(events),) for events in groups]:
        raise SettingError(
            f"sample_weight must be two lists of numbers, one per sequence: {len(groups[0])} of them and "
            f"{len(groups[1])}"
        )
    for events, weights in zip(groups, sample_weight, strict=True):
        fixed_point(weights, len(events))  # refuses what are no weights
    return [events.with_weights(weights) for events, weights in zip(groups, sample_weight, strict=True)]


def _weights(events: EventSequences) -> FloatArray:
    return np.ones(len(events)) if events.weights is None else events.weights


def _is_counted(events: EventSequences) -> BoolArray:
    """Whether there is something to count in each sequence."""
    return np.asarray((events.lengths > 0) & (_weights(events) > 0))


def _together(first: EventSequences, second: EventSequences) -> EventSequences:
    """The sequences of both groups over one vocabulary."""
    labels = tuple(sorted({*first.labels, *second.labels}))
    first, second = first.recode(labels), second.recode(labels)
    offsets = np.concatenate([first.offsets, second.offsets[1:] + first.n_rows])
    is_weighted = first.weights is not None or second.weights is not None
    return EventSequences(
        np.concatenate([first.codes, second.codes]),
        offsets,
        labels,
        attributes=join_attributes([first.attributes, second.attributes]),
        moments=join_moments([(part.n_rows, part.moments) for part in (first, second)]),
        weights=np.concatenate([_weights(first), _weights(second)]) if is_weighted else None,
    )


def _windows(graphs: Sequence[InfluenceGraph], sets: dict[int, tuple[int, ...]]) -> list[Summary]:
    """By which presence of influencers the edges of each target are compared: as the model looks back.

    Of trees, each label as far back as any of them asks about it.
    """
    summary = graphs[0].model.make_summary()
    if summary.by_level:
        return [summary] * len(sets)
    labels, found = graphs[0].labels_, list[Summary]()
    for x, u in sets.items():
        fitted = [graph.models_[labels[x]].fitted for graph in graphs]
        reaches = {z: [one.reach(labels[z]).lookback for one in fitted if z in one.influencers] for z in u}
        widest = {
            labels[z]: None if None in each else max(k for k in each if k is not None)
            for z, each in reaches.items()
        }
        found.append(BinarySummary(widest))
    return found


def _sets(graphs: Sequence[InfluenceGraph]) -> dict[int, tuple[int, ...]]:
    """All influencers that any graph gives each target."""
    sets: dict[int, set[int]] = {}
    for graph in graphs:
        for fitted in (model.fitted for model in graph.models_.values()):
            sets.setdefault(fitted.target.codes[0], set()).update(fitted.influencers)
    return {x: tuple(sorted(u)) for x, u in sets.items() if u}


def _contrasts(
    graphs: Sequence[InfluenceGraph],
    source: MemorySource | ReplicatedSource,
    sets: dict[int, tuple[int, ...]],
) -> list[Contrast]:
    """The contrast of every edge, beside all influencers of its target."""
    targets = {model.fitted.target.codes[0]: model.fitted.target for model in graphs[0].models_.values()}
    asked = zip(_windows(graphs, sets), sets.items(), strict=True)
    tables = source.count([StatesRequest(window, u, targets[x]) for window, (x, u) in asked])
    found = []
    for u, table in zip(sets.values(), tables, strict=True):
        assert isinstance(table, StateCounts)
        collapsed = presence(table)
        found += [contrast(collapsed, source.scale, column, 0) for column in range(len(u))]
    return found


def _edge_differences(
    graphs: Sequence[InfluenceGraph],
    sources: Sequence[MemorySource],
    draws: tuple[int, int],
    level: float,
    tell: Callable[[int, int], None],
) -> tuple[EdgeDifference, ...]:
    """How the edges of three graphs, of either group and of both, differ between the groups."""
    sets = _sets(graphs)
    names = [(z, x) for x, u in sets.items() for z in u]
    labels = graphs[0].labels_
    influences: list[list[Influence]] = []
    limits = []
    for at, source in enumerate(sources):
        found = _contrasts(graphs, source, sets)
        n, seed = draws
        drawn = _contrasts(graphs, source.replicated(Bootstrap(n, seed + at)), sets)
        influences.append(
            [
                influence_of(labels[z], labels[x], one, [labels[u] for u in sets[x] if u != z], None)
                for (z, x), one in zip(names, found, strict=True)
            ]
        )
        strata = [one.strata for one in found]
        wider = [
            float(widening(rate_ratio(one), many.strata.ratio()))
            for one, many in zip(strata, drawn, strict=True)
        ]
        limits.append(limits_of_ratios(strata, wider))
        tell(4 + at, 5)
    changes = compared_ratios(limits[0], limits[1], len(names), level)
    edges = [
        EdgeDifference(
            labels[z],
            labels[x],
            labels[z] in graphs[0].influencers_[labels[x]],
            labels[z] in graphs[1].influencers_[labels[x]],
            influences[0][at],
            influences[1][at],
            changes[at],
        )
        for at, (z, x) in enumerate(names)
    ]
    return tuple(sorted(edges, key=lambda edge: (edge.change.adjusted, edge.change.p_value, edge.target)))
