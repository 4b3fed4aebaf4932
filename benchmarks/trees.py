"""One tree of history tests, against scikit-learn's on the matrix of all tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import summarkov as sm
from benchmarks.graphs import SHARED
from benchmarks.timing import Row, best_of, seconds
from summarkov.kernels import Index
from summarkov.summaries import HistoryTests, TreeSummary


def matrix(events: sm.EventSequences, tests: HistoryTests) -> np.ndarray:
    """The answer to every test at every position, a column a test; what ours never builds."""
    index = Index(events.codes, events.offsets, len(events.labels))
    candidates = tuple(range(len(events.labels)))
    columns = []
    for test in tests.each(candidates):
        tree = TreeSummary((test, None, None), tests)
        columns.append(tree.encode(index, (), events.labels)[0] == 0)
    return np.column_stack(columns).astype(np.float32)


def rows() -> Iterator[Row]:
    """Fit one label, all tests, depth 12: ours from the events, theirs from the matrix, made beforehand."""
    from sklearn.tree import DecisionTreeClassifier

    path = SHARED / "stackoverflow.train.jsonl"
    if not path.exists():
        yield Row(
            "a tree on Stack Overflow: ours / scikit-learn's", "not measured: data missing", "1x or less"
        )
        return
    events = sm.read_events(path)
    label = events.labels[int(np.argmax(events.label_counts))]
    model = sm.TreeSuMM(label, gamma=0.2)
    tests = model.fit(events).fitted.summary.tests
    table, occurred = matrix(events, tests), events.codes == events.code(label)
    peer = DecisionTreeClassifier(max_depth=12, random_state=0)
    ours, theirs = best_of(3, lambda: model.fit(events), lambda: peer.fit(table, occurred))
    pruned = sm.TreeSuMM(label)
    (default,) = best_of(3, lambda: pruned.fit(events))
    size = f"N={events.n_events:,}, {table.shape[1]} tests, depth 12"
    yield Row(
        f"a tree with gamma 0.2 on Stack Overflow, {size}: ours / scikit-learn's on the matrix of all tests",
        f"{ours / theirs:.2f}x ({seconds(ours)})",
        "1x or less",
    )
    yield Row(
        f"the same with gamma 1: ours / scikit-learn's, {size}", f"{default / theirs:.2f}x", "1x or less"
    )
