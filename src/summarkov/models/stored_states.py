"""States of fitted models as plain JSON values, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from summarkov.engines import StateCounts
from summarkov.errors import SettingError
from summarkov.models.fitted import Fitted
from summarkov.scores import Tree
from summarkov.search import LookbackProblem
from summarkov.store import Node
from summarkov.summaries import (
    ChainSummary,
    ContextSummary,
    CustomSummary,
    Summary,
    TreeSummary,
    WindowSummary,
)
from summarkov.summaries.contexts import END, LABEL, START, parents
from summarkov.typing import IntArray, KeyArray


def state_document(fitted: Fitted, key: list[Any]) -> Any:
    """A state: levels by label, the last labels (null: before the start), or the user's own."""
    if isinstance(fitted.summary, WindowSummary):
        return dict(zip(fitted.influencer_labels, key, strict=True))
    if isinstance(fitted.summary, ChainSummary):
        return [fitted.labels[code - 1] if code else None for code in key]
    if isinstance(fitted.summary, TreeSummary):
        return key[0]  # the leaf
    if isinstance(fitted.summary, ContextSummary):
        return [fitted.labels[s - LABEL] if s >= LABEL else None for s in key if s != END]
    return plain(key[0])


def learned_document(fitted: Fitted) -> dict[str, Any]:
    """What of the summary itself was learned: the look-back of each influencer."""
    summary = fitted.summary
    if not isinstance(summary, WindowSummary) or not summary.only:
        return {}
    assert isinstance(summary.lookback, Mapping)  # if it looks for no others
    return {"lookbacks": {z: plain(k) for z, k in summary.lookback.items()}}


def read_lookbacks(node: Node, problem: LookbackProblem, influencers: tuple[int, ...]) -> WindowSummary:
    """The summary with the look-backs that were learned."""
    names = [problem.labels[z] for z in influencers]
    given = node["lookbacks"]
    if not isinstance(given.value, dict) or sorted(given.value) != names:
        given.wrong(f"a look-back for each of {', '.join(names) or 'no influencers'}")
    for label, k in given.items():
        if isinstance(k.value, bool | float) or k.value not in problem.lookbacks:
            given[label].wrong(f"one of {', '.join(map(str, problem.lookbacks))}")
    return problem.learned({z: given[name].value for z, name in zip(influencers, names, strict=True)})


def plain(state: Hashable) -> Any:
    """A user's state, or a setting, as JSON has it."""
    if isinstance(state, np.generic):
        return plain(state.item())
    if isinstance(state, float) and not math.isfinite(state):
        raise SettingError(f"a state of {state} cannot be stored; use texts, finite numbers and tuples")
    if state is None or isinstance(state, str | int | float | bool):
        return state
    if isinstance(state, tuple):
        return [plain(part) for part in state]
    raise SettingError(
        f"a state of type {type(state).__name__} cannot be stored; use texts, numbers and tuples"
    )


def read_table(
    node: Node, summary: Summary, influencers: Sequence[str], index: dict[str, int], n_outcomes: int
) -> StateCounts:
    """The states and their counts, checked to be possible and in canonical order.

    ``index`` has the code of every label.
    """
    rows = node.list()
    counts = np.array(
        [[n.count() for n in row["counts"].list(n_outcomes)] for row in rows], dtype=np.int64
    ).reshape(len(rows), n_outcomes)
    keys = _read_keys(rows, summary, influencers, index)
    if isinstance(summary, ContextSummary):
        counts = _own_counts(node, rows, keys, counts)
    if isinstance(summary, TreeSummary):
        node.list(len(summary.leaves))
        for i in np.flatnonzero((counts == 0).all(axis=1))[:1]:
            rows[i]["counts"].wrong("counts of a leaf that was seen")
    return StateCounts(keys, counts)


