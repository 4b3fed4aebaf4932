"""Models of outcomes in their files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from summarkov.models.outcome import OutcomeModel
from summarkov.models.stored_data import read_states
from summarkov.store import Node

if TYPE_CHECKING:
    from summarkov.models.model import SummaryModel


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
    found._keep(model, table, name, document["left_out"].count())
    return found


def _optional(node: Node) -> str | None:
    return None if node.value is None else node.text()


def _after(node: Node) -> int | None:
    if node.value is None:
        return None
    return node.count() or node.wrong("a whole number from 1 on, or null")
