"""The kernels in C++ (``native/``): same names, same results to the last bit, much faster.

Importing this module fails where the extension was not built.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from summarkov.kernels import _native, history_tests
from summarkov.kernels.boosted import Grower, Grown, LevelArray
from summarkov.kernels.clusters import ClusterSums, ClusterValues, PresenceAsked, block_starts
from summarkov.kernels.followed import FollowPair, WholeSequences
from summarkov.kernels.history_tests import Recency, clock_of
from summarkov.kernels.index import MOST_CELLS, UNLIMITED, Index, Span, Window
from summarkov.kernels.order import OrderCounts, OrderEdges, OrderEvents
from summarkov.typing import BoolArray, CodeArray, IntArray

# These take and give what their twins do.
add_rows = _native.add_rows  # :func:`summarkov.kernels.numpy_kernels.add_rows`
said_by_trees = _native.said_by_trees  # :func:`summarkov.kernels.boosted.said_by_trees`


def window_states(index: Index, influencers: CodeArray, window: Window) -> tuple[IntArray, CodeArray]:
    """See :func:`summarkov.kernels.numpy_kernels.window_states`."""
    return _native.states(_shard(index), influencers, *_seen(index, window))


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
    """See :func:`summarkov.kernels.numpy_kernels.count_candidates`."""
    return _native.count(
        _shard(index),
        weights,
        influencers,
        -1 if given is None else given,
        candidates,
        outcome_of,
        n_outcomes,
        *_seen(index, window),
        _totals(index, weights, window) if len(candidates) else np.empty(0, np.int64),
        MOST_CELLS,
    )


def count_tests(
    index: Index,
    weights: IntArray | None,
    tree: IntArray,
    slots: IntArray,
    recency: Recency,
    outcome_of: CodeArray,
    n_outcomes: int,
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """See :func:`summarkov.kernels.history_tests.count_tests`."""
    shapes = recency.shapes(int(slots.max(initial=-1)) + 1, n_outcomes)
    return _native.tests(
        _shard(index),
        _clock(index, recency.in_time),
        weights,
        tree,
        slots,
        recency.labels,
        recency.lookbacks,
        recency.depth,
        recency.starts,
        recency.order,
        outcome_of,
        n_outcomes,
        shapes,
    )


def tree_leaves(index: Index, tree: IntArray, in_time: bool = False) -> IntArray:
    """See :func:`summarkov.kernels.history_tests.tree_leaves`."""
    if in_time and index.places is not None and index.places.asked is not None:
        return history_tests.tree_leaves(index, tree, in_time)
    return _native.leaves(
        _shard(index),
        _clock(index, in_time),
        tree,
        max(1, int(tree[:, 3].max())),
    )


def count_followed(
    index: Index, weights: IntArray | None, complete: BoolArray, pairs: IntArray
) -> tuple[IntArray, IntArray]:
    """See :func:`summarkov.kernels.followed.count_followed`."""
    whole, spans, rows = WholeSequences(index, complete), [], []
    for pair in map(FollowPair.of, pairs):
        within = []
        for size, in_time in (pair.delay, pair.lookback):
            if in_time and size // whole.unit not in spans:
                spans.append(size // whole.unit)
            within.append(spans.index(size // whole.unit) if in_time else -1)
        rows.append((pair.z, pair.x, pair.delay.size, pair.lookback.size, pair.over(whole.unit), *within))
    return _native.followed(
        _shard(index),
        weights,
        np.array(rows, np.int64).reshape(-1, 7),
        None if whole.of is None else whole.of.astype(np.int32),
        whole.bounds,
        complete,
        whole.times if spans else None,
        whole.attributes,
        np.array(spans, np.int64),
    )


def cluster_presence(
    index: Index, weights: IntArray | None, asked: PresenceAsked, values: Sequence[ClusterValues]
) -> list[ClusterSums]:
    """See :func:`summarkov.kernels.clusters.cluster_presence`."""
    blocks: dict[Span, list[int]] = {}
    for t, one in enumerate(values):
        if one.block is not None:
            blocks.setdefault(one.block, []).append(t)
    found = _native.clusters(
        _presence(index, weights, asked),
        [one.present.astype(np.int64) @ (1 << np.arange(one.present.shape[1])[::-1]) for one in values],
        [np.ascontiguousarray(one.base) for one in values],
        [np.ascontiguousarray(one.hit) for one in values],
        [block_starts(index, block) for block in blocks],
        list(blocks.values()),
    )
    return [
        ClusterSums(squares.reshape(2, *one.base.shape[1:]), clusters)
        for (squares, clusters), one in zip(found, values, strict=True)
    ]


def _presence(index: Index, weights: IntArray | None, asked: PresenceAsked) -> Any:
    """Events and what is asked about them, as scans for presence take them."""
    lookbacks, reach_of = np.unique(
        np.stack([asked.lookbacks, asked.in_time.astype(np.int64)]), axis=1, return_inverse=True
    )
    nothing = np.empty(0, np.int32)
    placed: tuple[Any, ...] = nothing, nothing, [], np.empty(0, bool)
    if not index.in_rows or asked.delay_in_time or asked.in_time.any():
        assert index.places is not None
        spans = [Span(size, bool(in_time)) for size, in_time in lookbacks.T.tolist()]
        firsts = _firsts(index, Span(asked.delay, asked.delay_in_time))
        placed = firsts, _before(index), [_ends(index, span) for span in spans], index.places.attributes
    return _native.Presence(
        index.codes,
        index.offsets,
        index.n_labels,
        weights,
        asked.influencers,
        np.ascontiguousarray(lookbacks[0]),
        reach_of.reshape(-1).tolist(),
        asked.starts,
        asked.labels,
        asked.labels_starts,
        asked.delay,
        *placed,
    )


def order_counts(events: OrderEvents, edges: OrderEdges, replicates: IntArray) -> list[OrderCounts]:
    """See :func:`summarkov.kernels.order.order_counts`."""
    return _native.order_counts(*events, *edges, replicates)


def tree_grower(levels: LevelArray) -> Grower:
    """See :func:`summarkov.kernels.boosted.tree_grower`."""
    grower = _native.Grower(levels)
    return lambda allowed, rows, values, how: Grown(*grower.grow(allowed, rows, values, *how))


def _shard(index: Index) -> Any:
    """The shard with the positions of every label, made once."""
    return index.keep("native", lambda: _native.Index(index.codes, index.offsets, index.n_labels))


def _seen(index: Index, window: Window) -> tuple[int, IntArray, int, int, Any]:
    """A window, and where rows stand in it, as all that look through it take it."""
    return window.kind, window.lookback, window.delay, window.cap, _reach(index, window)


def _is_placed(index: Index, window: Window) -> bool:
    """Whether rows must be told from positions, or time."""
    in_time = window.delay_in_time or (window.in_time is not None and bool(window.in_time.any()))
    return not index.in_rows or (in_time and index.places is not None)


def _before(index: Index) -> CodeArray:
    """How many positions begin before each row, and in all."""
    return index.keep("before", lambda: index.ticks.before.astype(np.int32))


def _reach(index: Index, window: Window) -> Any:
    """Where rows stand in the windows, made once for each; None where every row is a position of its own."""
    if not _is_placed(index, window):
        return None
    return index.keep(("reach", window.name[1:]), lambda: _made_reach(index, window))


def _made_reach(index: Index, window: Window) -> Any:
    assert index.places is not None
    spans, of = window.spans()
    ends = [_ends(index, span) for span in spans]
    first = _firsts(index, Span(window.delay, window.delay_in_time))
    asked = np.unique(of[~index.places.attributes[:-1]])
    farthest = _farthest(index, tuple(spans[which] for which in asked.tolist()))
    return _native.Reach(first, _before(index), ends, of, index.places.attributes, *farthest)


def _farthest(index: Index, spans: tuple[Span, ...]) -> tuple[CodeArray, float]:
    """The last row at which each is in any window of some look-backs, and how far that is on average."""

    def make() -> tuple[CodeArray, float]:
        n = len(index.codes)
        ends = [_ends(index, span) for span in spans] or [np.full(n, -1, np.int32)]
        most = reduce(np.maximum, ends)
        ahead = int(most.sum(dtype=np.int64)) - n * (n - 1) // 2
        return most, ahead / n if n else 0.0

    return index.keep(("farthest", spans), make)


def _ends(index: Index, span: Span) -> CodeArray:
    """``Index.ends``, faster: clocks never run backwards, so that nothing need be searched for."""
    if not _is_simple(index):
        return index.ends(span)
    return index.keep(("ends", span), lambda: _last_within(index, span))


def _firsts(index: Index, delay: Span) -> CodeArray:
    """``Index.firsts``, faster."""
    if not _is_simple(index):
        return index.firsts(delay)
    if delay == Span(0) and index.in_rows:
        return index.keep(("firsts", delay), lambda: np.arange(1, len(index.codes) + 1, dtype=np.int32))
    return index.keep(("firsts", delay), lambda: _last_within(index, delay) + np.int32(1))


def _is_simple(index: Index) -> bool:
    """Whether all rows are events that look back from their own times."""
    assert index.places is not None
    return index.places.asked is None and not index.ticks.attribute.any()


def _last_within(index: Index, span: Span) -> CodeArray:
    assert index.places is not None
    if not span.in_time:
        return _native.last_within(index.ticks.of, index.offsets, span.size)
    assert index.places.times is not None
    size = span.size if span.size == UNLIMITED else span.size // index.places.unit
    return _native.last_within(index.places.times, index.offsets, size)


def _clock(index: Index, in_time: bool) -> Any:
    """What trees measure distances by, made once; None where every row is a position of its own."""
    if index.in_rows and not in_time:
        return None
    assert index.places is not None
    attributes = index.places.attributes
    return index.keep(
        ("clock", in_time),
        lambda: _native.Clock(
            clock_of(index, in_time), clock_of(index, in_time=False), _before(index), attributes
        ),
    )


def _totals(index: Index, weights: IntArray | None, window: Window) -> IntArray:
    """At how many positions each label is present, by level: the same for all influencers."""
    name = ("totals", window.name)
    found = index.kept.get(name)
    if found is None or found[0] is not weights:
        shard = _shard(index)
        found = index.kept[name] = weights, _native.totals(shard, weights, *_seen(index, window))
    totals: IntArray = found[1]
    return totals
