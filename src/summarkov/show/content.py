"""What the page shows, as plain values: the data, the graph, every model's table, and sentences.

Labels are told by their place in ``labels``. Whatever has one entry per edge or per target comes in columns,
by the names that data frames and ``--json`` have for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from summarkov import __version__, evidence
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.describe import hints_of
from summarkov.events.vocabulary import END
from summarkov.evidence import (
    GroupComparison,
    Influence,
    Shown,
    is_joint,
    is_outcome,
    models_of,
    weight,
    words,
)
from summarkov.evidence.findings import ASIDE, Findings, chain_words, impact_cell, impact_limits, impact_words
from summarkov.evidence.ratios import FEW
from summarkov.read import read_events
from summarkov.search import Certificate
from summarkov.settings import check_whole
from summarkov.show.lags import lag_profiles, spread
from summarkov.show.layout import layout_edges, places
from summarkov.summaries import Names
from summarkov.summaries.window import later_words, plain_span
from summarkov.wording import factor, factor_interval, number, plural, rounded

#: A graph of more edges than this starts with its surest ones, at most this many, and without grey ones.
MANY_EDGES, SUREST = 100, 60
#: More states than this make a page that no browser opens with pleasure.
MOST_STATES = 300_000
#: A page holds at most this many sequences, and at most this many events of each.
MOST_SEQUENCES, MOST_EVENTS = 200, 300
#: So many findings are sentences, too.
MOST_SENTENCES = 5
#: Digits of probabilities, and of weights that they follow from: those of ``predict_proba`` to ten digits.
_EXACT, _WEIGHTS = 10, 13
#: Settings that are told elsewhere, or are of one machine only.
_UNTOLD = ("target", "n_jobs")


def content(
    model: Shown,
    events: Any = None,
    passages: Any = None,
    title: str | None = None,
    sequences: int | None = None,
    groups: Any = None,
) -> dict[str, Any]:
    """Everything in the page that depends on the model."""
    joint, outcome, models = is_joint(model), is_outcome(model), models_of(model)
    _check(model, models, passages)
    first = model if joint else models[0]
    fitted = first.fitted
    codes = {label: code for code, label in enumerate(fitted.labels)}
    influences, targets = list(evidence.influences_of(model)), _targets(model)
    if passages is not None and events is None:
        events = passages.events
    read = None if events is None else read_events(events)
    start = _start([plain(weight(edge)) for edge in influences])
    # only what tells single labels apart has findings
    found = model.findings_ if evidence.is_graph(model) and first.fitted.summary.by_label else None
    layout = getattr(fitted, "layout", None)  # a joint model knows events in a row only
    attributes = () if layout is None else layout.attributes
    durations = [span for each in models for span in each.fitted.summary.durations]
    clock = {"isClock": all(each.is_clock for each in durations), "spans": {}}
    clock["spans"] = {each.text: round(int(each) / 1000) for each in durations}  # in millionths
    scale = getattr(fitted, "scale", 1)
    return {
        "title": title,
        "version": __version__,
        "family": type(first).__name__,
        "graph": joint or evidence.is_graph(model),
        "joint": _joint(model) if joint else None,
        **(_outcome(model) if outcome else {"outcome": None, "leftOut": [], "notices": []}),
        "labels": list(fitted.labels),
        "n": plain(fitted.label_counts / scale),
        "attributes": [codes[name] for name in attributes],
        "end": codes.get(END),
        "together": layout is not None and layout.together,
        "clock": clock if durations else None,
        "positions": None if joint else plain(float(fitted.observed.sum() / scale)),
        "sequences": fitted.n_sequences,
        "lengths": None if read is None else _lengths(read.lengths - outcome),
        "lags": None if read is None or outcome else _lags(read, codes, models, influences, attributes),
        "cases": None if sequences is None else _cases(read, codes, sequences, bool(durations), attributes),
        "groups": None if groups is None else _groups(groups, codes),
        "settings": {name: value for name, value in fitted.settings.items() if name not in _UNTOLD}
        | ({"false_edges": None} if fitted.settings.get("paper") else {}),
        "start": start,
        "places": places(len(codes), layout_edges(influences, codes, start)),
        "headline": words.headline(influences) if found is None else found.extent,
        "findings": None if found is None else _findings(found, influences, codes),
        "hints": [] if read is None or outcome else hints_of(read),
        "edgeNumbers": EDGE_NUMBERS,
        "edges": columns(_edges(model, influences, codes)),
        "followNote": words.follow_note(influences),
        "passages": None if passages is None else passages.page_content(model, influences, fitted.labels),
        "states": _shared(targets, "states"),
        "summaries": _shared(targets, "summary"),
        "targets": columns(targets),
    }


def _check(model: Shown, models: Sequence[Any], passages: Any) -> None:
    """Refuse what cannot be shown."""
    n_states = sum(len(each.fitted.table.keys) for each in models)
    if is_outcome(model):
        n_states += math.prod(model.open_cases.counts.shape[:2])
    if n_states > MOST_STATES:
        raise SettingError(
            f"a page of {n_states:,} states would be too large to open (at most {MOST_STATES:,}); "
            "learn a smaller model, or one of fewer targets"
        )
    if passages is None:
        return
    if is_joint(model) or is_outcome(model):
        raise SettingError("passages can be shown for a model or a graph; leave out passages=")
    if not hasattr(passages, "page_content"):
        raise SettingError(
            "passages must be TextEvents, as text_events makes them and read_text_events reads them, not "
            f"{type(passages).__name__}"
        )


def plain(value: Any, digits: int = 6) -> Any:
    """Numbers as JSON has them, with at most so many digits, whole ones with all; arrays row after row.

    None is what is not known, and what is infinite is more than 1e300.

    >>> plain([1 / 3, 2.0, math.nan, "A"], 4), plain(np.eye(2), 4)
    ([0.3333, 2, None, 'A'], [1, 0, 0, 1])
    """
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, list | tuple):
        return [plain(each, digits) for each in value]
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else rounded(min(value, 1e301), digits)


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows of the same names, as columns."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _shared(targets: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """What targets have under a key, each once; they keep its place. A chain's states are all alike."""
    distinct = {repr(target[key]): target[key] for target in targets}
    number = {name: place for place, name in enumerate(distinct)}
    for target in targets:
        target[key] = number[repr(target[key])]
    return list(distinct.values())


