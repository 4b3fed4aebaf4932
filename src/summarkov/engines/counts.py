"""Counts: the only thing that scores, searches and models ever see of the data."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Self

import numpy as np

from summarkov import kernels
from summarkov.engines.requests import Target
from summarkov.typing import FloatArray, IntArray, KeyArray


class _Tables:
    """Arrays of counts of states; the last axis of each is the outcome.

    States are the first axis of the first array, and the second axis of the second.
    """

    keys: KeyArray

    @property
    def tables(self) -> tuple[IntArray, ...]:
        """All arrays."""
        raise NotImplementedError  # each class that takes this in has its own

    def with_tables(self, tables: Iterable[IntArray]) -> Self:
        """Counts of the same states with other arrays."""
        return type(self)(self.keys, *tables)  # type: ignore[call-arg]  # as each class is made

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """Add the counts of several shards."""
        if len(parts) == 1:
            return parts[0]
        keys, where = merge_keys([part.keys for part in parts])
        tables = []
        for axis, same in enumerate(zip(*(part.tables for part in parts), strict=True)):
            shape = same[0].shape
            added = np.zeros((*shape[:axis], len(keys), *shape[axis + 1 :]), np.int64)
            for table, rows in zip(same, where, strict=True):
                added[(slice(None),) * axis + (rows,)] += table
            tables.append(added)
        return cls(keys, *tables)  # type: ignore[call-arg]  # as each class is made


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
    ``counts[s, x]``. Replicates, where there are some, are the first axis of both.
    """

    keys: KeyArray
    counts: IntArray
    present: IntArray

    @property
    def tables(self) -> tuple[IntArray, ...]:
        return self.counts, self.present


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

    def with_tables(self, tables: Iterable[IntArray]) -> RecencyCounts:
        """The same leaves with other arrays."""
        return RecencyCounts(*tables)

    @classmethod
    def total(cls, parts: Sequence[RecencyCounts]) -> RecencyCounts:
        """Add the counts of several shards."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.sum(same, axis=0) for same in zip(*(part.tables for part in parts), strict=True)))

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


class JointCounts:
    """Counts that answer for several targets: they have an outcome for each label of any of them.

    With ``replicates``, tables have one more axis at the end, which has these.
    """

    def __init__(self, counts: Counts, joint: Target, replicates: IntArray | None = None) -> None:
        self._counts, self._joint, self._replicates = counts, joint, replicates
        axis = -1 if replicates is None else -2
        self._by_outcome = [np.moveaxis(table, axis, 0) for table in counts.tables]

    @cached_property
    def _sums(self) -> list[IntArray]:
        """The sums over outcomes, shared by all targets: N(s), for a start."""
        return [np.asarray(table.sum(axis=0)) for table in self._by_outcome]

    def narrow(self, target: Target, asked: Sequence[int] | None = None) -> Counts:
        """The counts for one target, and for some of the replicates (None: all), these as the first axis."""
        counts, tables = self._counts, [*self._counts.tables]
        if self._replicates is not None:
            some = asked is not None and len(asked) < len(self._replicates)
            at = np.searchsorted(self._replicates, np.array(asked)) if some else slice(None)
            tables = [table.swapaxes(0, -1) for table in self._picked(target, at)]
        elif target != self._joint:
            tables = [np.moveaxis(table, 0, -1) for table in self._picked(target)]
        # How sums of floats are rounded depends on the layout, so it must be that of counts made alone.
        if isinstance(counts, RecencyCounts):
            tables = tables if self._replicates is None else [np.ascontiguousarray(each) for each in tables]
        else:
            tables[0] = np.ascontiguousarray(tables[0])
        found = counts.with_tables(tables)
        return seen_only(found) if target.only else found

    def _picked(self, target: Target, at: IntArray | slice | None = None) -> Iterator[IntArray]:
        """The target's outcomes, as the first axis of each table, with the residual one if it has that."""
        for table, sums in zip(self._by_outcome, self._sums, strict=True):
            rest = sums if at is None else sums[..., at]
            picked = np.empty((target.n_outcomes, *rest.shape), np.int64)  # one outcome at a time is faster
            for outcome, code in enumerate(target.codes):
                column = table[bisect.bisect_left(self._joint.codes, code)]
                picked[outcome] = column if at is None else column[..., at]
            if target.has_residual:
                picked[-1] = rest
                for outcome in range(len(target.codes)):
                    picked[-1] -= picked[outcome]
            yield picked


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
