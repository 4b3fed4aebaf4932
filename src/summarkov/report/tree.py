"""A tree of tests in the page: how to walk it, and how to tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from summarkov.models.tree import FittedTestTree
from summarkov.report.numbers import all_rounded, whole
from summarkov.summaries import HistoryTest, MoreRecent, Start


def tree_content(fitted: FittedTestTree) -> dict[str, Any]:
    """The nodes, depth first and the yes branch first: their tests, counts and estimates.

    ``no`` is the row of each node's no branch, that of its yes branch being the next one; -1 for a leaf.
    """
    tree = fitted.rules
    labels = marked(fitted.labels)
    n_labels = len(fitted.target.codes)
    return {
        "tests": [None if test is None else _test(test) for test in tree.nodes],
        "asks": [None if test is None else test.words(True, labels) for test in tree.nodes],
        "no": tree.branches[:, 1].tolist(),
        "at": [whole(n) for n in fitted.at_nodes.sum(axis=1).tolist()],
        "estimates": all_rounded(fitted.plain[:, :n_labels].ravel().tolist(), 4),
    }


def marked(labels: Sequence[str]) -> list[str]:
    """Stand-ins for labels, which the page finds in words and replaces by the labels."""
    return [f"\x01{code}\x02" for code in range(len(labels))]


def _test(test: HistoryTest) -> list[Any]:
    if isinstance(test, MoreRecent):
        return ["more recent", test.label, test.than]
    if isinstance(test, Start):
        return ["start", test.events]
    return ["occurs", test.label, test.within, test.times]
