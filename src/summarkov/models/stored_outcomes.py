"""A model of an outcome, read from a file with suspicion."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from summarkov.engines import StateCounts
from summarkov.errors import StoreError
from summarkov.models.open_cases import OpenCases
from summarkov.models.outcome import OutcomeModel
from summarkov.settings import Duration
from summarkov.store import Node

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


def read_outcome(document: Node, template: SummaryModel, models: list[SummaryModel]) -> OutcomeModel:
    """The model of an outcome, from that of whole cases and what was counted at every moment."""
    if "open_cases" not in document:
        raise StoreError(
            f"{document.where}: a model of an outcome from before outcomes were about whole cases, so its "
            "numbers mean something else; learn it again with 'summarkov outcome' or OutcomeModel.fit"
        )
    (model,) = models if len(models) == 1 else document["targets"].wrong("one target, the outcome")
    told = document["outcome"]
    names = model.fitted.layout.outcomes
    if not names:
        document["data"].wrong("the 'outcomes' that were counted")
    name = told["name"].one_of(names)
    if set(names) != {name, f"{name}: no"}:
        told["name"].wrong("the outcome, and not its opposite")
    texts = {each: _optional(told[each]) for each in ("value", "contains", "ends_with")}
    found = OutcomeModel(template, _optional(told["column"]), **texts, after=_after(told["after"]))
    first, second = (each.text() for each in told["classes"].list(2))
    classes = (False, True) if (first, second) == ("False", "True") else (first, second)
    left_out = {reason: n.count() for reason, n in document["left_out"].items()}
    rate = document["overall_rate"].number()
    if not 0 <= rate <= 1:
        document["overall_rate"].wrong("a share from 0 to 1")
    found._keep(model, _read_open(document["open_cases"], model), name, left_out, rate, classes)
    return found


def _read_open(node: Node, model: SummaryModel) -> OpenCases:
    """What was counted at every moment."""
    fitted, index = model.fitted, {label: code for code, label in enumerate(model.labels_)}
    moments = [each.count() for each in node["after"].list()]
    if not moments or moments[0] or any(a >= b for a, b in pairwise(moments)):
        node["after"].wrong("moments in order, each once, from 0 on")
    states, n_outcomes = node["states"], fitted.target.n_outcomes
    counts = np.array(
        [
            [[n.count() for n in each.list(n_outcomes)] for each in state["counts"].list(len(moments))]
            for state in states.list()
        ],
        np.int64,
    ).reshape(-1, len(moments), n_outcomes)
    seen = np.ones((len(counts), n_outcomes), np.int64)
    keys, _ = fitted.summary.read_table(states, fitted.influencer_labels, index, seen)
    found = OpenCases(fitted, np.array(moments), keys, counts.swapaxes(0, 1))
    if (replace(fitted, table=StateCounts(keys, seen)).rows(fitted.table.keys) == len(keys)).any():
        states.wrong("at least the states of the model")
    if not counts.sum(axis=(0, 2)).all():
        node["after"].wrong("moments at which some case was open")
    return found


def _optional(node: Node) -> str | None:
    return None if node.value is None else node.text()


def _after(node: Node) -> int | str | None:
    if node.value is None:
        return None
    if isinstance(node.value, str):
        return Duration.of(node.text(), "after").text
    return node.count() or node.wrong("a whole number from 1 on, a time, or null")
