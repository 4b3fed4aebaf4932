"""Groups of sequences, two of them or each and all others: which labels and edges differ, and how surely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from summarkov.engines import MemorySource
from summarkov.errors import DataError, SettingError
from summarkov.events import END, EventSequences
from summarkov.events.sequences import join_events
from summarkov.evidence import (
    GroupComparison,
    GroupShare,
    Influence,
    LabelDifference,
    SeveralGroups,
    Strata,
    rate_ratio,
    robust_widening,
)
from summarkov.evidence.groups import (
    EdgeDifference,
    compared_rates,
    compared_ratios,
    limits_of_ratios,
    limits_of_shares,
    simultaneous,
)
from summarkov.models.fitted import Fitted
from summarkov.models.graph import InfluenceGraph
from summarkov.models.learning import learn
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
    r"""Learn the same graph from two groups of sequences, or several, and say which labels and edges differ.

    Labels come first: in which share of the sequences each occurs, and its share of all events. Then edges: a
    graph is learned from each group and one from both together, and for each edge of any of them the ratio
    (see :class:`Influence`) is worked out in both groups, beside the same influencers (all that the three
    graphs give the target).

    Every difference is a ratio, second group by first, with an interval that allows for all comparisons of
    its kind; it differs surely if 1 lies outside. The intervals of edges allow for sequences that differ.

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
        (``SeveralGroups``), and how often each label is in every group.

    >>> from summarkov import BSuMM
    >>> before, after = [["A", "B", "C"] * 5] * 30, [["A", "C", "B"] * 5] * 30
    >>> found = compare_groups(BSuMM(lookback=1, candidates=["A"]), before, after, targets=["B"])
    >>> [(edge.influencer, edge.first.effect, edge.second.effect) for edge in found.differing()]
    [('A', 'amplifies', 'inhibits')]
    >>> len(found.differing_labels())  # B is as frequent in both
    0
    >>> found = compare_groups(
    ...     BSuMM(lookback=1, candidates=["A"]),
    ...     before + after,
    ...     by=["old"] * 30 + ["new"] * 30,
    ...     targets=["B"],
    ... )
    >>> found.names, [len(edges) for edges in found.differing().values()]
    (('new', 'old'), [1])
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
    """How chosen labels differ: the sequences that they reach, and their share of events."""
    reached, n, counted = [], [], []
    for events in groups:
        hits, lengths = _counts(events, chosen)
        reached.append(_weights(events) @ (hits > 0))
        n.append(np.full(len(chosen), _weights(events).sum()))
        counted.append((hits[lengths > 0], lengths[lengths > 0]))
    reach = compared_rates(reached, n, level)
    first, second = (limits_of_shares(*each) for each in counted)
    rate = compared_ratios(first, second, len(chosen), level)
    reaches = [(hits / of).tolist() for hits, of in zip(reached, n, strict=True)]
    rates = [(hits.sum(axis=0) / of.sum()).tolist() for hits, of in counted]
    found = map(LabelDifference, chosen, *reaches, reach, *rates, rate)
    return tuple(sorted(found, key=lambda one: (min(one.reach.adjusted, one.rate.adjusted), one.label)))


def _counts(events: EventSequences, labels: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """How often each of these labels occurs in each sequence, weighted, and how long that is, weighted."""
    weight, counts = _weights(events), np.zeros((len(events), len(events.labels)))
    np.add.at(counts, (np.repeat(np.arange(len(events)), events.lengths), events.codes), 1)
    chosen = [events.labels.index(label) for label in labels]
    return weight[:, None] * counts[:, chosen], weight * events.lengths


def _edge_differences(
    graphs: Sequence[InfluenceGraph], sources: Sequence[MemorySource], level: float
) -> tuple[EdgeDifference, ...]:
    """How the edges of three graphs, of either group and of both, differ between the groups.

    Each is compared beside all influencers that any graph gives its target: models of just these are learned
    from both groups.
    """
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
        fits = [model.fitted for model in models]
        edges.append([edge for fitted in fits for edge in fitted.influences])
        each = float(simultaneous(level, len(edges[0]))[0])
        claims = [claim for fitted in fits for claim in _claims(fitted, each)]
        limits.append(limits_of_ratios([strata for strata, _ in claims], [wider for _, wider in claims]))
    changes = compared_ratios(limits[0], limits[1], len(edges[0]), level)
    found = []
    for one, other, change in zip(*edges, changes, strict=True):
        z, x = one.influencer, one.target
        there = z in first.influencers_[x], z in second.influencers_[x]
        found.append(EdgeDifference(z, x, *there, one, other, change))
    return tuple(sorted(found, key=lambda edge: (edge.change.adjusted, edge.change.p_value, edge.target)))


def _claims(fitted: Fitted, level: float) -> Iterator[tuple[Strata, float]]:
    """What is compared for each influence, and how much wider its interval is because sequences differ."""
    for column, outcome, found in fitted.contrasts():
        if fitted.influencers[column] not in fitted.given and fitted.clusters is not None:
            clusters = fitted.clusters.edge(column, outcome)
            wider = robust_widening(rate_ratio(found.strata, level), found.strata, *clusters, level)
            yield found.strata, wider or 1.0


# ---------------------------------------------------------------------- each group and all others


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
    labels = [{each.label: each for each in one.labels} for one in comparisons]
    shares = [GroupShare(x, names[0], of.reach_first, of.rate_first) for x, of in labels[0].items() if two]
    shares += [
        GroupShare(x, name, one[x].reach_second, one[x].rate_second)
        for name, one in zip(compared, labels, strict=True)
        for x in one
    ]
    return SeveralGroups(
        by=column,
        names=tuple(names),
        sizes=tuple(sizes[name] for name in names),
        left_out={name: size for name, size in sizes.items() if name not in names},
        shares=tuple(sorted(shares, key=lambda one: list(labels[0]).index(one.label))),
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
