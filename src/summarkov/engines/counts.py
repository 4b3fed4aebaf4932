"""What a search can ask to have counted, and counts: all that scores and models see of the data."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.errors import SettingError
from summarkov.summaries import Summary, TreeSummary, WindowSummary
from summarkov.typing import CodeArray, FloatArray, IntArray, KeyArray

# ---------------------------------------------------------------------- requests


@dataclass(frozen=True)
class Target:
    """Labels of the target X as sorted codes; one outcome each, plus a residual one unless X is all labels.

    >>> Target((0, 2), n_labels=4).n_outcomes
    3
    """

    codes: tuple[int, ...]
    n_labels: int
    n_attributes: int = 0  # those of the labels that are no labels of events
    keeps_rest: bool = False  # a residual outcome for events of no known label, though X is all labels
    only: bool = False  # no position counts but those where one of the labels is: outcomes of sequences

    @property
    def has_residual(self) -> bool:
        """Whether there is an outcome for what is not in the target."""
        return self.keeps_rest or (not self.only and len(self.codes) < self.n_labels - self.n_attributes)

    @property
    def never_influence(self) -> tuple[int, ...]:
        """The labels that may influence nothing: outcomes, which stand at the end."""
        return self.codes if self.only else ()

    @property
    def n_outcomes(self) -> int:
        """|X|, the number of states of the target's variable."""
        return len(self.codes) + self.has_residual

    def outcome_of(self) -> CodeArray:
        """Outcome of every code; the last entry is for events of no known label (-1: not counted)."""
        outcomes = np.full(self.n_labels + 1, len(self.codes) if self.has_residual else -1, np.int32)
        outcomes[list(self.codes)] = np.arange(len(self.codes))
        return outcomes


@dataclass(frozen=True)
class StatesRequest:
    """Count N(x; s) over the states of these influencers, in a replicate of the data if told."""

    summary: Summary
    influencers: tuple[int, ...]
    target: Target
    replicate: int | None = None


@dataclass(frozen=True)
class CandidatesRequest:
    """Count N(x; s, z) over the states of these influencers joined by each candidate z in turn.

    With ``given``, one of the influencers, only at positions at which that one is present.
    """

    summary: WindowSummary
    influencers: tuple[int, ...]
    target: Target
    candidates: tuple[int, ...]
    replicate: int | None = None
    given: int | None = None


@dataclass(frozen=True)
class RecencyRequest:
    """Count what every test of the candidates would tell apart at some leaves of a tree."""

    summary: TreeSummary
    target: Target
    candidates: tuple[int, ...]
    open: tuple[int, ...]  # numbers of leaves
    replicate: int | None = None

    @property
    def cells(self) -> int:
        """How many numbers there are to an outcome."""
        tests, n = self.summary.tests, len(self.candidates)
        each = n * tests.depth * (len(tests.lookbacks) + 1) + len(tests.starts) + n * n * tests.pairs
        return len(self.open) * each


Request = StatesRequest | CandidatesRequest | RecencyRequest


def join(requests: Sequence[Request], most: int) -> tuple[list[Request], list[int]]:
    """Joint requests of those that differ in target alone, and which answers each given one.

    A joint request has an outcome for each label of any target: at most ``most``, unless one target alone has
    more. If they are all labels, it keeps a residual outcome too: events of no known label are in the
    residual of each target that has one.
    """
    members: list[list[Request]] = []
    labels: list[set[int]] = []
    open_: dict[tuple[object, ...], int] = {}
    answered_by: list[int] = []
    for request in requests:
        shared = _shared(request)
        at = open_.get(shared)
        if at is None or len(labels[at] | set(request.target.codes)) > most:
            at = open_[shared] = len(members)
            members.append([])
            labels.append(set())
        labels[at] |= set(request.target.codes)
        members[at].append(request)
        answered_by.append(at)
    joined: list[Request] = []
    for some, codes in zip(members, labels, strict=True):
        target = some[0].target
        if not target.only:  # the labels of outcomes are in no other target
            rest = any(request.target.has_residual for request in some)
            keeps_rest = rest and len(codes) == target.n_labels - target.n_attributes
            target = Target(tuple(sorted(codes)), target.n_labels, target.n_attributes, keeps_rest)
        joined.append(replace(some[0], target=target))
    return joined, answered_by


def _shared(request: Request) -> tuple[object, ...]:
    """What requests must have in common to be counted as one: all but the target."""
    about: dict[str, Any] = {**vars(request), "target": request.target.only and request.target}
    if not isinstance(request, RecencyRequest):
        about["summary"] = id(request.summary)  # one that stays as it is
    return (type(request), *about.values())


# ---------------------------------------------------------------------- counts


