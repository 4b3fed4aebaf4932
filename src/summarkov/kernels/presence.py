"""Counts by presence of influencers and by strata of positions, for many targets in one scan."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from summarkov.kernels.index import ABSENT, Index
from summarkov.typing import CodeArray, IntArray

#: More influencers of one target than this are refused with a MemoryError.
MOST_INFLUENCERS = 50


class PresenceAsked(NamedTuple):
    """Targets with their influencers; those of target t are ``starts[t]`` to before ``starts[t + 1]``.

    ``outcome_of[t, code]`` is the outcome of a label, the last entry that of events of no known label; the
    last outcome is the residual one, and theirs.
    ``ends`` has the last position, from 1 on, of each stratum of positions but the last.
    """

    influencers: CodeArray
    lookbacks: IntArray
    starts: IntArray
    outcome_of: CodeArray
    n_outcomes: IntArray
    ends: IntArray
    delay: int


def count_presence(
    index: Index, begun: int, weights: IntArray | None, asked: PresenceAsked
) -> list[tuple[CodeArray, IntArray]]:
    """For each target keys[S, U + 1], presence of each influencer and the stratum, and counts[S, X].

    The first sequence has ``begun`` events before the shard. Rows are in the order of stratum and presence.
    """
    lengths = np.diff(index.offsets)
    start = np.repeat(index.offsets[:-1], lengths)
    place = np.arange(len(index.codes)) - start + 1
    if len(lengths):
        place[: lengths[0]] += begun
        start[: lengths[0]] = ABSENT  # so far the past reaches
    stratum = np.searchsorted(asked.ends, place, side="left")
    by_position = np.ones(len(place), np.int64) if weights is None else np.repeat(weights, lengths)
    present: dict[tuple[int, int], IntArray] = {}
    found = []
    for t, n_outcomes in enumerate(asked.n_outcomes.tolist()):
        mine = slice(asked.starts[t], asked.starts[t + 1])
        row = stratum
        for pair in zip(asked.influencers[mine].tolist(), asked.lookbacks[mine].tolist(), strict=True):
            if pair not in present:
                present[pair] = _is_present(index, start, *pair, asked.delay)
            row = row * 2 + present[pair]
        width = asked.starts[t + 1] - asked.starts[t]
        rows, at = np.unique(row, return_inverse=True)
        counts = np.zeros((len(rows), n_outcomes), np.int64)
        np.add.at(counts, (at, asked.outcome_of[t][index.codes]), by_position)
        some = counts.any(axis=1)
        levels = rows[some, None] >> np.arange(width - 1, -1, -1) & 1
        keys = np.column_stack([levels, rows[some] >> width]).astype(np.int32)
        found.append((keys, counts[some]))
    return found


def _is_present(index: Index, start: IntArray, z: int, lookback: int, delay: int) -> IntArray:
    """For each position, 1 if a label is in its window, else 0; ``start`` is the first that may be."""
    of_z = np.flatnonzero(index.codes == z)
    events = np.concatenate([index.past_positions[index.past_codes == z], of_z])
    if not len(events):
        return np.zeros(len(start), np.int64)
    at = np.searchsorted(events, np.arange(len(start)) - delay, side="left") - 1
    last = np.where(at >= 0, events[np.maximum(at, 0)], ABSENT)
    inside = (at >= 0) & (last >= start) & (np.arange(len(start)) - last <= lookback)
    return inside.astype(np.int64)
