"""Counts: the only thing that scores, searches and models ever see of the data."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce

import numpy as np

from summarkov import kernels
from summarkov.engines.messages import travels
from summarkov.engines.requests import Target
from summarkov.typing import FloatArray, IntArray, KeyArray


class _Tables:
    """Arrays of counts whose last axis is the outcome."""

    @property
    def tables(self) -> tuple[IntArray, ...]:
        """All of them."""
        raise NotImplementedError  # each class that takes this in has its own

    @cached_property
    def _sums(self) -> tuple[IntArray, ...]:
        """The sums over outcomes, shared by all targets: N(s), for a start."""
        return tuple(np.asarray(table.sum(axis=-1)) for table in self.tables)

    def _narrowed(self, joint: Target, target: Target) -> Iterator[IntArray]:
        """The target's outcomes out of the joint ones, in every table."""
        for table, rest in zip(self.tables, self._sums, strict=True):
            if joint == target:
                yield table
                continue
            picked = pick_outcomes(partial(_column, table), rest, joint, target)
            yield picked.transpose((*range(1, picked.ndim), 0))


def _column(table: IntArray, outcome: int) -> IntArray:
    return np.asarray(table[..., outcome])


@travels
@dataclass(frozen=True)
class StateCounts(_Tables):
    """N(x; s): ``counts[s, x]`` for the state whose key is ``keys[s]``, states in the order of keys.

    Replicates, where there are some, are the first axis: ``counts[b, s, x]``.
    """

    keys: KeyArray
    counts: IntArray

    @property
    def tables(self) -> tuple[IntArray, ...]:
        return (self.counts,)

    def narrow(self, joint: Target, target: Target) -> StateCounts:
        """The counts for one target out of those for several."""
        (counts,) = self._narrowed(joint, target)
        # How sums of floats are rounded depends on the layout, so it must be that of counts made alone.
        return StateCounts(self.keys, np.ascontiguousarray(counts))

    @staticmethod
    def total(parts: Sequence[StateCounts]) -> StateCounts:
        """Add the counts of several shards."""
        if len(parts) == 1:
            return parts[0]
        keys, where = merge_keys([part.keys for part in parts])
        counts = np.zeros((len(keys), *parts[0].counts.shape[1:]), np.int64)
        for part, rows in zip(parts, where, strict=True):
            counts[rows] += part.counts
        return StateCounts(keys, counts)

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


@travels
@dataclass(frozen=True)
class CandidateCounts(_Tables):
    """N(x; s) and, for each candidate z, N(x; s, level of z).

    ``present[c, s, l - 1, x]`` counts level l of candidate c, from 1 on; absence is what remains of
    ``counts[s, x]``. Replicates, where there are some, are the first axis of both.
    """

    keys: KeyArray
    counts: IntArray
    present: IntArray

    @property
    def tables(self) -> tuple[IntArray, ...]:
        return self.counts, self.present

    def narrow(self, joint: Target, target: Target) -> CandidateCounts:
        """The counts for one target out of those for several."""
        counts, present = self._narrowed(joint, target)
        return CandidateCounts(self.keys, np.ascontiguousarray(counts), present)

    @staticmethod
    def total(parts: Sequence[CandidateCounts]) -> CandidateCounts:
        """Add the counts of several shards."""
        if len(parts) == 1:
            return parts[0]
        keys, where = merge_keys([part.keys for part in parts])
        first = parts[0]
        counts = np.zeros((len(keys), *first.counts.shape[1:]), np.int64)
        present = np.zeros((first.present.shape[0], len(keys), *first.present.shape[2:]), np.int64)
        for part, rows in zip(parts, where, strict=True):
            counts[rows] += part.counts
            present[:, rows] += part.present
        return CandidateCounts(keys, counts, present)


@travels
@dataclass(frozen=True)
class RecencyCounts(_Tables):
    """What tests would tell apart at some leaves of a tree, see :func:`kernels.count_tests`."""

    counts: IntArray
    lags: IntArray
    starts: IntArray
    pairs: IntArray

    @property
    def tables(self) -> tuple[IntArray, ...]:
        return self.counts, self.lags, self.starts, self.pairs

    def narrow(self, joint: Target, target: Target) -> RecencyCounts:
        """The counts for one target out of those for several."""
        return RecencyCounts(*self._narrowed(joint, target))

    @staticmethod
    def total(parts: Sequence[RecencyCounts]) -> RecencyCounts:
        """Add the counts of several shards."""
        if len(parts) == 1:
            return parts[0]
        return RecencyCounts(
            *(np.sum(tables, axis=0) for tables in zip(*(p.tables for p in parts), strict=True))
        )

    def leaf(self, number: int) -> RecencyCounts:
        """The counts at one of the leaves."""
        return RecencyCounts(*(table[number : number + 1] for table in self.tables))

    def minus(self, other: RecencyCounts) -> RecencyCounts:
        """What is left of a leaf without one of its branches: the other branch."""
        return RecencyCounts(*(a - b for a, b in zip(self.tables, other.tables, strict=True)))