class _Tables:
    """Arrays of counts; the last axis of each is the outcome.

    States, whose ``keys`` are in order, are the first axis of the first array, and the second of the second.
    """

    @property
    def tables(self) -> tuple[IntArray, ...]:
        """All arrays."""
        return tuple(array for name, array in vars(self).items() if name != "keys")

    def with_tables(self, tables: Iterable[IntArray], **others: Any) -> Self:
        """Counts of the same states with other arrays."""
        names = (name for name in vars(self) if name != "keys")
        return type(self)(**{**vars(self), **dict(zip(names, tables, strict=True)), **others})

    @classmethod
    def total(cls, parts: Sequence[Any]) -> Any:
        """Add the counts of several shards."""
        keys, where = merge_keys([part.keys for part in parts])
        tables = []
        for axis, same in enumerate(zip(*(part.tables for part in parts), strict=True)):
            shape = same[0].shape
            added = np.zeros((*shape[:axis], len(keys), *shape[axis + 1 :]), np.int64)
            for table, rows in zip(same, where, strict=True):
                added[(slice(None),) * axis + (rows,)] += table
            tables.append(added)
        return parts[0].with_tables(tables, keys=keys)


@dataclass(frozen=True)
class StateCounts(_Tables):
    """N(x; s): ``counts[s, x]`` for the state whose key is ``keys[s]``, states in the order of keys.

    Several tables of the same states may stand side by side: ``counts[b, s, x]``.
    """

    keys: KeyArray
    counts: IntArray

    def regroup(self, keys: KeyArray) -> StateCounts:
        """Merge the states that have become equal under new keys (rows of levels), one per state."""
        if not keys.shape[1]:
            return StateCounts(keys[:1], self.counts.sum(axis=-2, keepdims=True)[..., : len(keys), :])
        if not len(keys):
            return StateCounts(keys, self.counts)
        order = np.lexsort(keys.T[::-1])
        keys = keys[order]
        differs = np.ones(len(keys), bool)
        (keys[1:] != keys[:-1]).any(axis=1, out=differs[1:])
        (first,) = differs.nonzero()
        return StateCounts(keys[first], np.add.reduceat(self.counts[..., order, :], first, axis=-2))


@dataclass(frozen=True)
class CandidateCounts(_Tables):
    """N(x; s) and, for each candidate z, N(x; s, level of z).

    ``present[c, s, l - 1, x]`` counts level l of candidate c, from 1 on; absence is what remains of
    ``counts[s, x]``.
    """

    keys: KeyArray
    counts: IntArray
    present: IntArray


@dataclass(frozen=True)
class RecencyCounts(_Tables):
    """What tests would tell apart at some leaves of a tree, see :func:`kernels.count_tests`."""

    counts: IntArray
    lags: IntArray
    starts: IntArray
    pairs: IntArray

    @classmethod
    def total(cls, parts: Sequence[RecencyCounts]) -> RecencyCounts:
        """Add the counts of several shards."""
        return cls(*(np.sum(same, axis=0) for same in zip(*(part.tables for part in parts), strict=True)))

    def leaf(self, number: int) -> RecencyCounts:
        """The counts at one of the leaves."""
        return self.with_tables(table[number : number + 1] for table in self.tables)

    def minus(self, other: RecencyCounts) -> RecencyCounts:
        """What is left of a leaf without one of its branches: the other branch."""
        return self.with_tables(a - b for a, b in zip(self.tables, other.tables, strict=True))


Counts = StateCounts | CandidateCounts | RecencyCounts


def state_tables(many: Sequence[IntArray]) -> FloatArray:
    """Several ``counts[s, x]`` as one array of floats, for scores.

    Tables of fewer states are filled up with empty ones, which change no score. In memory tables stand side
    by side, so that scores are worked out in long rows.
    """
    full = np.zeros((many[0].shape[1], max(map(len, many)), len(many)))
    for at, counts in enumerate(many):
        full[:, : len(counts), at] = counts.T
    return full.transpose(2, 1, 0)


def joined_tables(many: Sequence[CandidateCounts]) -> FloatArray:
    """One table per candidate, ``[at, c, level * (most states) + s, x]``, absence first, as above."""
    c, _, deep, x = many[0].present.shape
    n_states = max(len(one.keys) for one in many)
    full = np.zeros((x, deep + 1, n_states, len(many), c))
    for at, one in enumerate(many):
        full[:, 1:, : len(one.keys), at] = one.present.transpose(3, 2, 1, 0)
        full[:, 0, : len(one.keys), at] = one.counts.T[..., None]
    for level in range(1, deep + 1):
        full[:, 0] -= full[:, level]
    return full.reshape(x, (deep + 1) * n_states, len(many), c).transpose(2, 3, 1, 0)


