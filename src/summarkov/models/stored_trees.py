"""Trees of history tests as nested JSON that people can read, and back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from summarkov.engines import StateCounts
from summarkov.models.fitted import Fitted
from summarkov.search.tree import TreeProblem
from summarkov.store import Node
from summarkov.summaries import HistoryTest, MoreRecent, Occurs, Start, TreeSummary


def tree_document(fitted: Fitted) -> dict[str, Any]:
    """Nested tests; a leaf has its number, which is that of its state, and its rule."""
    tree, labels = fitted.summary, fitted.labels
    assert isinstance(tree, TreeSummary)
    documents: list[dict[str, Any]] = []
    number = 0
    for row, test in enumerate(tree.nodes):
        if test is None:
            documents.append({"leaf": number, "rule": list(tree.rule(row, labels))})
            number += 1
        else:
            documents.append(test.document(labels))
    for row, (yes, no) in enumerate(tree.branches.tolist()):
        if yes >= 0:
            documents[row] |= {"yes": documents[yes], "no": documents[no]}
    return documents[0]


def read_tree(node: Node, problem: TreeProblem) -> TreeProblem:
    """The problem with the tree that was stored, every test of which is one that it may hold."""
    index = {problem.labels[code]: code for code in problem.optional}
    nodes: list[HistoryTest | None] = []
    leaves: list[Node] = []
    waiting = [(node, 0)]
    while waiting:
        here, depth = waiting.pop()
        if "leaf" in here:
            nodes.append(None)
            leaves.append(here)
            continue
        if depth >= problem.max_depth:
            here.wrong(f"a leaf, for max_depth is {problem.max_depth}")
        nodes.append(_read_test(here, problem, index))
        waiting += [(here["no"], depth + 1), (here["yes"], depth + 1)]
    tree = replace(problem.tree, nodes=tuple(nodes))
    for number, (leaf, row) in enumerate(zip(leaves, tree.leaves.tolist(), strict=True)):
        if leaf["leaf"].count() != number:
            leaf["leaf"].wrong(f"{number}, for leaves are numbered depth first, yes before no")
        rule = list(tree.rule(row, problem.labels))
        if leaf["rule"].value != rule:
            leaf["rule"].wrong(f"{rule}, which is what the tests on the way say")
    return replace(problem, summary=tree)


def _read_test(node: Node, problem: TreeProblem, index: dict[str, int]) -> HistoryTest:
    def label(name: str) -> int:
        return index[node[name].one_of(tuple(index))]

    kind = node["test"].one_of(("occurs", "more recent", "start"))
    test: HistoryTest
    if kind == "start":
        test = Start(node["events"].count())
    elif kind == "more recent":
        test = MoreRecent(label("label"), label("than"))
    else:
        within = node["within"]
        test = Occurs(label("label"), None if within.value is None else within.count(), node["times"].count())
    if not problem.tree.tests.holds(test):
        node.wrong("a test that the settings allow")
    return test


def check_splits(node: Node, problem: TreeProblem, table: StateCounts) -> None:
    """The trace must be what the tree and its counts say: one step a split, in order."""
    expected = problem.steps(table)
    for item, step in zip(node.list(len(expected)), expected, strict=True):
        item["action"].one_of((step.action,))
        item["label"].one_of((step.label,))
        for name, value in (("score", step.score), ("gain", step.gain)):
            if not math.isclose(item[name].number(), value, rel_tol=1e-9, abs_tol=1e-6):
                item[name].wrong(f"{value:.6f}, which is what the counts say")
