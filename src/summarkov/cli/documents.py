"""Whatever was learned as JSON for programs: records with their fields, and what is derived of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from summarkov.errors import UnknownLabelError
from summarkov.wording import END

if TYPE_CHECKING:
    from summarkov.models import JointSuMM, OutcomeModel, SummaryModel


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
        return {
            "kind": type(one).__name__,
            **_origin(one),
            "target": one.target_,
            **_found(one),
            "base_rates": one.base_rates_,
            "edges": one.influences_,
            "patterns": one.patterns_,
            "outcomes": [x if isinstance(x, str) else None for x in one.outcomes_],  # null: all other labels
            "states": one.table_,
            "trace": one.trace_,
        }
    if is_a(fitted, "JointSuMM"):
        return _joint(fitted, only)
    from summarkov.models.files import order_document

    models = fitted.models_
    return {
        "kind": "InfluenceGraph",
        **_origin(next(iter(models.values()))),
        "edges": fitted.edges_,
        "targets": [
            {"target": x, **_found(model), "base_rate": model.base_rates_[0]} for x, model in models.items()
        ],
        **({"confidence": fitted.confidence_} if fitted.confidence_ else {}),
        **({"order": order_document(fitted.order_)} if fitted.order_ else {}),
    }


def settings(model: SummaryModel | JointSuMM) -> Mapping[str, Any]:
    """The settings, without the target and what belongs to this machine only."""
    given = model.get_params(deep=False).items()
    return {name: value for name, value in given if name not in ("target", "n_jobs", "summary")}


def _found(model: SummaryModel) -> dict[str, Any]:
    """What was found for a target: influencers, scores, and what an exact search proved."""
    lookbacks, proved = getattr(model, "lookbacks_", None), model.trace_.certificate
    return {
        "influencers": model.influencers_,
        **({} if lookbacks is None else {"lookbacks": lookbacks}),
        "score": model.score_,
        "log_likelihood": model.log_likelihood_,
        **({} if proved is None else {"certificate": {**vars(proved), "is_optimal": proved.is_optimal}}),
    }


def _origin(model: Any) -> dict[str, Any]:
    """What a model was learned from: ``positions`` are ticks, where events happened together."""
    fitted = model.fitted
    layout = getattr(fitted, "layout", None)  # a joint model knows events in a row only
    counts = dict(
        zip(fitted.labels, (fitted.label_counts / getattr(fitted, "scale", 1)).tolist(), strict=True)
    )
    held = {} if layout is None else {name: counts.pop(name) for name in layout.attributes}
    has_positions = layout is not None and (layout.together or END in counts)
    return {
        "model": type(model).__name__,
        "settings": settings(model),
        "data": {
            "sequences": fitted.n_sequences,
            "events": sum(n for label, n in counts.items() if label != END),
            **({"positions": fitted.n_events} if has_positions else {}),
            "labels": counts,
            **({"attributes": held} if held else {}),
        },
    }


def _joint(model: JointSuMM, target: str | None) -> dict[str, Any]:
    """A joint model: its edges and, for every target, influencers, gains and factors by lag."""
    return {
        "kind": "JointSuMM",
        **_origin(model),
        "log_likelihood": model.fitted.log_likelihood,
        "edges": [edge for edge in model.edges_ if target in (None, edge.target)],
        "targets": [
            {"target": x, "influencers": found, "gains": model.gains_[x], "recency": model.recency_[x]}
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
        "influencers": model.influencers_,
        "influences": model.influences_,
        "states": [
            {"state": row.words, "cases": row.n, "with_outcome": row.counts[model.yes]}
            for row in model.table_
        ],
        **{name: each for name, each in tests.items() if each is not None},
    }


def notices(model: OutcomeModel) -> list[str]:
    """What to know before reading on, in words of the command line."""
    from summarkov.models.outcome import notice

    return [notice(edge, is_option=True) for edge in model.determining_]


def history_document(history: Any) -> dict[str, Any]:
    """A history: labels, or lists of labels that happened together."""
    if isinstance(history, list):
        return {"after": history}
    (past,) = history.to_lists()
    given = history.attributes
    held = {} if given is None else {"attributes": [given.names[at] for at in given.present[0].nonzero()[0]]}
    return {"case": history.ids[0], "after": past, **held}
