"""TreeSuMM's summary: the leaf of a decision tree over questions to the history."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from summarkov import kernels
from summarkov.errors import SettingError, StoreError
from summarkov.kernels import MORE_RECENT, OCCURS, START, UNLIMITED
from summarkov.settings import Duration, is_whole, span_of
from summarkov.summaries.base import Encoded, Key, Names, Summary
from summarkov.summaries.window import FARTHEST, place_words, plain_span
from summarkov.typing import CodeArray, IntArray, KeyArray
from summarkov.wording import AttributeName

#: What files call each kind of test, and its numbers there.
_NAMES: dict[int, tuple[str, ...]] = {
    OCCURS: ("occurs", "label", "within", "times"),
    MORE_RECENT: ("more recent", "label", "than"),
    START: ("start", "events"),
}


class HistoryTest(NamedTuple):
    """A question to the history that has the answer yes or no, with the numbers that the kernels take.

    Did ``label`` occur at least ``times`` times within ``within`` positions (None: ever)? Is its last
    occurrence more recent than that of ``than``, which may be missing? Are there fewer than ``within``
    positions since the start?
    """

    kind: int
    label: int = 0
    than: int = 0
    times: int = 1
    within: int | None = 0

    @classmethod
    def occurs(cls, label: int, within: int | None, times: int = 1) -> HistoryTest:
        return cls(OCCURS, label, times=times, within=within)

    @classmethod
    def more_recent(cls, label: int, than: int) -> HistoryTest:
        return cls(MORE_RECENT, label, than)

    @classmethod
    def start(cls, events: int) -> HistoryTest:
        return cls(START, within=events)

    @property
    def labels(self) -> tuple[int, ...]:
        return {OCCURS: (self.label,), MORE_RECENT: (self.label, self.than)}.get(self.kind, ())

    @property
    def row(self) -> tuple[int, ...]:
        return (*self[:4], UNLIMITED if self.within is None else int(self.within))

    def implies(self, answer: bool, other: HistoryTest) -> bool:
        """Whether this answer leaves ``other`` no choice but the same."""
        if self.kind == MORE_RECENT:
            return answer and other == HistoryTest.occurs(self.label, None)
        if other[:2] != self[:2]:
            return False
        narrow, wide = (self, other) if answer else (other, self)
        return narrow.times >= wide.times and narrow.row[4] <= wide.row[4]

    def words(self, answer: bool, labels: Sequence[str]) -> str:
        """The test with its answer, for people."""
        if self.kind == START and self.within == 1:
            return "at the start" if answer else "not at the start"
        if self.kind == START:
            return f"{'among' if answer else 'after'} the first {self.within} positions"
        what = labels[self.label]
        if self.kind == MORE_RECENT:
            other = labels[self.than]
            return f"{what} and no {other} since" if answer else f"no {what} since {other} or the start"
        if not isinstance(what, AttributeName):
            if self.times > 1:
                return f"{what} {'at least' if answer else 'fewer than'} {self.times} times {self.when}"
            what = f"{what} {self.when}"
        return what if answer else f"no {what}"

    @property
    def when(self) -> str:
        if self.within is None:
            return "before"
        return "just before" if self.within == 1 else f"within {place_words(self.within)}"

    def document(self, labels: Sequence[str] | Mapping[int, str]) -> dict[str, Any]:
        kind, *names = _NAMES[self.kind]
        page = self.page_form()[1:]
        return {"test": kind} | {
            name: labels[value] if name in ("label", "than") else value
            for name, value in zip(names, page, strict=True)
        }

    def page_form(self) -> list[Any]:
        within = plain_span(self.within)
        values = {**self._asdict(), "within": within, "events": within}
        kind, *names = _NAMES[self.kind]
        return [kind, *(values[name] for name in names)]


@dataclass(frozen=True)
class HistoryTests:
    """The tests that are tried, in canonical order.

    For candidates z, y in sorted order: z occurred within k positions, for each k of ``lookbacks``; fewer
    than k positions since the start, for each k of ``starts``; z is more recent than y (``pairs``); z
    occurred at least c times within k positions, for each c of ``counts`` and each k of at least c.

    >>> tests = HistoryTests(lookbacks=(1, None), counts=(2,), starts=(1,), pairs=True)
    >>> [test.words(True, ["A", "B"]) for test in tests.each((0, 1))]  # doctest: +ELLIPSIS
    ['A just before', 'A before', 'B just before', 'B before', 'at the start', 'A and no B since', ...]
    """

    lookbacks: tuple[int | None, ...] = (1, 2, 3, 5, 10, 20, None)
    counts: tuple[int, ...] = (2, 3)
    starts: tuple[int, ...] = (1, 2, 3, 5, 10)
    pairs: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "lookbacks", tuple(span_of(k, "lookbacks") for k in self.lookbacks))
        if None in self.lookbacks[:-1]:
            raise SettingError("lookbacks must be in ascending order, with None, the whole past, last")
        limits = [k for k in self.lookbacks if k is not None]
        if 0 < len(self.durations) < len(limits):
            raise SettingError("lookbacks must all be numbers of positions, or all times such as '6h'")
        for name, least, most, each in (
            ("lookbacks", 1, 2**62 if self.durations else FARTHEST, limits),
            ("counts", 2, 1000, self.counts),
            ("starts", 1, FARTHEST, self.starts),
        ):
            for k in each:
                if not is_whole(k) or not least <= k <= most:
                    allowed = f"from {least} to {most}" if is_whole(k) and k > most else f"from {least} on"
                    raise SettingError(f"{name} must be whole numbers {allowed}, not {k!r}")
            if list(each) != sorted(set(each)):
                raise SettingError(f"{name} must be in ascending order, each once")

    @property
    def depth(self) -> int:
        """How many occurrences of a label matter."""
        return max(self.counts, default=1)

    @property
    def durations(self) -> tuple[Duration, ...]:
        return tuple(k for k in self.lookbacks if isinstance(k, Duration))

    def windows(self, times: int) -> list[int | None]:
        """The look-backs that can hold this number of occurrences."""
        return [k for k in self.lookbacks if k is None or isinstance(k, Duration) or k >= times]

    def size(self, n_candidates: int) -> int:
        """How many tests there are."""
        pairs = n_candidates * (n_candidates - 1) if self.pairs else 0
        return len(self.starts) + pairs + n_candidates * sum(len(self.windows(c)) for c in (1, *self.counts))

    def each(self, candidates: Sequence[int]) -> Iterator[HistoryTest]:
        """The tests about some labels."""
        for c in (1, *self.counts):
            yield from (HistoryTest.occurs(z, k, c) for z in candidates for k in self.windows(c))
            if c == 1:
                yield from map(HistoryTest.start, self.starts)
                pairs = itertools.permutations(candidates, 2) if self.pairs else ()
                yield from itertools.starmap(HistoryTest.more_recent, pairs)

    def read(self, told: Mapping[str, Any], codes: Mapping[str, int]) -> HistoryTest:
        """A test in a file, which must be one of these; ``codes`` are those of the labels to test."""
        names = [z for z in (told.get("label"), told.get("than")) if isinstance(z, str) and z in codes]
        about = {codes[z]: z for z in names}
        for test in self.each(tuple(about)):
            wanted = test.document(about)
            if repr(wanted) == repr({name: told.get(name) for name in wanted}):  # True is not 1
                return test
        given = {name: value for name, value in told.items() if name not in ("yes", "no")}
        raise StoreError.expected("a test that the settings allow", given)

    def recency(self, candidates: Sequence[int]) -> kernels.Recency:
        """What to have counted. The last bin is the rest of the past, whether or not a test asks for it."""
        labels: CodeArray = np.array(candidates, np.int32)
        limits = [int(k) for k in self.lookbacks if k is not None]
        lookbacks: IntArray = np.array([*limits, UNLIMITED], np.int64)
        starts = np.array(self.starts, np.int64)
        return kernels.Recency(labels, lookbacks, self.depth, starts, self.pairs, bool(self.durations))

    def yes(self, lags: IntArray, starts: IntArray, pairs: IntArray) -> IntArray:
        """N(x; open leaf, test answered yes) as ``[open, test, x]``, from what the kernels counted.

        Lags and starts add up from bin to bin. Where z occurred, it is the more recent unless y occurred
        after it; so the count of z more recent than y is that of z less ``pairs[y, z]``.
        """
        n_open, n, _, _, n_outcomes = lags.shape
        ever, k = lags.cumsum(axis=3), len(self.lookbacks)
        parts = [ever[:, :, 0, :k].reshape(n_open, -1, n_outcomes), starts.cumsum(axis=1)]
        if self.pairs and n > 1:
            parts.append((ever[:, :, None, 0, -1] - pairs.swapaxes(1, 2))[:, ~np.eye(n, dtype=bool)])
        for c in self.counts:
            first = k - len(self.windows(c))  # those too short come first
            parts.append(ever[:, :, c - 1, first:k].reshape(n_open, -1, n_outcomes))
        return np.concatenate(parts, axis=1)


#: A test on the way to a leaf, and its answer.
Condition = tuple[HistoryTest, bool]


@dataclass(frozen=True)
class TreeSummary(Summary):
    """A tree by its nodes in depth-first order, the yes branch first: a test, or None for a leaf.

    A state is a leaf, known by its number in that order. ``tests`` are those that may occur.

    >>> occurs = HistoryTest.occurs
    >>> tree = TreeSummary((occurs(0, 3), None, occurs(1, None), None, None))
    >>> [tree.words([leaf], Names((), ["A", "B"])) for leaf in range(3)]
    ['A within 3 positions', 'no A within 3 positions, B before', 'no A within 3 positions, no B before']
    """

    nodes: tuple[HistoryTest | None, ...] = (None,)
    tests: HistoryTests = field(default_factory=HistoryTests)

    takes_ticks: ClassVar[bool] = True
    by_label: ClassVar[bool] = True
    horizon: ClassVar[int | None] = None

    @cached_property
    def branches(self) -> IntArray:
        """``branches[node]`` are the rows of the yes and the no branch; -1 for a leaf."""
        branches = np.full((len(self.nodes), 2), -1, np.int64)
        waiting: list[tuple[int, int]] = []  # nodes above, and the branches of them that are still to come
        for row, test in enumerate(self.nodes):
            if row:
                branches[waiting.pop()] = row
            if test is not None:
                waiting += [(row, 1), (row, 0)]
        return branches

    @cached_property
    def parent(self) -> IntArray:
        """The row of each node's parent; -1 for the root."""
        parent = np.full(len(self.nodes), -1, np.int64)
        inner = np.flatnonzero(self.branches[:, 0] >= 0)
        parent[self.branches[inner]] = inner[:, None]
        return parent

    @cached_property
    def leaves(self) -> IntArray:
        """The rows of the leaves."""
        return np.flatnonzero(self.branches[:, 0] < 0)

    @cached_property
    def influencers(self) -> tuple[int, ...]:
        """The labels that are tested, sorted."""
        return tuple(sorted({z for test in self.nodes if test is not None for z in test.labels}))

    def path(self, row: int) -> list[Condition]:
        """The tests on the way to a node, with their answers."""
        conditions: list[Condition] = []
        while (up := int(self.parent[row])) >= 0:
            test = self.nodes[up]
            assert test is not None
            conditions.insert(0, (test, bool(self.branches[up, 0] == row)))
            row = up
        return conditions

    def rule(self, row: int, labels: Sequence[str]) -> tuple[str, ...]:
        """What holds at a node, in words: the conditions that no other one on the way implies."""
        return conditions_in_words(self.path(row), labels)

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return len(self.leaves)

    def encode(self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        keys = np.arange(len(self.leaves), dtype=np.int32)[:, None]
        leaves = kernels.tree_leaves(index, self.arrays_for(index), bool(self.durations))
        return np.searchsorted(self.leaves, leaves), keys

    def arrays_for(self, index: kernels.Index) -> IntArray:
        """The tree as the kernels take it, with look-backs in the unit of the times there."""
        leaf = HistoryTest(kernels.LEAF)
        rows = np.array([(test or leaf).row for test in self.nodes], np.int64)
        if self.durations:
            occurs = rows[:, 0] == OCCURS
            rows[occurs, 4] = kernels.in_units(rows[occurs, 4], index.unit)
        return np.concatenate([rows, self.branches], axis=1)

    def state(self, key: Key, names: Names) -> tuple[str, ...]:
        return self.rule(int(self.leaves[key[0]]), names.labels)

    def words(self, key: Key, names: Names) -> str:
        return ", ".join(self.state(key, names)) or "any history"

    @property
    def durations(self) -> tuple[Duration, ...]:
        return self.tests.durations

    def page_form(self, names: Names) -> dict[str, Any]:
        """The nodes, depth first and the yes branch first, with their tests.

        ``no`` is the row of each node's no branch, that of its yes branch being the next one; -1 for a leaf.
        """
        return {
            "kind": "tree",
            "delay": 0,
            "tests": [None if test is None else test.page_form() for test in self.nodes],
            "asks": [None if test is None else test.words(True, names.labels) for test in self.nodes],
            "no": self.branches[:, 1].tolist(),
        }

    def learned_document(self, labels: Sequence[str]) -> dict[str, Any]:
        """Nested tests; a leaf has its number, which is that of its state, and its rule."""
        rows, leaves = iter(range(len(self.nodes))), itertools.count()

        def below() -> dict[str, Any]:
            row = next(rows)
            if (test := self.nodes[row]) is None:
                return {"leaf": next(leaves), "rule": list(self.rule(row, labels))}
            return {**test.document(labels), "yes": below(), "no": below()}

        return {"tree": below()}

    def read_learned(self, tree: Any, codes: Mapping[str, int], max_depth: int) -> TreeSummary:
        """The tree in a file, every test of which must be one of ``tests`` and about labels of ``codes``."""

        def nodes(here: Any, depth: int) -> list[HistoryTest | None]:
            if isinstance(here, dict) and "leaf" in here:
                return [None]
            if depth >= max_depth or not isinstance(here, dict) or not {"yes", "no"} <= set(here):
                raise StoreError.expected(f"a leaf, or a test at most {max_depth} deep", here)
            below = (nodes(here[answer], depth + 1) for answer in ("yes", "no"))
            return [self.tests.read(here, codes), *itertools.chain(*below)]

        return replace(self, nodes=tuple(nodes(tree, 0)))

    def state_document(self, key: Key, names: Names) -> Any:
        return key[0]

    def read_table(self, states: Sequence[Any], counts: IntArray, names: Names) -> tuple[KeyArray, IntArray]:
        """Every leaf is there, and was seen."""
        if list(states) != list(range(len(self.leaves))) or not counts.any(axis=1).all():
            raise StoreError.expected("the numbers of all leaves in order, each with counts", list(states))
        return np.arange(len(states), dtype=np.int32)[:, None], counts


def conditions_in_words(path: Sequence[Condition], labels: Sequence[str]) -> tuple[str, ...]:
    """Conditions without those that follow from others; what says when A occurred last is said at once.

    >>> occurs, more_recent = HistoryTest.occurs, HistoryTest.more_recent
    >>> conditions_in_words([(occurs(0, 9), True), (more_recent(0, 1), True), (occurs(0, 2), False)], "AB")
    ('A within 9 positions but not within 2 positions and no B since',)
    >>> conditions_in_words([(occurs(0, 5), True), (occurs(1, None), False), (occurs(0, 1), True)], "AB")
    ('no B before', 'A just before')
    """
    kept = [condition for i, condition in enumerate(path) if not _is_implied(i, path)]
    words: dict[object, str] = {}  # in order of what they are about
    for test, answer in kept:
        if (test.kind == OCCURS and test.times == 1) or (test.kind == MORE_RECENT and answer):
            words.setdefault(test.label, _last_occurrence(test.label, kept, labels))
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
    since = [labels[t.than] for t, yes in kept if t.kind == MORE_RECENT and t.label == label and yes]
    last = {yes: t for t, yes in reversed(kept) if t.kind == OCCURS and (t.label, t.times) == (label, 1)}
    if True not in last and not since:
        return last[False].words(False, labels)
    words = last[True].words(True, labels) if True in last else labels[label]
    if False in last:
        words += f" but not {last[False].when}"
    return words + (f" and no {' or '.join(since)} since" if since else "")
