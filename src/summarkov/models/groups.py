"""The same graph in two groups: which edges differ, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.confidence import EdgeDifference, GroupComparison
from summarkov.engines import Bootstrap, LocalSource, Replicates, StateCounts, StatesRequest
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.explain import strengths
from summarkov.models.graph import InfluenceGraph
from summarkov.models.model import SummaryModel
from summarkov.readers import read_events

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

Edge = tuple[int, int]  # influencer, target


@dataclass(frozen=True)
class Shuffled:
    """Groups of the same sizes made at random: first n times the first group, then n times the second.

    The first pair is the groups as they are.
    """

    first: int
    n_pairs: int
    seed: int

    @property
    def n(self) -> int:
        """Replicates."""
        return 2 * self.n_pairs

    def weights(self, replicate: int, n_units: int) -> IntArray:
        """1 for the sequences of the group."""
        pair, second = replicate % self.n_pairs, replicate >= self.n_pairs
        members = np.zeros(n_units, np.int64)
        order = np.arange(n_units)
        if pair:
            order = np.random.default_rng([self.seed, pair]).permutation(n_units)
        members[order[self.first :] if second else order[: self.first]] = 1
        return members


def compare_groups(
    model: SummaryModel,
    first: Any,
    second: Any,
    *,
    targets: Iterable[str] | None = None,
    sample_weight: tuple[Any, Any] | None = None,
    n: int = 200,
    seed: int = 0,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GroupComparison:
    r"""Learn the same graph from two groups of sequences, and say which edges differ.

    A graph is learned from each group and one from both together. For each edge of any of them the strength
    is worked out in both groups, beside the same influencers (all that the three graphs give the target). If
    the groups were alike, any other division of the sequences would do as well: they are divided at random
    ``n`` times into groups of the same sizes, and a difference counts as sure if hardly any such division
    gives one as large, measured in its standard deviations, on any edge (Westfall and Young's maximum). That
    allows for there being many edges.

    Which edges are compared is decided once, from the groups as they are, so the p-value of an edge that only
    one group's graph has is somewhat too small: of 329 edges of groups that were alike 8% had one up to 0.05.

    Parameters
    ----------
    model : SummaryModel
        The template: a BSuMM, OSuMM or CSuMM without a target.
    first, second
        Events of the groups, as ``fit`` takes them; sequences belong to one group each.
    targets : labels, optional
        Compare the influencers of these labels only.
    sample_weight : two lists of numbers, optional
        A weight for every sequence, of the first group and of the second. It stays with its sequence when the
        sequences are divided at random.
    n : int
        How many random divisions, and how many resampled pairs of groups for the intervals.
    seed, level, n_jobs, progress
        As for :meth:`InfluenceGraph.confidence`.

    Returns
    -------
    GroupComparison
        With ``edges`` and ``differing()``.

    >>> from summarkov import BSuMM
    >>> before, after = [["A", "B", "C"] * 5] * 30, [["A", "C", "B"] * 5] * 30
    >>> found = compare_groups(BSuMM(lookback=1), before, after, targets=["B"], n=50)
    >>> [(edge.influencer, edge.in_first, edge.in_second) for edge in found.differing()]
    [('A', True, False), ('C', False, True), ('B', False, False)]
    """
    for name, value, least in (("n", n, 2), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise SettingError(f"{name} must be a whole number from {least} on, not {value!r}")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise SettingError(f"level must be a number between 0 and 1, not {level!r}")
    if not isinstance(model, SummaryModel) or not model.make_summary().by_level:
        raise SettingError("groups are compared by edges; give a template such as BSuMM(lookback=5)")
    if isinstance(getattr(model, "lookback", None), str | tuple):
        raise SettingError(
            "groups are compared at the same look-backs; give a number, None or a mapping instead of "
            f"lookback={model.get_params(deep=False)['lookback']!r}"
        )
    groups = [read_events(events) for events in (first, second)]
    groups, weights = _counted(groups, sample_weight)
    if any(len(events) < 2 for events in groups):
        raise DataError("each group needs at least two sequences that are not empty, nor of weight 0")
    both = _together(*groups)
    sizes = len(groups[0]), len(groups[1])
    cut = sizes[0]
    graphs = []
    parts = slice(0, cut), slice(cut, None)
    for done, part in enumerate((*parts, slice(None))):
        weight = None if weights is None else weights[part]
        graph = InfluenceGraph(model, targets=targets, n_jobs=n_jobs)
        graphs.append(graph.fit(both[part], sample_weight=weight))
        if progress is not None:
            progress(done + 1, 5)
    sets = _sets(graphs)
    if not sets:  # nothing to compare: no graph has an edge
        if progress is not None:
            progress(5, 5)
        return GroupComparison(int(n), int(seed), float(level), sizes, ())
    shuffled = LocalSource(both, sample_weight=weights, n_jobs=n_jobs).replicated(Shuffled(cut, n + 1, seed))
    found = _strengths(graphs[0], shuffled, sets)  # [edge, replicate]
    if progress is not None:
        progress(4, 5)
    drawn = []
    for at, part in enumerate(parts):
        weight = None if weights is None else weights[part]
        resampled = LocalSource(both[part], sample_weight=weight, n_jobs=n_jobs).replicated(
            Bootstrap(n, seed + at)
        )
        drawn.append(_strengths(graphs[0], resampled, sets))
    if progress is not None:
        progress(5, 5)
    a, b = found[:, : n + 1], found[:, n + 1 :]
    p_values, adjusted = _certainty(b - a)
    edges = []
    for at, (z, x) in enumerate(_edges(sets)):
        spread = drawn[1][at] - drawn[0][at]
        spread = spread[~np.isnan(spread)]
        low, high = (
            np.quantile(spread, [(1 - level) / 2, (1 + level) / 2]) if len(spread) else (np.nan, np.nan)
        )
        names = both.labels[z], both.labels[x]
        held = [names[0] in graph.influencers_[names[1]] for graph in graphs[:2]]
        figures = (a[at, 0], b[at, 0], b[at, 0] - a[at, 0], low, high, p_values[at], adjusted[at])
        edges.append(EdgeDifference(*names, *held, *(float(value) for value in figures)))
    edges.sort(key=lambda edge: (edge.adjusted, edge.p_value, -abs(np.nan_to_num(edge.difference))))
    return GroupComparison(int(n), int(seed), float(level), sizes, tuple(edges))


def _counted(
    groups: Sequence[EventSequences], sample_weight: tuple[Any, Any] | None
) -> tuple[list[EventSequences], npt.NDArray[Any] | None]:
    """The sequences that there is something to count in, and one weight for each of them."""
    if sample_weight is None:
        return [events[events.lengths > 0] for events in groups], None
    each = [np.asarray(weights) for weights in sample_weight]
    if [weights.shape for weights in each] != [(len(events),) for events in groups]:
        raise SettingError(
            f"sample_weight must be two lists of numbers, one a sequence: {len(groups[0])} of them and "
            f"{len(groups[1])}"
        )
    there = [(events.lengths > 0) & (w != 0) for events, w in zip(groups, each, strict=True)]
    kept = [events[here] for events, here in zip(groups, there, strict=True)]
    return kept, np.concatenate([w[here] for w, here in zip(each, there, strict=True)])


def _together(first: EventSequences, second: EventSequences) -> EventSequences:
    """The sequences of both groups over one vocabulary."""
    labels = tuple(sorted({*first.labels, *second.labels}))
    first, second = first.recode(labels), second.recode(labels)
    offsets = np.concatenate([first.offsets, second.offsets[1:] + first.n_events])
    return EventSequences(np.concatenate([first.codes, second.codes]), offsets, labels)


def _sets(graphs: Sequence[InfluenceGraph]) -> dict[int, tuple[int, ...]]:
    """All influencers that any graph gives each target."""
    sets: dict[int, set[int]] = {}
    for graph in graphs:
        for fitted in (model.fitted for model in graph.models_.values()):
            sets.setdefault(fitted.target.codes[0], set()).update(fitted.influencers)
    return {x: tuple(sorted(u)) for x, u in sets.items() if u}


def _edges(sets: dict[int, tuple[int, ...]]) -> list[Edge]:
    return [(z, x) for x, u in sets.items() for z in u]


def _strengths(graph: InfluenceGraph, source: Replicates, sets: dict[int, tuple[int, ...]]) -> FloatArray:
    """The strength of every edge in every replicate."""
    models = {model.fitted.target.codes[0]: model.fitted for model in graph.models_.values()}
    summary = graph.model.make_summary()
    tables = source.count([StatesRequest(summary, u, models[x].target) for x, u in sets.items()])
    rows = []
    for (x, u), table in zip(sets.items(), tables, strict=True):
        assert isinstance(table, StateCounts)
        settings = (source.scale, models[x].alpha, models[x].prior)
        rows += [strengths(table, *settings, column, 0) for column in range(len(u))]
    return np.array(rows).reshape(len(rows), -1)


def _certainty(differences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P-values of the first column among all columns, for each row alone and for the largest of all rows."""
    ok = ~np.isnan(differences)
    n = ok.sum(axis=1, keepdims=True)
    known = np.where(ok, differences, 0.0)
    mean = known.sum(axis=1, keepdims=True) / np.maximum(n, 1)
    deviation = np.sqrt(
        (np.where(ok, differences - mean, 0.0) ** 2).sum(axis=1, keepdims=True) / np.maximum(n, 1)
    )
    size = np.where(ok & (deviation > 0), np.abs(known) / np.where(deviation > 0, deviation, 1.0), 0.0)
    actual = size[:, :1]
    tie = 1e-9  # divisions that are the actual one, or its mirror image, must count
    alone = (size >= actual - tie).mean(axis=1)
    most = size.max(axis=0, initial=0.0)
    adjusted = (most >= actual - tie).mean(axis=1)
    unknown = ~ok[:, 0] | (deviation[:, 0] == 0)
    return np.where(unknown, 1.0, alone), np.where(unknown, 1.0, adjusted)
