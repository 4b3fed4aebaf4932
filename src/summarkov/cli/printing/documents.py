"""Models and graphs as JSON for programs; what they hold beyond the model file is worked out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from summarkov.cli.printing.settings import settings

if TYPE_CHECKING:
    from summarkov.explain import Influence
    from summarkov.models import InfluenceGraph, SummaryModel


def graph_document(graph: InfluenceGraph) -> dict[str, Any]:
    """A graph: its edges and, for every target, what was found."""
    from summarkov.models.stored_results import confidence_document, order_document

    first = next(iter(graph.models_.values()))
    return {
        "kind": "InfluenceGraph",
        **_origin(first),
        "edges": edge_documents(graph.edges_),
        "targets": [
            {
                "target": x,
                "influencers": list(model.influencers_),
                **_lookbacks(model),
                "base_rate": model.base_rates_[0],
                "score": model.score_,
                "log_likelihood": model.log_likelihood_,
                **_certificate(model),
            }
            for x, model in graph.models_.items()
        ],
        **({"confidence": confidence_document(graph.confidence_)} if graph.confidence_ else {}),
        **({"order": order_document(graph.order_)} if graph.order_ else {}),
    }


def model_document(model: SummaryModel) -> dict[str, Any]:
    """One model, with the table of its states and the trace of its search.

    The outcome that stands for all other labels has the label null.
    """
    outcomes = [x if isinstance(x, str) else None for x in model.outcomes_]
    return {
        "kind": type(model).__name__,
        **_origin(model),
        "target": list(model.target_),
        "influencers": list(model.influencers_),
        **_lookbacks(model),
        "base_rates": list(model.base_rates_),
        "score": model.score_,
        "log_likelihood": model.log_likelihood_,
        "edges": edge_documents(model.influences_),
        "patterns": [dict(vars(pattern)) for pattern in model.patterns_],
        "states": [
            {
                "state": row.state,
                "words": row.words,
                "n": row.n,
                "seen": row.seen,
                "outcomes": [
                    {"label": x, "n": n, "probability": p, "low": low, "high": high}
                    for x, n, p, (low, high) in zip(
                        outcomes, row.counts, row.probabilities, row.intervals, strict=True
                    )
                ],
            }
            for row in model.table_
        ],
        "trace": [dict(vars(step)) for step in model.trace_],
        **_certificate(model),
    }


def _lookbacks(model: SummaryModel) -> dict[str, Any]:
    """The look-back of each influencer, where each may have its own; null is the whole past."""
    found = getattr(model, "lookbacks_", None)
    return {} if found is None else {"lookbacks": found}


def _certificate(model: SummaryModel) -> dict[str, Any]:
    """What an exact search proved; nothing of other searches."""
    found = model.trace_.certificate
    return {} if found is None else {"certificate": {**vars(found), "is_optimal": found.is_optimal}}


def _origin(model: SummaryModel) -> dict[str, Any]:
    """What a model was learned from: ``positions`` are ticks, where events happened together."""
    fitted = model.fitted
    counts = dict(zip(fitted.labels, (fitted.label_counts / fitted.scale).tolist(), strict=True))
    held = {name: counts.pop(name) for name in fitted.layout.attributes}
    return {
        "model": type(model).__name__,
        "settings": settings(model),
        "data": {
            "sequences": fitted.n_sequences,
            "events": sum(counts.values()),
            **({"positions": fitted.n_events} if fitted.layout.together else {}),
            "labels": counts,
            **({"attributes": held} if held else {}),
        },
    }


def edge_documents(edges: Iterable[Influence]) -> list[dict[str, Any]]:
    """Edges in the order in which they are printed."""
    return [
        {
            **vars(edge),
            "rate_with": edge.rate_with,
            "rate_without": edge.rate_without,
            "is_thin": edge.is_thin,
            "is_reversed": edge.is_reversed,
        }
        for edge in edges
    ]