Counts = StateCounts | CandidateCounts | RecencyCounts


def state_tables(many: Sequence[IntArray]) -> FloatArray:
    """Several ``counts[b, s, x]`` as one array of floats, for scores: all their tables one after the other.

    Tables of fewer states than others are filled up with empty ones, which change no score. In memory tables
    stand side by side: there are many of them and few states and outcomes, so that scores are worked out in
    long rows.
    """
    n_states = max(counts.shape[1] for counts in many)
    full = np.zeros((many[0].shape[2], n_states, sum(len(counts) for counts in many)))
    start = 0
    for counts in many:
        full[:, : counts.shape[1], start : start + len(counts)] = counts.transpose(2, 1, 0)
        start += len(counts)
    return full.transpose(2, 1, 0)


def joined_tables(many: Sequence[CandidateCounts]) -> FloatArray:
    """One table per candidate, ``[b, c, level * (most states) + s, x]``, absence first, as ``state_tables``.

    The replicates of all counts stand one after the other; counts without replicates are one.
    """
    c, _, deep, x = many[0].present.shape[-4:]
    n_states = max(one.counts.shape[-2] for one in many)
    sizes = [one.present.shape[0] if one.present.ndim > 4 else 1 for one in many]
    full = np.zeros((x, deep + 1, n_states, sum(sizes), c))
    start = 0
    for one, size in zip(many, sizes, strict=True):
        present, counts = (
            (one.present, one.counts) if one.present.ndim > 4 else (one.present[None], one.counts[None])
        )
        here = full[:, :, : counts.shape[1], start : start + size]
        here[:, 1:] = present.transpose(4, 3, 2, 0, 1)
        here[:, 0] = counts.transpose(2, 1, 0)[..., None]
        start += size
    for level in range(1, deep + 1):
        full[:, 0] -= full[:, level]
    return full.reshape(x, (deep + 1) * n_states, start, c).transpose(2, 3, 1, 0)


def total(parts: Sequence[Counts]) -> Counts:
    """Add the answers of several shards to one request."""
    # The answers to one request are all of one kind, which types do not tell: so the three lines are ignored.
    if isinstance(parts[0], RecencyCounts):
        return RecencyCounts.total(parts)  # type: ignore[arg-type]
    if isinstance(parts[0], CandidateCounts):
        return CandidateCounts.total(parts)  # type: ignore[arg-type]
    return StateCounts.total(parts)  # type: ignore[arg-type]


def pick_replicate(counts: Counts, at: int) -> Counts:
    """The counts of one replicate of several."""
    return with_tables(counts, (table[at] for table in counts.tables))


def with_tables(counts: Counts, tables: Iterable[IntArray]) -> Counts:
    """Counts of the same states with other arrays."""
    if isinstance(counts, RecencyCounts):
        return RecencyCounts(*tables)
    return type(counts)(counts.keys, *tables)


def seen_only(counts: Counts) -> Counts:
    """Without the states in which nothing was counted."""
    if isinstance(counts, RecencyCounts):
        return counts
    some = counts.counts.any(axis=(*range(counts.counts.ndim - 2), -1))
    if some.all():
        return counts
    if isinstance(counts, CandidateCounts):
        return CandidateCounts(
            counts.keys[some], counts.counts[..., some, :], counts.present[..., some, :, :]
        )
    return StateCounts(counts.keys[some], counts.counts[..., some, :])


def pick_outcomes(
    column: Callable[[int], IntArray], rest: IntArray, joint: Target, target: Target
) -> IntArray:
    """A target's outcomes out of the joint ones, as the first axis, with the residual one if it has that.

    ``column(i)`` has the counts of outcome i of the joint target, and ``rest`` the sums over all outcomes.
    """
    picked = np.empty((target.n_outcomes, *rest.shape), np.int64)  # one outcome at a time is faster
    for outcome, code in enumerate(target.codes):
        picked[outcome] = column(bisect.bisect_left(joint.codes, code))
    if target.has_residual:
        picked[-1] = rest
        for outcome in range(len(target.codes)):
            picked[-1] -= picked[outcome]
    return picked


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
