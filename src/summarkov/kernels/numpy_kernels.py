"""The kernels in NumPy, short and readable; the key step is that of ``kernels.index.Stretches``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from summarkov.kernels.index import ABSENT, MOST_CELLS, Index, Stretches, Window
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

#: The step of SplitMix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)


def window_states(index: Index, influencers: CodeArray, window: Window) -> tuple[IntArray, CodeArray]:
    """State of every position: ids[N], and keys[S, U] in lexicographic order.

    A key holds one level per influencer: 0 if absent from its window, else 1 (binary), its capped count, or
    its place (1 = oldest) in the order of occurrences (ordinal).
    """
    ids, keys, _ = _states(index, influencers, Stretches.of(index, window))
    return ids, keys


def count_candidates(
    index: Index,
    weights: IntArray | None,
    influencers: CodeArray,
    candidates: CodeArray,
    outcome_of: CodeArray,
    n_outcomes: int,
    window: Window,
    given: int | None = None,
) -> tuple[CodeArray, IntArray, IntArray]:
    """Counts of the states of U, and of U joined by each candidate, in one scan.

    Returns keys[S, U], counts[S, X] and present[C, S, L - 1, X]: N(x; s, level of z) for levels from 1 on.
    ``weights`` holds one whole number per sequence, or is None for ones. ``outcome_of`` maps a code to its
    outcome (-1: not counted); its last entry is for events of no known label. ``given`` is the place of an
    influencer: only positions at which it is present are counted.
    """
    stretches = Stretches.of(index, window)
    ids, keys, stands = _states(index, influencers, stretches)
    counted = outcomes_counted(index, weights, outcome_of)
    if given is not None:
        held = keys[:, given] > 0
        ids, keys = np.append(np.where(held, np.cumsum(held) - 1, -1), -1)[ids], keys[held]
        counted = [(np.where(ids >= 0, x, -1), each) for x, each in counted]
    counts = tabulate(counted, ids, len(keys), n_outcomes)
    deep = window.n_levels(len(influencers)) - 1
    if len(candidates) * len(keys) * deep * n_outcomes > MOST_CELLS:
        raise MemoryError
    present = np.zeros((len(candidates), len(keys), deep, n_outcomes), np.int64)
    row_of = np.full(index.n_labels + 1, -1)
    row_of[candidates] = np.arange(len(candidates))
    row_of = row_of[index.codes]
    for event, position in stretches.pairs(np.flatnonzero(row_of >= 0)):
        level = stretches.levels(event, position, stands)
        cells = ((row_of[event] * len(keys) + ids[position]) * deep + level - 1) * n_outcomes
        for x, each in counted:
            add(present, cells + x[position], x[position] >= 0, None if each is None else each[position])
    return keys, counts, present


def chain_states(index: Index, order: int) -> tuple[IntArray, CodeArray]:
    """Context of every position: the codes at lags 1..order plus one, 0 where the sequence had not begun.

    An event of no known label is a context that no training data has: n_labels + 1.
    """
    n, unknown = len(index.codes), index.n_labels + 1
    ids, keys = np.zeros(n, np.int64), np.zeros((min(n, 1), 0), np.int32)
    lag = np.arange(n) - index.offsets[index.sequence]
    for back in range(1, order + 1):
        context = np.zeros(n, np.int64)
        inside = np.flatnonzero(lag >= back)
        context[inside] = index.codes[inside - back] + np.int64(1)
        context[inside] = np.where(context[inside] == 0, unknown, context[inside])
        values, level = np.unique(context, return_inverse=True)
        ids, parents = refine(ids, keys, level, len(values))
        keys = np.column_stack([parents[:, :-1], values[parents[:, -1]].astype(np.int32)])
    return ids, keys


def tabulate(
    counted: list[tuple[IntArray, IntArray | None]], ids: IntArray, n_states: int, n_outcomes: int
) -> IntArray:
    """N(x; s) as counts[S, X] from the state of every row, and what it adds to which outcome."""
    counts = np.zeros((n_states, n_outcomes), np.int64)
    for x, each in counted:
        add(counts, ids * n_outcomes + x, x >= 0, each)
    return counts


def outcomes_counted(
    index: Index, weights: IntArray | None, outcome_of: CodeArray
) -> list[tuple[IntArray, IntArray | None]]:
    """What each row adds: to which outcome (-1: to none), and how much (None: one); perhaps several such.

    A row adds to the outcome of its label. Where several rows share a position, one that has a label of the
    target's adds to that, and the residual outcome gets one for each position less one for each such row: the
    sum over all outcomes is the number of positions.
    """
    outcomes = outcome_of[index.codes].astype(np.int64)
    each = None if weights is None else weights[index.sequence]
    if index.starts is None and index.attributes is None:
        return [(outcomes, each)]
    residual = int(outcome_of[-1])
    explicit = (outcomes != residual) & ~index.attribute & (outcomes >= 0)
    found: list[tuple[IntArray, IntArray | None]] = [(np.where(explicit, outcomes, -1), each)]
    if residual >= 0:
        rest = index.heads.astype(np.int64) - explicit
        found.append((np.where(rest == 0, -1, residual), rest if each is None else rest * each))
    return found


def merge_keys(many: list[CodeArray]) -> tuple[CodeArray, list[IntArray]]:
    """All keys of several shards in lexicographic order, and where each shard's keys went."""
    joined = np.concatenate(many)
    ids, first = group(joined)
    return joined[first], np.split(ids, np.cumsum([len(keys) for keys in many])[:-1])