class JointCounts:
    """Counts that answer for several targets: they have an outcome for each label of any of them."""

    def __init__(self, counts: Counts, joint: Target) -> None:
        self._counts, self._joint = counts, joint
        self._by_outcome = [np.moveaxis(table, -1, 0) for table in counts.tables]

    @cached_property
    def _sums(self) -> list[IntArray]:
        """The sums over outcomes, shared by all targets: N(s), for a start."""
        return [np.asarray(table.sum(axis=0)) for table in self._by_outcome]

    def narrow(self, target: Target) -> Counts:
        """The counts for one target."""
        counts, tables = self._counts, [*self._counts.tables]
        if target != self._joint:
            tables = [np.moveaxis(table, 0, -1) for table in self._picked(target)]
        tables[0] = np.ascontiguousarray(tables[0])  # scores are sums of it, which is faster
        return without_empty(counts.with_tables(tables)) if target.only else counts.with_tables(tables)

    def _picked(self, target: Target) -> Iterator[IntArray]:
        """The target's outcomes, as the first axis of each table, with the residual one if it has that."""
        for table, rest in zip(self._by_outcome, self._sums, strict=True):
            picked = np.empty((target.n_outcomes, *rest.shape), np.int64)  # one outcome at a time is faster
            for outcome, code in enumerate(target.codes):
                picked[outcome] = table[bisect.bisect_left(self._joint.codes, code)]
            if target.has_residual:
                picked[-1] = rest
                for outcome in range(len(target.codes)):
                    picked[-1] -= picked[outcome]
            yield picked


def without_empty(counts: Any) -> Any:
    """Counts without the states in which nothing was counted."""
    if isinstance(counts, RecencyCounts):
        return counts
    some = counts.counts.any(axis=-1)
    tables = [table.compress(some, axis=at) for at, table in enumerate(counts.tables)]
    return counts if some.all() else counts.with_tables(tables, keys=counts.keys[some])


def side_by_side(tables: Sequence[Counts]) -> StateCounts:
    """Tables of states as one table of all these states, ``counts[b, s, x]``."""
    some = [table for table in tables if isinstance(table, StateCounts)]
    keys, where = merge_keys([one.keys for one in some])
    counts = np.zeros((len(some), len(keys), some[0].counts.shape[1]), np.int64)
    for row, rows, one in zip(counts, where, some, strict=True):
        row[rows] = one.counts
    return StateCounts(keys, counts)


def merge_keys(many: list[KeyArray]) -> tuple[KeyArray, list[IntArray]]:
    """All keys in order, and where each shard's keys went."""
    if many[0].dtype != object:
        return kernels.merge_keys(many)
    union: set[object] = reduce(lambda seen, keys: seen | set(keys[:, 0]), many, set())
    distinct = sorted(union, key=repr)
    merged = np.empty((len(distinct), 1), dtype=object)
    merged[:, 0] = distinct
    index = {state: i for i, state in enumerate(distinct)}
    return merged, [np.array([index[state] for state in keys[:, 0]], dtype=np.int64) for keys in many]


# ---------------------------------------------------------------------- weights as users give them

#: Weights that are not whole become multiples of 2^-20.
FIXED_POINT = 1 << 20
#: The most that all events may weigh together, in units of 1 / scale: a count holds no more.
MOST = 1 << 62


def fixed_point(weights: Any, n_sequences: int) -> tuple[IntArray | None, int]:
    """Integer weights and their scale: whole weights as they are, others in units of 2^-20.

    >>> fixed_point([1, 2], 2), fixed_point([0.5, 1.0], 2)
    ((array([1, 2]), 1), (array([ 524288, 1048576]), 1048576))
    """
    if weights is None:
        return None, 1
    given = np.asarray(weights)
    if given.shape != (n_sequences,):
        raise SettingError(
            f"sample_weight must have one number per sequence ({n_sequences}), not shape {given.shape}"
        )
    if given.dtype.kind not in "buif" or not np.isfinite(given.astype(float)).all() or (given < 0).any():
        raise SettingError("sample_weight must be finite numbers from 0 on")
    scale = 1 if not n_fractions(given) else FIXED_POINT
    return in_units(given, scale), scale


def n_fractions(given: npt.NDArray[Any]) -> int:
    """How many weights are not whole."""
    return int(np.count_nonzero(given != np.rint(given.astype(float))))


def in_units(given: npt.NDArray[Any], scale: int) -> IntArray:
    """Weights in units of ``1 / scale``; refused where these are too coarse, or weights too large."""
    if given.size and float(given.max()) * scale > 2**42:
        raise SettingError(f"sample_weight {float(given.max()):g} is too large; scale the weights down")
    units: IntArray = np.rint(given.astype(float) * scale).astype(np.int64)
    lost = given[(units == 0) & (given > 0)]
    if len(lost):
        raise SettingError(
            f"sample_weight {float(lost[0]):g} is too small: weights are rounded to multiples of 2^-20, and "
            "this would be 0; scale the weights up, or leave out such sequences by a weight of 0"
        )
    return units


def refuse_overflow(total: float, scale: int) -> None:
    """Refuse weights whose sum over all events, in units of ``1 / scale``, is more than a count can hold."""
    if total > MOST:
        raise SettingError(
            f"the events weigh {total / scale:g} together, more than can be counted exactly; scale the "
            "weights down"
        )
