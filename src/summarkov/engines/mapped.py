"""Parts that are counted wherever a ``map`` takes them: threads, processes, Dask, Ray."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from summarkov.engines.disk import MEMORY
from summarkov.engines.memory import make_source
from summarkov.engines.source import EventSource
from summarkov.engines.stored_parts import refuse_more, refuse_other_times
from summarkov.engines.views import Translate
from summarkov.engines.weights import refuse_overflow
from summarkov.engines.work import Answer, Work
from summarkov.errors import SettingError
from summarkov.events.draws import distinct_keys
from summarkov.events.moments import TimeUnit
from summarkov.events.rows import Block, with_keys
from summarkov.events.vocabulary import translation
from summarkov.typing import BoolArray, HashArray, IntArray

#: Parts that a process keeps from pass to pass.
_KEPT = 4

#: Opens a part where it is counted, such as ``functools.partial(summarkov.read_events, "part-1.parquet")``.
Opener = Callable[[], Any]


class MappedSource(EventSource):
    """Events in parts, each opened and counted where ``map`` calls a function: an :class:`EventSource`.

    This is all that another engine needs: work is done on every part by itself, and answers add up. A model
    that is fitted to it is that of all parts in memory, to the last bit.

    Parameters
    ----------
    openers : functions
        One for each part. Without arguments, it returns its events: whatever :func:`read_events` takes, with
        all events of each of its sequences. What calls it in other processes must be able to pickle it.
    map : function
        Called as Python's ``map`` is, with a function and iterables: ``executor.map`` of a pool of threads or
        processes, ``client.get_executor().map`` of Dask, or ``map`` itself.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from functools import partial
    >>> import summarkov as sm
    >>> days = [[["A", "B", "C"] * 4] * 5, [["C", "A", "B"] * 4] * 5]
    >>> with ThreadPoolExecutor() as pool:
    ...     source = sm.MappedSource([partial(sm.read_events, day) for day in days], map=pool.map)
    ...     sm.BSuMM("B", lookback=1).fit(source).influencers_
    ('A',)
    """

    memory = MEMORY

    def __init__(self, openers: Iterable[Opener], *, map: Callable[..., Iterable[Any]]) -> None:
        self._openers, self._map = list(openers), map
        if not self._openers or not all(callable(opener) for opener in self._openers):
            raise SettingError(
                "give at least one function that opens a part, such as partial(read_events, path), not "
                f"{openers!r}"
            )
        found: list[_Known] = list(map(_look, self._openers))
        refuse_other_times(part.time_unit for part in found)
        self.labels = tuple(sorted({label for part in found for label in part.labels}))
        self._views = [Translate(self.labels, translation(part.labels, self.labels)) for part in found]
        self.scale = max(part.scale for part in found)
        units = [self.scale // part.scale for part in found]  # 1 or the fixed point, so one divides the other
        counts = [
            view.label_counts(part.label_counts * unit)
            for view, part, unit in zip(self._views, found, units, strict=True)
        ]
        self.label_counts = np.asarray(np.sum(counts, axis=0))
        self._weights: list[IntArray | None] = [None] * len(found)
        if any(part.weights is not None for part in found):
            own = [
                np.ones(len(part.keys), np.int64) if part.weights is None else part.weights for part in found
            ]
            weights = [each * unit for each, unit in zip(own, units, strict=True)]
            self._weights, self.weights = [*weights], np.concatenate(weights)
        totals = [float(part.label_counts.sum()) * unit for part, unit in zip(found, units, strict=True)]
        refuse_overflow(sum(totals), self.scale)
        self._n_events = sum(part.n_events for part in found)
        self._n_filled = sum(part.n_filled for part in found)
        self.tied_order = sum(part.tied_order for part in found)
        self.has_ticks, self.time_unit = any(part.has_ticks for part in found), found[0].time_unit
        every = [part.keys for part in found]
        ends = np.cumsum([len(keys) for keys in every])[:-1]
        self._keys: list[HashArray] = np.split(distinct_keys(np.concatenate(every)), ends)
        self._filled = [part.filled for part in found]
        self.n_sequences = sum(len(keys) for keys in every)

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part, wherever it is taken, and add up the answers."""
        numbers = range(len(self._openers))
        each = self._map(_run, self._openers, repeat(work), numbers, self._views, self._keys, self._weights)
        return work.total(list(each))

    def sequence_keys(self) -> Sequence[HashArray]:
        """For each part, numbers for the names of its sequences."""
        return self._keys

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count."""
        return np.concatenate([keys[held] for keys, held in zip(self._keys, self._filled, strict=True)])

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return self._n_filled

    @property
    def n_events(self) -> int:
        """N, without weights."""
        return self._n_events


def _run(
    opener: Opener,
    work: Work[Answer],
    number: int,
    view: Translate,
    keys: HashArray,
    weights: IntArray | None,
) -> Answer:
    """Some work on one part, under the vocabulary of all."""
    part = _opened(opener).part()

    def read(most: int) -> Iterator[Block]:
        return with_keys(part.read(most), keys, weights)

    # What is kept from pass to pass has these keys and weights; in other sources the part may have others.
    told = blake2b(keys.tobytes() + (b"" if weights is None else weights.tobytes())).digest()
    kept = None if part.kept is None else part.kept.setdefault(told, {})
    numbered = replace(part, read=read, number=number, kept=kept)
    return work.run(numbered if view.labels == part.labels else view(numbered))


class _Known(NamedTuple):
    """What is known of a part before anything is counted."""

    labels: tuple[str, ...]
    label_counts: IntArray
    weights: IntArray | None
    scale: int
    n_events: int
    n_filled: int
    tied_order: int
    has_ticks: bool
    time_unit: TimeUnit | None
    keys: HashArray
    filled: BoolArray


def _look(opener: Opener) -> _Known:
    source = _opened(opener)
    (keys,) = source.sequence_keys()
    filled = np.isin(keys, source.filled_keys())
    return _Known(
        source.labels,
        source.label_counts,
        source.weights,
        source.scale,
        source.n_events,
        source.n_filled,
        source.tied_order,
        source.has_ticks,
        source.time_unit,
        keys,
        filled,
    )


#: Parts that were opened last, by their openers.
_open: OrderedDict[Hashable, EventSource] = OrderedDict()


def _opened(opener: Opener) -> EventSource:
    """Open a part, or take it from the last pass: that of an equal opener, wherever this one came from.

    One that cannot be told from others, such as that of a list, is called again.
    """
    name: Hashable = opener
    if isinstance(opener, partial):  # a copy from another process is another object
        name = opener.func, opener.args, tuple(sorted(opener.keywords.items()))
    try:
        found = _open.pop(name, None)
    except TypeError:  # not hashable
        return _checked(opener)
    source = _open[name] = _checked(opener) if found is None else found  # the last one is the youngest
    while len(_open) > _KEPT:
        _open.popitem(last=False)
    return source


def _checked(opener: Opener) -> EventSource:
    source = make_source(opener())
    refuse_more(source)
    return source
