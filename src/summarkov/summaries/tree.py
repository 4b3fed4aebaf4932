"""TreeSuMM's summary: the leaf of a decision tree over tests of the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from summarkov import kernels
from summarkov.errors import StoreError
from summarkov.settings import Duration
from summarkov.summaries.base import Encoded, Memory, Summary
from summarkov.summaries.history_tests import HistoryTest, HistoryTests, MoreRecent, Occurs
from summarkov.summaries.window import place_words
from summarkov.typing import IntArray, KeyArray

#: A test on the way to a leaf, and its answer.
Condition = tuple[HistoryTest, bool]


@dataclass(frozen=True)
class TreeSummary(Summary):
    """A tree by its nodes in depth-first order, the yes branch first: a test, or None for a leaf.

    A state is a leaf, known by its number in that order. ``tests`` are those that may occur.

    >>> tree = TreeSummary((Occurs(0, 3), None, Occurs(1, None), None, None))
    >>> [tree.words([leaf], (), ["A", "B"]) for leaf in range(3)]
    ['A within 3 positions', 'no A within 3 positions, B before', 'no A within 3 positions, no B before']
    """

    nodes: tuple[HistoryTest | None, ...] = (None,)
    tests: HistoryTests = field(default_factory=HistoryTests)

    takes_ticks: ClassVar[bool] = True

    @property
    def by_label(self) -> bool:
        return True

    @cached_property
    def parent(self) -> IntArray:
        """The row of each node's parent; -1 for the root."""
        parent = np.full(len(self.nodes), -1, np.int64)
        waiting: list[list[int]] = []  # nodes above, and how many of their branches are there
        for row, test in enumerate(self.nodes):
            if waiting:
                parent[row] = waiting[-1][0]
                waiting[-1][1] += 1
            if test is not None:
                waiting.append([row, 0])
            while waiting and waiting[-1][1] == 2:
                waiting.pop()
        return parent

    @cached_property
    def branches(self) -> IntArray:
        """``branches[node]`` are the rows of the yes and the no branch; -1 for a leaf."""
        branches = np.full((len(self.nodes), 2), -1, np.int64)
        for row, up in enumerate(self.parent.tolist()):
            if up >= 0:
                branches[up, int(branches[up, 0] >= 0)] = row
        return branches

    @cached_property
    def leaves(self) -> IntArray:
        """The rows of the leaves."""
        return np.array([row for row, test in enumerate(self.nodes) if test is None], np.int64)

    @cached_property
    def influencers(self) -> tuple[int, ...]:
        """The labels that are tested, sorted."""
        return tuple(sorted({z for test in self.nodes if test is not None for z in test.labels}))

    @cached_property
    def arrays(self) -> IntArray:
        """The tree as the kernels take it."""
        leaf = (kernels.LEAF, 0, 0, 1, 0)
        rows = np.array([leaf if test is None else test.row() for test in self.nodes], np.int64)
        return np.ascontiguousarray(np.concatenate([rows, self.branches], axis=1))

    def path(self, row: int) -> list[Condition]:
        """The tests on the way to a node, with their answers."""
        conditions: list[Condition] = []
        while (up := int(self.parent[row])) >= 0:
            test = self.nodes[up]
            assert test is not None
            conditions.append((test, bool(self.branches[up, 0] == row)))
            row = up
        return conditions[::-1]

    def rule(self, row: int, labels: Sequence[str]) -> tuple[str, ...]:
        """What holds at a node, in words: the conditions that no other one on the way implies."""
        return conditions_in_words(self.path(row), labels)

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return len(self.leaves)

    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        number = np.cumsum([test is None for test in self.nodes]) - 1
        keys = np.arange(len(self.leaves), dtype=np.int32)[:, None]
        leaves = kernels.tree_leaves(index, self.arrays_for(index), bool(self.durations))
        return np.asarray(number[leaves]), keys

    def arrays_for(self, index: kernels.Index) -> IntArray:
        """The tree as the kernels take it, with look-backs in the unit of the times there."""
        if not self.durations or index.places is None:
            return self.arrays
        arrays = self.arrays.copy()
        occurs = arrays[:, 0] == kernels.OCCURS
        arrays[occurs, 4] = kernels.in_units(arrays[occurs, 4], index.places.unit)
        return arrays

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
        """The conditions of a leaf."""
        return self.rule(int(self.leaves[key[0]]), labels)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        return ", ".join(self.state(key, influencers, labels)) or "any history"

    @property
    def horizon(self) -> int | None:
        return None

    @property
    def memory(self) -> Memory | None:
        if self.durations:
            return None
        recent = max([0, *(k for k in self.tests.lookbacks if k is not None), *self.tests.starts])
        return Memory(recent, self.tests.depth)

    @property
    def durations(self) -> tuple[Duration, ...]:
        return self.tests.durations

    def page_form(self, influencers: Sequence[str], written: Sequence[str]) -> dict[str, Any]:
        """The nodes, depth first and the yes branch first, with their tests.

        ``no`` is the row of each node's no branch, that of its yes branch being the next one; -1 for a leaf.
        """
        return {
            "kind": "tree",
            "delay": 0,
            "tests": [None if test is None else test.page_form() for test in self.nodes],
            "asks": [None if test is None else test.words(True, written) for test in self.nodes],
            "no": self.branches[:, 1].tolist(),
        }

    def learned_document(self, labels: Sequence[str]) -> dict[str, Any]:
        """Nested tests; a leaf has its number, which is that of its state, and its rule."""
        documents: list[dict[str, Any]] = []
        number = 0
        for row, test in enumerate(self.nodes):
            if test is None:
                documents.append({"leaf": number, "rule": list(self.rule(row, labels))})
                number += 1
            else:
                documents.append(test.document(labels))
        for row, (yes, no) in enumerate(self.branches.tolist()):
            if yes >= 0:
                documents[row] |= {"yes": documents[yes], "no": documents[no]}
        return {"tree": documents[0]}

    def read_learned(self, tree: Any, codes: Mapping[str, int], max_depth: int) -> TreeSummary:
        """The tree in a file, every test of which must be one of ``tests`` and about labels of ``codes``."""
        nodes: list[HistoryTest | None] = []
        waiting = [(tree, 0)]
        while waiting:
            here, depth = waiting.pop()
            if isinstance(here, dict) and "leaf" in here:
                nodes.append(None)
                continue
            if depth >= max_depth or not isinstance(here, dict) or not {"yes", "no"} <= set(here):
                raise StoreError.expected(f"a leaf, or a test at most {max_depth} deep", here)
            nodes.append(self.tests.read(here, codes))
            waiting += [(here["no"], depth + 1), (here["yes"], depth + 1)]
        return replace(self, nodes=tuple(nodes))

    def state_document(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> Any:
        """The number of the leaf."""
        return key[0]

    def read_key(self, state: Any, influencers: Sequence[str], codes: Mapping[str, int]) -> tuple[int, ...]:
        if type(state) is not int or not 0 <= state < len(self.leaves):
            raise StoreError.expected("the number of a leaf", state)
        return (state,)

    def key_width(self, n_influencers: int) -> int:
        return 1

    def read_table(
        self, states: Sequence[Any], influencers: Sequence[str], codes: Mapping[str, int], counts: IntArray
    ) -> tuple[KeyArray, IntArray]:
        """Every leaf is there, and was seen."""
        found = super().read_table(states, influencers, codes, counts)
        if len(states) != len(self.leaves) or not counts.any(axis=1).all():
            raise StoreError("expected counts of every leaf, none of which was never seen")
        return found


def conditions_in_words(path: Sequence[Condition], labels: Sequence[str]) -> tuple[str, ...]:
    """Conditions without those that follow from others; what says when A occurred last is said at once.

    >>> conditions_in_words([(Occurs(0, 9), True), (MoreRecent(0, 1), True), (Occurs(0, 2), False)], "AB")
    ('A within 9 positions but not within 2 positions and no B since',)
    >>> conditions_in_words([(Occurs(0, 5), True), (Occurs(1, None), False), (Occurs(0, 1), True)], "AB")
    ('no B before', 'A just before')
    """
    kept = [condition for i, condition in enumerate(path) if not _is_implied(i, path)]
    words: dict[object, str] = {}  # in order of what they are about
    for test, answer in kept:
        last = isinstance(test, Occurs) and test.times == 1
        if last or (isinstance(test, MoreRecent) and answer):
            words.setdefault(test.labels[0], _last_occurrence(test.labels[0], kept, labels))
        else:
            words[test] = test.words(answer, labels)
    return tuple(words.values())


def _is_implied(number: int, path: Sequence[Condition]) -> bool:
    """Whether another condition of a path leaves this one no choice; of two that say the same, the later."""
    test, answer = path[number]
    return any(
        given == answer and other.implies(given, test) and (not test.implies(answer, other) or i < number)
        for i, (other, given) in enumerate(path)
        if i != number
    )


def _last_occurrence(label: int, kept: Sequence[Condition], labels: Sequence[str]) -> str:
    """All that is known about when a label occurred last."""
    last = [(t, yes) for t, yes in kept if isinstance(t, Occurs) and (t.label, t.times) == (label, 1)]
    since = [labels[t.than] for t, yes in kept if isinstance(t, MoreRecent) and t.label == label and yes]
    reached = next((test for test, yes in last if yes), None)
    missed = next((test for test, yes in last if not yes), None)
    if reached is None and not since:
        assert missed is not None
        return missed.words(False, labels)
    words = labels[label] if reached is None else reached.words(True, labels)
    if missed is not None:
        assert missed.within is not None  # or it did not occur at all
        words += " but not " + (
            "just before" if missed.within == 1 else f"within {place_words(missed.within)}"
        )
    return words + (f" and no {' or '.join(since)} since" if since else "")
