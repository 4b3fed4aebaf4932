"""What changes: between groups of sequences, between days, and with the settings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from summarkov.engines import Layout, MemorySource
from summarkov.engines.counts import FIXED_POINT, in_units, n_fractions, side_by_side
from summarkov.engines.source import count_all
from summarkov.errors import DataError, SettingError
from summarkov.events import END, EventSequences
from summarkov.events.sequences import join_events
from summarkov.evidence import (
    GroupComparison,
    Influence,
    LabelDifference,
    SeveralGroups,
    contrasts_in_table,
    rate_ratio,
    widened,
)
from summarkov.evidence.groups import (
    EdgeDifference,
    compared_rates,
    compared_ratios,
    limits_of_ratios,
    simultaneous,
)
from summarkov.frames import Records
from summarkov.models.graph import InfluenceGraph
from summarkov.models.learning import learn, progress_counter
from summarkov.models.model import SummaryModel
from summarkov.read import read_events
from summarkov.read.case_attributes import ranked
from summarkov.settings import Progress, check_level, reporter
from summarkov.typing import BoolArray, FloatArray

#: More groups would be compared for hours, and nobody would read it.
MOST_GROUPS = 20


def compare_groups(
    model: SummaryModel,
    first: Any,
    second: Any = None,
    *,
    by: str | Sequence[str] | None = None,
    names: tuple[str, str] = ("first", "second"),
    targets: Iterable[str] | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Any:
    """Learn the same graph from two groups of sequences, or several, and say which labels and edges differ.

    A graph is learned from each group and one from both together, and each edge of any of them is compared
    beside the same influencers: all that the three graphs give the target. Every difference is a ratio,
    second group by first, with an interval that allows for all comparisons of its kind, and those of edges
    for sequences that differ. It differs surely if 1 lies outside.

    Parameters
    ----------
    model : SummaryModel
        The template: a BSuMM, OSuMM or CSuMM without a target.
    first, second
        Events of the groups, as ``fit`` takes them, with their weights; sequences belong to one group each.
    by : str or list of str, optional
        Groups of the sequences of ``first`` alone, two or more: an attribute of the sequences (read with
        ``attributes=[by]``), which is then left out as an influencer; or the group of each sequence. Each
        group is compared with all others, at a level at which all comparisons hold together (Bonferroni).
    names : two texts
        What two groups are called.
    targets : labels, optional
        Compare these labels and their influencers only.
    level, n_jobs, progress
        As for :meth:`InfluenceGraph.confidence`.

    Returns
    -------
    GroupComparison
        With ``labels``, ``edges``, ``differing_labels()`` and ``differing()``; with ``by`` one for each group
        (``SeveralGroups``).

    >>> from summarkov import BSuMM
    >>> before, after = [["A", "B", "C"] * 5] * 30, [["A", "C", "B"] * 5] * 30
    >>> found = compare_groups(BSuMM(lookback=1, candidates=["A"]), before, after, targets=["B"])
    >>> [(edge.influencer, edge.first.effect, edge.second.effect) for edge in found.differing()]
    [('A', 'amplifies', 'inhibits')]
    >>> len(found.differing_labels())  # B is as frequent in both
    0
    """
    if (by is None) == (second is None):
        raise SettingError("give the events of two groups, or those of all groups and by=")
    check_level("level", level)
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise SettingError(f"names must be two texts, one for each group, not {names!r}")
    if not isinstance(model, SummaryModel) or not model.make_summary().by_level:
        raise SettingError("groups are compared by edges; give a template such as BSuMM(lookback=5)")
    lookback = getattr(model, "lookback", None)
    if isinstance(lookback, tuple) or lookback == "auto":
        raise SettingError(
            "groups are compared at the same look-backs; give a number, a time, None or a mapping instead of "
            f"lookback={model.get_params(deep=False)['lookback']!r}"
        )
    graph, tell = InfluenceGraph(model, targets=targets, n_jobs=n_jobs), reporter(progress)
    if by is not None:
        return _compare_by(graph, read_events(first), by, level, tell)
    parts = [read_events(events) for events in (first, second)]
    events = join_events(parts, named=False)
    here = np.arange(len(events)) >= len(parts[0])
    return _compare_two(graph, events, here, (names[0], names[1]), level, tell)


def _compare_two(
    graph: InfluenceGraph,
    events: EventSequences,
    here: BoolArray,
    names: tuple[str, str],
    level: float,
    tell: Callable[[int, int], None],
) -> GroupComparison:
    """Compare the sequences that are ``here``, the second group, with all others."""
    some = _weights(events) > 0
    events, here = events[some], here[some]
    sides = ~here, here
    if not all(events.complete[side].any() for side in sides):  # of one it is not known how cases end
        events = events.with_ends("cut off")
    filled = events.lengths > 0
    if any((filled & side).sum() < 2 for side in sides):
        raise DataError("each group needs at least two sequences that are not empty, nor of weight 0")
    parts = [events[filled & side] for side in (*sides, here | ~here)]
    sources = [MemorySource(part, sample_weight=part.weights, n_jobs=graph.n_jobs) for part in parts]
    graphs = []
    for done, source in enumerate(sources):
        graphs.append(InfluenceGraph(graph.model, graph.targets, graph.n_jobs).fit(source))
        tell(done + 1, 4)
    occurring = [label for label in graphs[0].models_ if label != END]
    labels = _label_differences([events[side] for side in sides], occurring, level)
    edges = _edge_differences(graphs, sources[:2], level)
    tell(4, 4)
    return GroupComparison(names, float(level), (int((~here).sum()), int(here.sum())), labels, edges)


def _weights(events: EventSequences) -> FloatArray:
    return np.ones(len(events)) if events.weights is None else events.weights


def _label_differences(
    groups: Sequence[EventSequences], chosen: Sequence[str], level: float
) -> tuple[LabelDifference, ...]:
    """How chosen labels differ: the sequences that they reach."""
    reached, n = [], []
    for events in groups:
        weight, hits = _weights(events), np.zeros((len(events), len(events.labels)), bool)
        hits[np.repeat(np.arange(len(events)), events.lengths), events.codes] = True
        reached.append(weight @ hits[:, [events.labels.index(label) for label in chosen]])
        n.append(np.full(len(chosen), weight.sum()))
    shares = [(hits / of).tolist() for hits, of in zip(reached, n, strict=True)]
    found = map(LabelDifference, chosen, *shares, compared_rates(reached, n, level))
    return tuple(sorted(found, key=lambda one: (one.reach.adjusted, one.label)))


def _edge_differences(
    graphs: Sequence[InfluenceGraph], sources: Sequence[MemorySource], level: float
) -> tuple[EdgeDifference, ...]:
    """How edges differ, beside all influencers that any graph (each group, and both) gives a target."""
    first, second, _ = graphs
    template = first.model.copy(candidates=(), max_influencers=None)
    beside = {x: sorted({z for one in graphs for z in one.influencers_[x]}) for x in first.models_}
    edges: list[list[Influence]] = []
    limits = []
    for source in sources:
        models = [template.copy(target=x, required=us) for x, us in beside.items() if us]
        if not models:
            return ()
        learn(models, source)
        edges.append([edge for model in models for edge in model.fitted.influences])
        each, strata, wider = float(simultaneous(level, len(edges[0]))[0]), [], []
        for fitted in (model.fitted for model in models):
            for column, outcome, contrast in fitted.contrasts():
                if fitted.influencers[column] not in fitted.given:
                    strata.append(contrast.strata)
                    wider.append(fitted.wider(column, outcome, contrast, each) or 1.0)
        limits.append(limits_of_ratios(strata, wider))
    changes = compared_ratios(limits[0], limits[1], len(edges[0]), level)
    found = []
    for one, other, change in zip(*edges, changes, strict=True):
        z, x = one.influencer, one.target
        there = z in first.influencers_[x], z in second.influencers_[x]
        found.append(EdgeDifference(z, x, *there, one, other, change))
    return tuple(sorted(found, key=lambda edge: (edge.change.adjusted, edge.change.p_value, edge.target)))


def _compare_by(
    graph: InfluenceGraph,
    events: EventSequences,
    by: str | Sequence[str],
    level: float,
    tell: Callable[[int, int], None],
) -> SeveralGroups:
    """Compare each group with all others."""
    column, groups = _groups(events, by)
    sizes = {name: int(np.count_nonzero(groups == name)) for name in ranked(set(groups.tolist()))}
    names = [name for name in sizes if np.count_nonzero((groups == name) & (events.lengths > 0)) >= 2]
    if len(sizes) > MOST_GROUPS:
        raise DataError(
            f"{column} makes {len(sizes)} groups, more than {MOST_GROUPS}; cut numbers into fewer ranges "
            "with cuts=, or make groups of its values first"
        )
    if len(names) < 2 and not (names and len(sizes) > 1):
        raise DataError(
            f"{column} makes fewer than two groups of at least two sequences that are not empty; name "
            "another column, or pool its values"
        )
    held = events.attributes
    events = events.with_attributes(None if held is None else held.without(column))
    two = len(sizes) == len(names) == 2
    compared = names[1:] if two else names
    comparisons = []
    for done, name in enumerate(compared):
        called, each = (names[0] if two else "others", name), 1 - (1 - level) / len(compared)
        comparisons.append(_compare_two(graph, events, groups == name, called, each, lambda *_: None))
        tell(done + 1, len(compared))
    return SeveralGroups(
        by=column,
        names=tuple(names),
        sizes=tuple(sizes[name] for name in names),
        left_out={name: size for name, size in sizes.items() if name not in names},
        comparisons=tuple(comparisons),
    )


def _groups(events: EventSequences, by: str | Sequence[str]) -> tuple[str, Any]:
    """What the groups are by, and the group of every sequence."""
    if isinstance(by, str):
        if events.attributes is None:
            raise SettingError(f"the events have no attributes; read them with attributes=[{by!r}]")
        named = events.attributes.values(by)
        return by, np.array([name.removeprefix(f"{by}=") for name in named], object)
    groups = [str(name) for name in by]
    if len(groups) != len(events):
        raise SettingError(
            f"by must be an attribute, or the group of each of the {len(events)} sequences, not {len(groups)}"
        )
    return "group", np.array(groups, object)


# ---------------------------------------------------------------------- between the parts of a store


@dataclass(frozen=True)
class Change:
    """An edge before and after the place where its ratio differs most.

    Attributes
    ----------
    influencer, target : str
        The edge.
    since : str
        The name of the first part after the change.
    ratio_before, low_before, high_before : float
        The ratio before it, with its 95% interval.
    ratio_after, low_after, high_after : float
        The ratio after it, with its 95% interval.
    p_value : float
        That of no change, for all places and edges that were looked at.
    has_changed : bool
        Whether that is at most the level that was asked for.
    """

    influencer: str
    target: str
    since: str
    ratio_before: float
    low_before: float
    high_before: float
    ratio_after: float
    low_after: float
    high_after: float
    p_value: float
    has_changed: bool


def drift(graph: InfluenceGraph, parts: Mapping[str, Any], *, level: float = 0.05) -> Records[Change]:
    """Find out which edges of a graph changed between parts of the data, and since which part.

    For each edge the parts are cut in two at every place in turn, and the ratios before and after are
    compared by the difference of their logarithms. The place where they differ most surely is shown, with a
    p-value that allows for all places and all edges (Bonferroni). The intervals are as much wider than from
    counts as those of the graph are, because sequences differ.

    Parameters
    ----------
    graph : InfluenceGraph
        Learned from all parts together, or from some of them.
    parts : dict
        The name of each part, such as a day, and its events, or whatever :func:`read_events` takes. At least
        two, in the order of time.
    level : float
        An edge has changed if its p-value is at most this.

    Returns
    -------
    Records of Change
        One for every edge, those that changed most surely first.
    """
    check_level("level", level)
    if not isinstance(parts, Mapping) or len(parts) < 2:
        raise SettingError(
            "parts must be at least two by name, in the order of time: {'monday': events, 'tuesday': ...}"
        )
    names = list(parts)
    models = [model for model in graph.models_.values() if model.influencers_]
    if not all(model.fitted.summary.by_level for model in models):
        raise SettingError("the edges of these models have no factors; use a BSuMM, OSuMM or CSuMM")
    requests = [model.fitted.request for model in models]
    events = [read_events(part) for part in parts.values()]
    scale = FIXED_POINT if any(n_fractions(_weights(part)) for part in events) else 1
    sources = [MemorySource(part, sample_weight=in_units(_weights(part), scale)) for part in events]
    by_part = [source.recode(graph.labels_).map(count_all, requests) for source in sources]
    n_tests, found = 0, list[tuple[float, list[Any]]]()  # how far apart, and the fields of a change
    for at, model in enumerate(models):
        fitted = model.fitted
        table = side_by_side([counts[at] for counts in by_part])
        before = table.counts.cumsum(axis=0)[:-1]
        stretches = [
            contrasts_in_table(replace(table, counts=some), scale, len(model.target_))
            for some in (before, table.counts.sum(axis=0) - before)
        ]
        for (column, outcome, whole), *both in zip(fitted.contrasts(), *stretches, strict=True):
            wider = np.asarray(fitted.wider(column, outcome, whole) or 1.0)
            ratios = [rate_ratio(contrast.strata) for *_, contrast in both]
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log([each.ratio for each in ratios])
                apart = abs(logs[0] - logs[1]) / np.hypot(*(each.deviation * wider for each in ratios))
            n_tests += int(np.isfinite(apart).sum())
            if np.isfinite(apart).any():
                place = int(np.where(np.isfinite(apart), apart, -1).argmax())
                numbers = [(each.ratio, *widened(each, wider)) for each in ratios]
                limits = [float(limit[place]) for each in numbers for limit in each]
                edge = model.influencers_[column], model.target_[outcome], names[place + 1]
                found.append((float(apart[place]), [*edge, *limits]))
    p_values = [min(1.0, 2 * NormalDist().cdf(-far) * n_tests) for far, _ in found]
    changes = [Change(*[*known, p, p <= level]) for p, (_, known) in zip(p_values, found, strict=True)]
    return Records(sorted(changes, key=lambda one: (one.p_value, one.target, one.influencer)), Change)


# ---------------------------------------------------------------------- with the settings


@dataclass(frozen=True)
class StableEdge:
    """An ``influencer`` of a ``target`` that some setting finds.

    ``share`` is the share of the settings that find it; ``lookback`` and ``gamma`` are the values with which
    it is found, whatever the other setting is, empty where that was not varied.
    """

    influencer: str
    target: str | tuple[str, ...]
    share: float
    lookback: tuple[Any, ...]
    gamma: tuple[Any, ...]


def sensitivity(
    model: SummaryModel | InfluenceGraph,
    events: Any,
    *,
    gamma: Iterable[float] | None = (0.1, 0.5, 1.0),
    lookback: Iterable[int | None] | None = (1, 5, 10),
    sample_weight: Any = None,
    progress: Progress = None,
) -> Records[StableEdge]:
    """Learn a model or a graph with every combination of some settings, and see what stays.

    An influencer that is there whatever the settings are is easier to believe than one that comes and goes.
    All settings are learned side by side: each pass over the data serves all of them.

    Parameters
    ----------
    model : SummaryModel or InfluenceGraph
        What to learn; all its other settings are kept, and it is not fitted itself.
    events, sample_weight
        As for ``fit``.
    gamma : numbers, optional
        Penalties for complexity to try; None: only the model's own.
    lookback : numbers, optional
        Look-backs to try, of which None is the whole past; None instead of a list: only the model's own.
    progress : function or True, optional
        Called as ``progress(done, total)`` when models are finished; True writes that to the standard error.

    Returns
    -------
    Records of StableEdge
        Every influencer that some setting finds, those of each target that stay longest first.

    >>> from summarkov import BSuMM
    >>> events = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10
    >>> sensitivity(BSuMM("B"), events, gamma=[0.5, 1.0], lookback=[1, 2])
    2 × StableEdge
    influencer  target  share  lookback  gamma
    A           B           1  1, 2      0.5, 1.0
    B           B         0.5  2         0.5, 1.0
    """
    template = model.model if isinstance(model, InfluenceGraph) else model
    if not isinstance(template, SummaryModel):
        raise SettingError(f"model must be a model or a graph, not {type(model).__name__}")
    paths: dict[str, tuple[Any, ...]] = {}
    for name, values in (("lookback", lookback), ("gamma", gamma)):
        if values is None:
            continue
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise SettingError(f"{name} must be a list of values to try, not {values!r}")
        if name not in template.get_params(deep=False):
            raise SettingError(f"{type(template).__name__} has no {name} to vary; give {name}=None")
        paths[name] = path = tuple(values)
        if not path or len(set(path)) < len(path):
            raise SettingError(f"{name} must be a list of different values to try, not {list(path)!r}")
    source = template._learned_from(events, sample_weight=sample_weight, n_jobs=model.n_jobs)
    plain: list[SummaryModel] = [template]
    if isinstance(model, InfluenceGraph):
        plain = model.make_models(source.labels, Layout.of(source).attributes)
    tried = [dict(zip(paths, each, strict=True)) for each in itertools.product(*paths.values())]
    found = [[each.copy(**settings) for settings in tried] for each in plain]
    learn(list(itertools.chain(*found)), source, progress_counter(progress, len(found) * len(tried)))
    edges = list[StableEdge]()
    for models in found:
        target = models[0].target_[0] if len(models[0].target_) == 1 else models[0].target_
        stable = list[StableEdge]()
        for z in sorted({z for one in models for z in one.influencers_}):
            there = [settings for settings, one in zip(tried, models, strict=True) if z in one.influencers_]
            lookbacks, gammas = (
                tuple(value for value in paths.get(name, ()) if any(each[name] == value for each in there))
                for name in ("lookback", "gamma")
            )
            stable.append(StableEdge(z, target, len(there) / len(tried), lookbacks, gammas))
        edges += sorted(stable, key=lambda edge: -edge.share)
    return Records(edges, StableEdge)
