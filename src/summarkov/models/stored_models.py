"""Parts of model files, read with suspicion: settings, data and states, joint models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.engines import Layout, StateCounts, Target
from summarkov.engines.weights import FIXED_POINT
from summarkov.errors import StoreError
from summarkov.explain import Influence
from summarkov.kernels import NONE
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
from summarkov.models.saving import (
    JOINT_EDGE,
    NOT_STORED,
    NUMBERS,
    document_of,
    read_influence,
    settings_document,
)
from summarkov.models.stored_followings import read_follow_fields
from summarkov.scores.kneser_ney import LastLabels
from summarkov.scores.softmax import zero_weights
from summarkov.search.boosting import Trees
from summarkov.store import Node
from summarkov.summaries import Summary, registered_summary
from summarkov.summaries.profile import ProfileSummary
from summarkov.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from summarkov.models.joint import JointSuMM
    from summarkov.models.model import SummaryModel


#: Settings that are younger than the format, and the value that files without them were written with.
_YOUNGER = {"max_sets": 100_000, "false_edges": None, "given": (), "contexts": 0.0, "paper": False}


def read_settings(node: Node, family: type[SummaryModel | JointSuMM]) -> dict[str, Any]:
    """The settings of a model's file; what their values may be, the model knows."""
    known = set(family().get_params(deep=False)) - set(NOT_STORED)
    settings: dict[str, Any] = {}
    for name, value in node.items():
        if name not in known:
            raise StoreError(f"{value.where}: {family.__name__} has no such setting")
        if name == "summary":
            settings[name] = registered_summary(value.text())
        elif isinstance(value.value, list):
            items = value.list()
            settings[name] = tuple(item.value if name in NUMBERS else item.text() for item in items)
        elif isinstance(value.value, dict) and name != "lookback":
            value.wrong("a list of labels")
        else:
            settings[name] = value.value
    for name in sorted(known - set(settings) - set(_YOUNGER)):
        raise StoreError(f"{node.where}: {name!r} is missing")
    return {name: value for name, value in _YOUNGER.items() if name in known} | settings


@dataclass(frozen=True)
class StoredData:
    """What a file says of the events that all of its targets were learned from."""

    labels: tuple[str, ...]
    index: dict[str, int]  # the code of each label
    label_counts: IntArray
    scale: int
    n_sequences: int
    layout: Layout
    n_positions: int


def read_data(node: Node) -> StoredData:
    """Labels with their counts, how many sequences there were, and what else they had."""
    counts = {label: count.count() for label, count in node["labels"].items()}
    labels = tuple(counts)
    if list(labels) != sorted(labels):
        raise StoreError(f"{node['labels'].where}: the labels are not in sorted order")
    if not 0 < sum(counts.values()) <= 2**62:
        raise StoreError(f"{node['labels'].where}: the counts are all 0, or too large to add")
    scale = node["scale"].count()
    if scale not in (1, FIXED_POINT):
        node["scale"].wrong(f"1 or {FIXED_POINT}")
    index = {label: code for code, label in enumerate(labels)}
    label_counts = np.array(list(counts.values()), dtype=np.int64)
    layout = _read_layout(node, labels)
    held = set(layout.attributes)
    n_positions = sum(n for label, n in counts.items() if label not in held)
    if layout.outcomes:  # the only places that are counted
        n_positions = sum(counts[name] for name in layout.outcomes)
    elif layout.together:
        n_positions = node["positions"].count(2**62)
    return StoredData(labels, index, label_counts, scale, node["sequences"].count(), layout, n_positions)


def _read_layout(node: Node, labels: tuple[str, ...]) -> Layout:
    """What the data had beside events in a row; files from before that was known say nothing of it."""
    together = "together" in node and node["together"].value is True
    time = node["time"].one_of(("clock", "number")) if "time" in node else None
    attributes, outcomes = (_names(node, name, labels) for name in ("attributes", "outcomes"))
    if not all("=" in name for name in attributes):
        node["attributes"].wrong("names of attributes, such as 'region=north'")
    if outcomes and (len(outcomes) != 2 or set(outcomes) & set(attributes)):
        node["outcomes"].wrong("an outcome and its opposite, which are no attributes")
    return Layout(together, time, attributes, outcomes)


