"""Models learned again under many weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from summarkov.engines import Replicates
from summarkov.models.model import SummaryModel, resolve_target, search_together
from summarkov.search import SearchResult
from summarkov.summaries import Summary


def learn_replicates(
    models: Sequence[SummaryModel],
    source: Replicates,
    summary: Summary,
    on_done: Callable[[int], None] | None = None,
) -> list[list[SearchResult]]:
    """What each model, all of one summary, would find in each replicate: ``[model][replicate]``."""
    n_events = (source.label_counts.sum(axis=1) / source.scale).tolist()
    problems = [
        model.make_problem(
            source.labels, resolve_target(model.target, source.labels), summary, n_events[0], source.scale
        )
        for model in models
    ]
    return search_together(models, source, problems, n_events, on_done)
