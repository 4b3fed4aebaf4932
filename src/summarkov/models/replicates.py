"""Models learned again under many weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from summarkov.engines import Replicates
from summarkov.models.model import SummaryModel, resolve_target
from summarkov.search import Batch, SearchResult, run_searches
from summarkov.summaries import Summary


def learn_replicates(
    models: Sequence[SummaryModel],
    source: Replicates,
    summary: Summary,
    on_done: Callable[[int], None] | None = None,
) -> list[list[SearchResult]]:
    """What each model, all of one summary, would find in each replicate: ``[model][replicate]``."""
    n_events = (source.label_counts.sum(axis=1) / source.scale).tolist()
    searches = []
    for model in models:
        target = resolve_target(model.target, source.labels)
        problem = model.make_problem(source.labels, target, summary, n_events[0], source.scale)
        searches.append(model.make_searches(Batch(problem, n_events)))
    return run_searches(source, searches, on_done)
