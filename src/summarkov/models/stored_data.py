"""What a file of a model says of the events that it was learned from, and of how sequences end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from summarkov.engines import Layout, StateCounts
from summarkov.engines.weights import FIXED_POINT
from summarkov.errors import StoreError
from summarkov.models.outcome import OutcomeModel
from summarkov.store import Node
from summarkov.summaries import Summary
from summarkov.typing import IntArray

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


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


def read_outcome(document: Node, template: SummaryModel, models: list[SummaryModel]) -> OutcomeModel:
    """The model of how sequences end, from that of its outcome and what was counted at all beginnings."""
    (model,) = models if len(models) == 1 else document["targets"].wrong("one target, the outcome")
    told = document["outcome"]
    names = model.fitted.layout.outcomes
    if not names:
        document["data"].wrong("the 'outcomes' that were counted")
    name = told["name"].one_of(names)
    if set(names) != {name, f"{name}: no"}:
        told["name"].wrong("the outcome, and not its opposite")
    texts = {each: _optional(told[each]) for each in ("value", "reaches", "ends_with")}
    found = OutcomeModel(template, _optional(told["column"]), **texts, after=_after(told["after"]))
    fitted = model.fitted
    table = read_states(
        document["open"],
        fitted.summary,
        fitted.influencer_labels,
        {label: code for code, label in enumerate(fitted.labels)},
        fitted.target.n_outcomes,
    )
    ended = fitted.table
    rows = replace(fitted, table=table).rows(ended.keys)
    if (rows == len(table.keys)).any() or (table.counts[rows].sum(axis=1) == 0).any():
        document["open"].wrong("at least the states of 'states': sequences that ended were open before")
    classes: tuple[bool, bool] | tuple[str, str] = (False, True)
    if "classes" in told:  # the first files of outcomes do not name the value that is not the outcome
        first, second = (each.text() for each in told["classes"].list(2))
        classes = classes if (first, second) == ("False", "True") else (first, second)
    found._keep(model, table, name, document["left_out"].count(), classes)
    return found


def _optional(node: Node) -> str | None:
    return None if node.value is None else node.text()


def _after(node: Node) -> int | None:
    if node.value is None:
        return None
    return node.count() or node.wrong("a whole number from 1 on, or null")
