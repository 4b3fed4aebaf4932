"""Groups of sequences, two of them or each and all others: which labels and edges differ, and how surely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from summarkov.engines import Bootstrap, Counting, MemorySource, StateCounts, StatesRequest
from summarkov.errors import DataError, SettingError
from summarkov.events import END, EventSequences
from summarkov.events.sequences import join_events
from summarkov.evidence import (
    Contrast,
    EdgeDifference,
    GroupComparison,
    GroupShare,
    Influence,
    LabelDifference,
    SeveralGroups,
    contrasts_in_table,
    influence_of,
    rate_ratio,
    widening,
)
from summarkov.evidence.groups import compared_rates, compared_ratios, limits_of_ratios, limits_of_shares
from summarkov.models.graph import InfluenceGraph
from summarkov.models.model import SummaryModel
from summarkov.read import read_events
from summarkov.read.case_attributes import ranked
from summarkov.settings import MOST_REPLICATES, Progress, check_level, check_seed, check_whole, reporter
from summarkov.typing import FloatArray

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
    n: int = 200,
    random_state: int = 0,
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
    its kind; it differs surely if 1 lies outside. The intervals of edges are as wide as ``n`` resampled
    groups spread, because sequences differ, and never narrower than from counts.

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
    n : int
        How many resampled groups.
    random_state, level, n_jobs, progress
        As for :meth:`InfluenceGraph.confidence`.

    Returns
    -------
    GroupComparison
        With ``labels``, ``edges``, ``differing_labels()`` and ``differing()``; with ``by`` one for each group
        (``SeveralGroups``), and how often each label is in every group.

    >>> from summarkov import BSuMM
    >>> before, after = [["A", "B", "C"] * 5] * 30, [["A", "C", "B"] * 5] * 30
    >>> found = compare_groups(BSuMM(lookback=1, candidates=["A"]), before, after, targets=["B"], n=50)
    >>> [(edge.influencer, edge.first.effect, edge.second.effect) for edge in found.differing()]
    [('A', 'amplifies', 'inhibits')]
    >>> len(found.differing_labels())  # B is as frequent in both
    0
    >>> found = compare_groups(
    ...     BSuMM(lookback=1, candidates=["A"]),
    ...     before + after,
    ...     by=["old"] * 30 + ["new"] * 30,
    ...     targets=["B"],
    ...     n=50,
    ... )
    >>> found.names, [len(edges) for edges in found.differing().values()]
    (('new', 'old'), [1])
    """
    if (by is None) == (second is None):
        raise SettingError("give the events of two groups, or those of all groups and by=")
    if by is not None:
        settings = {"n": n, "random_state": random_state, "n_jobs": n_jobs}
        return _compare_by(
            model, first, by, targets=targets, level=level, progress=progress, settings=settings
        )
    seed, tell = check_seed(random_state), reporter(progress)
    check_whole("n", n, 2, MOST_REPLICATES)
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
    groups = [read_events(events) for events in (first, second)]
    groups = [events[_weights(events) > 0] for events in groups]
    if not all(events.complete.any() for events in groups):  # of one it is not known how cases end
        groups = [events.with_ends("cut off") for events in groups]
    counted = [events[events.lengths > 0] for events in groups]
    if any(len(events) < 2 for events in counted):
        raise DataError("each group needs at least two sequences that are not empty, nor of weight 0")
    both = join_events(counted, named=False)
    cut = len(counted[0])
    parts = slice(0, cut), slice(cut, None)
    sources, graphs = [], []
    for done, part in enumerate((*parts, slice(None))):
        sources.append(MemorySource(both[part], sample_weight=both[part].weights, n_jobs=n_jobs))
        graphs.append(InfluenceGraph(model, targets=targets, n_jobs=n_jobs).fit(sources[-1]))
        tell(done + 1, 5)
    sizes, chosen = (len(groups[0]), len(groups[1])), list(graphs[0].models_)
    totals = [float(_weights(events).sum()) for events in groups]  # empty sequences, too
    occurring = [label for label in chosen if label != END]
    labels = _label_differences([both[part] for part in parts], totals, occurring, level)
    edges = _edge_differences(graphs, sources[:2], (int(n), int(seed)), level, tell)
    return GroupComparison((names[0], names[1]), int(n), int(seed), float(level), sizes, labels, edges)


