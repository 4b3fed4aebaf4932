"""Sources in several parts, each with its own labels; and parts counted wherever a ``map`` takes them."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from summarkov.engines.disk import MEMORY
from summarkov.engines.memory import make_source
from summarkov.engines.source import EventSource
from summarkov.engines.views import Translate
from summarkov.engines.weights import refuse_overflow
from summarkov.engines.work import Answer, Part, Work
from summarkov.errors import SettingError
from summarkov.events.draws import distinct_keys
from summarkov.events.moments import TimeUnit
from summarkov.events.prepare import RARE
from summarkov.events.rows import Block, with_keys
from summarkov.events.vocabulary import translation
from summarkov.typing import BoolArray, HashArray, IntArray

#: Parts that a process keeps from pass to pass.
_KEPT = 4

#: Opens a part where it is counted, such as ``functools.partial(summarkov.read_events, "part-1.parquet")``.
Opener = Callable[[], Any]


class KnownPart(NamedTuple):
    """What is known of a part before anything is counted."""

    labels: tuple[str, ...]
    label_counts: IntArray  # weighted, in units of 1 / scale
    weights: IntArray | None
    scale: int
    n_sequences: int
    n_events: int
    n_filled: int
    tied_order: int
    has_ticks: bool
    n_ticks: int | None  # the number of positions, where that is known
    time_unit: TimeUnit | None

    @classmethod
    def of(cls, source: EventSource) -> KnownPart:
        """That of a source in one part."""
        return cls(*(getattr(source, name) for name in cls._fields))


class SeveralParts(EventSource):
    """An :class:`EventSource` of parts that are read each by itself; equal labels are one."""

    def _hold(self, parts: Sequence[KnownPart], labels: Iterable[str]) -> None:
        """Work out what parts are together; other labels than these become one."""
        refuse_unlike(parts)
        self._parts, self.labels = parts, tuple(sorted(labels))
        known = set(self.labels)
        become = [[label if label in known else RARE for label in part.labels] for part in parts]
        self._views = [Translate(self.labels, translation(each, self.labels)) for each in become]
        self.scale = max((part.scale for part in parts), default=1)
        units = [self.scale // part.scale for part in parts]  # 1 or the fixed point, so one divides the other
        counts = [
            view.label_counts(part.label_counts * unit)
            for view, part, unit in zip(self._views, parts, units, strict=True)
        ]
        self.label_counts = np.sum([np.zeros(len(self.labels), np.int64), *counts], axis=0)
        self._weights: list[IntArray | None] = [None] * len(parts)
        self.weights = None
        if any(part.weights is not None for part in parts):
            weights = [
                np.full(part.n_sequences, unit, np.int64) if part.weights is None else part.weights * unit
                for part, unit in zip(parts, units, strict=True)
            ]
            self._weights, self.weights = [*weights], np.concatenate(weights)
        self.n_sequences = sum(part.n_sequences for part in parts)
        self.tied_order = sum(part.tied_order for part in parts)
        self.has_ticks = any(part.has_ticks for part in parts)
        ticks = [part.n_ticks for part in parts]
        self.n_ticks = None if None in ticks else sum(n for n in ticks if n is not None)
        self.time_unit = parts[0].time_unit if parts else None
        for told in ("_keys", "n_positions"):  # of fewer or other parts
            vars(self).pop(told, None)

    @property
    def n_events(self) -> int:
        """N, without weights."""
        return sum(part.n_events for part in self._parts)

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return sum(part.n_filled for part in self._parts)

    @cached_property
    def _keys(self) -> list[HashArray]:
        every = [np.asarray(self._own_keys(number)) for number in range(len(self._parts))]
        keys = distinct_keys(np.concatenate([np.empty(0, np.uint64), *every]))
        return np.split(keys, np.cumsum([len(each) for each in every])[:-1])

    def sequence_keys(self) -> Sequence[HashArray]:
        """For each part, numbers for the names of its sequences."""
        return self._keys

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count."""
        held = [keys[self._filled(number)] for number, keys in enumerate(self._keys)]
        return np.concatenate([np.empty(0, np.uint64), *held])

    @abstractmethod
    def _own_keys(self, number: int) -> HashArray:
        """Numbers for the names of the sequences of a part; they need not differ from those of others."""

    @abstractmethod
    def _filled(self, number: int) -> BoolArray:
        """Which sequences of a part have something to count."""


def among_others(
    part: Part, number: int, view: Translate, keys: HashArray | None, weights: IntArray | None
) -> Part:
    """A part with its number among several, under the labels of all."""

    def read(most: int) -> Iterator[Block]:
        return with_keys(part.read(most), keys, weights)

    kept = part.kept
    if kept is not None:  # it has these keys and weights; in other sources the part may have others
        told = blake2b(b"".join(each.tobytes() for each in (keys, weights) if each is not None)).digest()
        kept = kept.setdefault(told, {})
    numbered = replace(part, read=read, number=number, kept=kept)
    return numbered if view.labels == part.labels else view(numbered)


def refuse_more(source: EventSource) -> None:
    """Refuse a part whose sequences are known by more than their events and the times of these."""
    if source.attributes:
        raise SettingError(
            "attributes are named from all of the data at once; read parts without attributes=, "
            "or learn with read_events, scan_events or scan_spark"
        )


def refuse_unlike(parts: Sequence[KnownPart]) -> None:
    """Refuse parts of which only some have times, or whose times or weights cannot be told in one unit."""
    if len({part.time_unit for part in parts}) > 1:
        raise SettingError(
            "some parts have times and others have none, or times of another type; read all parts alike"
        )
    scale = max((part.scale for part in parts), default=1)
    refuse_overflow(sum(float(part.label_counts.sum()) / part.scale for part in parts) * scale, scale)


# ---------------------------------------------------------------------- counted anywhere


class MappedSource(SeveralParts):
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
    >>> from summarkov.engines import MappedSource
    >>> days = [[["A", "B", "C"] * 4] * 5, [["C", "A", "B"] * 4] * 5]
    >>> with ThreadPoolExecutor() as pool:
    ...     source = MappedSource([partial(sm.read_events, day) for day in days], map=pool.map)
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
        self._found: list[_Found] = list(map(_look, self._openers))
        parts = [found.part for found in self._found]
        self._hold(parts, {label for part in parts for label in part.labels})

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every part, wherever it is taken, and add up the answers."""
        numbers = range(len(self._openers))
        each = self._map(_run, self._openers, repeat(work), numbers, self._views, self._keys, self._weights)
        return work.total(list(each))

    def _own_keys(self, number: int) -> HashArray:
        return self._found[number].keys

    def _filled(self, number: int) -> BoolArray:
        return self._found[number].filled


class _Found(NamedTuple):
    """What is known of a part where it is opened; and of its sequences the keys, and which can be counted."""

    part: KnownPart
    keys: HashArray
    filled: BoolArray


def _run(
    opener: Opener,
    work: Work[Answer],
    number: int,
    view: Translate,
    keys: HashArray,
    weights: IntArray | None,
) -> Answer:
    """Some work on one part, under the vocabulary of all."""
    return work.run(among_others(_opened(opener).part(), number, view, keys, weights))


def _look(opener: Opener) -> _Found:
    source = _opened(opener)
    (keys,) = source.sequence_keys()
    return _Found(KnownPart.of(source), keys, np.isin(keys, source.filled_keys()))


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
