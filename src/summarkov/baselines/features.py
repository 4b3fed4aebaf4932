"""The history of every position as a row of numbers, for learners that need a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.events import EventSequences
from summarkov.typing import FloatArray, IntArray

FEATURES = ("presence", "counts", "onehot")


def positions(events: EventSequences) -> IntArray:
    """How many events of its sequence stand before each position.

    >>> positions(EventSequences.from_lists([["A", "B"], [], ["B"]])).tolist()
    [0, 1, 0]
    """
    return np.arange(events.n_events) - np.repeat(events.offsets[:-1], events.lengths)


def window_features(events: EventSequences, lookback: int, features: str) -> Any:
    """The last ``lookback`` events of every position as a sparse matrix with N rows.

    "presence": one column per label, 1 if it is among them; "counts": how often it is; "onehot": one column
    per lag and label, lag 1 first, 1 if the label stands there. What is before the start of the sequence,
    and events of no known label, are zeros.

    >>> events = EventSequences.from_lists([["A", "A", "B"]])
    >>> window_features(events, 2, "counts").toarray().astype(int).tolist()
    [[0, 0], [1, 0], [2, 0]]
    >>> window_features(events, 2, "onehot").toarray().astype(int).tolist()
    [[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]
    """
    from scipy import sparse

    n, m = events.n_events, len(events.labels)
    before = positions(events)
    rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for lag in range(1, min(lookback, int(before.max(initial=0))) + 1):
        row = np.flatnonzero(before >= lag)
        code = events.codes[row - lag].astype(np.int64)
        known = code >= 0
        rows.append(row[known])
        columns.append(code[known] + (lag - 1) * m * (features == "onehot"))
    width = m * lookback if features == "onehot" else m
    small = np.int32 if max(n, width) < 2**31 else np.int64  # scikit-learn's solvers want small indices
    row, column = np.concatenate(rows).astype(small), np.concatenate(columns).astype(small)
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, width))  # sums repeated cells
    if features == "presence":
        matrix.data[:] = 1.0
    return matrix


def recency_features(events: EventSequences, longest_lag: int = 200, last_position: int = 50) -> FloatArray:
    """How long ago each label occurred last, and the position: N rows, one column per label and one more.

    A lag counts events back (1: the event just before) and is at most ``longest_lag``, which also stands for
    a label that has not occurred yet. The position counts from 0 and is at most ``last_position``.

    >>> events = EventSequences.from_lists([["A", "A", "B"]])
    >>> recency_features(events).astype(int).tolist()
    [[200, 200, 0], [1, 200, 1], [1, 200, 2]]
    """
    n, m = events.n_events, len(events.labels)
    here, before = np.arange(n), positions(events)
    matrix = np.full((n, m + 1), float(longest_lag))
    for code in range(m):
        last = np.maximum.accumulate(np.where(events.codes == code, here, -1))
        last = np.concatenate([[-1], last[:-1]])[:n]  # the event itself is not its own history
        lag = here - last
        matrix[:, code] = np.where((last >= 0) & (lag <= before), np.minimum(lag, longest_lag), longest_lag)
    matrix[:, m] = np.minimum(before, last_position)
    return matrix
