"""Kneser-Ney smoothing of the last labels, as language models have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from summarkov import kernels
from summarkov.comparison.contenders import Data
from summarkov.engines import Layout, StateCounts, StatesRequest, Target, as_source
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.models.learning import check_in_a_row
from summarkov.scores.kneser_ney import LastLabels
from summarkov.settings import check_whole
from summarkov.summaries import ChainSummary, Memory
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class KneserNeyPredictor:
    """The distribution of the next label after the last ``order`` ones."""

    labels: tuple[str, ...]
    order: int
    after: LastLabels = field(repr=False)

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """What the one distribution says of the target."""
        data = events.recode(self.labels, unknown="ignore")
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
        return np.asarray(self.after.at(keys)[ids, self.labels.index(target)])

    def only(self, target: str) -> KneserNeyPredictor:
        """All of it: one label's probability depends on what all others have."""
        return self


@dataclass(frozen=True)
class KneserNeyContender:
    """Kneser-Ney smoothing (:class:`LastLabels`): the standard of language models before neural ones.

    It sums to 1 over all labels.

    Parameters
    ----------
    orders : sequence of int
        The lengths k to choose from.
    name : str
        What tables call it.
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
            after = LastLabels.of(table.keys, table.counts[:, :n] / source.scale)
            yield {"order": order}, KneserNeyPredictor(tuple(source.labels), order, after)
