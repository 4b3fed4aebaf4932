"""Models from their files; what a file says must hold together, for anybody may have edited it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from summarkov.confidence import OLD_ORDERS
from summarkov.engines import StateCounts, Target
from summarkov.errors import DataError, SettingError, StoreError
from summarkov.models.fitted import Fitted
from summarkov.models.graph import InfluenceGraph
from summarkov.models.joint import JointSuMM
from summarkov.models.learning import check_layout
from summarkov.models.model import SummaryModel
from summarkov.models.outcome import OutcomeModel
from summarkov.models.saving import VERSION, read_confidence, read_order
from summarkov.models.stored_followings import FOLLOW_FIELDS, read_followed
from summarkov.models.stored_models import (
    StoredData,
    read_data,
    read_joint,
    read_labels,
    read_settings,
    read_states,
)
from summarkov.models.stored_outcomes import read_outcome
from summarkov.models.stored_sums import read_sums
from summarkov.search import Certificate, Problem, SearchResult
from summarkov.search.exact import n_allowed
from summarkov.store import Node, Place, check_seal, read_document
from summarkov.summaries import Summary, WindowSummary

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted
    from summarkov.models.model import SummaryModel

#: Entries that are younger than the format: a file may be without them.
_YOUNGER = (
    *("comparable_hits", "comparable_expected", "not_comparable"),
    *("followings", "max_sets", "seldom", "false_edges", "n_targets", "classes"),
    *FOLLOW_FIELDS,
    *("corrected_ratio", "corrected_low", "corrected_high", "contexts", "last_labels"),
    *(
        "local_ratio",
        "local_low",
        "local_high",
        "hits",
        "expected",
        "short",
        "within_short",
        "after_selection",
    ),
)
#: More sets than any vocabulary that fits in a file has.
_MOST_SETS = 2**100_000


def load(path: Place) -> SummaryModel | InfluenceGraph | JointSuMM | OutcomeModel:
    """Read a model or graph that ``save`` wrote; what is wrong with the file is named with its place.

    ``path`` is that of a file, an address such as ``"s3://bucket/model.json"``, or a file that is open.

    Returns a model (``BSuMM``, ..., ``JointSuMM``), an ``InfluenceGraph`` or an ``OutcomeModel``.
    """
    document = read_document(path)
    _check_format(document)
    if document["kind"].value == "Bag":
        raise StoreError(
            f"{document.where}: a bag of models, which this version no longer has; fit a JointSuMM, which "
            "predicts better"
        )
    readers: dict[str, Callable[[Node], Any]] = {"JointSuMM": _read_joint}
    model: SummaryModel | InfluenceGraph | JointSuMM | OutcomeModel
    model = readers.get(str(document["kind"].value), _read)(document)
    check_seal(document)
    return model


def _read_joint(document: Node) -> JointSuMM:
    model = JointSuMM(**read_settings(document["settings"], JointSuMM))
    try:
        model._check()
        target = model._target(read_labels(document))
    except SettingError as problem:
        raise StoreError(f"{document['settings'].where}: {problem}") from None
    model._fitted = read_joint(document, target, model.get_params(deep=False))
    refuse_differences(document, _without(model.to_document(), "version"))
    return model


def _without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}


def _check_format(document: Node) -> None:
    if not isinstance(document.value, dict) or document.value.get("format") != "summarkov":
        raise StoreError(f"{document.where}: not a summarkov model; its 'format' is not 'summarkov'")
    version = document["version"].count()
    if not 1 <= version <= VERSION:
        raise StoreError(
            f"{document.where}: written in version {version} of the format, but this program reads versions "
            f"1 to {VERSION}; install a newer summarkov"
        )


def _read(document: Node) -> Any:
    """A model or a graph."""
    families = dict(sorted(SummaryModel.families.items()))
    kind = document["kind"].one_of((*families, "InfluenceGraph", "OutcomeModel"))
    family = families[document["model"].one_of(tuple(families))]
    try:
        template = family(**read_settings(document["settings"], family))
        summary = template.make_summary()
    except SettingError as problem:
        raise StoreError(f"{document['settings'].where}: {problem}") from None
    data = read_data(document["data"])
    if (data.layout.together or data.layout.attributes) and isinstance(summary, WindowSummary):
        summary = replace(summary, together=True)
    models = [_read_target(node, template, summary, data, document) for node in document["targets"].list()]
    found: SummaryModel | InfluenceGraph | OutcomeModel
    if kind == "OutcomeModel":
        found = read_outcome(document, template, models)
    elif kind != "InfluenceGraph":
        if len(models) != 1 or kind != document["model"].value:
            raise StoreError(f"{document['targets'].where}: a {kind} has one target of its own kind")
        found = models[0]
    else:
        found = _read_graph(document, template, models)
    # settings are taken as they are, and the first version had another measure of confidence
    other = ("confidence",) if document["version"].value < VERSION else ()
    refuse_differences(document, _without(found.to_document(), "version", "settings", *other))
    return found


def _read_graph(document: Node, template: SummaryModel, models: list[SummaryModel]) -> InfluenceGraph:
    if not models or any(len(model.target_) != 1 for model in models):
        raise StoreError(f"{document['targets'].where}: a graph has targets of one label each")
    names = [model.target_[0] for model in models]
    if names != sorted(set(names)):
        raise StoreError(f"{document['targets'].where}: the targets of a graph are sorted and not repeated")
    first = models[0].fitted
    events = tuple(label for label in first.labels if label not in first.layout.attributes)
    graph = InfluenceGraph(template, targets=None if tuple(names) == events else tuple(names))
    graph._models = dict(zip(names, models, strict=True))
    if "confidence" in document:  # younger than the format
        graph._confidence = read_confidence(document["confidence"], graph)
    if "order" in document:
        graph._order = read_order(document["order"], graph)
    return graph


def _read_target(
    node: Node, template: SummaryModel, summary: Summary, data: StoredData, document: Node
) -> SummaryModel:
    labels = data.labels
    codes, layout = _codes(node["target"], data.index), data.layout
    target = Target(codes, len(labels), len(layout.attributes), only=bool(layout.outcomes))
    names = tuple(labels[code] for code in codes)
    if not names or set(names) & set(layout.attributes):
        node["target"].wrong("at least one label, and no attribute")
    if layout.outcomes and names != layout.outcomes:
        node["target"].wrong("the outcomes of 'data'")
    influencers = _codes(node["influencers"], data.index)
    model = template.copy(target=names[0] if len(names) == 1 else names)
    problem = _check_settings(model, summary, target, data, document)
    problem = problem.read_learned(node, influencers)
    beside = [labels[z] for z in influencers]
    table = _read_table(node["states"], problem.summary, beside, data, target)
    if (told := problem.influencers_of(table)) is not None:
        refuse_differences(node["influencers"], [labels[z] for z in told])
    with_edges = beside if problem.summary.by_label else []
    score = -math.inf if node["score"].value is None else node["score"].number()
    steps = problem.read_steps(node["trace"], table)
    proof = _read_certificate(node["certificate"], labels) if "certificate" in node else None
    fitted = model.fitted_type.of(
        problem,
        SearchResult(problem.summary, influencers, score, table, steps, proof),
        model.get_params(deep=False),
        layout,
        n_sequences=data.n_sequences,
        label_counts=data.label_counts,
        followed=read_followed(node, with_edges, names),
        **read_sums(node, with_edges, names),
    )
    _check_result(node, fitted, problem)
    model._fitted = fitted
    return model


def _read_table(
    node: Node, summary: Summary, influencers: list[str], data: StoredData, target: Target
) -> StateCounts:
    """The states and their counts, which must add up to those of the labels."""
    table = read_states(node, summary, influencers, data.index, target.n_outcomes)
    of_target, expected = table.counts.sum(axis=0), data.label_counts[list(target.codes)]
    if (of_target[: len(expected)] != expected).any() or of_target.sum() != data.n_positions:
        raise StoreError(f"{node.where}: the counts do not add up to those of the labels in 'data'")
    return table


def _check_settings(
    model: SummaryModel, summary: Summary, target: Target, data: StoredData, document: Node
) -> Problem:
    """The search that the model was found by; settings with which none could start are refused."""
    try:
        summary.window(data.labels)  # refuses labels that are not there
        check_layout(model, summary, data.layout)
        n_events = data.n_positions / data.scale
        problem = model.make_problem(data.labels, target, summary, n_events, data.scale)
        problem = replace(problem, n_targets=_read_n_targets(document))
        model.make_search(problem)
    except (SettingError, DataError) as wrong:
        raise StoreError(f"{document['settings'].where}: {wrong}") from None
    return problem


def _read_n_targets(document: Node) -> int:
    """How many targets were learned together; those in the file, if it is too old to say."""
    least = len(document["targets"].list())
    n = document["n_targets"].count() if "n_targets" in document else least
    if n < least:
        document["n_targets"].wrong(f"a whole number from {least} on, the number of targets in this file")
    return n


def _codes(node: Node, index: dict[str, int]) -> tuple[int, ...]:
    codes = []
    for item in node.list():
        if item.text() not in index:
            item.wrong("one of the labels of 'data'")
        codes.append(index[item.text()])
    if codes != sorted(set(codes)):
        node.wrong("labels in sorted order, each once")
    return tuple(codes)


def _check_result(node: Node, fitted: Fitted, problem: Problem) -> None:
    """The influencers must be some that the search may find, and have the score that it gave them."""
    found = set(fitted.influencers)
    if not set(problem.required) <= found <= {*problem.required, *problem.optional}:
        node["influencers"].wrong("the required influencers, and none but candidates")
    if len(found) - len(problem.required) > problem.room:
        node["influencers"].wrong(f"at most {problem.max_influencers} influencers")
    if fitted.certificate is not None:
        _check_certificate(node["certificate"], fitted.certificate, fitted.score, n_allowed(problem))
    score = problem.score(fitted.table, fitted.influencers)
    if math.isfinite(score) and not math.isclose(fitted.score, score, rel_tol=1e-9):
        node["score"].wrong(f"{score:.6f}, which is what the rest of the file says")


def _read_certificate(node: Node, labels: tuple[str, ...]) -> Certificate:
    """The certificate of an exact search."""
    return Certificate(
        examined=node["examined"].count(_MOST_SETS),
        pruned=node["pruned"].count(_MOST_SETS),
        open=node["open"].count(_MOST_SETS),
        bound=node["bound"].number(),
        gap=node["gap"].number(),
        greedy=tuple(label.label(labels) for label in node["greedy"].list()),
        greedy_gap=node["greedy_gap"].number(),
    )


def _check_certificate(node: Node, found: Certificate, score: float, n_sets: int) -> None:
    """What a certificate says must agree with itself and with the model."""
    if found.examined + found.pruned + found.open != n_sets:
        node.wrong(f"examined, pruned and open sets that add up to {n_sets}")
    if found.gap < 0 or found.greedy_gap < 0 or (found.is_optimal and found.gap > 0):
        node.wrong("gaps from 0 on, and none once nothing is open")
    if not math.isclose(found.bound, score + found.gap, rel_tol=1e-9, abs_tol=1e-9):
        node["bound"].wrong("the score and the gap together")


def _is_words(document: Mapping[str, Any], name: str) -> bool:
    """Whether an entry says in words, for people, what other entries of the file say: rules of a tree."""
    return name == "rule" or (name == "label" and document.get("action") == "split")


def _refuse_no_words(node: Node, words: str | list[str]) -> None:
    """Refuse what is no text; an earlier version may have said the same in other words."""
    for text in [node] if isinstance(words, str) else node.list(len(words)):
        text.text()


def refuse_differences(node: Node, expected: Any) -> None:
    """Refuse a file that says something else than what was read from it would be written as.

    Most of what a file says follows from its counts and settings. So it is worked out from these, and what
    the file says is only compared with it.
    """
    if isinstance(expected, Mapping):
        for name, value in expected.items():
            if _is_words(expected, name):
                _refuse_no_words(node[name], value)
            elif name in node or name not in _YOUNGER:
                refuse_differences(node[name], value)
    elif isinstance(expected, list | tuple):
        for item, value in zip(node.list(len(expected)), expected, strict=True):
            refuse_differences(item, value)
    elif isinstance(expected, float):
        if not math.isclose(node.number(), expected, rel_tol=1e-9, abs_tol=1e-12):
            node.wrong(f"{expected:.6g}, which is what the rest of the file says")
    elif OLD_ORDERS.get(str(node.value), node.value) != expected or isinstance(
        node.value, bool
    ) != isinstance(expected, bool):
        found = json.dumps(expected, ensure_ascii=False)
        node.wrong(f"{found}, which is what the rest of the file says")