def _read_keys(
    rows: list[Node], summary: Summary, influencers: Sequence[str], index: dict[str, int]
) -> KeyArray:
    found: list[Any] = []
    for row in rows:
        node = row["state"]
        if isinstance(summary, WindowSummary):
            found.append(_window_key(node, summary, influencers))
        elif isinstance(summary, ChainSummary):
            found.append(_chain_key(node, summary, index))
        elif isinstance(summary, TreeSummary):
            found.append((node.count(len(summary.leaves) - 1),))
        elif isinstance(summary, ContextSummary):
            found.append(_context_key(node, summary, index))
        else:
            found.append((_hashable(node),))
    if isinstance(summary, CustomSummary):
        keys = np.empty((len(found), 1), dtype=object)
        keys[:, 0] = [key[0] for key in found]
        ordered: list[Any] = [repr(key[0]) for key in found]
    else:
        width = len(influencers)
        if isinstance(summary, ChainSummary | ContextSummary):
            width, _ = summary.memory()
        if isinstance(summary, TreeSummary):
            width = 1
        keys = np.array(found, dtype=np.int32).reshape(len(found), width)
        ordered = found
    for row, (a, b) in zip(rows[1:], itertools.pairwise(ordered), strict=True):
        if not a < b:
            row.wrong("states in canonical order, each once")
    return keys


def _window_key(node: Node, summary: WindowSummary, names: Sequence[str]) -> tuple[int, ...]:
    if not isinstance(node.value, dict) or sorted(node.value) != names:
        node.wrong(f"a level for each of {', '.join(names) or 'no influencers'}")
    key = tuple(node[name].count(max(summary.cap, len(names))) for name in names)
    if not summary.is_key(key):
        node.wrong("a state that this summary has")
    if not summary.fits(key, names):
        node.wrong("a state that fits into the look-back of 'settings'")
    return key


def _codes(node: Node, items: list[Node], index: dict[str, int]) -> list[int]:
    """The labels of a context as codes, the most recent first; -1 for null."""
    context = [item.value for item in items]
    if any(label is not None and not (isinstance(label, str) and label in index) for label in context):
        node.wrong("labels of 'data', or null before the start")
    return [-1 if label is None else index[label] for label in context]


def _chain_key(node: Node, summary: ChainSummary, index: dict[str, int]) -> tuple[int, ...]:
    key = tuple(code + 1 for code in _codes(node, node.list(summary.order), index))
    if any(nearer == 0 < farther for nearer, farther in itertools.pairwise(key)):
        node.wrong("nulls only where the sequence had not begun")
    return key


def _context_key(node: Node, summary: ContextSummary, index: dict[str, int]) -> tuple[int, ...]:
    key = tuple(START if code < 0 else code + LABEL for code in _codes(node, node.list(), index))
    if len(key) > summary.max_order:
        node.wrong(f"at most {summary.max_order} labels")
    if START in key[:-1]:
        node.wrong("nothing after a null, which is where the sequence had not begun")
    return (*key, *[END] * (summary.max_order - len(key)))


def _own_counts(node: Node, rows: list[Node], keys: KeyArray, totals: IntArray) -> IntArray:
    """Counts of the contexts alone, from those of all histories that end with them."""
    if not rows or keys[0].any():
        node.wrong("the empty context first")
    there = {tuple(key) for key in keys.tolist()}
    for row, key in zip(rows[1:], keys[1:].tolist(), strict=True):
        last = sum(symbol != END for symbol in key) - 1
        if (*key[:last], END, *key[last + 1 :]) not in there:
            row["state"].wrong("a context of which the next shorter one is there too")
    for i in np.flatnonzero((totals == 0).all(axis=1))[:1]:
        rows[i]["counts"].wrong("counts of a context that was seen")
    tree = Tree(parents(keys))
    own = tree.own(totals)
    wrapped = tree.own(totals.astype(float)) < -(2.0**62)  # more than an integer holds
    for i in np.flatnonzero(((own < 0) | wrapped).any(axis=1))[:1]:
        rows[i]["counts"].wrong("at least what the longer contexts that end with it have together")
    return own


def _hashable(node: Node) -> Hashable:
    if isinstance(node.value, dict):
        node.wrong("a text, a number, or a list of them")
    if isinstance(node.value, list):
        return tuple(_hashable(part) for part in node.list())
    value: Hashable = node.value
    return value