def _names(node: Node, name: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the labels; none where the file does not say."""
    if name not in node:
        return ()
    found = tuple(each.label(labels) for each in node[name].list())
    if list(found) != sorted(set(found)):
        node[name].wrong("names in sorted order, each once")
    return found


def read_states(
    node: Node, summary: Summary, influencers: Sequence[str], index: Mapping[str, int], n_outcomes: int
) -> StateCounts:
    """States with their counts: one for each outcome."""
    rows = node.list()
    counts = np.array([[n.count() for n in row["counts"].list(n_outcomes)] for row in rows], dtype=np.int64)
    return StateCounts(*summary.read_table(node, influencers, index, counts.reshape(len(rows), n_outcomes)))


# ---------------------------------------------------------------------- joint models


def joint_document(fitted: FittedJoint) -> dict[str, Any]:
    """A fitted joint model as plain values."""
    return {
        **document_of("JointSuMM"),
        "settings": settings_document(fitted),
        "data": {
            "sequences": fitted.n_sequences,
            "labels": dict(zip(fitted.labels, fitted.label_counts.tolist(), strict=True)),
        },
        "log_likelihood": fitted.log_likelihood,
        "outcomes": [_outcome(fitted, x) for x in range(fitted.features.target.n_outcomes)],
        "last_labels": _contexts(fitted),
        "edges": [{name: getattr(edge, name) for name in JOINT_EDGE} for edge in fitted.edges],
    }


def _outcome(fitted: FittedJoint, x: int) -> dict[str, Any]:
    codes, weights = fitted.features.target.codes, fitted.weights
    return {
        "target": fitted.labels[codes[x]] if x < len(codes) else None,
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
        "trees": _tree_documents(fitted.trees, x),
        "alone": _tree_documents(fitted.alone, x),
    }


def _contexts(fitted: FittedJoint) -> list[dict[str, Any]]:
    """How often each outcome followed the last labels, the last one first; null where there is none."""
    if fitted.last is None:
        return []
    names = (None, *fitted.labels)
    return [
        {"last": [names[code] for code in key], "counts": counts}
        for key, counts in zip(fitted.last.keys.tolist(), fitted.last.counts.tolist(), strict=True)
    ]


def _tree_documents(trees: Trees, outcome: int) -> list[dict[str, Any]]:
    return [
        {
            "splits": [
                [int(trees.leaf[t, k]), int(trees.feature[t, k]), int(trees.level[t, k])]
                for k in range(trees.leaf.shape[1])
                if trees.leaf[t, k] != NONE
            ],
            "values": trees.value[t].tolist(),
        }
        for t in range(outcome, len(trees), trees.n_outcomes)
    ]


def read_labels(document: Node) -> tuple[str, ...]:
    """The vocabulary of a joint model's file."""
    labels = tuple(name for name, _ in document["data"]["labels"].items())
    if not labels or list(labels) != sorted(labels):
        document["data"]["labels"].wrong("at least one label, in sorted order")
    return labels


def read_joint(document: Node, target: Target, settings: dict[str, Any]) -> FittedJoint:
    """What was learned, with settings that have been checked."""
    labels = read_labels(document)
    counts = np.array([node.number() for _, node in document["data"]["labels"].items()])
    if (counts < 0).any():
        document["data"]["labels"].wrong("numbers from 0 on")
    summary = ProfileSummary(settings["lookback"])
    features = JointFeatures(base_rates(counts), target, summary.near[-1])
    targets = tuple(labels[code] for code in target.codes)
    return FittedJoint(
        summary=summary,
        labels=labels,
        features=features,
        **_read_outcomes(document["outcomes"], settings, labels, features),
        last=_read_contexts(document["last_labels"], labels, target.n_outcomes)
        if settings["contexts"]
        else None,
        edges=tuple(_joint_edge(node, labels, targets) for node in document["edges"].list()),
        log_likelihood=document["log_likelihood"].number(),
        n_sequences=document["data"]["sequences"].count(),
        label_counts=counts,
        settings=settings,
    )


def _read_outcomes(
    node: Node, settings: dict[str, Any], labels: tuple[str, ...], features: JointFeatures
) -> dict[str, Any]:
    target, rounds, leaves = features.target, settings["rounds"], settings["leaves"]
    weights = zero_weights(target.n_outcomes, features.n_shared, N_HABITS)
    chosen = np.zeros((len(labels), target.n_outcomes), bool)
    gains = np.zeros(chosen.shape)
    each: dict[str, list[list[tuple[Any, ...]]]] = {"trees": [], "alone": []}
    for x, item in enumerate(node.list(target.n_outcomes)):
        expected = labels[target.codes[x]] if x < len(target.codes) else None
        if item["target"].value != expected:
            item["target"].wrong(f"{expected!r}, for outcomes stand in the order of labels")
        weights.level[x] = item["level"].number()
        weights.own[:, x] = _numbers(item["habits"], N_HABITS)
        weights.shared[PER_LABEL * len(labels) :, x] = _numbers(item["place"], len(STARTS))
        for name, told in item["influencers"].items():
            if name not in labels:
                told.wrong("an influencer that is one of the labels")
            z = labels.index(name)
            chosen[z, x], gains[z, x] = True, told["gain"].number()
            weights.shared[features.columns(z), x] = _numbers(told["weights"], PER_LABEL)
        for name, found in each.items():
            found.append([_tree(tree, leaves, features.n_tree_features) for tree in item[name].list(rounds)])
    return {
        "weights": weights,
        "chosen": chosen,
        "gains": gains,
        **{name: _together(found, leaves, target.n_outcomes) for name, found in each.items()},
    }


def _read_contexts(node: Node, labels: tuple[str, ...], n_outcomes: int) -> LastLabels:
    keys, counts = [], []
    for item in node.list():
        last = item["last"].list(CONTEXT)
        keys.append([0 if each.value is None else labels.index(each.label(labels)) + 1 for each in last])
        counts.append(_numbers(item["counts"], n_outcomes))
        if (counts[-1] < 0).any() or not counts[-1].any():
            item["counts"].wrong("numbers from 0 on, not all of them 0")
    if not keys:
        node.wrong("at least one context")
    return LastLabels.of(np.array(keys, np.int32), np.array(counts))


def _together(each: list[list[tuple[Any, ...]]], leaves: int, n_outcomes: int) -> Trees:
    """Trees of every outcome, round by round."""
    flat = [tree for of_round in zip(*each, strict=True) for tree in of_round]
    if not flat:
        return Trees.none(n_outcomes, leaves)
    splits = np.array([splits for splits, _ in flat], np.int32)
    return Trees(
        splits[:, :, 0], splits[:, :, 1], splits[:, :, 2], np.array([value for _, value in flat]), n_outcomes
    )


def _tree(node: Node, leaves: int, n_features: int) -> tuple[list[list[int]], list[float]]:
    splits: list[list[int]] = []
    for at, item in enumerate(node["splits"].list()):
        leaf, feature, level = item.list(3)
        splits.append([leaf.count(at), feature.count(n_features - 1), level.count(N_LEVELS)])
    if len(splits) > leaves - 1:
        node["splits"].wrong(f"at most {leaves - 1} splits")
    splits += [[NONE, NONE, 0]] * (leaves - 1 - len(splits))
    return splits, _numbers(node["values"], leaves).tolist()


def _numbers(node: Node, size: int) -> FloatArray:
    return np.array([item.number() for item in node.list(size)])


def _joint_edge(node: Node, labels: tuple[str, ...], targets: tuple[str, ...]) -> Influence:
    depends = node["depends"].text() if "depends" in node else ""
    names = node["influencer"].label(labels), node["target"].label(targets)
    return read_influence(
        node, *names, bool(depends), interval="likelihood", depends=depends, **read_follow_fields(node)
    )
