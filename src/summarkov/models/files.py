"""Model files: plain JSON that a colleague can read in ten years.

A file holds counts, settings and results of tests. What follows from counts is there for people only and is
not read. JSON has no infinity: what is infinite or not known is null. Anybody may have edited a file: msgspec
checks structure and types; here, counts must add up, labels be known and states be ones of the summary.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Generic, Literal, TypeVar

import numpy as np
from msgspec import Meta, Struct, to_builtins

from summarkov.engines import Layout, StateCounts
from summarkov.engines.followings import Clusters, Following
from summarkov.errors import DataError, SettingError, StoreError, place
from summarkov.events.vocabulary import label_text, vocabulary_of
from summarkov.evidence import OLD_ORDERS, ORDERS, Confidence, Influence, OrderTest, effect_of
from summarkov.evidence.edges import Totals, edge_confidence
from summarkov.kernels import LAG_BINS, NONE
from summarkov.models.fitted import Fitted
from summarkov.models.graph import InfluenceGraph
from summarkov.models.joint import FittedJoint, JointSuMM
from summarkov.models.joint_parts import (
    CONTEXT,
    N_HABITS,
    N_LEVELS,
    PER_LABEL,
    STARTS,
    JointFeatures,
    LastLabels,
    ProfileSummary,
    Trees,
    Weights,
    base_rates,
)
from summarkov.models.learning import check_layout, for_layout
from summarkov.models.model import SummaryModel, all_families
from summarkov.models.outcome import FittedOutcome, OpenCases, OutcomeModel, moment_of
from summarkov.models.parameters import resolve_target
from summarkov.search import Certificate, Problem, Scorer, SearchResult
from summarkov.settings import Duration
from summarkov.store import Place, check_seal, checked, finite, read_document
from summarkov.summaries import CustomSummary, Names, Summary, registered_summary

#: Of the format.
VERSION = 2
#: Settings that are lists of numbers; other lists are sets of labels.
_NUMBERS = ("lookback", "lookbacks", "counts", "starts")
#: Settings that are stored elsewhere, or are of this machine only.
_NOT_STORED = ("target", "n_jobs")
#: Settings that are younger than the format, and the value that files without them were written with.
_YOUNGER = {"max_sets": 100_000, "false_edges": None, "given": (), "contexts": 0.0, "paper": False}
#: Kinds of models that are gone.
_GONE = {"Bag": "a bag of models", "ContextTreeWeighting": "an average of context trees"}
#: What a file says of an edge of a joint model.
_JOINT_EDGE = (
    *("influencer", "target", "depends", "ratio", "low", "high"),
    *("hits_with", "n_with", "hits_without", "n_without"),
    *("cases_with", "cases_followed", "occurrences", "followed", "follow_rate"),
    *("occurrences_other", "followed_other", "follow_rate_other", "left_out", "follow_rule"),
    *("cases_both", "cases_first"),
)

#: Numbers of edges that are at most 1.
_SHARES = ("p_value", "adjusted", "frequency", "follow_rate", "follow_rate_other")

T = TypeVar("T")
Model = SummaryModel | InfluenceGraph | JointSuMM | OutcomeModel


def load(path: Place) -> Model:
    """Read a model or graph that ``save`` wrote; what is wrong with the file is named with its place.

    ``path`` is that of a file, an address such as ``"s3://bucket/model.json"``, or a file that is open.

    Returns a model (``BSuMM``, ..., ``JointSuMM``), an ``InfluenceGraph`` or an ``OutcomeModel``.
    """
    name, document = read_document(path)
    with place(name):
        if not isinstance(document, dict) or document.get("format") != "summarkov":
            raise StoreError("not a summarkov model; its 'format' is not 'summarkov'")
        version, kind = document.get("version"), document.get("kind")
        if type(version) is not int or version < 1:
            raise StoreError.expected("a 'version' from 1 on", version)
        if version > VERSION:
            raise StoreError(
                f"written in version {version} of the format, but this program reads versions 1 to "
                f"{VERSION}; install a newer summarkov"
            )
        for gone in (kind, document.get("model")):
            if isinstance(gone, str) and gone in _GONE:
                raise StoreError(f"{_GONE[gone]}, which this version no longer has; fit a JointSuMM instead")
        try:
            model = _read_joint(document) if kind == "JointSuMM" else _read_models(document)
        except StoreError:
            raise
        except (SettingError, DataError) as problem:
            raise StoreError(f".settings: {problem}") from None
        except (LookupError, ValueError, ArithmeticError, TypeError, AssertionError) as problem:
            raise StoreError(
                f"its parts do not fit together ({problem or type(problem).__name__}); learn the model again"
            ) from None
        check_seal(document)
    return model


# ---------------------------------------------------------------------- as documents


def document_of(model: Model) -> dict[str, Any]:
    """What was learned, as plain values."""
    head = {"format": "summarkov", "version": VERSION, "kind": type(model).__name__}
    if isinstance(model, JointSuMM):
        return {**head, **_joint_document(model.fitted)}
    if isinstance(model, InfluenceGraph):
        models = list(model.models_.values())
    else:
        models = [model.model_ if isinstance(model, OutcomeModel) else model]
    fitted, layout = models[0].fitted, models[0].fitted.layout
    labels = dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True))
    positions = int(fitted.table.counts.sum()) if layout.together else 0
    beside: Any = layout.together, positions, layout.time, [*layout.attributes], [*layout.outcomes]
    scale: Any = fitted.scale
    found = {
        **head,
        "model": type(models[0]).__name__,
        "settings": _settings_document(fitted),
        "data": to_builtins(_Data(fitted.n_sequences, scale, labels, *beside)),
        "n_targets": fitted.n_targets,
        "targets": [_target_document(each) for each in models],
    }
    if isinstance(model, InfluenceGraph):
        if model.confidence_ is not None:
            found["confidence"] = confidence_document(model.confidence_)
        if model.order_ is not None:
            found["order"] = order_document(model.order_)
    return found | _outcome_document(model) if isinstance(model, OutcomeModel) else found


def _settings_document(fitted: Fitted | FittedJoint) -> dict[str, Any]:
    """The settings that the model was fitted with, whatever was set since."""
    settings = {k: v for k, v in fitted.settings.items() if k not in _NOT_STORED}
    for name, value in settings.items():
        if name == "summary":
            assert isinstance(fitted.summary, CustomSummary)
            settings[name] = fitted.summary.stored_name()
        elif isinstance(value, Mapping):
            settings[name] = dict(sorted((label_text(label), _plain(k)) for label, k in value.items()))
        elif isinstance(value, Iterable) and not isinstance(value, str):
            settings[name] = [_plain(n) for n in value] if name in _NUMBERS else vocabulary_of(value)
        else:
            settings[name] = _plain(value)
    return settings


def _plain(value: Any) -> Any:
    if isinstance(value, timedelta | np.timedelta64):
        return Duration.of(value, "lookback").text
    return value.item() if isinstance(value, np.generic) else value


def _target_document(model: SummaryModel) -> dict[str, Any]:
    fitted = model.fitted
    target, names = [fitted.labels[x] for x in fitted.target.codes], fitted.influencer_labels

    def by_edge(rows: Iterable[Iterable[Any]]) -> dict[str, dict[str, Any]]:
        return {z: dict(zip(target, row, strict=True)) for z, row in zip(names, rows, strict=False)}

    found: dict[str, Any] = {
        "target": target,
        "influencers": list(names),
        **fitted.summary.learned_document(fitted.labels),
        "score": fitted.score if np.isfinite(fitted.score) else None,
        "log_likelihood": fitted.log_likelihood,
    }
    if fitted.followed is not None:
        found["followings"] = by_edge(map(_following_document, edges) for edges in fitted.followed)
    if fitted.moments is not None:
        found["moments"] = by_edge([Totals(*n)._asdict() for n in each] for each in fitted.moments.tolist())
    if fitted.clusters is not None:
        squares = by_edge(fitted.clusters.squares.transpose(2, 1, 0).tolist())
        n = zip(names, fitted.clusters.n.T.tolist(), strict=True)
        found["clusters"] = {z: {"n": each, "squares": squares[z]} for z, each in n}
    rows = zip(fitted.table.keys.tolist(), fitted.observed.tolist(), fitted.theta[:-1].tolist(), strict=True)
    found["states"] = [{**_state(fitted, key), "counts": n, "probabilities": p} for key, n, p in rows]
    found["trace"] = [
        {name: value.text if isinstance(value, Duration) else value for name, value in vars(step).items()}
        for step in model.trace_
    ]
    return found if fitted.certificate is None else {**found, "certificate": dict(vars(fitted.certificate))}


def _state(fitted: Fitted, key: list[int]) -> dict[str, Any]:
    return {"state": fitted.summary.state_document(key, fitted.names)}


def _following_document(counted: Following) -> dict[str, Any]:
    """What was counted of an edge; lags only where a window was cut off."""
    found = {k: v for k, v in to_builtins(replace(counted, lags=None)).items() if v is not None}
    if counted.own is not None and counted.own.n_whole < counted.own.n and counted.lags is not None:
        found["lags"] = counted.lags.tolist()
    return found


def _outcome_document(model: OutcomeModel) -> dict[str, Any]:
    after, opened = moment_of(model.after), model.open_cases
    moment = after.text if isinstance(after, Duration) else after
    texts = (model.outcome, model.value, model.contains, model.ends_with)
    named = (None if text is None else str(text) for text in texts)
    asked: list[Any] = [model.name_, *named, moment, tuple(map(str, model.classes_.tolist()))]
    states = zip(opened.keys.tolist(), opened.counts.swapaxes(0, 1).tolist(), strict=True)
    return {
        "outcome": to_builtins(_Outcome(*asked)),
        "left_out": model.left_out_,
        "overall_rate": model.overall_rate_,
        "open_cases": {
            "after": opened.moments.tolist(),
            "states": [{**_state(model.model_.fitted, key), "counts": n} for key, n in states],
        },
    }


def confidence_document(confidence: Confidence) -> dict[str, Any]:
    """How sure the edges of a graph are, as plain values."""
    return {**vars(confidence), "edges": [finite(vars(edge)) for edge in confidence.edges]}


def order_document(found: OrderTest) -> dict[str, Any]:
    """An order test as plain values."""
    edges = [finite(to_builtins(edge)) for edge in found.edges]
    for edge, tested in zip(edges, found.edges, strict=True):
        if (left := edge["remainder"]) is not None:
            name = "inhibited" if tested.ratio > 1 else "amplified"
            edge["remainder"] = {name: left.pop("without"), **left}
        if tested.local_low is None:  # of an earlier version
            for name in ("local_ratio", "local_low", "local_high", "hits", "expected"):
                del edge[name]
    return {**vars(found), "edges": edges}


def _joint_document(fitted: FittedJoint) -> dict[str, Any]:
    """A fitted joint model as plain values."""
    names, last, weights = (None, *fitted.labels), fitted.last, fitted.weights
    contexts = () if last is None else zip(last.keys.tolist(), last.counts.tolist(), strict=True)
    outcomes = [
        {
            "target": None if not isinstance(name, str) else name,
            "level": float(weights.level[x]),
            "habits": weights.own[:, x].tolist(),
            "place": weights.shared[PER_LABEL * len(fitted.labels) :, x].tolist(),
            "influencers": {
                fitted.labels[z]: {
                    "weights": weights.shared[fitted.features.columns(z), x].tolist(),
                    "gain": float(fitted.gains[z, x]),
                }
                for z in np.flatnonzero(fitted.chosen[:, x]).tolist()
            },
            "trees": _trees_document(fitted.trees, x),
            "alone": _trees_document(fitted.alone, x),
        }
        for x, name in enumerate(fitted.outcomes)
    ]
    return {
        "settings": _settings_document(fitted),
        "data": {
            "sequences": fitted.n_sequences,
            "labels": dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True)),
        },
        "log_likelihood": fitted.log_likelihood,
        "outcomes": outcomes,
        # how often each outcome followed the last labels, the last one first
        "last_labels": [{"last": [names[code] for code in key], "counts": n} for key, n in contexts],
        "edges": [{name: getattr(edge, name) for name in _JOINT_EDGE} for edge in fitted.edges],
    }


def _trees_document(trees: Trees, outcome: int) -> list[dict[str, Any]]:
    splits = np.stack([trees.leaf, trees.feature, trees.level], axis=2)
    return [
        {"splits": [row for row in splits[t].tolist() if row[0] != NONE], "values": trees.value[t].tolist()}
        for t in range(outcome, len(trees), trees.n_outcomes)
    ]


# ---------------------------------------------------------------------- models of one summary, and graphs

Count = Annotated[int, Meta(ge=0, le=2**62)]
Size = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class _Data(Struct, omit_defaults=True):
    sequences: Count
    scale: Literal[1, 1048576]
    labels: dict[str, Count]
    together: bool = False
    positions: Count = 0
    time: Literal["clock", "number"] | None = None
    attributes: list[str] = []
    outcomes: list[str] = []


class _State(Struct, Generic[T]):
    state: Any
    counts: list[T]


class _Step(Struct):
    action: Literal["add", "remove", "change", "split"]
    label: str
    score: float
    gain: float
    lookback: int | str | None = None


class _Clusters(Struct):
    n: tuple[Size, Size]
    squares: dict[str, tuple[Size, Size]]


class _OlderFollowing(Struct):
    followed: dict[str, Size]


class _Target(Struct):
    target: list[str]
    influencers: list[str]
    states: list[_State[Count]]
    trace: list[_Step]
    certificate: Certificate | None = None
    followings: dict[str, dict[str, Following]] | None = None
    sequences: dict[str, _OlderFollowing] | None = None
    moments: dict[str, dict[str, dict[str, Size]]] | None = None
    clusters: dict[str, _Clusters] | None = None
    lookbacks: dict[str, int | str | None] | None = None
    tree: Any = None


class _Outcome(Struct):
    name: str
    column: str | None
    value: str | None
    contains: str | None
    ends_with: str | None
    after: Annotated[int, Meta(ge=1)] | str | None
    classes: tuple[str, str]


class _OpenCases(Struct):
    after: list[Count]
    states: list[_State[list[Count]]]


class _Models(Struct):
    kind: str
    model: str
    settings: dict[str, Any]
    data: _Data
    targets: list[_Target]
    n_targets: Count = 0
    confidence: dict[str, Any] | None = None
    order: dict[str, Any] | None = None
    outcome: _Outcome | None = None
    left_out: dict[str, Count] = {}
    overall_rate: Share = 0.0
    open_cases: _OpenCases | None = None


def _read_models(document: dict[str, Any]) -> SummaryModel | InfluenceGraph | OutcomeModel:
    """A model, a graph, or the model of an outcome."""
    if document.get("kind") == "OutcomeModel" and "open_cases" not in document:
        raise StoreError(
            "a model of an outcome from before outcomes were about whole cases, so its numbers mean "
            "something else; learn it again with 'summarkov outcome' or OutcomeModel.fit"
        )
    read, families = checked(document, _Models), all_families()
    for name, known in (("kind", {*families, "InfluenceGraph", "OutcomeModel"}), ("model", {*families})):
        if (given := getattr(read, name)) not in known:
            with place(f".{name}"):
                raise StoreError.expected(f"one of {', '.join(sorted(known))}", given)
    family = families[read.model]
    with place(".settings"):
        template = family(**_settings(read.settings, family))
    with place(".data"):
        layout = _layout(read.data)
    summary, models = for_layout(template.make_summary(), layout), []
    for at, target in enumerate(read.targets):
        with place(f".targets[{at}]"):
            models.append(_read_target(target, template, summary, layout, read))
    if read.kind == "InfluenceGraph":
        return _read_graph(read, template, models)
    if len(models) != 1 or read.kind not in (read.model, "OutcomeModel"):
        raise StoreError(f".targets: a {read.kind} has one target of its own kind")
    return models[0] if read.outcome is None else _read_outcome(read, template, models[0])


def _settings(given: dict[str, Any], family: type[SummaryModel | JointSuMM]) -> dict[str, Any]:
    """The settings of a model; what their values may be, the model knows."""
    known = set(family().get_params(deep=False)) - set(_NOT_STORED)
    settings: dict[str, Any] = {name: value for name, value in _YOUNGER.items() if name in known}
    given = dict(given)
    if "random_state" in known and "seed" in given:  # as older files call it
        seed = given.pop("seed")
        given["random_state"] = given.get("random_state") or seed
    if family.__name__ == "TreeSuMM":  # older ones could be averaged
        if given.pop("average", False):
            raise StoreError("trees are no longer averaged over prunings; learn the model again")
        given.pop("split", None)
    for name, value in given.items():
        with place(f".{name}"):
            if name not in known:
                raise StoreError(f"{family.__name__} has no such setting")
            if name == "summary":
                value = registered_summary(checked(value, str))
            elif isinstance(value, list | dict) and name not in _NUMBERS:
                value = tuple(checked(value, list[str]))
            settings[name] = tuple(value) if isinstance(value, list) else value
    if missing := known - settings.keys():
        raise StoreError(f"{min(missing)!r} is missing")
    return settings


def _layout(data: _Data) -> Layout:
    """What the data had beside events in a row."""
    labels, beside = list(data.labels), [*data.attributes, *data.outcomes]
    if labels != sorted(labels) or not 0 < sum(data.labels.values()) <= 2**62:
        raise StoreError(".labels: expected sorted labels, with counts that are not all 0 and can be added")
    if len({*beside} & {*labels}) < len(beside) or len(data.outcomes) not in (0, 2):
        raise StoreError.expected("'attributes' among the labels, and two 'outcomes' or none", beside)
    return Layout(data.together, data.time, tuple(sorted(data.attributes)), tuple(sorted(data.outcomes)))


def _n_positions(data: _Data) -> int:
    """How many positions were counted."""
    if data.together and not data.outcomes:
        return data.positions
    counted = set(data.outcomes or data.labels) - set(data.attributes)
    return sum(n for name, n in data.labels.items() if name in counted)


def _read_target(
    read: _Target, template: SummaryModel, summary: Summary, layout: Layout, document: _Models
) -> SummaryModel:
    """The model of one target."""
    data, names = document.data, tuple(read.target)
    labels, n_positions = tuple(data.labels), _n_positions(data)
    code_of = {label: code for code, label in enumerate(labels)}
    for each in (read.target, read.influencers):
        if each != sorted(set(each)) or not code_of.keys() >= set(each):
            raise StoreError.expected("'target' and 'influencers' of sorted labels, each once", each)
    if layout.outcomes and names != layout.outcomes:
        raise StoreError.expected(f"the target {', '.join(layout.outcomes)}", names)
    target = resolve_target(names, labels, layout)
    codes, influencers = target.codes, tuple(code_of[z] for z in read.influencers)
    model = template.copy(target=names[0] if len(names) == 1 else names)
    summary.window(labels)  # refuses labels that are not there
    check_layout(model, summary, layout)
    counted = Scorer(), labels, n_positions / data.scale, data.scale, (), ()
    n_targets = max(document.n_targets, len(document.targets))
    problem = model.make_problem(Problem(summary, target, *counted, n_targets=n_targets))
    model.make_search(problem)  # refuses settings with which none could start
    problem = problem.read_learned(read, influencers)
    label_counts = np.array([*data.labels.values()], np.int64)
    with place(".states"):
        counts = _array([row.counts for row in read.states], (len(read.states), target.n_outcomes))
        states = [row.state for row in read.states]
        table = StateCounts(*problem.summary.read_table(states, counts, Names(read.influencers, labels)))
        total = table.counts.sum(axis=0)
        if (total[: len(codes)] != label_counts[list(codes)]).any() or total.sum() != n_positions:
            raise StoreError("the counts do not add up to those of the labels in 'data'")
    learned = problem.influencers_of(table)
    influencers = influencers if learned is None else learned
    if not set(problem.required) <= set(influencers) <= {*problem.required, *problem.optional}:
        raise StoreError.expected("'influencers' that are required or candidates", read.influencers)
    steps = tuple(step for step in map(problem.read_step, read.trace) if step is not None)
    if not {step.label for step in steps} <= {*labels}:
        raise StoreError(".trace: expected labels of 'data'")
    if (proof := read.certificate) is not None:
        sizes = proof.examined, proof.pruned, proof.open, proof.gap, proof.greedy_gap
        if min(sizes) < 0 or not {*proof.greedy} <= {*labels}:
            raise StoreError(".certificate: expected numbers from 0 on, and labels of 'data'")
    edges = [labels[z] for z in influencers] if problem.summary.by_label else []
    score = problem.score(table, influencers)
    model._fitted = model.fitted_type.of(
        problem,
        SearchResult(problem.summary, influencers, score, table, steps, read.certificate),
        model.get_params(deep=False),
        layout,
        n_sequences=data.sequences,
        label_counts=label_counts,
        **_counted_of_edges(read, edges, names),
    )
    return model


def _counted_of_edges(read: _Target, influencers: list[str], target: tuple[str, ...]) -> dict[str, Any]:
    """Followings, totals of a tree and sums over sequences, where a file has them."""
    found: dict[str, Any] = {}
    shape, followings, clusters = (len(influencers), len(target)), read.followings, read.clusters
    if followings is None and read.sequences is not None:
        older = read.sequences.items()
        followings = {z: {x: Following(n) for x, n in each.followed.items()} for z, each in older}
    if followings is not None:
        with place(".followings"):
            if list(followings) != influencers:
                raise StoreError(f"expected one entry for each of {', '.join(influencers)}")
            edges = tuple(tuple(replace(followings[z][x]) for x in target) for z in influencers)
            for each in itertools.chain(*edges):
                _check_following(each)
        found["followed"] = edges
    if read.moments is not None:
        names, moments = Totals._fields, read.moments
        totals = [[[moments[z][x][name] for name in names] for x in target] for z in influencers]
        found["moments"] = np.reshape(totals, (*shape, len(names)))
        if (found["moments"][..., ::2] > found["moments"][..., 1::2]).any():
            raise StoreError(".moments: expected no more hits than positions")
    if clusters is not None:
        squares = np.reshape([[clusters[z].squares[x] for x in target] for z in influencers], (*shape, 2))
        n = np.reshape([clusters[z].n for z in influencers], (len(influencers), 2))
        found["clusters"] = Clusters(squares.transpose(2, 1, 0), n.T)
    return found


def _check_following(found: Following) -> None:
    """Refuse more of a part than of the whole."""
    parts = [
        ("cases_followed", found.cases_followed, "cases_with", found.cases_with),
        ("cases_first", found.cases_first, "cases_both", found.cases_both),
    ]
    for one in filter(None, (found.own, found.others)):
        parts += [(k, getattr(one, k), "n", one.n) for k in ("followed", "n_whole")]
        parts += [("followed_whole", one.followed_whole, k, getattr(one, k)) for k in ("followed", "n_whole")]
    for name, some, of, whole in parts:
        if whole is not None and (some is None or not 0 <= some <= whole):
            raise StoreError(f"expected {name!r} from 0 to {of!r}")
    if (lags := found.lags) is None:
        return
    totals = np.array([0.0 if one is None else one.n * (1 + 1e-9) for one in (found.own, found.others)])
    is_off = (lags < 0).any() or (lags[:, :3] % 1).any() or (lags[:, :3] > (1, 1, LAG_BINS - 1)).any()
    if is_off or (np.bincount(lags[:, 0].astype(int), lags[:, 3], 2) > totals).any():
        raise StoreError("expected rows of 'lags': 0 or 1, 0 or 1, the bin of a lag, and parts of 'n'")


def _array(read: Any, shape: tuple[int, ...], kind: type = np.int64) -> Any:
    """Nested lists as an array of some shape."""
    try:
        found: Any = np.array(read, kind)
    except ValueError:
        found = np.zeros(0)
    if found.size != math.prod(shape) or (found.size and found.shape != shape):
        raise StoreError.expected(f"numbers of shape {' by '.join(map(str, shape))}", read)
    return found.reshape(shape)


def _read_graph(read: _Models, template: SummaryModel, models: list[SummaryModel]) -> InfluenceGraph:
    names = [model.target_[0] for model in models]
    if not models or names != sorted(set(names)) or any(len(model.target_) != 1 for model in models):
        raise StoreError(".targets: a graph has targets of one label each, sorted and not repeated")
    first = models[0].fitted
    events = tuple(label for label in first.labels if label not in first.layout.attributes)
    graph = InfluenceGraph(template, targets=None if tuple(names) == events else tuple(names))
    graph._take(models)
    known = {(edge.influencer, x): edge for x, m in graph.models_.items() for edge in m.fitted.influences}
    if read.confidence is not None:
        with place(".confidence"):
            edges = [_edge_confidence(edge, known) for edge in _edges(read.confidence, graph)]
            n = read.confidence.get("n_sequences", read.confidence.get("n_units"))
            graph._confidence = checked({**read.confidence, "n_sequences": n, "edges": edges}, Confidence)
            sure = graph._confidence
            _check_sizes(sure, *sure.edges)
            if not (sure.n and 0 < sure.level < 1):
                raise StoreError("expected 'n' from 1 on, and a 'level' between 0 and 1")
    if read.order is not None:
        with place(".order"):
            edges = [_edge_order(edge) for edge in _edges(read.order, graph)]
            order = checked({**read.order, "edges": edges}, OrderTest)
            graph._order = replace(order, edges=tuple(map(replace, order.edges)))  # with all that it may have
            _check_sizes(order, *(part for e in order.edges for part in (e, e.remainder, e.short)))
            if not {edge.order for edge in order.edges} <= {*ORDERS} or order.within in ("", 0):
                raise StoreError(f"expected 'order' one of {', '.join(ORDERS)}, and 'within' above 0 or null")
    return graph


def _edges(read: dict[str, Any], graph: InfluenceGraph) -> list[dict[str, Any]]:
    """The entries of edges, which must be from labels to targets of the graph."""
    edges = [_numbers(edge) for edge in checked(read.get("edges"), list[Any])]
    for edge in edges:
        if edge.get("influencer") not in graph.labels_ or edge.get("target") not in graph.models_:
            raise StoreError.expected("edges from labels to targets of the graph", edge.get("influencer"))
    return edges


def _numbers(entry: Any) -> dict[str, Any]:
    """The entry of an edge with what null stands for in numbers that may be infinite or not known.

    There is no upper limit; a ratio that has a lower limit only is infinite, else it is not known.
    """
    read: dict[str, Any] = dict(checked(entry, dict[str, Any]))
    for name in [name for name, value in read.items() if value is None]:
        if name.endswith(("low", "high")):
            read[name] = math.inf
        elif name.endswith("ratio") or name in ("observed", "shuffled"):
            which = name.removesuffix("ratio") if name.endswith("ratio") else ""
            low, high = read.get(f"{which}low"), read.get(f"{which}high")
            endless = high in (None, math.inf) and low is not None and low != 0 and name != "shuffled"
            read[name] = math.inf if endless else math.nan
    return read


def _check_sizes(*records: object) -> None:
    """Refuse numbers below 0, and shares above 1."""
    for name, value in ((k, v) for each in records if each is not None for k, v in vars(each).items()):
        if isinstance(value, float | int) and (value < 0 or (value > 1 and name in _SHARES)):
            raise StoreError.expected(f"{name!r} from 0 {'to 1' if name in _SHARES else 'on'}", value)


def _edge_confidence(read: dict[str, Any], known: Mapping[tuple[str, str], Influence]) -> dict[str, Any]:
    mine = known.get((read["influencer"], read["target"]))
    if "ratio" not in read:  # of the first version, which had another measure: counts tell the ratio
        share = checked(read.get("frequency"), Share)
        return dict(vars(edge_confidence((read["influencer"], read["target"]), mine, share)))
    if not math.isfinite(read.get("corrected_low", math.inf)):
        if math.isfinite(read.get("corrected_ratio", math.nan)):
            raise StoreError.expected("'corrected_low' beside 'corrected_ratio'", None)
        read = {k: v for k, v in read.items() if not k.startswith("corrected_")}
    return {**read, "in_graph": mine is not None}


def _edge_order(read: dict[str, Any]) -> dict[str, Any]:
    left, short = (read.get(name) and _numbers(read[name]) for name in ("remainder", "short"))
    if left:
        left["without"] = left.get("inhibited", left.get("amplified"))
    order = OLD_ORDERS.get(str(read.get("order")), read.get("order"))
    return {**read, "order": order, "remainder": left, "short": short}


def _read_outcome(read: _Models, template: SummaryModel, model: SummaryModel) -> OutcomeModel:
    """The model of an outcome, from that of whole cases and what was counted at every moment."""
    asked, opened, fitted = read.outcome, read.open_cases, model.fitted
    if asked is None or opened is None or set(fitted.layout.outcomes) != {asked.name, f"{asked.name}: no"}:
        raise StoreError(".outcome: expected one of the 'outcomes' of 'data', and not its opposite")
    after = Duration.of(asked.after, "after").text if isinstance(asked.after, str) else asked.after
    found = OutcomeModel(template, asked.column, asked.value, asked.contains, asked.ends_with, after)
    classes = (False, True) if asked.classes == ("False", "True") else asked.classes
    with place(".open_cases"):
        shape = (len(opened.states), len(opened.after), fitted.target.n_outcomes)
        counts = _array([row.counts for row in opened.states], shape)
        if not shape[1] or opened.after[0] or any(a >= b for a, b in itertools.pairwise(opened.after)):
            raise StoreError.expected("moments 'after' in order, each once, from 0 on", opened.after)
        states, seen = [row.state for row in opened.states], np.ones((shape[0], shape[2]), np.int64)
        keys, _ = fitted.summary.read_table(states, seen, fitted.names)
    cases = OpenCases(fitted, np.array(opened.after), keys, counts.swapaxes(0, 1))
    found._fitted = FittedOutcome(model, cases, asked.name, read.left_out, read.overall_rate, classes)
    return found


# ---------------------------------------------------------------------- joint models


class _JointData(Struct):
    sequences: Count
    labels: dict[str, Size]


class _JointInfluencer(Struct):
    weights: list[float]
    gain: float


class _JointTree(Struct):
    splits: list[tuple[Count, Count, Count]]
    values: list[float]


class _JointOutcome(Struct):
    target: str | None
    level: float
    habits: list[float]
    place: list[float]
    influencers: dict[str, _JointInfluencer]
    trees: list[_JointTree]
    alone: list[_JointTree]


class _JointContext(Struct):
    last: list[str | None]
    counts: list[Size]


class _Joint(Struct):
    settings: dict[str, Any]
    data: _JointData
    log_likelihood: float
    outcomes: list[_JointOutcome]
    edges: list[dict[str, Any]]
    last_labels: list[_JointContext] = []


def _read_joint(document: dict[str, Any]) -> JointSuMM:
    read = checked(document, _Joint)
    labels, counts = tuple(read.data.labels), np.array([*read.data.labels.values()])
    if not labels or list(labels) != sorted(labels):
        raise StoreError(".data.labels: expected at least one label, in sorted order")
    with place(".settings"):
        model = JointSuMM(**_settings(read.settings, JointSuMM))
    model._check()
    target, settings = model._target(labels), model.get_params(deep=False)
    summary = ProfileSummary(settings["lookback"])
    features = JointFeatures(base_rates(counts), target)
    names = [*(labels[x] for x in target.codes), None][: target.n_outcomes]
    if [one.target for one in read.outcomes] != names:
        raise StoreError(".outcomes: expected the targets in the order of labels, and null for the rest")
    edges = [_joint_edge(_numbers(edge)) for edge in read.edges]
    _check_sizes(*edges)
    if not ({edge.influencer for edge in edges} <= {*labels} and {edge.target for edge in edges} <= {*names}):
        raise StoreError(".edges: expected edges between labels of 'data'")
    weights = Weights.zero(target.n_outcomes, features.n_shared, N_HABITS)
    chosen, gains = np.zeros((2, len(labels), target.n_outcomes))
    for x, one in enumerate(read.outcomes):
        weights.level[x] = one.level
        weights.own[:, x] = _array(one.habits, (N_HABITS,), float)
        weights.shared[PER_LABEL * len(labels) :, x] = _array(one.place, (len(STARTS),), float)
        for name, influencer in one.influencers.items():
            z = labels.index(name)
            chosen[z, x], gains[z, x] = True, influencer.gain
            weights.shared[features.columns(z), x] = _array(influencer.weights, (PER_LABEL,), float)
    model._fitted = FittedJoint(
        summary=summary,
        labels=labels,
        features=features,
        weights=weights,
        chosen=chosen.astype(bool),
        gains=gains,
        trees=_trees([one.trees for one in read.outcomes], settings, features),
        alone=_trees([one.alone for one in read.outcomes], settings, features),
        last=_contexts(read.last_labels, labels, target.n_outcomes) if settings["contexts"] else None,
        edges=tuple(edges),
        log_likelihood=read.log_likelihood,
        n_sequences=read.data.sequences,
        label_counts=counts,
        settings=settings,
    )
    return model


def _joint_edge(read: dict[str, Any]) -> Influence:
    read.setdefault("cases_followed", read.get("sequences"))  # as older files call it
    found = checked({**read, "effect": "", "interval": "likelihood"}, Influence)
    return replace(found, effect=effect_of(found.low, found.high, bool(found.depends)))


def _trees(read: list[list[_JointTree]], settings: dict[str, Any], features: JointFeatures) -> Trees:
    """Trees of every outcome, round by round."""
    n_splits = settings["leaves"] - 1
    if any(len(each) != settings["rounds"] for each in read):
        raise StoreError(f".outcomes: expected {settings['rounds']} 'trees', and as many 'alone'")
    flat = [tree for of_round in zip(*read, strict=True) for tree in of_round]
    filled = [tree.splits + [(NONE, NONE, 0)] * (n_splits - len(tree.splits)) for tree in flat]
    splits = _array(filled, (len(flat), n_splits, 3))
    if (splits > [(at, features.n_tree_features - 1, N_LEVELS) for at in range(n_splits)]).any():
        raise StoreError(".outcomes: expected 'splits' of leaves and features that are there")
    values = _array([tree.values for tree in flat], (len(flat), n_splits + 1), float)
    leaf, feature, level = np.moveaxis(splits.astype(np.int32), 2, 0)
    return Trees(leaf, feature, level, values, len(read))


def _contexts(read: list[_JointContext], labels: tuple[str, ...], n_outcomes: int) -> LastLabels:
    """How often each outcome followed the last labels."""
    codes: dict[str | None, int] = {None: 0} | {label: code for code, label in enumerate(labels, start=1)}
    keys = _array([[codes[label] for label in one.last] for one in read], (len(read), CONTEXT), np.int32)
    counts = _array([one.counts for one in read], (len(read), n_outcomes), float)
    if not len(counts) or not counts.any(axis=1).all():
        raise StoreError(".last_labels: expected at least one context, and counts not all of which are 0")
    return LastLabels.of(keys, counts)
