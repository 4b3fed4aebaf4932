"""Whatever was learned as JSON for programs, and its settings in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from summarkov.errors import UnknownLabelError
from summarkov.wording import END, plural, visible

if TYPE_CHECKING:
    from summarkov.cli.printing.graph import Sure
    from summarkov.explain import Influence
    from summarkov.models import InfluenceGraph, JointSuMM, OutcomeModel, SummaryModel
    from summarkov.models.fitted import Fitted

#: Settings that are told even where they have their default value, in this order.
_ALWAYS = (
    "order",
    "max_order",
    "lookback",
    "mask",
    "cap",
    "alpha",
    "gamma",
    "penalty",
    "rounds",
    "split",
    "criterion",
    "false_edges",
)
_NAMES = {"lookback": "look-back"}
#: Settings that may be several to choose from, in their order.
_CHOICES = ("lookback", "lookbacks", "counts", "starts")


def settings_words(model: SummaryModel | JointSuMM) -> str:
    """The kind of a model and the settings that made it.

    >>> from summarkov import BSuMM
    >>> settings_words(BSuMM(gamma=0.5, search="sweep"))
    'BSuMM: look-back 5, alpha 0.1, gamma 0.5, criterion bic, false edges 0.2, search sweep'
    """
    given = settings(model)
    defaults = {f.name: f.default for f in fields(model)}
    rest = [name for name in given if name not in _ALWAYS and not _is_default(given[name], defaults[name])]
    idle = {"split"} if given.get("average") is False else set()
    shown = [name for name in (*_ALWAYS, *rest) if name in given and name not in idle]
    return f"{type(model).__name__}: " + ", ".join(
        f"{_NAMES.get(name, name.replace('_', ' '))} "
        + (_choices if name in _CHOICES else _words)(given[name])
        for name in shown
    )


def positions_words(fitted: Fitted) -> str:
    """How many positions were counted: events, or ticks where events happened together."""
    ends = fitted.label_counts[fitted.labels.index(END)] if END in fitted.labels else 0
    n_ends = float(ends / fitted.scale)
    n_positions = fitted.n_events - n_ends
    if not fitted.layout.together:
        return plural(n_positions, "event")
    n_events = float(fitted.event_counts.sum() / fitted.scale) - n_ends
    return f"{plural(n_positions, 'tick')} of {plural(n_events, 'event')}"


def moments_words(fitted: Fitted) -> str:
    """How many moments were counted, at each of which something, or the end of the case, came next."""
    if END not in fitted.labels:
        return positions_words(fitted)
    return plural(fitted.n_events, "moment")


def labels_words(labels: Sequence[str], attributes: Sequence[str]) -> str:
    """How many event types there are, and how many values of attributes.

    >>> labels_words(["A", "B", "region=north"], ["region=north"])
    '2 event types and 1 value of attributes'
    """
    n_labels = plural(len(labels) - len(attributes) - (END in labels), "event type")
    if not attributes:
        return n_labels
    return f"{n_labels} and {plural(len(attributes), 'value')} of attributes"


def settings(model: SummaryModel | JointSuMM) -> dict[str, Any]:
    """The settings as plain values, without the target and what belongs to this machine only."""
    return {
        name: list(value) if name in _CHOICES and isinstance(value, tuple) else _plain(value)
        for name, value in model.get_params(deep=False).items()
        if name not in ("target", "n_jobs", "summary")
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return value if value is None or isinstance(value, str | int | float) else sorted(value)


def _is_default(value: Any, default: Any) -> bool:
    return bool(value == (list(default) if isinstance(default, tuple) else default))


def _choices(value: Any) -> str:
    """What a search chooses from, or the one that is given."""
    return " or ".join(map(_words, value)) or "none" if isinstance(value, list) else _words(value)


def _words(value: Any) -> str:
    if isinstance(value, str) and value[:1].isdigit():
        from summarkov.settings import Duration

        return str(Duration.of(value, "delay"))
    if isinstance(value, list):
        return " + ".join(visible(item) for item in value) or "none"
    if isinstance(value, dict):
        return " + ".join(f"{visible(name)} {_words(each)}" for name, each in value.items())
    return f"{value:g}" if isinstance(value, float) else visible(str(value)).lower()


def document(fitted: Any, target: str | None = None) -> dict[str, Any]:
    """Whatever was learned; of a graph the model of one label, if that is named."""
    if is_a(fitted, "OutcomeModel"):
        return outcome_document(fitted)
    one, only = choose(fitted, target)
    if one is not None:
        return _model_document(one)
    return _joint_document(fitted, only) if is_a(fitted, "JointSuMM") else _graph_document(fitted)


def choose(fitted: Any, target: str | None) -> tuple[Any, str | None]:
    """The model to show (None: the whole graph, or a joint model), and the one label of it to show."""
    several, joint = is_a(fitted, "InfluenceGraph"), is_a(fitted, "JointSuMM")
    known = fitted.models_ if several else fitted.influencers_ if joint else fitted.target_
    if target is not None and target not in known:
        raise UnknownLabelError(target, known)
    if several:
        return (None if target is None else fitted.models_[target]), None
    return (None if joint else fitted), target


def is_a(model: Any, kind: str) -> bool:
    """Whether what was loaded is of a class of models, which need not be imported before."""
    from summarkov import models

    return isinstance(model, getattr(models, kind))


def _graph_document(graph: InfluenceGraph) -> dict[str, Any]:
    """A graph: its edges and, for every target, what was found."""
    from summarkov.models.files import confidence_document, order_document

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


def _model_document(model: SummaryModel) -> dict[str, Any]:
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
            "events": sum(n for label, n in counts.items() if label != END),
            **({"positions": fitted.n_events} if fitted.layout.together or END in counts else {}),
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
            "precedence": edge.precedence,
            "leads_with_cases": edge.leads_with_cases,
            "directions_differ": edge.directions_differ,
            "is_thin": edge.is_thin,
            "is_reversed": edge.is_reversed,
            "is_raw": edge.is_raw,
            "set_aside": edge.set_aside,
        }
        for edge in edges
    ]


def _joint_document(model: JointSuMM, target: str | None) -> dict[str, Any]:
    """A joint model for programs: its edges and, for every target, influencers, gains and factors by lag."""
    fitted = model.fitted
    counts = dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True))
    return {
        "kind": "JointSuMM",
        "settings": settings(model),
        "data": {
            "sequences": fitted.n_sequences,
            "events": sum(n for label, n in counts.items() if label != END),
            "labels": counts,
        },
        "log_likelihood": fitted.log_likelihood,
        "edges": edge_documents(edge for edge in model.edges_ if target in (None, edge.target)),
        "targets": [
            {
                "target": x,
                "influencers": list(found),
                "gains": model.gains_[x],
                "recency": {
                    z: {str(lag): each for lag, each in by_lag.items()}
                    for z, by_lag in model.recency_[x].items()
                },
            }
            for x, found in model.influencers_.items()
            if target in (None, x)
        ],
    }


def outcome_document(model: OutcomeModel, sure: Sure | None = None) -> dict[str, Any]:
    """What was learned about an outcome, and how sure it is if that was asked for."""
    from summarkov.cli.printing.graph import notices

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
        **{name: asdict(each) for name, each in (sure._asdict() if sure else {}).items() if each is not None},
    }
