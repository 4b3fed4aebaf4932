"""What the page shows, as plain values: the data, the graph, every model's table, and sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from summarkov import __version__
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import END
from summarkov.explain import (
    FittedModel,
    FittedOutcome,
    Influence,
    Shown,
    influences_of,
    is_graph,
    is_joint,
    is_outcome,
    models_of,
    sentences,
    weight,
)
from summarkov.read import read_events
from summarkov.report.edges import EDGE_NUMBERS, edge_content
from summarkov.report.events import clock_content, groups_content, lag_content, sequence_content
from summarkov.report.layout import places
from summarkov.report.target import joint_content, joint_targets, target_content
from summarkov.typing import IntArray
from summarkov.wording import all_rounded, rounded, whole

#: A graph of more edges than this starts with its surest ones, at most this many, and without grey ones.
MANY_EDGES, SUREST = 100, 60
#: More states than this make a page that no browser opens with pleasure.
MOST_STATES = 300_000


def content(
    model: Shown,
    events: Any = None,
    passages: Any = None,
    title: str | None = None,
    sequences: int | None = None,
    groups: Any = None,
) -> dict[str, Any]:
    """Everything in the page that depends on the model; labels are told by their place in ``labels``."""
    if passages is not None and is_joint(model):
        raise SettingError("passages are for graphs; leave them out for a joint model")
    models = models_of(model)
    first = model if is_joint(model) else models[0]
    fitted = first.fitted
    n_states = sum(len(each.fitted.table.keys) for each in models)
    if is_outcome(model):
        n_states += model.open_cases.counts.shape[0] * model.open_cases.counts.shape[1]
    if n_states > MOST_STATES:
        raise SettingError(
            f"a page of {n_states:,} states would be too large to open (at most {MOST_STATES:,}); "
            "learn a smaller model, or one of fewer targets"
        )
    codes = {label: code for code, label in enumerate(fitted.labels)}
    influences = list(influences_of(model))
    edges = edge_content(model, influences, codes)
    if passages is not None and is_outcome(model):
        raise SettingError("passages can be shown for a model or a graph; leave out passages=")
    if passages is not None and not hasattr(passages, "page_content"):
        raise SettingError(
            "passages must be TextEvents, as text_events makes them and read_text_events reads them, not "
            f"{type(passages).__name__}"
        )
    if passages is not None and events is None:
        events = passages.events
    read = None if events is None else read_events(events)
    targets = _targets(model)
    start = _start([edge[3] for edge in edges])
    layout = getattr(fitted, "layout", None)  # a joint model knows events in a row only
    attributes = [] if layout is None else [codes[name] for name in layout.attributes]
    durations = [span for each in models for span in each.fitted.summary.durations]
    cases = None
    if sequences is not None:
        given = () if layout is None else layout.attributes
        cases = sequence_content(read, fitted.labels, sequences, is_timed=bool(durations), attributes=given)
    return {
        "title": title,
        "version": __version__,
        "family": type(first).__name__,
        "graph": is_joint(model) or is_graph(model),
        "joint": joint_content(model) if is_joint(model) else None,
        "outcome": [fitted.target.codes[at] for at in (model.yes, 1 - model.yes)]
        if is_outcome(model)
        else None,
        "moments": _moments(model) if is_outcome(model) else None,
        "overall": rounded(model.overall_rate_, 6) if is_outcome(model) else None,
        "leftOut": list(model.left_out_.items()) if is_outcome(model) else [],
        "notices": list(model.notices_) if is_outcome(model) else [],
        "decidedBy": model.decided_by if is_outcome(model) else None,
        "labels": list(fitted.labels),
        "n": [whole(n) for n in (fitted.label_counts / getattr(fitted, "scale", 1)).tolist()],
        "attributes": attributes,
        "end": codes.get(END),
        "together": layout is not None and layout.together,
        "clock": clock_content(durations, cases),
        "positions": None if is_joint(model) else whole(fitted.observed.sum() / fitted.scale),
        "sequences": fitted.n_sequences,
        "lengths": None if read is None else _lengths(read.lengths - is_outcome(model)),
        "lags": None
        if read is None or is_outcome(model)
        else _lags(read, fitted.labels, models, edges, attributes),
        "cases": cases,
        "groups": None if groups is None else groups_content(groups, fitted.labels),
        "settings": {name: _plain(value) for name, value in fitted.settings.items() if name not in _UNTOLD},
        "start": start,
        "places": places(len(fitted.labels), layout_edges(influences, codes, start)),
        "headline": sentences.headline(influences),
        "edgeNumbers": list(EDGE_NUMBERS),
        "edges": edges,
        "followNote": sentences.follow_note(influences),
        "passages": None if passages is None else passages.page_content(model, influences, fitted.labels),
        "states": _shared(targets, "states"),
        "summaries": _shared(targets, "summary"),
        "targets": {key: [target[key] for target in targets] for key in targets[0]},
    }


def _targets(model: Shown) -> list[dict[str, Any]]:
    """Every target; an outcome has a table of whole cases, and one of open cases for every moment."""
    if is_joint(model):
        return joint_targets(model)
    if is_outcome(model):
        opened = model.open_cases
        once: dict[str, Any] = {"trace": [], "certificate": None, "patterns": []}
        tables = [None, *(opened.at(place) for place in range(len(opened.moments)))]
        found = [target_content(model.model_, each, [model.yes]) for each in tables]
        return [found[0], *({**each, **once} for each in found[1:])]
    return [target_content(each) for each in models_of(model)]


def _moments(model: FittedOutcome) -> list[list[Any]]:
    """For each moment how many events had passed, and the share with the outcome of the cases open then."""
    opened = model.open_cases
    rates = all_rounded(opened.rates[:, model.yes].tolist(), 10)
    return [list(each) for each in zip(opened.moments.tolist(), rates, strict=True)]


def _start(evidence: Sequence[float]) -> float:
    """The least evidence of edges that a page starts with: of many the surest, grey ones not among them.

    >>> _start([0.0] * 50 + [0.5] * 20 + [0.2] * 40), _start([0.0] * 90 + [0.5] * 20), _start([0.0, 0.5])
    (0.2, 0.5, 0)
    """
    if len(evidence) <= MANY_EDGES:
        return 0
    return sorted(evidence, reverse=True)[SUREST - 1] or min(
        (each for each in evidence if each > 0), default=0
    )


def layout_edges(
    influences: Sequence[Influence], codes: Mapping[str, int], start: float = 0.0
) -> list[tuple[int, int, float]]:
    """The edges by which labels are placed: influencer, target and strength, negative for what inhibits."""
    return [
        (codes[e.influencer], codes[e.target], -weight(e) if e.shown_effect == "inhibits" else weight(e))
        for e in influences
        if rounded(weight(e), 6) >= start
    ]


def _lags(
    events: EventSequences,
    labels: Sequence[str],
    models: Sequence[FittedModel],
    edges: list[list[Any]],
    attributes: Sequence[int],
) -> dict[str, Any] | None:
    """Profiles of the edges, if these events are of the labels of the model; attributes have none."""
    known = set(labels)
    if not known.issuperset(events.labels):
        return None
    of = {code: each.fitted for each in models for code in each.fitted.target.codes}
    lookbacks = [_time_of(of[x], labels[z]) if x in of else None for z, x, *_ in edges]
    pairs = [(z, x) for z, x, *_ in edges]
    found = lag_content(events.with_attributes(None).recode(labels), pairs, lookbacks)
    for i, (z, *_) in enumerate(edges[: len(found["edges"])]):
        if z in attributes:
            found["edges"][i] = None
    return found


def _time_of(fitted: Any, label: str) -> int | None:
    """The look-back of an influencer; where it has no limit and others are times, the longest of these."""
    lookback: int | None = fitted.reach(label).lookback
    return max(fitted.summary.durations, default=None) if lookback is None else lookback


_UNTOLD = ("target", "n_jobs")  # told elsewhere, and of one machine only


def _shared(targets: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """What targets have under a key, each once; they keep its place. A chain's states are all alike."""
    distinct: dict[str, int] = {}
    kept: list[dict[str, Any]] = []
    for target in targets:
        number = distinct.setdefault(repr(target[key]), len(distinct))
        if number == len(kept):
            kept.append(target[key])
        target[key] = number
    return kept


def _lengths(lengths: IntArray) -> dict[str, Any]:
    """How long sequences are: in bins of equal width, at most 24."""
    shortest, longest = (int(end) for end in (lengths.min(initial=2**62), lengths.max(initial=0)))
    shortest = min(shortest, longest)
    width = max(1, math.ceil((longest - shortest + 1) / 24))
    bins = np.bincount((lengths - shortest) // width) if len(lengths) else np.zeros(0, int)
    return {
        "sequences": len(lengths),
        "shortest": shortest,
        "median": float(np.median(lengths)) if len(lengths) else 0,
        "longest": longest,
        "width": width,
        "bins": bins.tolist(),
    }


def _plain(value: Any) -> Any:
    """A setting as JSON has it; the user's own summary by the name of its class."""
    if isinstance(value, np.generic):
        return _plain(value.item())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Iterable):
        return [_plain(each) for each in value]
    return type(value).__name__
