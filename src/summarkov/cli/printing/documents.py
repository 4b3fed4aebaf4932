"""Models and graphs as JSON for programs, and their settings in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from summarkov.wording import plural, visible

if TYPE_CHECKING:
    from summarkov.explain import Influence
    from summarkov.models import InfluenceGraph, JointSuMM, SummaryModel
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


def window_words(model: SummaryModel, influencer: str | None = None) -> str:
    """Where a model looks for its influencers, or for one of them, to follow a label.

    >>> from summarkov import BSuMM
    >>> window_words(BSuMM(lookback=5)), window_words(BSuMM(lookback=None))
    ('within the last 5 events', 'at any time before')
    """
    from summarkov.settings import Duration, span_of
    from summarkov.summaries.window import place_words

    settings = model.get_params(deep=False)
    if "lookbacks" in settings:
        return "where the tree asks for it"
    if "lookback" not in settings:
        return "before"
    lookback, delay = settings["lookback"], settings.get("delay", 0)
    things = "ticks" if model.is_fitted and model.layout_.together else "events"
    if influencer is not None:
        lookback = model.lookbacks_[influencer] if hasattr(model, "lookbacks_") else lookback
    elif isinstance(lookback, Mapping | tuple) or lookback == "auto":
        return "within its look-back"
    lookback, delay = span_of(lookback, "lookback"), span_of(delay, "delay")
    timed = isinstance(delay, Duration)
    if timed or isinstance(lookback, Duration):
        later = f"more than {place_words(delay, things[:-1])} before" if timed or delay else ""
        last = "" if lookback is None else f"within the last {place_words(lookback, things[:-1])}"
        return " and ".join(filter(None, (later, last)))
    if lookback is None:
        return f"more than {delay} {things} before" if delay else "at any time before"
    if lookback == delay + 1:
        return f"{lookback} {things} before" if delay else "just before"
    return f"{delay + 1} to {lookback} {things} before" if delay else f"within the last {lookback} {things}"


def state_words(model: SummaryModel) -> str:
    """What the states of a model are about, to stand before them: where it looks, or attributes, or both."""
    where = window_words(model)
    where = where[:1].upper() + where[1:]
    held = [z in model.layout_.attributes for z in model.influencers_]
    if held and all(held):
        return "Attributes"
    return f"{where}, and attributes" if any(held) else where


def place_of(model: SummaryModel, influencer: str) -> str:
    """Where an influencer is looked for, to be put behind it; nothing where all have one look-back."""
    where = model.fitted.summary.where(influencer)
    return f" {where}" if where else ""


def settings_words(model: SummaryModel | JointSuMM) -> str:
    """The kind of a model and the settings that made it.

    >>> from summarkov import BSuMM
    >>> settings_words(BSuMM(gamma=0.5, search="sweep"))
    'BSuMM: look-back 5, alpha 0.1, gamma 0.5, criterion bic, false edges 0.2, search sweep'
    """
    given = settings(model)
    defaults = {f.name: f.default for f in dataclasses.fields(model)}
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
    if not fitted.layout.together:
        return plural(fitted.n_events, "event")
    n_events = float(fitted.event_counts.sum() / fitted.scale)
    return f"{plural(fitted.n_events, 'tick')} of {plural(n_events, 'event')}"


def labels_words(labels: Sequence[str], attributes: Sequence[str]) -> str:
    """How many labels there are, and how many values of attributes.

    >>> labels_words(["A", "B", "region=north"], ["region=north"])
    '2 labels and 1 value of attributes'
    """
    n_labels = plural(len(labels) - len(attributes), "label")
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


def graph_document(graph: InfluenceGraph) -> dict[str, Any]:
    """A graph: its edges and, for every target, what was found."""
    from summarkov.models.saving import confidence_document, order_document

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