def group(rows: CodeArray) -> tuple[IntArray, IntArray]:
    """Number equal rows of levels alike, in lexicographic order; and where each number first stands.

    Some columns at a time become one number, which is much faster to sort.

    >>> group(np.array([[1, 0], [0, 2], [1, 0]], np.int32))
    (array([1, 0, 1]), array([1, 0]))
    """
    n, width = rows.shape
    ids, size, at_once = np.zeros(n, np.int64), min(n, 1), 1
    base = int(rows.max(initial=0)) + 1
    while at_once < width and base ** (at_once + 1) * n < 2**62:
        at_once += 1
    for start in range(0, width, at_once):
        if size == n:  # all differ already
            break
        some = rows[:, start : start + at_once]
        span = base ** some.shape[1]
        joint = some @ base ** np.arange(some.shape[1] - 1, -1, -1, dtype=np.int64)
        seen, ids = distinct(joint + ids * span if start else joint, span * size)
        size = len(seen)
    first = np.empty(size, np.int64)
    first[ids[::-1]] = np.arange(n - 1, -1, -1)
    return ids, first


# ------------------------------------------------------------------------------ the steps


def _states(
    index: Index, influencers: CodeArray, stretches: Stretches
) -> tuple[IntArray, CodeArray, IntArray]:
    """Ids and keys as in ``window_states``, and where each influencer stands at each position."""
    n, window = len(index.codes), stretches.window
    stands = np.full((len(influencers), n), ABSENT)
    levels = np.zeros((len(influencers), n), np.int64)
    nobody = np.empty((0, n), np.int64)
    for u, code in enumerate(influencers):
        for event, position in stretches.pairs(np.flatnonzero(index.codes == code)):
            stands[u, position] = event
            levels[u, position] = stretches.levels(event, position, nobody)
    if window.is_ordinal:
        for u in range(len(influencers)):
            before = (stands != ABSENT) & (stands < stands[u])
            levels[u] = np.where(stands[u] == ABSENT, 0, 1 + before.sum(axis=0))
    ids, keys = np.zeros(n, np.int64), np.zeros((min(n, 1), 0), np.int32)
    for level in levels:
        ids, keys = refine(ids, keys, level, window.n_levels(len(influencers) - 1))
    kept, number = np.unique(ids[index.begins]), np.full(len(keys), -1)  # rows of attributes are no positions
    number[kept] = np.arange(len(kept))
    return number[ids], keys[kept], stands


def refine(ids: IntArray, keys: CodeArray, level: IntArray, n: int) -> tuple[IntArray, CodeArray]:
    """Tell states apart further by ``level`` (0..n-1); ids stay dense and in the order of their keys."""
    seen, ids = distinct(ids * n + level, max(len(keys), 1) * n)
    return ids, np.column_stack([keys[seen // n], (seen % n).astype(np.int32)])


def distinct(values: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """The values (0..size-1) that occur, in order, and the number of each in that order."""
    if size > 4 * len(values) + 64:
        seen, number = np.unique(values, return_inverse=True)
        return seen, number
    seen = np.flatnonzero(np.bincount(values, minlength=size))  # faster than sorting
    new = np.zeros(size, np.int64)
    new[seen] = np.arange(len(seen))
    return seen, new[values]


def add(counts: IntArray, cells: IntArray, valid: BoolArray, weights: IntArray | None) -> None:
    """Add one (or its weight) to the flat ``cells`` of ``counts``."""
    flat = counts.reshape(-1)
    if not valid.all():
        cells = cells[valid]
        weights = None if weights is None else weights[valid]
    if weights is None:
        flat += np.bincount(cells, minlength=flat.size)
    else:
        np.add.at(flat, cells, weights)  # not bincount, whose weights are floats


# ------------------------------------------------------------------------------ random numbers


def sequence_seeds(seed: int, replicate: int, numbers: npt.ArrayLike) -> HashArray:
    """A seed for each sequence, from its number, that of the replicate, and the seed of all.

    >>> sequence_seeds(0, 1, [0, 7])
    array([ 3391245575278488096, 10982949063525286192], dtype=uint64)
    """
    mixed = np.zeros(1, np.uint64)
    for number in (np.uint64(seed % 2**64), np.uint64(replicate), np.asarray(numbers).astype(np.uint64)):
        mixed = random_numbers(mixed, number + np.uint64(1))
    return mixed


def block_seeds(seeds: HashArray, numbers: IntArray) -> HashArray:
    """A seed for each block of a sequence, from that of the sequence and the number of the block."""
    return random_numbers(seeds, numbers.astype(np.uint64) + np.uint64(1))


def random_numbers(seeds: HashArray, steps: HashArray | np.uint64) -> HashArray:
    """SplitMix64: the numbers that come some steps after their seeds."""
    with np.errstate(over="ignore"):
        return mixed(seeds + steps * _STEP)


def mixed(x: HashArray) -> HashArray:
    """Mix the bits (the finaliser of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
