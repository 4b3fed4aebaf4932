"""Models from their files, which anybody may have edited: msgspec checks structure and types.

Here, counts must add up, labels must be known and states must be ones that the summary has. What follows from
counts is not read: probabilities, likelihoods, scores. Results of tests and resampling are what they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Any, Generic, Literal, TypeVar

import numpy as np
from msgspec import Meta, Struct

from summarkov.confidence import OLD_ORDERS, ORDERS, Confidence, EdgeConfidence, OrderTest
from summarkov.engines import Layout, StateCounts, Target
from summarkov.engines.clusters import Clusters
from summarkov.engines.followings import Followed, Following
from summarkov.errors import StoreError, place
from summarkov.explain import Influence, effect_of
from summarkov.explain.contrasts import Totals
from summarkov.kernels import LAG_BINS, NONE
from summarkov.models.bootstrap import edge_confidence
from summarkov.models.files import NOT_STORED, NUMBERS
from summarkov.models.graph import InfluenceGraph
from summarkov.models.joint import JointSuMM
from summarkov.models.joint_features import (
    CONTEXT,
    N_HABITS,
    N_LEVELS,
    PER_LABEL,
    STARTS,
    JointFeatures,
    base_rates,
)
from summarkov.models.joint_fitted import FittedJoint
from summarkov.models.learning import check_layout
from summarkov.models.model import SummaryModel
from summarkov.models.open_cases import OpenCases
from summarkov.models.outcome import OutcomeModel
from summarkov.scores.kneser_ney import LastLabels
from summarkov.scores.softmax import zero_weights
from summarkov.search import Certificate, SearchResult
from summarkov.search.boosting import Trees
from summarkov.settings import Duration
from summarkov.store import checked
from summarkov.summaries import Summary, WindowSummary, registered_summary
from summarkov.summaries.profile import ProfileSummary
from summarkov.typing import CodeArray, FloatArray

T = TypeVar("T")
Count = Annotated[int, Meta(ge=0, le=2**62)]
Size = Annotated[float, Meta(ge=0)]

#: Settings that are younger than the format, and the value that files without them were written with.
_YOUNGER = {"max_sets": 100_000, "false_edges": None, "given": (), "contexts": 0.0, "paper": False}
#: Numbers of an edge: of each at most as many as of that before it in the row.
_FEWER = (
    *(("cases_with", "cases_followed"), ("cases_with", "cases_both", "cases_first")),
    *(("n", "followed", "followed_whole"), ("n", "n_whole", "followed_whole")),
    *(("occurrences", "followed"), ("occurrences_other", "followed_other")),
    *(("n_with", "hits_with"), ("n_without", "hits_without")),
    *(("high", "low"), ("local_high", "local_low"), ("corrected_high", "corrected_low")),
)
_SHARES = ("p_value", "adjusted", "frequency", "follow_rate", "follow_rate_other")


class _Data(Struct):
    sequences: Count
    labels: dict[str, Count]
    scale: Literal[1, 1048576]
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
    overall_rate: Annotated[float, Meta(ge=0, le=1)] = 0.0
    open_cases: _OpenCases | None = None


# ---------------------------------------------------------------------- models of one summary, and graphs


def read_model(document: dict[str, Any]) -> Any:
    """What a file holds: a model, a graph, the model of an outcome, or a joint model."""
    if document.get("kind") == "JointSuMM":
        return _read_joint(checked(document, _Joint))
    families = SummaryModel.families
    for name, known in (("kind", (*families, "InfluenceGraph", "OutcomeModel")), ("model", (*families,))):
        if name not in document:
            raise StoreError(f"{name!r} is missing")
        if not isinstance(document[name], str) or document[name] not in known:
            with place(f".{name}"):
                raise StoreError.expected(f"one of {', '.join(sorted(known))}", document[name])
    if document["kind"] == "OutcomeModel" and "open_cases" not in document:
        raise StoreError(
            "a model of an outcome from before outcomes were about whole cases, so its numbers mean "
            "something else; learn it again with 'summarkov outcome' or OutcomeModel.fit"
        )
    told = checked(document, _Models)
    if 0 < told.n_targets < len(told.targets):
        with place(".n_targets"):
            raise StoreError.expected(f"a whole number from {len(told.targets)} on", told.n_targets)
    family = families[told.model]
    with place(".settings"):
        template = family(**_settings(told.settings, family))
    summary = template.make_summary()
    with place(".data"):
        layout = _layout(told.data)
    if (layout.together or layout.attributes) and isinstance(summary, WindowSummary):
        summary = replace(summary, together=True)
    models = []
    for at, target in enumerate(told.targets):
        with place(f".targets[{at}]"):
            models.append(_read_target(target, template, summary, layout, told))
    if told.kind == "InfluenceGraph":
        return _read_graph(told, template, models)
    if len(models) != 1 or told.kind not in (told.model, "OutcomeModel"):
        raise StoreError(f".targets: a {told.kind} has one target of its own kind")
    return models[0] if told.outcome is None else _read_outcome(told, template, models[0])


def _settings(told: dict[str, Any], family: type[SummaryModel | JointSuMM]) -> dict[str, Any]:
    """The settings of a model; what their values may be, the model knows."""
    known = set(family().get_params(deep=False)) - set(NOT_STORED)
    settings: dict[str, Any] = {name: value for name, value in _YOUNGER.items() if name in known}
    for name, value in told.items():
        with place(f".{name}"):
            if name not in known:
                raise StoreError(f"{family.__name__} has no such setting")
            if isinstance(value, dict) and name != "lookback":
                raise StoreError.expected("a list of labels", value)
            settings[name] = value
            if isinstance(value, list):
                settings[name] = tuple(value if name in NUMBERS else checked(value, list[str]))
            if name == "summary":
                settings[name] = registered_summary(checked(value, str))
    for name in sorted(known - set(settings)):
        raise StoreError(f"{name!r} is missing")
    return settings


def _layout(data: _Data) -> Layout:
    """What the data had beside events in a row."""
    labels, attributes, outcomes = list(data.labels), data.attributes, data.outcomes
    if labels != sorted(labels) or not 0 < sum(data.labels.values()) <= 2**62:
        raise StoreError(".labels: expected sorted labels, with counts that are not all 0 and can be added")
    for names in (attributes, outcomes):
        if names != sorted(set(names)) or not set(names) <= set(labels):
            raise StoreError.expected(
                "'attributes' and 'outcomes' among the labels, sorted, each once", names
            )
    if not all("=" in name for name in attributes):
        raise StoreError.expected("names of 'attributes', such as 'region=north'", attributes)
    if outcomes and (len(outcomes) != 2 or set(outcomes) & set(attributes)):
        raise StoreError.expected("'outcomes': one and its opposite, which are no attributes", outcomes)
    return Layout(data.together, data.time, tuple(attributes), tuple(outcomes))


def _n_positions(data: _Data) -> int:
    """How many positions were counted."""
    if data.outcomes:
        return sum(data.labels[name] for name in data.outcomes)
    without = sum(data.labels[name] for name in data.attributes)
    return data.positions if data.together else sum(data.labels.values()) - without


def _read_target(
    told: _Target, template: SummaryModel, summary: Summary, layout: Layout, document: _Models
) -> SummaryModel:
    """The model of one target."""
    data, names = document.data, tuple(told.target)
    labels, n_positions = tuple(data.labels), _n_positions(data)
    code_of = {label: code for code, label in enumerate(labels)}
    for each in (told.target, told.influencers):
        if each != sorted(set(each)) or not code_of.keys() >= set(each):
            raise StoreError.expected("'target' and 'influencers' of sorted labels, each once", each)
    if not names or set(names) & set(layout.attributes) or (layout.outcomes and names != layout.outcomes):
        raise StoreError.expected(
            "a 'target' of labels and no attribute; if there are outcomes, these", names
        )
    codes, influencers = (tuple(code_of[x] for x in each) for each in (told.target, told.influencers))
    target = Target(codes, len(labels), len(layout.attributes), only=bool(layout.outcomes))
    model = template.copy(target=names[0] if len(names) == 1 else names)
    summary.window(labels)  # refuses labels that are not there
    check_layout(model, summary, layout)
    problem = model.make_problem(labels, target, summary, n_positions / data.scale, data.scale)
    problem = replace(problem, n_targets=max(document.n_targets, len(document.targets)))
    model.make_search(problem)  # refuses settings with which none could start
    problem = problem.read_learned(told, influencers)
    label_counts = np.array([*data.labels.values()], np.int64)
    with place(".states"):
        counts = _array([row.counts for row in told.states], (len(told.states), target.n_outcomes))
        states = [row.state for row in told.states]
        table = StateCounts(*problem.summary.read_table(states, told.influencers, code_of, counts))
        total = table.counts.sum(axis=0)
        if (total[: len(codes)] != label_counts[list(codes)]).any() or total.sum() != n_positions:
            raise StoreError("the counts do not add up to those of the labels in 'data'")
    learned = problem.influencers_of(table)
    influencers = influencers if learned is None else learned
    if not set(problem.required) <= set(influencers) <= {*problem.required, *problem.optional}:
        raise StoreError.expected("'influencers' that are required or candidates", told.influencers)
    steps = tuple(step for step in map(problem.read_step, told.trace) if step is not None)
    if not {step.label for step in steps} <= code_of.keys():
        raise StoreError(".trace: expected labels of 'data'")
    if (proof := told.certificate) is not None:
        with place(".certificate"):
            _check_numbers({name: value for name, value in vars(proof).items() if name != "bound"})
            if not set(proof.greedy) <= code_of.keys():
                raise StoreError.expected("labels of 'data'", proof.greedy)
    edges = [labels[z] for z in influencers] if problem.summary.by_label else []
    score = problem.score(table, influencers)
    model._fitted = model.fitted_type.of(
        problem,
        SearchResult(problem.summary, influencers, score, table, steps, told.certificate),
        model.get_params(deep=False),
        layout,
        n_sequences=data.sequences,
        label_counts=label_counts,
        **_counted_of_edges(told, edges, names),
    )
    return model


def _read_graph(told: _Models, template: SummaryModel, models: list[SummaryModel]) -> InfluenceGraph:
    names = [model.target_[0] for model in models]
    if not models or names != sorted(set(names)) or any(len(model.target_) != 1 for model in models):
        raise StoreError(".targets: a graph has targets of one label each, sorted and not repeated")
    first = models[0].fitted
    events = tuple(label for label in first.labels if label not in first.layout.attributes)
    graph = InfluenceGraph(template, targets=None if tuple(names) == events else tuple(names))
    graph._models = dict(zip(names, models, strict=True))
    if told.confidence is not None:
        with place(".confidence"):
            graph._confidence = _read_confidence(told.confidence, graph)
    if told.order is not None:
        with place(".order"):
            graph._order = _read_order(told.order, graph)
    return graph


def _read_outcome(told: _Models, template: SummaryModel, model: SummaryModel) -> OutcomeModel:
    """The model of an outcome, from that of whole cases and what was counted at every moment."""
    asked, opened, fitted = told.outcome, told.open_cases, model.fitted
    if asked is None or opened is None or set(fitted.layout.outcomes) != {asked.name, f"{asked.name}: no"}:
        raise StoreError(".outcome: expected one of the 'outcomes' of 'data', and not its opposite")
    after = Duration.of(asked.after, "after").text if isinstance(asked.after, str) else asked.after
    found = OutcomeModel(template, asked.column, asked.value, asked.contains, asked.ends_with, after)
    classes = (False, True) if asked.classes == ("False", "True") else asked.classes
    with place(".open_cases"):
        shape = (len(opened.states), len(opened.after), fitted.target.n_outcomes)
        counts = _array([row.counts for row in opened.states], shape)
        if not shape[1] or opened.after[0] or any(a >= b for a, b in pairwise(opened.after)):
            raise StoreError.expected("moments 'after' in order, each once, from 0 on", opened.after)
        if not counts.sum(axis=(0, 2)).all():
            raise StoreError("expected moments at which some case was open")
        code_of = {label: code for code, label in enumerate(fitted.labels)}
        states, seen = [row.state for row in opened.states], np.ones((shape[0], shape[2]), np.int64)
        keys, _ = fitted.summary.read_table(states, fitted.influencer_labels, code_of, seen)
        if (replace(fitted, table=StateCounts(keys, seen)).rows(fitted.table.keys) == len(keys)).any():
            raise StoreError("expected at least the states of the model")
    cases = OpenCases(fitted, np.array(opened.after), keys, counts.swapaxes(0, 1))
    found._keep(model, cases, asked.name, told.left_out, told.overall_rate, classes)
    return found


# ---------------------------------------------------------------------- what is known of edges


def _counted_of_edges(told: _Target, influencers: list[str], target: tuple[str, ...]) -> dict[str, Any]:
    """Followings, totals of a tree and sums over sequences, where a file has them."""
    found: dict[str, Any] = {}
    older = {
        z: {x: Following(n) for x, n in one.followed.items()} for z, one in (told.sequences or {}).items()
    }
    if told.followings is not None or told.sequences is not None:
        with place(".followings"):
            each = [_of(one, target) for one in _of(told.followings or older, influencers)]
            for following in (x for one in each for x in one):
                _check_following(following)
            found["followed"] = Followed(tuple(tuple(map(replace, one)) for one in each))
    if told.moments is not None:
        with place(".moments"):
            totals = [
                [_of(x, Totals._fields) for x in _of(one, target)] for one in _of(told.moments, influencers)
            ]
            sums = _array(totals, (len(influencers), len(target), len(Totals._fields)), float)
            if (sums[..., ::2] > sums[..., 1::2]).any():
                raise StoreError("expected no more hits than positions")
            found["moments"] = sums
    if told.clusters is not None:
        with place(".clusters"):
            clusters = _of(told.clusters, influencers)
            squares = _array(
                [_of(one.squares, target) for one in clusters], (len(clusters), len(target), 2), float
            )
            n = _array([one.n for one in clusters], (len(clusters), 2), float)
            found["clusters"] = Clusters(squares.transpose(2, 1, 0), n.T)
    return found


def _of(told: Mapping[str, T], names: Sequence[str]) -> list[T]:
    """One entry for each name."""
    if list(told) != list(names):
        raise StoreError(f"expected one entry for each of {', '.join(names) or 'no influencers'}")
    return list(told.values())


def _array(told: Any, shape: tuple[int, ...], kind: type = np.int64) -> Any:
    """Nested lists as an array of some shape."""
    try:
        found: Any = np.array(told, kind)
    except ValueError:
        found = np.zeros(0)
    if found.size != math.prod(shape) or (found.size and found.shape != shape):
        raise StoreError.expected(f"numbers of shape {' by '.join(map(str, shape))}", told)
    return found.reshape(shape)


def _check_following(found: Following) -> None:
    for each in (found, found.own, found.others):
        _check_numbers({} if each is None else vars(each))
    if (lags := found.lags) is None:
        return
    most = [0.0 if each is None else each.n * (1 + 1e-9) for each in (found.own, found.others)]
    if (
        (lags < 0).any()
        or (lags[:, :2] > 1).any()
        or (lags[:, :3] % 1).any()
        or (lags[:, 2] >= LAG_BINS).any()
        or any(lags[lags[:, 0] == group, 3].sum() > n for group, n in enumerate(most))
    ):
        raise StoreError("expected rows of 'lags': 0 or 1, 0 or 1, the bin of a lag, and parts of 'n'")


def _check_numbers(found: Mapping[str, Any]) -> None:
    """Refuse numbers below 0, shares above 1, and more of a part than of the whole."""
    for name, value in found.items():
        most = 1 if name in _SHARES else math.inf
        if isinstance(value, float | int) and (value < 0 or value > most):
            with place(f".{name}"):
                raise StoreError.expected(f"a number from 0 {'on' if most > 1 else 'to 1'}", value)
    for names in _FEWER:
        known = [name for name in names if isinstance(found.get(name), float)]
        for whole, name in pairwise(known):
            if found[name] > found[whole]:
                with place(f".{name}"):
                    raise StoreError.expected(f"at most {found[whole]:g}, as {whole!r} has it", found[name])


def _numbers(entry: Any) -> dict[str, Any]:
    """The entry of an edge with what null stands for in numbers that may be infinite or not known.

    There is no upper limit; a ratio that has a lower limit only is infinite, else it is not known.
    """
    told: dict[str, Any] = dict(checked(entry, dict[str, Any]))
    for name in [name for name, value in told.items() if value is None]:
        if name.endswith(("low", "high")):
            told[name] = math.inf
        elif name.endswith("ratio") or name in ("observed", "shuffled"):
            which = name.removesuffix("ratio") if name.endswith("ratio") else ""
            low, high = told.get(f"{which}low"), told.get(f"{which}high")
            endless = high in (None, math.inf) and low is not None and low != 0 and name != "shuffled"
            told[name] = math.inf if endless else math.nan
    return told


def _edges(told: dict[str, Any], graph: InfluenceGraph) -> list[dict[str, Any]]:
    """The entries of edges, which must be from labels to targets of the graph, each once."""
    edges = [_numbers(edge) for edge in checked(told.get("edges"), list[Any])]
    pairs = [(edge.get("influencer"), edge.get("target")) for edge in edges]
    labels = set(graph.labels_)
    for z, x in pairs:
        if not (isinstance(z, str) and z in labels and isinstance(x, str) and x in graph.models_):
            raise StoreError.expected("edges from labels to targets of the graph", [z, x])
    held = set(graph.layout_.attributes) if "n_pairs" in told else ()
    every = {(z, x) for x, found in graph.influencers_.items() for z in found if z not in held}
    if len(set(pairs)) < len(pairs) or not every <= set(pairs):
        raise StoreError(".edges: expected every edge of the graph, and each once")
    return edges


def _read_confidence(told: dict[str, Any], graph: InfluenceGraph) -> Confidence:
    """How sure the edges of the graph are."""
    known = {(edge.influencer, x): edge for x, m in graph.models_.items() for edge in m.fitted.influences}
    edges = []
    for at, edge in enumerate(_edges(told, graph)):
        with place(f".edges[{at}]"):
            edges.append(_edge_confidence(edge, known.get((edge["influencer"], edge["target"]))))
    found = replace(checked({**told, "edges": []}, Confidence), edges=tuple(edges))
    if found.n < 1 or not 0 < found.level < 1 or found.units not in ("sequences", "blocks"):
        raise StoreError("expected 'n' from 1 on, a 'level' between 0 and 1, and 'units' sequences or blocks")
    labels = set(graph.labels_)
    pairs = [(edge.influencer, edge.target) for edge in edges] + [(z, x) for z, x, _ in found.seldom]
    if len(set(pairs)) < len(pairs) or any(
        z not in labels or x not in graph.models_ or not 0 < n < found.n for z, x, n in found.seldom
    ):
        raise StoreError(".seldom: expected other pairs than those of 'edges', and how often each was found")
    return found


def _edge_confidence(told: dict[str, Any], known: Influence | None) -> EdgeConfidence:
    if "ratio" not in told:  # of the first version, which had another measure: counts tell the ratio
        share = checked(told.get("frequency"), Annotated[float, Meta(ge=0, le=1)])
        return edge_confidence(told["influencer"], told["target"], known, share)
    is_corrected = math.isfinite(told.get("corrected_low", math.inf))
    if not is_corrected and math.isfinite(told.get("corrected_high", math.inf)):
        raise StoreError.expected("a 'corrected_low' beside 'corrected_high'", None)
    told = {k: v for k, v in told.items() if is_corrected or not k.startswith("corrected_")}
    found = checked({**told, "in_graph": known is not None}, EdgeConfidence)
    _check_numbers(vars(found))
    if known is None:
        return replace(found, effect=effect_of(found.low, found.high, found.effect == "mixed"))
    return replace(found, effect=effect_of(found.low, found.high, known.effect == "mixed"), ratio=known.ratio)


def _read_order(told: dict[str, Any], graph: InfluenceGraph) -> OrderTest:
    """An order test, which must be about the edges of the graph."""
    edges = _edges(told, graph)
    for edge in edges:
        edge["order"] = OLD_ORDERS.get(str(edge.get("order")), edge.get("order"))
        if (left := edge.get("remainder")) is not None:
            left = edge["remainder"] = _numbers(left)
            left["without"] = left.get("inhibited", left.get("amplified"))
        if edge.get("short") is not None:
            edge["short"] = _numbers(edge["short"])
    found = checked({**told, "edges": edges}, OrderTest)
    found = replace(found, edges=tuple(map(replace, found.edges)))  # with what a file does not have
    for at, one in enumerate(found.edges):
        with place(f".edges[{at}]"):
            for numbers in (one, one.remainder, one.short):
                _check_numbers({} if numbers is None else vars(numbers))
            if one.order not in ORDERS or not {*(one.remainder.without if one.remainder else ())} <= {
                *graph.labels_
            }:
                raise StoreError.expected(
                    f"'order' one of {', '.join(ORDERS)}; and labels 'without'", one.order
                )
    if found.n < 1 or found.n_pairs < len(found.edges) or found.within in ("", 0):
        raise StoreError(
            "expected 'n' from 1 on, 'n_pairs' for all edges, and 'within' a number, a time or null"
        )
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


def _read_joint(told: _Joint) -> JointSuMM:
    labels, counts = tuple(told.data.labels), np.array([*told.data.labels.values()])
    if not labels or list(labels) != sorted(labels):
        raise StoreError(".data.labels: expected at least one label, in sorted order")
    with place(".settings"):
        model = JointSuMM(**_settings(told.settings, JointSuMM))
    model._check()
    target = model._target(labels)
    settings = model.get_params(deep=False)
    summary = ProfileSummary(settings["lookback"])
    features = JointFeatures(base_rates(counts), target, summary.near[-1])
    edges, targets = [], {labels[code] for code in target.codes}
    for at, edge in enumerate(told.edges):
        with place(f".edges[{at}]"):
            edges.append(_joint_edge(_numbers(edge), labels, targets))
    model._fitted = FittedJoint(
        summary=summary,
        labels=labels,
        features=features,
        **_joint_outcomes(told.outcomes, settings, labels, features),
        last=_contexts(told.last_labels, labels, target.n_outcomes) if settings["contexts"] else None,
        edges=tuple(edges),
        log_likelihood=told.log_likelihood,
        n_sequences=told.data.sequences,
        label_counts=counts,
        settings=settings,
    )
    return model


def _joint_edge(told: dict[str, Any], labels: tuple[str, ...], targets: set[str]) -> Influence:
    if "cases_followed" not in told:
        told["cases_followed"] = told.get("sequences")  # as older files call it
    found = checked({**told, "effect": "", "interval": "likelihood"}, Influence)
    _check_numbers(vars(found))
    if found.influencer not in labels or found.target not in targets:
        raise StoreError("expected an edge between labels of 'data'")
    if found.follow_rule not in (None, "counted", "complete windows", "product-limit"):
        raise StoreError.expected("a 'follow_rule' that is known", found.follow_rule)
    return replace(found, effect=effect_of(found.low, found.high, bool(found.depends)))


def _joint_outcomes(
    told: list[_JointOutcome], settings: dict[str, Any], labels: tuple[str, ...], features: JointFeatures
) -> dict[str, Any]:
    """Weights, which influencers were chosen, what each gains, and trees."""
    target, n_outcomes = features.target, features.target.n_outcomes
    if [one.target for one in told] != [*(labels[x] for x in target.codes), None][:n_outcomes]:
        raise StoreError(".outcomes: expected the targets in the order of labels, and null for the rest")
    weights = zero_weights(n_outcomes, features.n_shared, N_HABITS)
    chosen, gains = np.zeros((len(labels), n_outcomes), bool), np.zeros((len(labels), n_outcomes))
    for x, one in enumerate(told):
        with place(f".outcomes[{x}]"):
            weights.level[x] = one.level
            weights.own[:, x] = _array(one.habits, (N_HABITS,), float)
            weights.shared[PER_LABEL * len(labels) :, x] = _array(one.place, (len(STARTS),), float)
            if not set(one.influencers) <= set(labels):
                raise StoreError.expected("'influencers' that are labels", [*one.influencers])
            for name, influencer in one.influencers.items():
                z = labels.index(name)
                chosen[z, x], gains[z, x] = True, influencer.gain
                weights.shared[features.columns(z), x] = _array(influencer.weights, (PER_LABEL,), float)
    trees = [_trees([getattr(one, name) for one in told], settings, features) for name in ("trees", "alone")]
    return {"weights": weights, "chosen": chosen, "gains": gains, "trees": trees[0], "alone": trees[1]}


def _trees(told: list[list[_JointTree]], settings: dict[str, Any], features: JointFeatures) -> Trees:
    """Trees of every outcome, round by round."""
    n_splits = settings["leaves"] - 1
    if any(len(each) != settings["rounds"] for each in told):
        raise StoreError(f".outcomes: expected {settings['rounds']} 'trees', and as many 'alone'")
    flat = [tree for of_round in zip(*told, strict=True) for tree in of_round]
    if not flat:
        return Trees.none(len(told), n_splits + 1)
    splits: CodeArray = np.full((len(flat), n_splits, 3), (NONE, NONE, 0), np.int32)
    for t, tree in enumerate(flat):
        limits = [(at, features.n_tree_features - 1, N_LEVELS) for at in range(n_splits)]
        rows = list(zip(tree.splits, limits, strict=False))
        if len(tree.splits) > n_splits or any(
            n > most for row, limit in rows for n, most in zip(row, limit, strict=True)
        ):
            raise StoreError.expected(f"at most {n_splits} 'splits' of leaves that are there", tree.splits)
        splits[t, : len(tree.splits)] = _array(tree.splits, (len(tree.splits), 3))
    values: FloatArray = _array([tree.values for tree in flat], (len(flat), n_splits + 1), float)
    return Trees(splits[:, :, 0], splits[:, :, 1], splits[:, :, 2], values, len(told))


def _contexts(told: list[_JointContext], labels: tuple[str, ...], n_outcomes: int) -> LastLabels:
    """How often each outcome followed the last labels."""
    codes: dict[str | None, int] = {None: 0} | {label: code for code, label in enumerate(labels, start=1)}
    with place(".last_labels"):
        if not told or not codes.keys() >= {label for one in told for label in one.last}:
            raise StoreError("expected at least one context, of labels or null")
        keys = _array([[codes[label] for label in one.last] for one in told], (len(told), CONTEXT), np.int32)
        counts = _array([one.counts for one in told], (len(told), n_outcomes), float)
        if not counts.any(axis=1).all():
            raise StoreError("expected counts not all of which are 0")
    return LastLabels.of(keys, counts)
