"""A source under many weights at once: the resamples of a bootstrap, from shared counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import (
    MOST,
    CandidateCounts,
    CandidatesRequest,
    Counts,
    JointCounts,
    RecencyCounts,
    RecencyRequest,
    Request,
    StateCounts,
    Target,
    join,
    refuse_overflow,
)
from summarkov.engines.source import Counting, EventSource, MemorySource, Shard, most_targets, too_large
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.draws import Bootstrap, Drawn, distinct_keys, sequence_keys
from summarkov.events.rows import Rows
from summarkov.kernels.index import MOST_CELLS, Index, Stretches, Window
from summarkov.kernels.numpy_kernels import mixed, refine
from summarkov.settings import is_whole
from summarkov.summaries import Summary, WindowSummary
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

#: Bytes that the tables of one request may take under all weights together.
_TABLE_BYTES = 1 << 29
#: Bytes that a shard may take with what its positions see.
_SHARD_BYTES = 1 << 30
#: Bytes of what positions see that may be held at once, and kept from pass to pass.
_MOST_KEPT = 1 << 28
#: More pairs of a position and a label in its window than this are refused with a MemoryError.
MOST_PAIRS = 1 << 26


class ReplicatedSource(Counting):
    """Answers requests for many replicates of a source at once.

    Counts have the replicates asked for as their first axis. ``units`` says what is drawn, and ``n_units``
    how many there are: those of the ``keys``.
    """

    def __init__(
        self, source: EventSource, draws: Bootstrap, keys: HashArray, units: Units | None = None
    ) -> None:
        drawn = tuple(draws.drawn(number, keys) for number in range(draws.n))
        self._source, self._weighing = source, Weighing(drawn, source.scale, units)
        self.units, self.n_units = "sequences" if units is None else units.kind, len(keys)
        self.labels, self.scale, self.outcomes = source.labels, source.scale, source.outcomes
        self.has_ticks, self.time_unit = source.has_ticks, source.time_unit
        self.attributes = source.attributes

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, ``[replicate, x]``, in units of ``1 / scale``."""
        return self.count_outcomes(range(len(self.labels)))

    @cached_property
    def n_positions(self) -> IntArray:
        """N of each replicate, in units of ``1 / scale``."""
        outcomes = np.searchsorted(self.labels, self.outcomes).tolist()
        return np.asarray(self.count_outcomes(outcomes, only=bool(self.outcomes)).sum(axis=1))

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests, each for its replicates, in one pass over the data."""
        if not requests:
            return []
        n = len(self._weighing.drawn)
        joint, answered_by = join(requests, most_targets(requests, _TABLE_BYTES // n))
        for at, request in enumerate(joint):
            # picking half of the weights costs as much as adding them all
            if 2 * len(request.replicates or ()) > n and not isinstance(request, RecencyRequest):
                joint[at] = replace(request, replicates=None)
        reach = max(request.summary.horizon or len(self.labels) for request in joint)
        reach = min(len(self.labels), reach)
        most = min(MOST_PAIRS // max(1, reach), _SHARD_BYTES // (64 * (1 + reach) + 32 * n))
        counted = self._source.map(partial(count_replicates, self._weighing), joint, max(1, most))
        asked = [np.arange(n) if r.replicates is None else np.array(r.replicates) for r in joint]
        targets = [request.target for request in joint]
        totals = [JointCounts(*each) for each in zip(counted, targets, asked, strict=True)]
        return [
            totals[at].narrow(request.target, request.replicates)
            for request, at in zip(requests, answered_by, strict=True)
        ]


# ---------------------------------------------------------------------- what is drawn


@dataclass(frozen=True)
class Units:
    """What is drawn: the unit that every row belongs to, and a key for each unit."""

    of: IntArray
    keys: HashArray
    kind: str = "blocks"  # or "sequences"


def in_blocks(source: MemorySource, draws: Bootstrap, blocks: Any) -> ReplicatedSource:
    """A source under weights of blocks of its events."""
    rows, units = Rows.of(source.given, ends=True), units_of(source.given, blocks)
    some = ~rows.attributes[rows.codes]
    if source.weights is not None:
        some &= np.repeat(source.weights, np.diff(rows.offsets)) > 0
    held = np.unique(units.of[some])  # only units with something to count are drawn
    return ReplicatedSource(source, draws, np.sort(units.keys[held]), units)


def units_of(events: EventSequences, blocks: Any = None) -> Units:
    """Cut rows, as they are counted, into units to draw from; attributes go with the first event after them.

    ``blocks`` is None, for sequences, or for blocks of N^(1/3) events if there is but one that is not empty;
    a number, for blocks of that many events in a row; or names, one per sequence or one per event. Keys do
    not depend on the order of the sequences, unless two have the same name.

    >>> units_of(EventSequences.from_lists([["A", "B", "A"], ["B"]], ends="cut off"), 2).of
    array([0, 0, 1, 2])
    """
    rows = Rows.of(events, ends=True)
    index, sequence = rows.index(), rows.index().sequence
    lengths = np.diff(index.bounds)
    if blocks is None:
        if (lengths > 0).sum() != 1:
            return Units(sequence, events.sequence_keys(), "sequences")
        blocks = math.ceil((events.n_events + int(events.complete.sum())) ** (1 / 3))
    if is_whole(blocks):
        if blocks < 1:
            raise SettingError(f"blocks must have at least one event each, not {blocks}")
        of_sequence = -(-lengths // blocks)
        before = np.cumsum(of_sequence) - of_sequence
        by_key = np.argsort(events.sequence_keys())
        place = np.empty_like(before)  # of a sequence's first block, if sequences are sorted by their keys
        place[by_key] = np.cumsum(of_sequence[by_key]) - of_sequence[by_key]
        keys = np.arange(of_sequence.sum()) + np.repeat(place - before, of_sequence)
        of = before[sequence] + (index.tick - index.bounds[sequence]) // blocks
        return Units(np.minimum(of, max(0, len(keys) - 1)), keys.astype(np.uint64))
    if isinstance(blocks, str) or not hasattr(blocks, "__len__"):
        raise SettingError(f"blocks must be a number of events, or a list of names, not {blocks!r}")
    if len(blocks) not in (len(events), events.n_rows):
        raise SettingError(
            f"blocks must name one block per sequence ({len(events)}) or one per event ({events.n_rows}), "
            f"not {len(blocks)}"
        )
    names = [str(name) for name in blocks]
    number = {name: number for number, name in enumerate(dict.fromkeys(names))}
    numbers = np.array([*(number[name] for name in names), 0], dtype=np.int64)
    if len(names) == len(events):
        place = sequence
    else:  # the end of a case goes with the event before it
        place = np.cumsum(rows.is_event) - (rows.is_event | ~rows.attributes[rows.codes])
    return Units(numbers[place], distinct_keys(sequence_keys(number)))


@dataclass(frozen=True, eq=False)
class Weighing:
    """Replicates that draw units by their keys: whole sequences (None), or some rows of events in memory."""

    drawn: tuple[Drawn, ...]
    scale: int = 1
    units: Units | None = None

    def on(self, shard: Shard) -> ReplicatedShard:
        """A shard under all weights; kept with it."""
        return shard.index.keep(("replicates", self), lambda: self._weighed(shard))

    def _weighed(self, shard: Shard) -> ReplicatedShard:
        sequence = shard.index.sequence
        if self.units is None:
            of, unit = np.unique(sequence, return_inverse=True)
            keys = shard.keys[of]
        else:  # a unit of several sequences may weigh otherwise in each
            here, n = self.units.of[shard.start : shard.start + len(shard.codes)], len(self.units.keys)
            both = sequence * n + here if shard.weights is not None else here
            some, unit = np.unique(both, return_inverse=True)
            keys, of = self.units.keys[some % n], some // n
        weights = np.empty((len(keys), len(self.drawn)), np.int64)
        for replicate, drawn in enumerate(self.drawn):
            weights[:, replicate] = drawn.weights(keys)
        if shard.weights is not None:
            weights *= shard.weights[of, None]
        if float(weights.max(initial=0)) * len(unit) > MOST:  # else none can overflow
            sizes = np.bincount(unit, minlength=len(weights)).astype(float)
            refuse_overflow(float((sizes @ weights.astype(float)).max()), self.scale)
        return ReplicatedShard(shard, WeighedRows(shard.codes, shard.index.heads, unit, weights))


# ---------------------------------------------------------------------- counting under many weights


def count_replicates(weighing: Weighing, shard: Shard, requests: Sequence[Request]) -> list[Counts]:
    """Counts with replicates as their last axis; those about one window together, so that few are held."""
    weighed, found = weighing.on(shard), dict[int, Counts]()
    windows = [weighed.name(request.summary) for request in requests]
    for at in sorted(range(len(windows)), key=lambda at: (windows[at] not in weighed.kept, windows[at])):
        found[at] = weighed.count(requests[at])
    return [found[at] for at in range(len(windows))]


@dataclass(frozen=True)
class WeighedRows:
    """Rows, each a label that occurred, and their weights: ``weights[unit, b]``, many for each unit.

    Where several labels can share a position, each has a row, and the first of them also stands for it.
    """

    own: CodeArray  # the label of each row
    heads: BoolArray  # whether it stands for its position
    unit: IntArray  # its row of weights
    weights: IntArray

    def sums(
        self,
        cells: IntArray,
        n_cells: int,
        target: Target,
        weights: IntArray,
        row: IntArray | slice = slice(None),
        unit: IntArray | None = None,
    ) -> IntArray:
        """Sums ``[cell, outcome, b]`` over rows, or pairs that are each of a row; no cell is less than 0."""
        outcome, residual = target.outcome_of()[self.own].astype(np.int64), target.n_outcomes - 1
        is_plain = not target.has_residual or bool(self.heads.all())
        if not is_plain:
            outcome[outcome == residual] = -1
        x, unit = outcome[row], self.unit[row] if unit is None else unit
        into = np.where((x < 0) | (cells < 0), -1, cells * target.n_outcomes + x)
        shape = n_cells, target.n_outcomes, weights.shape[1]
        sums: IntArray = kernels.add_rows(into, unit, weights, n_cells * target.n_outcomes).reshape(shape)
        if not is_plain:
            every = kernels.add_rows(np.where(self.heads[row], cells, -1), unit, weights, n_cells)
            sums[:, residual] = every - sums.sum(axis=1)
        return sums


@dataclass(frozen=True, eq=False)
class ReplicatedShard:
    """A shard under many weights; what positions see through windows is kept as long as there is room."""

    shard: Shard
    rows: WeighedRows
    kept: dict[tuple[object, ...], Positions] = field(default_factory=dict)

    def name(self, summary: Summary) -> tuple[Any, ...]:
        """The name under which what positions see through a window is kept."""
        if not isinstance(summary, WindowSummary):
            return ()
        kind, lookback, *rest = summary.window(self.shard.labels).name
        return kind, lookback, str(rest)

    def positions(self, summary: WindowSummary) -> Positions:
        """What every position sees."""
        name = self.name(summary)
        found = self.kept.get(name)
        if found is None:  # another thread may clear what is kept at any time
            if sum(positions.n_bytes for positions in list(self.kept.values())) > _MOST_KEPT:
                self.kept.clear()
            window = summary.window(self.shard.labels)
            found = self.kept[name] = Positions.of(self.shard.index, window, self.rows)
        return found

    def count(self, request: Request) -> Counts:
        """The counts of one request, with replicates as their last axis; of half of them, if need be."""
        try:
            return self._count(request)
        except MemoryError:
            replicates = request.replicates or tuple(range(self.rows.weights.shape[1]))
            if len(replicates) == 1:
                raise too_large(request) from None
        half = len(replicates) // 2
        a, b = (self.count(replace(request, replicates=r)) for r in (replicates[:half], replicates[half:]))
        pairs = zip(a.tables, b.tables, strict=True)
        return a.with_tables(np.concatenate(pair, axis=-1) for pair in pairs)

    def _count(self, request: Request) -> Counts:
        which = slice(None) if request.replicates is None else np.array(request.replicates)
        if isinstance(request, RecencyRequest):
            return self._count_recency(request, which)
        if isinstance(request.summary, WindowSummary):
            return self.positions(request.summary).count(request, which)
        ids, keys = request.summary.encode(self.shard.index, request.influencers, self.shard.labels)
        weights = np.ascontiguousarray(self.rows.weights[:, which])
        return StateCounts(keys, self.rows.sums(ids, len(keys), request.target, weights))

    def _count_recency(self, request: RecencyRequest, which: IntArray | slice) -> RecencyCounts:
        """Requests of trees, replicate by replicate: no two have the same tree for long."""
        sequence, unit = self.shard.index.sequence, self.rows.unit
        units = np.full(self.shard.n_sequences, -1)
        units[sequence] = unit
        if not np.array_equal(units[sequence], unit):
            raise SettingError("trees are learned again from whole sequences; blocks must not cut them")
        tables = []
        for weights in self.rows.weights[:, which].T:
            tables.append(self.shard.weighed(np.append(weights, 0)[units]).count(request).tables)
        return RecencyCounts(*(np.stack(same, axis=-1) for same in zip(*tables, strict=True)))


@dataclass(frozen=True)
class Positions(WeighedRows):
    """Positions as rows, and the labels in the window then.

    Positions that see the same and hold the same label count alike under any weights, so they are merged to
    one row that is its own unit, unless there are few such.
    """

    window: Window
    row: IntArray  # pairs of a row and a label in its window, label by label
    level: CodeArray
    starts: IntArray  # where the pairs of each label begin

    @classmethod
    def of(cls, index: Index, window: Window, rows: WeighedRows) -> Positions:
        """Make rows from positions."""
        position, code, level = window_pairs(index, window)
        number, chosen = merge_alike(index, position, code, level)
        if 2 * len(chosen) <= len(rows.own):
            weights = kernels.add_rows(number, rows.unit, rows.weights, len(chosen))
            one = np.zeros(len(rows.own), bool)
            one[chosen] = True
            here = one[position]
            position, code, level = number[position[here]], code[here], level[here]
            rows = WeighedRows(rows.own[chosen], rows.heads[chosen], np.arange(len(chosen)), weights)
        order = np.argsort(code, kind="stable")
        starts = np.searchsorted(code[order], np.arange(index.n_labels + 1))
        return cls(**vars(rows), window=window, row=position[order], level=level[order], starts=starts)

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays; weights that are those of the units are not its own."""
        weights = self.weights.nbytes if len(self.weights) == len(self.own) else 0
        return weights + sum(a.nbytes for a in (self.own, self.unit, self.row, self.level, self.starts))

    def count(self, request: Request, which: IntArray | slice) -> Counts:
        """As ``count_candidates``, under some of the weights."""
        assert not isinstance(request, RecencyRequest)
        levels = self._levels(request.influencers)
        n_levels = self.window.n_levels(len(levels) - 1)
        ids, keys = np.zeros(len(self.own), np.int64), np.zeros((min(len(self.own), 1), 0), np.int32)
        for level in levels:
            ids, keys = refine(ids, keys, self._place(levels, level), n_levels)
        weights, target = np.ascontiguousarray(self.weights[:, which]), request.target
        counts = self.sums(ids, len(keys), target, weights)
        if not isinstance(request, CandidatesRequest):
            return StateCounts(keys, counts)
        n, deep = len(request.candidates), self.window.n_levels(len(levels)) - 1
        if n * deep * counts.size > MOST_CELLS:
            raise MemoryError
        block = np.full(len(self.starts) - 1, -1)
        block[list(request.candidates)] = np.arange(n)
        block = np.repeat(block, np.diff(self.starts))  # of each pair
        cells = ids[self.row] * deep
        if deep > 1:
            cells += self._place([level[self.row] for level in levels], self.level) - 1
        size = len(keys) * deep
        cells = np.where(block < 0, -1, cells + block * size)  # less than 0 for what is no candidate
        present = self.sums(cells, n * size, target, weights, self.row, self.pair_unit)
        return CandidateCounts(keys, counts, present.reshape(n, len(keys), deep, *counts.shape[1:]))

    @cached_property
    def pair_unit(self) -> IntArray:
        """The row of weights of each pair."""
        return self.unit[self.row]

    def _levels(self, influencers: Sequence[int]) -> list[IntArray]:
        """The level of each influencer in each row, 0 where it is not in the window."""
        levels = [np.zeros(len(self.own), np.int64) for _ in influencers]
        for level, z in zip(levels, influencers, strict=True):
            pairs = slice(self.starts[z], self.starts[z + 1])
            level[self.row[pairs]] = self.level[pairs]
        return levels

    def _place(self, influencers: list[IntArray], level: IntArray | CodeArray) -> IntArray:
        """The level of a label beside the influencers: ordinal ones are places among these alone."""
        if not self.window.is_ordinal:
            return level.astype(np.int64)
        place = np.where(level > 0, 1, 0)
        for other in influencers:
            place += (other > 0) & (other < level)
        return place


