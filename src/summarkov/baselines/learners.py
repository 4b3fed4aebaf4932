"""What the learners of matrices share: outcomes, probabilities that are never 0 or 1, a cache, checks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.settings import is_number
from summarkov.typing import BoolArray, FloatArray

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
    """Whether the event at each position is the target."""
    return np.asarray(events.codes == events.code(target), dtype=np.bool_)


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
