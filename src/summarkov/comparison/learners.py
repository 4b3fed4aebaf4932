"""What learners of matrices share: histories as rows of numbers, outcomes, probabilities, a cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import translation
from summarkov.settings import is_number
from summarkov.typing import BoolArray, FloatArray, IntArray

FEATURES = ("presence", "counts", "onehot")


@dataclass(frozen=True)
class MatrixRows:
    """Where the rows of a matrix stand: one row per position, an event or what happened together.

    ``tick`` has the row of every event, ``before`` how many positions of its sequence stand before each row,
    ``has`` which of the attributes ``names`` each row's sequence has.
    """

    tick: IntArray
    before: IntArray
    has: BoolArray

    @classmethod
    def of(cls, events: EventSequences, names: Sequence[str]) -> MatrixRows:
        """Those of some events; ``names`` are the attributes of the training data.

        >>> events = EventSequences.from_lists([["A", ["A", "B"]], [], ["B"]])
        >>> rows = MatrixRows.of(events, ())
        >>> rows.tick.tolist(), rows.before.tolist()
        ([0, 1, 1, 2], [0, 1, 0])
        """
        starts = np.ones(events.n_rows, bool) if events.moments is None else events.moments.starts
        has = np.zeros((int(starts.sum()), len(names)), bool)
        if names and events.attributes is not None:
            sequence = np.repeat(np.arange(len(events)), events.lengths)[starts]
            at = translation(names, events.attributes.names)[:-1]
            has[:, at >= 0] = events.attributes.present[sequence][:, at[at >= 0]]
        return cls(np.cumsum(starts) - 1, events.positions[starts] - 1, has)


def window_features(
    events: EventSequences, lookback: int, features: str, attributes: Sequence[str] = ()
) -> Any:
    """The last ``lookback`` positions before each as a sparse matrix with N rows.

    "presence": one column per label, 1 if it is among them; "counts": at how many of them; "onehot": one
    column per lag and label, lag 1 first, 1 if the label stands there. What is before the start of the
    sequence, and events of no known label, are zeros. One column per attribute follows.

    >>> events = EventSequences.from_lists([["A", "A", "B"]])
    >>> window_features(events, 2, "counts").toarray().astype(int).tolist()
    [[0, 0], [1, 0], [2, 0]]
    >>> window_features(events, 2, "onehot").toarray().astype(int).tolist()
    [[0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]]
    """
    from scipy import sparse

    at = MatrixRows.of(events, attributes)
    n, m = len(at.before), len(events.labels)
    width = m * lookback if features == "onehot" else m
    row, column = np.nonzero(at.has)
    rows, columns = [row], [column + width]
    known = np.flatnonzero(events.codes >= 0)
    for lag in range(1, min(lookback, int(at.before.max(initial=0))) + 1):
        row = at.tick[known] + lag
        here = at.before[np.minimum(row, n - 1)] >= lag  # in the same sequence
        here &= row < n
        rows.append(row[here])
        columns.append(events.codes[known[here]].astype(np.int64) + (lag - 1) * m * (features == "onehot"))
    width += at.has.shape[1]
    small = np.int32 if max(n, width) < 2**31 else np.int64  # scikit-learn's solvers want small indices
    row, column = np.concatenate(rows).astype(small), np.concatenate(columns).astype(small)
    matrix = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n, width))  # sums repeated cells
    if features == "presence":
        matrix.data[:] = 1.0
    return matrix


def recency_features(
    events: EventSequences,
    attributes: Sequence[str] = (),
    longest_lag: int = 200,
    last_position: int = 50,
) -> FloatArray:
    """How long ago each label occurred last, and the position: N rows, one column per label and one more.

    A lag counts positions back (1: the one just before) and is at most ``longest_lag``, which also stands for
    a label that has not occurred yet. The position counts from 0 and is at most ``last_position``. One column
    per attribute follows.

    >>> events = EventSequences.from_lists([["A", "A", "B"]])
    >>> recency_features(events).astype(int).tolist()
    [[200, 200, 0], [1, 200, 1], [1, 200, 2]]
    """
    at = MatrixRows.of(events, attributes)
    n, m = len(at.before), len(events.labels)
    here = np.arange(n)
    matrix = np.full((n, m + 1), float(longest_lag))
    for code in range(m):
        there = np.full(n, -1)
        there[at.tick[events.codes == code]] = at.tick[events.codes == code]
        last = np.maximum.accumulate(there)
        last = np.concatenate([[-1], last[:-1]])[:n]  # a position is not its own history
        lag = here - last
        seen = (last >= 0) & (lag <= at.before)
        matrix[:, code] = np.where(seen, np.minimum(lag, longest_lag), longest_lag)
    matrix[:, m] = np.minimum(at.before, last_position)
    return np.hstack([matrix, at.has])


T = TypeVar("T")

#: No baseline says less than this or more than one minus this: a certain mistake costs 27.6, not infinity.
TINY = 1e-12


def clip(probability: npt.ArrayLike) -> FloatArray:
    """Keep probabilities away from 0 and 1 by ``TINY``.

    >>> clip([0.0, 0.5]).tolist()
    [1e-12, 0.5]
    """
    return np.clip(np.asarray(probability, dtype=np.float64), TINY, 1 - TINY)


def logistic(log_odds: FloatArray) -> FloatArray:
    """Probabilities of log-odds, precise at both ends, kept away from 0 and 1 by ``TINY``.

    >>> logistic(np.array([0.0, -1000.0])).tolist()
    [0.5, 1e-12]
    """
    return clip(np.exp(-np.logaddexp(0.0, -log_odds)))


def base_rate(outcomes: BoolArray) -> float:
    r"""Smoothed share of a target's occurrences among all positions.

    .. math:: \frac{N(x) + 1/2}{N + 1}

    It is what a baseline predicts for a target that never, or always, occurs in training.

    >>> base_rate(np.array([False, False, False]))
    0.125
    """
    return float((outcomes.sum() + 0.5) / (len(outcomes) + 1))


def is_target(events: EventSequences, target: str) -> BoolArray:
    """Whether the target is at each position."""
    rows = MatrixRows.of(events, ())
    return np.isin(np.arange(len(rows.before)), rows.tick[events.codes == events.code(target)])


def attributes_of(events: EventSequences) -> tuple[str, ...]:
    """The attributes that sequences of some training data may have."""
    return () if events.attributes is None else events.attributes.names


def positives(name: str, values: object) -> None:
    """Refuse a grid that is empty or holds anything but finite numbers above 0."""
    if not isinstance(values, tuple | list | np.ndarray) or not len(values):
        raise SettingError(f"{name} must be a list of at least one number, not {values!r}")
    for value in values:
        if not is_number(value) or not 0 < value < float("inf"):
            raise SettingError(f"{name} must be finite numbers above 0, not {value!r}")


def load_thread_limits() -> Any:
    """``threadpool_limits``, which comes with scikit-learn; models of scikit-learn are fitted under it."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits


class EventCache(Generic[T]):
    """Values by (events object, key), the least recently used forgotten first.

    Events are compared by identity, which is safe because they cannot be changed and are kept alive here
    as long as their value is.

    >>> events = EventSequences.from_lists([["A", "B"]])
    >>> sizes: EventCache[int] = EventCache(most=2)
    >>> sizes.get(events, "n", lambda: 2), sizes.get(events, "n", lambda: 99)
    (2, 2)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[int, Hashable], tuple[EventSequences, T]] = OrderedDict()

    def get(self, events: EventSequences, key: Hashable, compute: Callable[[], T]) -> T:
        """The value for these events and this key, computed if it is not known."""
        place = (id(events), key)
        if place not in self._kept:
            self._kept[place] = (events, compute())
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(place)
        return self._kept[place][1]