def window_pairs(index: Index, window: Window) -> tuple[IntArray, CodeArray, CodeArray]:
    """Every label in the window of every position: positions, codes and levels, in order of position.

    Ordinal levels are places (1 = oldest) among all labels in the window.
    """
    stretches = Stretches.of(index, window)
    nobody = np.empty((0, len(index.codes)), np.int64)
    parts, n = [], 0
    for event, position in stretches.pairs(np.flatnonzero(index.codes >= 0)):
        n += len(event)
        if n > MOST_PAIRS:
            raise MemoryError
        parts.append((position, event, stretches.levels(event, position, nobody)))
    position, event, level = (np.concatenate([part[i] for part in parts]) for i in range(3))
    code = index.codes[event]
    order = np.lexsort((event if window.is_ordinal else code, position))
    position, code, level = position[order], code[order], level[order]
    if window.is_ordinal:
        level = 1 + np.arange(n) - np.searchsorted(position, position)
    return position, code, level.astype(np.int32)


def merge_alike(
    index: Index, position: IntArray, code: CodeArray, level: CodeArray
) -> tuple[IntArray, IntArray]:
    """Number the positions that hold the same label and see the same labels at the same levels alike.

    Takes what ``window_pairs`` returns. Returns the number of every position, and for each number one of its
    positions. Equal sums of hashes are only a hint, and each is checked, so the merging is exact.
    """
    n = len(index.codes)
    starts = np.searchsorted(position, np.arange(n + 1))
    pairs = (code.astype(np.uint64) << np.uint64(32)) | level.astype(np.uint64)
    sums = np.append(np.uint64(0), np.cumsum(mixed(pairs), dtype=np.uint64))
    own = 2 * index.codes.astype(np.int64) + index.heads  # whether the row stands for its position
    hashed = sums[starts[1:]] - sums[starts[:-1]] + mixed((own - (1 << 62)).astype(np.uint64))
    order = np.argsort(hashed, kind="stable")
    a, b = order[:-1], order[1:]
    length = np.diff(starts)
    same = (hashed[a] == hashed[b]) & (own[a] == own[b]) & (length[a] == length[b])
    hinted = np.flatnonzero(same)
    sizes = length[a[hinted]]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    one = np.repeat(starts[a[hinted]], sizes) + within
    two = np.repeat(starts[b[hinted]], sizes) + within
    differs = (code[one] != code[two]) | (level[one] != level[two])
    same[np.repeat(hinted, sizes)[differs]] = False
    first = np.append(True, ~same)[:n]
    number = np.empty(n, np.int64)
    number[order] = np.cumsum(first) - 1
    return number, order[first]
