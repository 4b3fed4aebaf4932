"""Kneser-Ney smoothing of the last labels, as language models have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from summarkov import kernels
from summarkov.baselines.contenders import Data
from summarkov.engines import Layout, StateCounts, StatesRequest, Target, as_source
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.models.learning import check_in_a_row
from summarkov.settings import check_whole
from summarkov.summaries import ChainSummary, Memory
from summarkov.typing import CodeArray, FloatArray, IntArray


@dataclass(frozen=True)
class Level:
    """How often each label followed each context of one length, and how much is taken off each count."""

    rows: dict[bytes, int]  # the row of each context
    counts: IntArray  # [context, label]
    discount: float

    @classmethod
    def of(cls, keys: CodeArray, counts: IntArray) -> Level:
        """With the discount that Ney, Essen and Kneser estimate from the counts of 1 and of 2."""
        once, twice = int((counts == 1).sum()), int((counts == 2).sum())
        discount = once / (once + 2 * twice) if once else 0.5
        return cls({key.tobytes(): row for row, key in enumerate(keys)}, counts, discount)

    def mix(self, keys: CodeArray, shorter: FloatArray) -> FloatArray:
        """Probabilities after contexts; ``shorter`` are those after contexts of one label less."""
        found = np.array([self.rows.get(key.tobytes(), -1) for key in keys], np.int64)
        known = np.flatnonzero(found >= 0)
        counts = self.counts[found[known]]
        total = counts.sum(axis=1, keepdims=True)
        left = self.discount * np.count_nonzero(counts, axis=1)[:, None] / total
        mixed = shorter.copy()
        mixed[known] = np.maximum(counts - self.discount, 0) / total + left * shorter[known]
        return mixed


@dataclass(frozen=True)
class KneserNeyPredictor:
    """The distribution of the next label after the last ``order`` ones."""

    labels: tuple[str, ...]
    order: int
    levels: tuple[Level, ...] = field(repr=False)  # by the length of contexts, from 0 on

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """What the one distribution says of the target."""
        data = events.recode(self.labels)
        return self.at(Index(data.codes, data.offsets, len(data.labels)), target)

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """All labels: it looks at whatever came just before."""
        return self.labels if self.order else ()

    def memory(self) -> Memory:
        """The last labels."""
        return ChainSummary(self.order).memory()

    def at(self, index: Index, target: str) -> FloatArray:
        """The same on a block."""
        ids, keys = kernels.chain_states(index, self.order)
        p = np.full((len(keys), len(self.labels)), 1 / len(self.labels))
        for length, level in enumerate(self.levels):
            p = level.mix(np.ascontiguousarray(keys[:, :length]), p)
        return np.asarray(p[ids, self.labels.index(target)])

    def only(self, target: str) -> KneserNeyPredictor:
        """All of it: one label's probability depends on what all others have."""
        return self


@dataclass(frozen=True)
class KneserNeyContender:
    """Interpolated Kneser-Ney smoothing: the standard of language models before neural ones.

    The probability after the last k labels is what their counts say, less a discount, and the rest goes to
    what is said after the last k - 1. There a label does not count as often as it occurred, but once for each
    different label before. It sums to 1 over all labels.

    Parameters
    ----------
    orders : sequence of int
        The lengths k to choose from.
    name : str
        What tables call it.

    References: Kneser and Ney, "Improved backing-off for m-gram language modeling", ICASSP 1995.
    """

    orders: Sequence[int] = (1, 2, 3, 4, 5)
    name: str = "kneser-ney"
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time
    takes_sources: ClassVar[bool] = True
    one_for_all: ClassVar[bool] = True  # with settings of their own, labels would not sum to 1

    def __post_init__(self) -> None:
        if not len(self.orders):
            raise SettingError("orders must hold at least one length of contexts")
        for order in self.orders:
            check_whole("order", order, 0, 20)

    def fit_each(
        self, train: Data, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], KneserNeyPredictor]]:
        """One per length."""
        source = as_source(train, n_jobs=self.n_jobs)
        check_in_a_row(self.name, Layout.of(source))
        n = len(source.labels)
        every = Target(tuple(range(n)), n)
        tables = source.count([StatesRequest(ChainSummary(order), (), every) for order in self.orders])
        for order, table in zip(self.orders, tables, strict=True):
            assert isinstance(table, StateCounts)
            keys, counts = table.keys, table.counts[:, :n]
            levels = [Level.of(keys, counts)]
            for length in range(order - 1, -1, -1):
                keys, where = np.unique(keys[:, :length], axis=0, return_inverse=True)
                kinds = np.zeros((len(keys), n), np.int64)  # of how many longer contexts a label came after
                np.add.at(kinds, where.reshape(-1), (counts > 0).astype(np.int64))
                counts = kinds
                levels.append(Level.of(np.ascontiguousarray(keys), counts))
            yield {"order": order}, KneserNeyPredictor(tuple(source.labels), order, tuple(reversed(levels)))
