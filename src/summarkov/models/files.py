"""Model files: plain JSON that a colleague can read in ten years.

A file holds counts, settings and results of tests. What follows from counts is there for people only and is
not read. JSON has no infinity: numbers of edges that are infinite or not known are the texts "inf" and "nan".
Anybody may have edited a file: msgspec checks structure and types; here, counts must add up, labels be known
and states be ones of the summary.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Any, Generic, Literal, TypeVar

import numpy as np
from msgspec import Meta, Struct, to_builtins

from summarkov.engines import Layout, StateCounts
from summarkov.engines.followings import Clusters, Followed, Following
from summarkov.errors import DataError, SettingError, StoreError, place
from summarkov.events.vocabulary import label_text, vocabulary_of
from summarkov.evidence import ORDERS, Confidence, Influence, OrderTest
from summarkov.evidence.course import Course
from summarkov.evidence.edges import IMPACT, Totals
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
from summarkov.models.old_files import upgraded
from summarkov.models.outcome import FittedOutcome, OpenCases, OutcomeModel, moment_of
from summarkov.models.parameters import resolve_target
from summarkov.search import Certificate, Problem, Scorer, SearchResult
from summarkov.settings import Duration
from summarkov.store import Place, check_seal, checked, read_document
from summarkov.summaries import Names, Summary
from summarkov.typing import FloatArray

#: Of the format that is written; earlier ones are read too.
VERSION = 3
#: Settings that are lists of numbers; other lists are sets of labels.
_NUMBERS = ("lookback", "lookbacks", "counts", "starts")
#: Settings that are stored elsewhere, or are of this machine only.
_NOT_STORED = ("target", "n_jobs")
#: Numbers of edges that are at most 1.
_SHARES = ("p_value", "adjusted", "frequency", "follow_rate", "follow_rate_other")
#: What of an edge is text and no number: a label may be called "inf".
_TEXTS = ("influencer", "target", "without", "depends", "not_comparable", "labels", "first", "second")

T = TypeVar("T")
Model = SummaryModel | InfluenceGraph | JointSuMM | OutcomeModel


def load(path: Place) -> Model:
    """Read a model or graph that ``save`` wrote; what is wrong with the file is named with its place.

    ``path`` is that of a file, or a file that is open.

    Returns a model (``BSuMM``, ..., ``JointSuMM``), an ``InfluenceGraph`` or an ``OutcomeModel``.
    """
    name, document = read_document(path)
    with place(name):
        if not isinstance(document, dict) or document.get("format") != "summarkov":
            raise StoreError("not a summarkov model; its 'format' is not 'summarkov'")
        version = document.get("version")
        if type(version) is not int or version < 1:
            raise StoreError.expected("a 'version' from 1 on", version)
        if version > VERSION:
            raise StoreError(
                f"written in version {version} of the format, but this program reads versions 1 to "
                f"{VERSION}; install a newer summarkov"
            )
        try:
            current = document if version == VERSION else upgraded(document, _read_models)
            model = _read_joint(current) if current.get("kind") == "JointSuMM" else _read_models(current)
        except StoreError:
            raise
        except (SettingError, DataError) as problem:
            raise StoreError(f".settings: {problem}") from None
        except (
            LookupError,
            ValueError,
            ArithmeticError,
            TypeError,
            AttributeError,
            AssertionError,
        ) as problem:
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
    positions: Any = int(fitted.table.counts.sum())
    scale: Any = fitted.scale
    beside: Any = layout.together, layout.time, [*layout.attributes], [*layout.outcomes]
    found = {
        **head,
        "model": type(models[0]).__name__,
        "settings": _settings_document(fitted),
        "data": to_builtins(_Data(fitted.n_sequences, scale, labels, positions, *beside)),
        "n_targets": fitted.n_targets,
        "targets": [_target_document(each) for each in models],
    }
    if isinstance(model, OutcomeModel):
        return found | _outcome_document(model)
    if isinstance(model, InfluenceGraph):
        if model.confidence_ is not None:
            found["confidence"] = _record(model.confidence_)
        if model.order_ is not None:
            found["order"] = {"within": None, **_record(model.order_)}
        if model.course_ is not None:
            found["course"] = _record(model.course_)
    return found


def _settings_document(fitted: Fitted | FittedJoint) -> dict[str, Any]:
    """The settings that the model was fitted with, whatever was set since."""
    settings = {k: v for k, v in fitted.settings.items() if k not in _NOT_STORED}
    for name, value in settings.items():
        if name == "summary":
            raise SettingError(
                "a file has no code, so a model with your own summary is not stored; pickle it"
            )
        if isinstance(value, Mapping):
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
    rows = zip(fitted.table.keys.tolist(), fitted.observed.tolist(), fitted.theta[:-1].tolist(), strict=True)
    counted = {name: getattr(fitted, name) for name in ("followed", "moments", "clusters", "certificate")}
    return {
        "target": [fitted.labels[x] for x in fitted.target.codes],
        "influencers": list(fitted.influencer_labels),
        **fitted.summary.learned_document(fitted.labels),
        "score": fitted.score if np.isfinite(fitted.score) else None,
        "log_likelihood": fitted.log_likelihood,
        **{name: _record(each) for name, each in counted.items() if each is not None},
        "states": [{**_state(fitted, key), "counts": n, "probabilities": p} for key, n, p in rows],
        "trace": [
            {name: value.text if isinstance(value, Duration) else value for name, value in vars(step).items()}
            for step in model.trace_
        ],
    }


def _record(value: Any) -> Any:
    """A record and all in it as plain values, without what is not known."""
    return _plain_numbers(to_builtins(value, enc_hook=lambda array: array.tolist()))


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain_numbers(each) for name, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_plain_numbers(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _state(fitted: Fitted, key: list[int]) -> dict[str, Any]:
    return {"state": fitted.summary.state_document(key, fitted.names)}


def _outcome_document(model: OutcomeModel) -> dict[str, Any]:
    after, opened = moment_of(model.after), model.open_cases
    texts = {name: getattr(model, name) for name in ("outcome", "value", "contains", "ends_with")}
    settings: dict[str, Any] = {name: str(text) for name, text in texts.items() if text is not None}
    if after is not None:
        settings["after"] = after.text if isinstance(after, Duration) else after
    states = zip(opened.keys.tolist(), opened.counts.swapaxes(0, 1).tolist(), strict=True)
    classes = [str(each) for each in model.classes_]
    return {
        "outcome": {"name": model.name_, "settings": settings, "classes": classes},
        "left_out": model.left_out_,
        "overall_rate": model.overall_rate_,
        "open_cases": {
            "after": opened.moments.tolist(),
            "states": [{**_state(model.model_.fitted, key), "counts": n} for key, n in states],
        },
    }


def _joint_document(fitted: FittedJoint) -> dict[str, Any]:
    """A fitted joint model as plain values."""
    weights, last = fitted.weights, fitted.last
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
        "penalty": fitted.penalty,
        "outcomes": outcomes,
        # trees of all outcomes, round by round: on top of the weights, and alone
        "trees": _record(fitted.trees),
        "alone": _record(fitted.alone),
        # how often each outcome followed the last labels, the last one first: numbers of labels from 1 on
        **(
            {}
            if last is None
            else {"last_labels": {"keys": last.keys.tolist(), "counts": last.counts.tolist()}}
        ),
        "edges": _record(fitted.edges),
    }


# ---------------------------------------------------------------------- models of one summary, and graphs

Count = Annotated[int, Meta(ge=0, le=2**62)]
Share = Annotated[float, Meta(ge=0, le=1)]


class _Data(Struct, omit_defaults=True):
    sequences: Count
    scale: Literal[1, 1048576]
    labels: dict[str, Count]
    positions: Count
    together: bool = False
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


class _Target(Struct):
    target: list[str]
    influencers: list[str]
    states: list[_State[Count]]
    trace: list[_Step]
    certificate: Certificate | None = None
    followed: Followed | None = None
    moments: FloatArray | None = None
    clusters: Clusters | None = None
    lookbacks: dict[str, int | str | None] | None = None
    tree: Any = None


class _Outcome(Struct):
    name: str
    settings: dict[str, Annotated[int, Meta(ge=1)] | str]
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
    course: dict[str, Any] | None = None
    outcome: _Outcome | None = None
    left_out: dict[str, Count] = {}
    overall_rate: Share = 0.0
    open_cases: _OpenCases | None = None


def _read_models(document: dict[str, Any]) -> SummaryModel | InfluenceGraph | OutcomeModel:
    """A model, a graph, or the model of an outcome."""
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
    settings: dict[str, Any] = {}
    for name, value in given.items():
        with place(f".{name}"):
            if name not in known:
                raise StoreError(f"{family.__name__} has no such setting")
            if name == "summary":
                raise StoreError("a file has no code, so no summary of your own; learn the model again")
            if isinstance(value, list | dict) and name not in _NUMBERS:
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


def _read_target(
    read: _Target, template: SummaryModel, summary: Summary, layout: Layout, document: _Models
) -> SummaryModel:
    """The model of one target."""
    data, names = document.data, tuple(read.target)
    labels = tuple(data.labels)
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
    counted = Scorer(), labels, data.positions / data.scale, data.scale, (), ()
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
        if (total[: len(codes)] != label_counts[list(codes)]).any() or total.sum() != data.positions:
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
    edges = len(influencers) if problem.summary.by_label else 0, len(names)
    _check_counted(read, *edges)
    model._fitted = model.fitted_type.of(
        problem,
        SearchResult(
            problem.summary, influencers, problem.score(table, influencers), table, steps, read.certificate
        ),
        model.get_params(deep=False),
        layout,
        n_sequences=data.sequences,
        label_counts=label_counts,
        followed=read.followed,
        moments=read.moments,
        clusters=read.clusters,
    )
    return model


def _check_counted(read: _Target, n_influencers: int, n_labels: int) -> None:
    """Refuse followings, totals of a tree and sums over sequences that are not of these edges."""
    followed, moments, clusters = read.followed, read.moments, read.clusters
    if followed is not None:
        with place(".followed"):
            if list(map(len, followed)) != [n_labels] * n_influencers:
                raise StoreError(f"expected {n_labels} entries for each of {n_influencers} influencers")
            for each in itertools.chain(*followed):
                _check_following(each)
    if moments is not None:
        _array(moments, (n_influencers, n_labels, len(Totals._fields)), float)
        if moments.size and (moments < 0).any() | (moments[..., ::2] > moments[..., 1::2]).any():
            raise StoreError(".moments: expected numbers from 0 on, and no more hits than positions")
    if clusters is not None:
        for array, shape in (
            (clusters.squares, (2, n_labels, n_influencers)),
            (clusters.n, (2, n_influencers)),
        ):
            if (_array(array, shape, float) < 0).any():
                raise StoreError(".clusters: expected numbers from 0 on")


def _check_following(found: Following) -> None:
    """Refuse more of a part than of the whole."""
    with_ = found.cases_followed if found.cases_with is None else found.cases_with
    parts = [(found.cases_followed, with_), (found.cases_first or 0, found.cases_both or 0)]
    for one in filter(None, (found.own, found.others)):
        parts += [(one.followed, one.n), (one.n_whole, one.n)]
        parts += [(one.followed_whole, one.followed), (one.followed_whole, one.n_whole)]
    if not all(0 <= some <= whole for some, whole in parts):
        raise StoreError("expected parts that are no larger than the whole")
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
    if read.confidence is not None:
        with place(".confidence"):
            sure = graph._confidence = _known(checked(_numbers(read.confidence), Confidence), graph)
            _check_sizes(sure)
            if not (sure.n and 0 < sure.level < 1):
                raise StoreError("expected 'n' from 1 on, and a 'level' between 0 and 1")
    if read.order is not None:
        with place(".order"):
            order = graph._order = _known(checked(_numbers(read.order), OrderTest), graph)
            _check_sizes(order, *(part for e in order.edges for part in (e.remainder, e.short)))
            if not {edge.order for edge in order.edges} <= {*ORDERS} or order.within in ("", 0):
                raise StoreError(f"expected 'order' one of {', '.join(ORDERS)}, and 'within' above 0 or null")
    if read.course is not None:
        with place(".course"):
            course = graph._course = _known(checked(_numbers(read.course), Course), graph)
            _check_sizes(*course.interplays)
            labels = {label for chain in course.chains for label in chain.labels}
            labels |= {label for one in course.interplays for label in (one.first, one.second, one.target)}
            if not labels <= {*graph.labels_}:
                raise StoreError("expected labels of the graph in 'chains' and 'interplays'")
    return graph


def _known(found: T, graph: InfluenceGraph) -> T:
    """What is said of edges, which must be from labels to targets of the graph."""
    edges: Any = found.edges  # type: ignore[attr-defined]
    _check_sizes(*edges)
    for edge in edges:
        if edge.influencer not in graph.labels_ or edge.target not in graph.models_:
            raise StoreError.expected("edges from labels to targets of the graph", edge.influencer)
    return found


def _numbers(value: Any) -> Any:
    """Plain values, with infinite and unknown numbers for the texts that stand for them."""
    if isinstance(value, dict):
        return {name: each if name in _TEXTS else _numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return float(value) if value in ("inf", "nan") else value


def _check_sizes(*records: object) -> None:
    """Refuse numbers below 0, and shares above 1."""
    for name, value in ((k, v) for each in records if each is not None for k, v in vars(each).items()):
        if isinstance(value, float | int) and (
            (value < 0 and name not in IMPACT) or (value > 1 and name in _SHARES)
        ):
            raise StoreError.expected(f"{name!r} from 0 {'to 1' if name in _SHARES else 'on'}", value)


def _read_outcome(read: _Models, template: SummaryModel, model: SummaryModel) -> OutcomeModel:
    """The model of an outcome, from that of whole cases and what was counted at every moment."""
    asked, opened, fitted = read.outcome, read.open_cases, model.fitted
    if asked is None or opened is None or set(fitted.layout.outcomes) != {asked.name, f"{asked.name}: no"}:
        raise StoreError(".outcome: expected one of the 'outcomes' of 'data', and not its opposite")
    found = OutcomeModel(template, **asked.settings)  # type: ignore[arg-type]  # which are checked when used
    moment_of(found.after)
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
    labels: dict[str, Annotated[float, Meta(ge=0)]]


class _JointInfluencer(Struct):
    weights: list[float]
    gain: float


class _JointOutcome(Struct):
    target: str | None
    level: float
    habits: list[float]
    place: list[float]
    influencers: dict[str, _JointInfluencer]


class _JointContexts(Struct):
    keys: list[list[Count]]
    counts: list[list[Annotated[float, Meta(ge=0)]]]


class _Joint(Struct):
    settings: dict[str, Any]
    data: _JointData
    log_likelihood: float
    penalty: Annotated[float, Meta(gt=0)]
    outcomes: list[_JointOutcome]
    trees: Trees
    alone: Trees
    edges: list[dict[str, Any]]
    last_labels: _JointContexts | None = None


def _read_joint(document: dict[str, Any]) -> JointSuMM:
    read = checked(document, _Joint)
    labels, counts = tuple(read.data.labels), np.array([*read.data.labels.values()])
    if not labels or list(labels) != sorted(labels):
        raise StoreError(".data.labels: expected at least one label, in sorted order")
    with place(".settings"):
        model = JointSuMM(**_settings(read.settings, JointSuMM))
    model._check()
    target, settings = model._target(labels), model.get_params(deep=False)
    features = JointFeatures(base_rates(counts), target)
    names = [*(labels[x] for x in target.codes), None][: target.n_outcomes]
    if [one.target for one in read.outcomes] != names:
        raise StoreError(".outcomes: expected the targets in the order of labels, and null for the rest")
    edges = tuple(checked(_numbers(read.edges), list[Influence]))
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
        summary=ProfileSummary(settings["lookback"]),
        labels=labels,
        features=features,
        weights=weights,
        chosen=chosen.astype(bool),
        gains=gains,
        trees=_trees(read.trees, settings, features),
        alone=_trees(read.alone, settings, features),
        last=_contexts(read.last_labels, len(labels), target.n_outcomes) if settings["contexts"] else None,
        edges=edges,
        log_likelihood=read.log_likelihood,
        n_sequences=read.data.sequences,
        label_counts=counts,
        settings=settings,
        penalty=read.penalty,
    )
    return model


def _trees(read: Trees, settings: dict[str, Any], features: JointFeatures) -> Trees:
    """Trees as arrays; those that are not of the settings, or ask what is not there, are refused."""
    n_outcomes = features.target.n_outcomes
    n, n_splits = settings["rounds"] * n_outcomes, settings["leaves"] - 1
    value = _array(read.value, (n, n_splits + 1), float)
    leaf, feature, level = (_array(a, (n, n_splits), np.int32) for a in (read.leaf, read.feature, read.level))
    is_off = (leaf > range(n_splits)) | (feature >= features.n_tree_features) | (level > N_LEVELS)
    none = (leaf == NONE) & (feature == NONE) & (level == 0)
    if (is_off | (np.minimum(np.minimum(leaf, feature), level) < 0) & ~none).any():
        raise StoreError(".trees: expected splits of leaves and features that are there")
    return Trees(leaf, feature, level, value, n_outcomes)


def _contexts(read: _JointContexts | None, n_labels: int, n_outcomes: int) -> LastLabels:
    """How often each outcome followed the last labels."""
    given = _JointContexts([], []) if read is None else read
    keys = _array(given.keys, (len(given.keys), CONTEXT), np.int32)
    counts = _array(given.counts, (len(given.keys), n_outcomes), float)
    if not len(keys) or not counts.any(axis=1).all() or keys.max() > n_labels:
        raise StoreError(".last_labels: expected contexts of labels, and counts not all of which are 0")
    return LastLabels.of(keys, counts)