def _start(evidences: Sequence[float]) -> float:
    """The least evidence of edges that a page starts with: of many the surest, grey ones not among them.

    >>> _start([0.0] * 50 + [0.5] * 20 + [0.2] * 40), _start([0.0] * 90 + [0.5] * 20), _start([0.0, 0.5])
    (0.2, 0.5, 0)
    """
    if len(evidences) <= MANY_EDGES:
        return 0
    least = sorted(evidences, reverse=True)[SUREST - 1]
    return least or min((each for each in evidences if each > 0), default=0)


def _lengths(lengths: Any) -> dict[str, Any]:
    """How long sequences are: in bins of equal width, at most 24."""
    shortest, longest = (int(end(lengths)) if len(lengths) else 0 for end in (np.min, np.max))
    width = max(1, math.ceil((longest - shortest + 1) / 24))
    return {
        "sequences": len(lengths),
        "shortest": shortest,
        "median": float(np.median(lengths)) if len(lengths) else 0,
        "longest": longest,
        "width": width,
        "bins": np.bincount((lengths - shortest) // width).tolist(),
    }


# ------------------------------------------------------------------ edges

#: What is known of followings.
_FOLLOWINGS = (
    *("cases_with", "cases_followed", "occurrences", "followed", "follow_rate"),
    *("occurrences_other", "followed_other", "follow_rate_other", "left_out", "follow_rule"),
    *("cases_both", "cases_first"),
)
#: What the page and the table that it saves have of an edge as it is, in this order.
EDGE_NUMBERS = (
    *("ratio", "low", "high", "hits_with", "n_with", "hits_without", "n_without"),
    *_FOLLOWINGS,
    *("comparable_hits", "comparable_expected", "not_comparable", "interval"),
    *("frequency", "order", "order_scale", "set_aside"),
    *("impact", "impact_low", "impact_high", "beyond_ratio", "beyond_low", "beyond_high"),
)
#: Stand-ins for an influencer and its target.
_NAMES = "'#z'", "'#x'"
#: What is said of an edge, by the functions that say it.
_WORDS = ("change", "times", "verdict", "support")


def _edges(model: Shown, edges: Sequence[Influence], codes: Mapping[str, int]) -> list[dict[str, Any]]:
    """Each edge: where it is, how it is drawn, its numbers, and what is said of it.

    ``counted`` are the counts as the beginning of a sentence, in which #z and #x stand for the two labels.
    """
    of_outcome, within = is_outcome(model), _within(model)
    if of_outcome:  # each case counts once, and is what shares are of
        unknown: dict[str, Any] = dict.fromkeys(_FOLLOWINGS)
        edges = [replace(edge, **unknown) for edge in edges]

    def counted(edge: Influence) -> str:
        if of_outcome:
            return words.outcome_evidence(edge, *_NAMES)
        return words.evidence(edge, *_NAMES, within(edge))

    said = {"effectWord": words.effect_word, **{name: getattr(words, name) for name in _WORDS}}
    return [
        {
            "influencer": codes[edge.influencer],
            "target": codes[edge.target],
            "effect": edge.shown_effect,
            "evidence": plain(weight(edge)),
            "faint": edge.faint,
            **{name: plain(getattr(edge, name), 5) for name in EDGE_NUMBERS},
            **{name: say(edge).removesuffix(" of moments" * of_outcome) for name, say in said.items()},
            "counted": counted(edge),
            "impactWords": impact_words(replace(edge, target="#x")),
            "beyond": _beyond(edge),
        }
        for edge in edges
    ]


def _beyond(edge: Influence) -> str:
    """What is left once the event just before is known."""
    if edge.beyond_ratio is None or edge.beyond_low is None or edge.beyond_high is None:
        return ""
    return f"{factor(edge.beyond_ratio)} ({factor_interval(edge.beyond_low, edge.beyond_high)})"


def _findings(found: Findings, edges: Sequence[Influence], codes: Mapping[str, int]) -> dict[str, Any]:
    """What was found, with edges told by their places, and stand-ins for labels in sentences."""
    places = {(edge.influencer, edge.target): place for place, edge in enumerate(edges)}
    name = dict(zip(codes, marked(list(codes)), strict=True))

    def named(record: Any, *ends: str) -> Any:
        return replace(record, **{end: name[getattr(record, end)] for end in ends})

    rows = [(edge, named(edge, "influencer", "target")) for edge in found.influences]
    sentences = []
    for edge, told in rows[:MOST_SENTENCES]:
        said = words.finding(edge, f"'{told.influencer}'", f"'{told.target}'")
        sentences.append("; ".join(filter(None, (said, impact_words(told)))))
    aside: dict[str, list[int]] = {why: [] for why in ASIDE}
    for place, edge in enumerate(edges):
        if reason := edge.set_aside or "itself" * edge.is_self:
            aside[reason].append(place)
    row = {"follows": words.follows, "limits": words.limits, "badges": words.badges}
    row |= {"others": lambda edge: words.follows(edge, others=True, counts=False)}
    row |= {"impact": impact_cell, "impactLimits": impact_limits}
    table = [{key: say(edge) for key, say in row.items()} for edge, _ in rows]
    interplays = [named(each, "first", "second", "target").words for each in found.interplays]
    chains = [replace(each, labels=tuple(name[x] for x in each.labels)) for each in found.chains]
    return {
        "headline": replace(found, influences=tuple(told for _, told in rows)).headline,
        "sentences": sentences,
        "edges": {"edge": [places[edge.influencer, edge.target] for edge, _ in rows]} | columns(table),
        "beyond": sum(edge.is_beyond for edge, _ in rows),
        "chains": [chain_words(each) for each in chains],
        "interplays": interplays,
        "aside": [[why, f"{number(len(some))} {ASIDE[why]}", some] for why, some in aside.items() if some],
        "nearest": [
            places[pair] for edge in found.nearest if (pair := (edge.influencer, edge.target)) in places
        ],
    }


def _within(model: Shown) -> Callable[[Influence], str]:
    """Where a target is looked for after an influencer."""
    if is_joint(model):
        return lambda edge: f"within {plural(model.lookback, 'event')}"
    fitted = {x: each.fitted for each in models_of(model) for x in each.target_}
    thing = "tick" if next(iter(fitted.values())).layout.together else "event"
    return lambda edge: later_words(fitted[edge.target].reach(edge.influencer), thing)


def _lags(
    events: EventSequences,
    codes: Mapping[str, int],
    models: Sequence[Any],
    edges: Sequence[Influence],
    attributes: Sequence[str],
) -> dict[str, Any] | None:
    """Profiles of the edges, if these events are of the labels of the model; attributes have none."""
    if not codes.keys() >= set(events.labels):
        return None
    fitted = {x: each.fitted for each in models for x in each.target_}

    def lookback(edge: Influence) -> Any:
        """Where it has no limit and others are times, the longest of these."""
        if edge.target not in fitted:
            return None
        own, spans = (
            fitted[edge.target].reach(edge.influencer).lookback,
            fitted[edge.target].summary.durations,
        )
        return max(spans, default=None) if own is None else own

    known = events.with_attributes(None).recode(list(codes))
    pairs = [(codes[edge.influencer], codes[edge.target]) for edge in edges]
    found = lag_profiles(known, pairs, [lookback(edge) for edge in edges])
    for i, edge in enumerate(edges[: len(found["edges"])]):
        if edge.influencer in attributes:
            found["edges"][i] = None
    return found


# ------------------------------------------------------------------ models


def _targets(model: Shown) -> list[dict[str, Any]]:
    """Every target; an outcome has a table of whole cases, and one of open cases for every moment."""
    if is_joint(model):
        return _joint_targets(model)
    if not is_outcome(model):
        return [_target(each) for each in models_of(model)]
    once: dict[str, Any] = {"trace": [], "certificate": None}
    opened = model.open_cases
    tables = [opened.at(place) for place in range(len(opened.moments))]
    whole = _target(model.model_, model.model_.fitted, [model.yes])
    few = [opened.few(place).tolist() for place in range(len(tables))]
    every = [_target(model.model_, each, [model.yes]) for each in tables]
    return [whole, *({**each, **once, "nearby": rows} for each, rows in zip(every, few, strict=True))]


def _outcome(model: Shown) -> dict[str, Any]:
    """What is known of an outcome: of each moment how many events had passed, and the share of open cases."""
    fitted, opened = model.model_.fitted, model.open_cases
    return {
        "outcome": [fitted.target.codes[at] for at in (model.yes, 1 - model.yes)],
        "moments": [
            [moment, plain(rate, _EXACT)]
            for moment, rate in zip(opened.moments.tolist(), opened.rates[:, model.yes].tolist(), strict=True)
        ],
        "overall": plain(model.overall_rate_),
        "leftOut": list(model.left_out_.items()),
        "notices": list(model.notices_),
        "decidedBy": model.decided_by,
    }


def _target(model: Shown, fitted: Any = None, shown: Sequence[int] | None = None) -> dict[str, Any]:
    """The table and the search of one model; or another table of the same states, of some of its labels.

    ``p`` has one entry per label of the target, row by row, and one more row for states that were never
    seen; ``n`` of the states and ``hits`` are the counts N(s) and N(x; s) of those that were, hardly seen if
    fewer than ``few``. The page works out intervals from these counts.
    """
    fitted, certificate = fitted or model.fitted, model.trace_.certificate
    codes = {label: code for code, label in enumerate(fitted.labels)}
    # the residual outcome takes the rest
    outcomes = list(range(len(fitted.target.codes))) if shown is None else list(shown)
    targets, seen = [fitted.target.codes[x] for x in outcomes], fitted.observed / fitted.scale
    return {
        "x": targets,
        "u": list(fitted.influencers),
        "score": plain(fitted.score, 8) if math.isfinite(fitted.score) else None,
        "likelihood": plain(fitted.log_likelihood, 8),
        # the split of a tree has no label; a look-back stands at the end if it was learned
        "trace": [
            [
                step.action,
                codes.get(step.label),
                plain(step.score, 8),
                plain(step.gain),
                *([step.lookback] if hasattr(step, "lookback") else []),
            ]
            for step in model.trace_
        ],
        "certificate": None if certificate is None else _certificate(certificate, codes),
        "few": plain(max(FEW, float(fitted.pseudo.sum()))),
        "summary": _summary(fitted, outcomes),
        "states": {**_states(fitted), "n": plain(seen.sum(axis=1))},
        "hits": plain(seen[:, outcomes]),
        "p": plain(fitted.theta[:, outcomes], _EXACT),
    }


def _certificate(found: Certificate, codes: Mapping[str, int]) -> dict[str, Any]:
    """How sure it is that there are no better influencers; numbers of sets may be astronomical."""
    return {
        "proved": found.is_optimal,
        "scored": found.examined,
        "sets": float(min(found.examined + found.pruned + found.open, 10**300)),
        "gap": plain(found.gap) if math.isfinite(found.gap) else None,
        "greedy": [codes[z] for z in found.greedy],
        "worse": plain(found.greedy_gap),
    }


def _summary(fitted: Any, outcomes: list[int]) -> dict[str, Any]:
    """How the page can tell the state of a history; of a tree also what was counted at its nodes."""
    form: dict[str, Any] = fitted.summary.page_form(Names(fitted.influencer_labels, marked(fitted.labels)))
    if fitted.summary.by_label:
        form["reach"] = [plain_span(fitted.reach(label)[1]) for label in fitted.influencer_labels]
    if fitted.nodes is not None:
        counts = fitted.nodes[0]
        form["at"] = plain(counts.sum(axis=1))
        form["hits"] = plain(counts[:, outcomes])
    return form


def _states(fitted: Any) -> dict[str, Any]:
    """The states as rows of ``width`` levels, or in words where the page cannot tell them."""
    keys, summary = fitted.table.keys, fitted.summary
    if summary.keys_on_page:
        return {"width": int(keys.shape[1]), "keys": keys.ravel().tolist()}
    names = Names(fitted.influencer_labels, marked(fitted.labels))
    return {"words": [summary.words(key, names) for key in keys.tolist()]}


def marked(labels: Sequence[str]) -> list[str]:
    """Stand-ins for labels, which the page finds in words and replaces by the labels."""
    return [type(label)(f"\x01{code}\x02") for code, label in enumerate(labels)]


def _joint_targets(model: Shown) -> list[dict[str, Any]]:
    """What the page has of each target of any model; a joint one has no states."""
    labels, none = model.fitted.labels, ("trace", "hits", "p")
    return [
        {
            "x": [labels.index(x)],
            "u": [labels.index(z) for z in names],
            "score": None,
            "likelihood": plain(model.fitted.log_likelihood, 8),
            "certificate": None,
            "few": 0,
            "summary": {
                "kind": "joint",
                "reach": [model.lookback] * len(names),
                "delay": 0,
                "where": [""] * len(names),
            },
            "states": {"n": []},
            **{name: [] for name in none},
        }
        for x, names in model.influencers_.items()
    ]


def _joint(model: Shown) -> dict[str, Any]:
    """All numbers that probabilities follow from; labels and outcomes are told by their places."""
    fitted = model.fitted
    features, weights = fitted.features, fitted.weights
    n_labels, outcomes = len(fitted.labels), range(features.target.n_outcomes)
    start = features.columns(n_labels).start
    return {
        "codes": list(features.target.codes),
        "windows": list(fitted.summary.windows),
        "rates": features.base_rates.tolist(),
        "cuts": features.cuts,
        "level": plain(weights.level, _WEIGHTS),
        "own": [plain(weights.own[:, x], _WEIGHTS) for x in outcomes],
        "place": [plain(weights.shared[start:, x], _WEIGHTS) for x in outcomes],
        "influencers": [
            {
                z: plain(weights.shared[features.columns(z), x], _WEIGHTS)
                for z in np.flatnonzero(fitted.chosen[:, x]).tolist()
            }
            for x in outcomes
        ],
        "gains": [plain([model.gains_[x][z] for z in names], 3) for x, names in model.influencers_.items()],
        "recency": [
            [plain(list(by_lag.values()), 4) for by_lag in each.values()] for each in model.recency_.values()
        ],
        "trees": [_trees(trees) for trees in (fitted.trees, fitted.alone)],
        "contexts": {"share": fitted.contexts, "levels": _contexts(fitted.last)},
    }


def _contexts(after: Any) -> list[dict[str, list[Any]]]:
    """For each length of contexts what each gives every outcome itself, and leaves to the shorter one."""
    found = []
    for level in () if after is None else after.levels:
        found.append(
            {
                ",".join(map(str, key)): plain([level.own[at].tolist(), float(level.left[at])], _WEIGHTS)
                for key, at in level.rows.items()
            }
        )
    return found


def _trees(trees: Any) -> list[list[Any]]:
    """One list per tree: leaf, feature and level of each split, one after the other; then the values."""
    parts = np.stack([trees.leaf, trees.feature, trees.level], axis=-1)
    return [
        [parts[t][trees.leaf[t] >= 0].ravel().tolist(), plain(trees.value[t], _WEIGHTS)]
        for t in range(len(trees))
    ]


# ------------------------------------------------------------------ sequences and groups


def _cases(
    events: EventSequences | None, codes: Mapping[str, int], n: int, is_timed: bool, attributes: Sequence[str]
) -> list[list[Any]]:
    """``n`` sequences, spread evenly over all that hold an event: name, codes, how many events were cut.

    Where there is more to tell, it follows: ``joined``, the events that happened together with the one
    before; ``gaps``, how much time passed before each, in millionths; ``given``, the attributes that hold.
    """
    check_whole("sequences", n, 1, MOST_SEQUENCES)
    if events is None:
        raise SettingError("sequences are taken from the events: give these too (events=, --events)")
    if is_timed and events.times is None:
        raise SettingError(
            "the model looks back over times, and these events have none; read them with times=True (--times)"
        )
    if attributes and events.attributes is None:
        asked = sorted({name.partition("=")[0] for name in attributes})
        raise SettingError(
            "the model looks at attributes, and these events have none; read them with "
            f"attributes={asked!r} ({' '.join(f'--attribute {column}' for column in asked)})"
        )
    known, given = events.with_attributes(None).recode(list(codes)), events.attributes
    moments, found = known.moments, []
    for which in spread(np.flatnonzero(known.lengths > 0), n).tolist():
        start, stop = known.offsets[which : which + 2].tolist()
        rows = slice(start, min(stop, start + MOST_EVENTS))
        more: dict[str, Any] = {}
        if moments.has_ticks:
            more["joined"] = np.flatnonzero(~moments.starts[rows]).tolist()
        if moments.times is not None and is_timed:
            # from millionth to millionth, so that rounding does not add up
            at = [
                round(t * moments.unit.size / 1000)
                for t in (moments.times[rows] - moments.times[start]).tolist()
            ]
            more["gaps"] = np.diff(at, prepend=0).tolist()
        if given is not None:
            names = [given.names[place] for place in np.flatnonzero(given.present[which])]
            more["given"] = [codes[name] for name in names if name in codes]
        events_of = known.codes[rows].tolist()
        found.append([known.ids[which], events_of, stop - start - len(events_of), *([more] if more else [])])
    return found


def _groups(given: Any, codes: Mapping[str, int]) -> list[dict[str, Any]]:
    """What ``compare_groups`` found, once or several times.

    A label has its reach in each group, and by how many times it differs; an edge has the ratio with its
    interval and the counts in each group, whether the graph of the group alone has it, and by how many times
    the ratio differs.
    """
    given = given.comparisons if isinstance(given, evidence.SeveralGroups) else given
    found = [given] if isinstance(given, GroupComparison) or not isinstance(given, Iterable) else list(given)
    for each in found:
        if not isinstance(each, GroupComparison):
            raise SettingError(
                f"groups must be what compare_groups returned, or several of these, not {type(each).__name__}"
            )
        if unknown := {one.label for one in each.labels} - codes.keys():
            raise SettingError(
                f"the groups have labels that the model does not know, such as {min(unknown)!r}; learn the "
                "model from the sequences of all groups"
            )

    def limits(record: Any) -> list[Any]:
        return plain([record.ratio, record.low, record.high], 4)  # type: ignore[no-any-return]

    def in_group(edge: Influence, is_found: bool) -> list[Any]:
        counts = plain([edge.hits_with, edge.n_with, edge.hits_without, edge.n_without])
        return [*limits(edge), *counts, is_found]

    def label_row(one: Any) -> list[Any]:
        return [codes[one.label], plain([one.reach_first, one.reach_second], 4), limits(one.reach)]

    def edge_row(one: Any) -> list[Any]:
        groups = [in_group(one.first, one.in_first), in_group(one.second, one.in_second)]
        return [codes[one.influencer], codes[one.target], groups, limits(one.change)]

    return [
        {
            "names": list(each.names),
            "sizes": list(each.sizes),
            "level": each.level,
            "labels": [label_row(one) for one in each.labels],
            "edges": [edge_row(one) for one in each.edges],
        }
        for each in found
    ]
