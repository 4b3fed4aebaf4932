"""Whatever was learned as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from summarkov.errors import UnknownLabelError
from summarkov.wording import END

if TYPE_CHECKING:
    from summarkov.evidence import Influence
    from summarkov.models import InfluenceGraph, JointSuMM, OutcomeModel, SummaryModel

#: Settings that may be several to choose from, in their order.
CHOICES = ("lookback", "lookbacks", "counts", "starts")
#: What is derived of an edge, beside its fields.
_DERIVED = (
    *("rate_with", "rate_without", "precedence", "leads_with_cases", "directions_differ"),
    *("is_thin", "is_reversed", "is_raw", "set_aside"),
)


def is_a(model: Any, kind: str) -> bool:
    """Whether what was loaded is of a class of models, which need not be imported before."""
    from summarkov import models

    return isinstance(model, getattr(models, kind))


def choose(fitted: Any, target: str | None) -> tuple[Any, str | None]:
    """The model to show (None: the whole graph, or a joint model), and the one label of it to show."""
    several, joint = is_a(fitted, "InfluenceGraph"), is_a(fitted, "JointSuMM")
    known = fitted.models_ if several else fitted.influencers_ if joint else fitted.target_
    if target is not None and target not in known:
        raise UnknownLabelError(target, known)
    if several:
        return (None if target is None else fitted.models_[target]), None
    return (None if joint else fitted), target


def document(fitted: Any, target: str | None = None) -> dict[str, Any]:
    """Whatever was learned; of a graph the model of one label, if that is named."""
    if is_a(fitted, "OutcomeModel"):
        return outcome_document(fitted)
    one, only = choose(fitted, target)
    if one is not None:
        return _model(one)
    return _joint(fitted, only) if is_a(fitted, "JointSuMM") else _graph(fitted)


def settings(model: SummaryModel | JointSuMM) -> dict[str, Any]:
    """The settings as plain values, without the target and what belongs to this machine only."""

    def plain(name: str, value: Any) -> Any:
        if name in CHOICES and isinstance(value, tuple):
            return list(value)
        if isinstance(value, Mapping):
            return dict(value)
        return value if value is None or isinstance(value, str | int | float) else sorted(value)

    given = model.get_params(deep=False).items()
    return {name: plain(name, value) for name, value in given if name not in ("target", "n_jobs", "summary")}


def _edges(edges: Iterable[Influence]) -> list[dict[str, Any]]:
    """Edges in the order in which they are printed."""
    return [{**vars(edge), **{name: getattr(edge, name) for name in _DERIVED}} for edge in edges]


def _found(model: SummaryModel) -> dict[str, Any]:
    """What was found for a target: influencers, their look-backs where each has its own, and scores."""
    lookbacks = getattr(model, "lookbacks_", None)
    return {
        "influencers": list(model.influencers_),
        **({} if lookbacks is None else {"lookbacks": lookbacks}),
        "score": model.score_,
        "log_likelihood": model.log_likelihood_,
    }


def _certificate(model: SummaryModel) -> dict[str, Any]:
    """What an exact search proved; nothing of other searches."""
    found = model.trace_.certificate
    return {} if found is None else {"certificate": {**vars(found), "is_optimal": found.is_optimal}}


def _graph(graph: InfluenceGraph) -> dict[str, Any]:
    """A graph: its edges and, for every target, what was found."""
    from summarkov.models.files import confidence_document, order_document

    models = graph.models_
    return {
        "kind": "InfluenceGraph",
        **_origin(next(iter(models.values()))),
        "edges": _edges(graph.edges_),
        "targets": [
            {"target": x, **_found(model), "base_rate": model.base_rates_[0], **_certificate(model)}
            for x, model in models.items()
        ],
        **({"confidence": confidence_document(graph.confidence_)} if graph.confidence_ else {}),
        **({"order": order_document(graph.order_)} if graph.order_ else {}),
    }


def _model(model: SummaryModel) -> dict[str, Any]:
    """One model, with the table of its states and the trace of its search.

    The outcome that stands for all other labels has the label null.
    """
    outcomes = [x if isinstance(x, str) else None for x in model.outcomes_]

    def numbers(row: Any) -> list[dict[str, Any]]:
        each = zip(outcomes, row.counts, row.probabilities, row.intervals, strict=True)
        return [
            {"label": x, "n": n, "probability": p, "low": low, "high": high} for x, n, p, (low, high) in each
        ]

    return {
        "kind": type(model).__name__,
        **_origin(model),
        "target": list(model.target_),
        **_found(model),
        "base_rates": list(model.base_rates_),
        "edges": _edges(model.influences_),
        "patterns": [dict(vars(pattern)) for pattern in model.patterns_],
        "states": [
            {"state": row.state, "words": row.words, "n": row.n, "seen": row.seen, "outcomes": numbers(row)}
            for row in model.table_
        ],
        "trace": [dict(vars(step)) for step in model.trace_],
        **_certificate(model),
    }


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
            "events": sum(n for label, n in counts.items() if label != END),
            **({"positions": fitted.n_events} if fitted.layout.together or END in counts else {}),
            "labels": counts,
            **({"attributes": held} if held else {}),
        },
    }


def _joint(model: JointSuMM, target: str | None) -> dict[str, Any]:
    """A joint model: its edges and, for every target, influencers, gains and factors by lag."""
    fitted = model.fitted
    counts = dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True))
    events = sum(n for label, n in counts.items() if label != END)

    def recency(x: str) -> dict[str, Any]:
        return {
            z: {str(lag): each for lag, each in by_lag.items()} for z, by_lag in model.recency_[x].items()
        }

    return {
        "kind": "JointSuMM",
        "settings": settings(model),
        "data": {"sequences": fitted.n_sequences, "events": events, "labels": counts},
        "log_likelihood": fitted.log_likelihood,
        "edges": _edges(edge for edge in model.edges_ if target in (None, edge.target)),
        "targets": [
            {"target": x, "influencers": list(found), "gains": model.gains_[x], "recency": recency(x)}
            for x, found in model.influencers_.items()
            if target in (None, x)
        ],
    }


def outcome_document(model: OutcomeModel, **tests: Any) -> dict[str, Any]:
    """What was learned about an outcome, and what the order test and the confidence say."""
    return {
        "outcome": model.name_,
        "after": model.after,
        "cases": model.model_.fitted.n_sequences,
        "left_out": model.left_out_,
        "base_rate": model.base_rate_,
        "overall_rate": model.overall_rate_,
        "notices": notices(model),
        "settings": settings(model.model_),
        "influencers": list(model.influencers_),
        "influences": [dict(vars(edge)) for edge in model.influences_],
        "states": [
            {"state": row.words, "cases": row.n, "with_outcome": row.counts[model.yes]}
            for row in model.table_
        ],
        **{name: asdict(each) for name, each in tests.items() if each is not None},
    }


def notices(model: OutcomeModel) -> list[str]:
    """What to know before reading on, in words of the command line."""
    from summarkov.models.outcome import notice

    return [notice(edge, is_option=True) for edge in model.determining_]


def explanation_document(explanation: Any) -> dict[str, Any]:
    """An explanation; that of a joint model has no interval."""

    def with_bounds(values: dict[str, Any]) -> dict[str, Any]:
        low, high = values.pop("interval")
        return {**values, "low": low, "high": high}

    values: dict[str, Any] = explanation.to_dict()
    if "interval" not in values:
        return values
    if values["moment"] is None:  # only open cases have one
        for each in (values, *values["counterfactuals"]):
            del each["is_nearby"]
        del values["moment"]
    values["counterfactuals"] = [with_bounds(each) for each in values["counterfactuals"]]
    return {"label": values.pop("target"), **with_bounds(values)}


def history_document(history: Any) -> dict[str, Any]:
    """A history: labels, or lists of labels that happened together."""
    if isinstance(history, list):
        return {"after": history}
    (past,) = history.to_lists()
    given = history.attributes
    held = {} if given is None else {"attributes": [given.names[at] for at in given.present[0].nonzero()[0]]}
    return {"case": history.ids[0], "after": past, **held}