def _counts(events: EventSequences, labels: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """How often each of these labels occurs in each sequence, weighted, and how long that is, weighted."""
    weight, counts = _weights(events), np.zeros((len(events), len(events.labels)))
    np.add.at(counts, (np.repeat(np.arange(len(events)), events.lengths), events.codes), 1)
    chosen = [events.labels.index(label) for label in labels]
    return weight[:, None] * counts[:, chosen], weight * events.lengths


def _label_differences(
    groups: Sequence[EventSequences], weights: Sequence[float], chosen: Sequence[str], level: float
) -> tuple[LabelDifference, ...]:
    """How chosen labels differ: the sequences that they reach, and their share of events.

    ``groups`` are the sequences with events, and ``weights`` those of all sequences of each group together.
    """
    counted = [_counts(events, chosen) for events in groups]
    reached = [_weights(events) @ (hits > 0) for events, (hits, _) in zip(groups, counted, strict=True)]
    totals = [np.full(len(chosen), weight) for weight in weights]
    reach = compared_rates(reached, totals, level)
    first, second = (limits_of_shares(*each) for each in counted)
    rate = compared_ratios(first, second, len(chosen), level)
    reaches = [(hits / n).tolist() for hits, n in zip(reached, totals, strict=True)]
    rates = [(hits.sum(axis=0) / n.sum()).tolist() for hits, n in counted]
    found = map(LabelDifference, chosen, *reaches, reach, *rates, rate)
    return tuple(sorted(found, key=lambda one: (min(one.reach.adjusted, one.rate.adjusted), one.label)))


def _weights(events: EventSequences) -> FloatArray:
    return np.ones(len(events)) if events.weights is None else events.weights


def _compare_by(
    model: SummaryModel,
    events: Any,
    by: str | Sequence[str],
    *,
    targets: Iterable[str] | None,
    level: float,
    progress: Progress,
    settings: dict[str, Any],
) -> SeveralGroups:
    """Compare each group with all others."""
    check_level("level", level)
    events = read_events(events)
    column, groups = _groups(events, by)
    sizes = {name: int(np.count_nonzero(groups == name)) for name in ranked(set(groups.tolist()))}
    filled = {name: int(np.count_nonzero((groups == name) & (events.lengths > 0))) for name in sizes}
    names = [name for name in sizes if filled[name] >= 2]
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
    plain = events.with_attributes(None if held is None else held.without(column))
    tell = reporter(progress)
    compared = names[1:] if len(sizes) == 2 and len(names) == 2 else names
    comparisons = []
    for done, name in enumerate(compared):
        here = groups == name
        others = names[0] if compared is not names else "others"
        one = compare_groups(
            model,
            plain[~here],
            plain[here],
            names=(others, name),
            targets=targets,
            level=1 - (1 - level) / len(compared),
            **settings,
        )
        comparisons.append(one)
        tell(done + 1, len(compared))
    labels = [{each.label: each for each in one.labels} for one in comparisons]
    shares = [
        GroupShare(x, name, labels[at][x].reach_second, labels[at][x].rate_second)
        if name in compared
        else GroupShare(x, name, labels[0][x].reach_first, labels[0][x].rate_first)
        for x in labels[0]
        for at, name in enumerate(names, len(compared) - len(names))
    ]
    return SeveralGroups(
        column,
        tuple(names),
        tuple(sizes[name] for name in names),
        {name: size for name, size in sizes.items() if name not in names},
        tuple(shares),
        tuple(comparisons),
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


# ---------------------------------------------------------------------- edges


def _edge_differences(
    graphs: Sequence[InfluenceGraph],
    sources: Sequence[MemorySource],
    draws: tuple[int, int],
    level: float,
    tell: Callable[[int, int], None],
) -> tuple[EdgeDifference, ...]:
    """How the edges of three graphs, of either group and of both, differ between the groups.

    Each is compared beside all influencers that any graph gives its target.
    """
    labels = graphs[0].labels_
    targets = {model.fitted.target.codes[0]: model.fitted.target for model in graphs[0].models_.values()}
    sets = {
        x: tuple(sorted({z for graph in graphs for z in graph.models_[labels[x]].fitted.influencers}))
        for x in targets
    }
    sets = {x: u for x, u in sets.items() if u}
    names = [(labels[z], labels[x], [labels[v] for v in u if v != z]) for x, u in sets.items() for z in u]
    summary = graphs[0].model.make_summary()
    requests = [StatesRequest(summary, u, targets[x]) for x, u in sets.items()]

    def contrasts(source: Counting) -> list[Contrast]:
        tables = (table for table in source.count(requests) if isinstance(table, StateCounts))
        return [one for table in tables for _, _, one in contrasts_in_table(table, source.scale, 1)]

    influences: list[list[Influence]] = []
    limits = []
    for at, source in enumerate(sources):
        found, drawn = contrasts(source), contrasts(source.replicated(Bootstrap(draws[0], draws[1] + at)))
        wider = [
            float(widening(rate_ratio(one.strata), many.strata.ratio()))
            for one, many in zip(found, drawn, strict=True)
        ]
        each = zip(names, found, wider, strict=True)
        influences.append([influence_of(z, x, one, us, None, wider=k) for (z, x, us), one, k in each])
        limits.append(limits_of_ratios([one.strata for one in found], wider))
        tell(4 + at, 5)
    changes = compared_ratios(limits[0], limits[1], len(names), level)
    one, two, _ = graphs
    edges = [
        EdgeDifference(z, x, z in one.influencers_[x], z in two.influencers_[x], first, second, change)
        for (z, x, _), first, second, change in zip(names, *influences, changes, strict=True)
    ]
    return tuple(sorted(edges, key=lambda edge: (edge.change.adjusted, edge.change.p_value, edge.target)))
