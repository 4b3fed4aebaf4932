"""Models learned together: every pass over the data serves all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from summarkov.engines import EventSource, Layout, StateCounts, StatesRequest
from summarkov.engines.followings import Asked, Clustered, block_of, count_followed, sum_clusters
from summarkov.engines.source import GrowingCounts
from summarkov.errors import DataError, SettingError
from summarkov.events.vocabulary import END
from summarkov.evidence import contrasts_in_table, presence
from summarkov.kernels import ClusterValues
from summarkov.models.parameters import resolve_target
from summarkov.search import Problem, Scorer, SearchResult
from summarkov.search.problem import Ask, Done
from summarkov.settings import Duration, Progress, reporter, untold
from summarkov.summaries import BinarySummary, Summary, TreeSummary, WindowSummary
from summarkov.typing import FloatArray
from summarkov.wording import with_attributes

if TYPE_CHECKING:
    from summarkov.engines.replicates import ReplicatedSource
    from summarkov.models.fitted import Fitted
    from summarkov.models.model import SummaryModel

#: Bytes that the tables of all targets which are searched together may take, about.
TABLES_BYTES = 256 << 20


def learn(models: Sequence[SummaryModel], source: EventSource, on_done: Done = untold) -> None:
    """Fit models all together: every pass over the data serves all of them.

    What models of equal summaries ask for is counted once.
    """
    n_events = source.n_positions / source.scale
    ends = source.label_counts[source.labels.index(END)] / source.scale if END in source.labels else 0
    if n_events == ends:
        raise DataError("there are no events to learn from; the sequences are all empty or have weight 0")
    if n_events < 2 and source.scale > 1:
        raise SettingError(
            f"the events weigh {n_events:g} together, and no penalty for complexity can be told from fewer "
            "than 2 events; scale sample_weight up, such as to a mean of 1"
        )
    problems = _problems(models, source, n_events)
    found = _search(models, GrowingCounts(source).count, problems, on_done)
    layout = Layout.of(source)
    fitted: list[Fitted] = []
    for model, problem, result in zip(models, problems, found, strict=True):
        of_model = layout if model.durations(problem.summary) else layout._replace(time=None)
        sizes = {"n_sequences": source.n_sequences, "label_counts": source.label_counts}
        settings = model.get_params(deep=False)
        fitted.append(model.fitted_type.of(problem, result, settings, of_model, **sizes))
    followed = count_followed(source, [_asked(one) for one in fitted])
    moments = _count_moments(source, fitted)
    clusters = sum_clusters(source, [_clustered(one) for one in fitted])
    for at, model in enumerate(models):
        model._fitted = replace(fitted[at], followed=followed[at], moments=moments[at], clusters=clusters[at])


def best_scores(models: Sequence[SummaryModel], source: EventSource) -> list[float]:
    """The score that each model would find, and nothing else of it."""
    problems = _problems(models, source, source.n_positions / source.scale)
    return [each.score for each in _search(models, GrowingCounts(source).count, problems, untold)]


def _problems(
    models: Sequence[SummaryModel],
    source: EventSource,
    n_events: float,
    n_targets: int | None = None,
) -> list[Problem]:
    """The search of each model; ``n_targets`` are learned together, as many as they have unless told."""
    layout = Layout.of(source)
    counted = Scorer(), with_attributes(source.labels, layout.attributes), n_events, source.scale, (), ()
    targets = [resolve_target(model.target, source.labels, layout) for model in models]
    n_targets = n_targets or len(set(targets))
    return [
        model.make_problem(Problem(summary, target, *counted, n_targets=n_targets))
        for model, target, summary in zip(models, targets, _summaries(models, layout), strict=True)
    ]


def _summaries(models: Sequence[SummaryModel], layout: Layout) -> list[Summary]:
    """The summary of each model, one object for all that are equal; what the data lack is refused."""
    distinct: list[Summary] = []
    found = []
    for model in models:
        summary = for_layout(model.make_summary(), layout)
        check_layout(model, summary, layout)
        if summary not in distinct:
            distinct.append(summary)
        found.append(distinct[distinct.index(summary)])
    return found


def for_layout(summary: Summary, layout: Layout) -> Summary:
    """A summary that looks at whole ticks, and at attributes, where the data have any."""
    if isinstance(summary, WindowSummary) and (layout.together or layout.attributes):
        return replace(summary, together=True)
    return summary


def check_layout(model: SummaryModel, summary: Summary, layout: Layout) -> None:
    """Refuse a model that needs what the data do not have, or cannot tell what they have."""
    if not summary.takes_ticks:
        check_in_a_row(type(model).__name__, layout)
    for duration in model.durations(summary):
        check_time("look-back or delay", duration, layout)


def check_time(setting: str, duration: Duration, layout: Layout) -> None:
    """Refuse a time where events have none, or have times of another kind."""
    if layout.time is None:
        raise SettingError(
            f"{setting} {duration.text} is a time, and these events have no times; read them "
            "with order_by=, the column of their times, and times=True, or give a number of positions"
        )
    if (layout.time == "clock") != duration.is_clock:
        there = "dates and times" if layout.time == "clock" else "numbers"
        write = "'6h' or '7 days'" if layout.time == "clock" else "'7 units'"
        raise SettingError(f"{setting} {duration.text}: these events have {there}; write {write}")


def check_in_a_row(kind: str, layout: Layout) -> None:
    """Refuse ticks and attributes, for what can tell of events in a row alone."""
    if layout.together:
        raise SettingError(
            f"{kind} looks at events in a row, and some of these happened together; use BSuMM, OSuMM, "
            "CSuMM or TreeSuMM, or read the events with ties='in row order'"
        )
    if layout.attributes:
        raise SettingError(
            f"{kind} looks at events alone, and these have attributes; use BSuMM, OSuMM, CSuMM or TreeSuMM, "
            "or read the events without attributes"
        )


def _count_moments(source: EventSource, fitted: Sequence[Fitted]) -> list[FloatArray | None]:
    """How often the targets of trees followed with each influencer and without, over all positions.

    What other models have in their tables, a tree knows only of the branches where it asks.
    """
    trees = [one if isinstance(one.summary, TreeSummary) and one.influencers else None for one in fitted]
    requests = [
        StatesRequest(for_layout(BinarySummary(window, only=True), tree.layout), (z,), tree.target)
        for tree in trees
        if tree is not None
        for z in tree.influencers
        for window in [{tree.labels[z]: tree.reach(tree.labels[z]).lookback}]
    ]
    tables = iter(source.count(requests) if requests else ())

    def totals(tree: Fitted) -> FloatArray:
        each, n_labels = [], len(tree.target.codes)
        for table in itertools.islice(tables, len(tree.influencers)):
            assert isinstance(table, StateCounts)
            each += [found.totals for *_, found in contrasts_in_table(table, source.scale, n_labels)]
        return np.reshape(each, (-1, n_labels, 4))

    return [None if tree is None else totals(tree) for tree in trees]


def _clustered(fitted: Fitted) -> Clustered | None:
    """What to add up over sequences to know how much they move the ratios; None where nothing is told.

    An outcome has one position in each sequence, so there is nothing to add up.
    """
    asked, summary = _asked(fitted), fitted.summary
    if not asked.influencers or fitted.layout.outcomes:
        return None
    keys = presence(fitted.table).keys if summary.by_level else fitted.table.keys
    shape = len(keys), len(asked.labels), len(asked.influencers)
    base, hit, present = np.zeros(shape), np.zeros(shape), np.zeros((shape[0], shape[2]), np.int32)
    for column, outcome, found in fitted.contrasts():
        base[:, outcome, column], hit[:, outcome, column] = found.added()
        present[:, column] = np.where(found.stratum >= 0, found.here, -1)
    of_events = [
        window
        for z, window in zip(asked.influencers, asked.windows, strict=True)
        if fitted.labels[z] not in fitted.layout.attributes
    ]
    values = ClusterValues(keys if summary.by_level else present, base, hit, block_of(of_events))
    return Clustered(fitted.request, asked, keys, values)


def _asked(fitted: Fitted) -> Asked:
    """The influencers with their windows, where edges are told of a model."""
    chosen = fitted.influencers if fitted.summary.by_label else ()
    windows = tuple(fitted.reach(fitted.labels[z]) for z in chosen)
    return Asked(chosen, windows, fitted.target.codes)


def learn_replicates(
    models: Sequence[SummaryModel],
    source: ReplicatedSource,
    n_targets: int,
    on_done: Done = untold,
) -> list[list[SearchResult]]:
    """What each model, all of one kind, would find in each replicate: ``[model][replicate]``.

    ``n_targets`` is with how many targets together the models were learned from the data themselves.
    """
    n_events = (source.n_positions / source.source.scale).tolist()
    problems = [
        replace(problem, n_events=n, replicate=b)
        for problem in _problems(models, source.source, n_events[0], n_targets)
        for b, n in enumerate(n_events)
    ]
    each = [model for model in models for _ in n_events]
    found, n_each = _search(each, source.count, problems, on_done), len(n_events)
    return [found[first : first + n_each] for first in range(0, len(found), n_each)]


def progress_counter(progress: Progress, total: int) -> Done:
    """A function to call with how many more are done, which tells ``progress`` how many of all are."""
    done, tell = 0, reporter(progress)

    def on_done(more: int) -> None:
        nonlocal done
        done += more
        if more:
            tell(done, total)

    return on_done


def _search(
    models: Sequence[SummaryModel], ask: Ask, problems: Sequence[Problem], on_done: Done
) -> list[SearchResult]:
    """Solve the problem of each model."""
    results: list[SearchResult] = []
    for run in together(problems):
        for search, some in itertools.groupby(run, lambda at: models[at].make_search(problems[at])):
            results += search([problems[at] for at in some], ask, on_done)
    return results


def together(problems: Sequence[Problem]) -> Iterator[range]:
    """Runs of problems whose tables may be in memory at once; with up to some 1,400 labels that is all."""
    start, held = 0, 0
    for at, problem in enumerate(problems):
        if at > start and held + problem.bytes_held > TABLES_BYTES:
            yield range(start, at)
            start, held = at, 0
        held += problem.bytes_held
    yield range(start, len(problems))
