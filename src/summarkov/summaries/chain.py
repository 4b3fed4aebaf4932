"""The k-th order Markov chain as a summary: the last k labels themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from summarkov import kernels
from summarkov.settings import check_whole
from summarkov.summaries.base import Summary
from summarkov.typing import IntArray, KeyArray


@dataclass(frozen=True)
class ChainSummary(Summary):
    r"""The labels at lags 1..k; contexts cut short by the start of a sequence are contexts of their own.

    .. math:: |S| = \sum_{i=0}^{k} M^i

    >>> ChainSummary(order=2).n_states(0, n_labels=10)
    111
    """

    order: int = 1

    def __post_init__(self) -> None:
        check_whole("order", self.order, 0, 1000)

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        return sum(n_labels**i for i in range(self.order + 1))

    def encode(
        self, index: kernels.Index, influencers: Sequence[int], labels: Sequence[str]
    ) -> tuple[IntArray, KeyArray]:
        return kernels.chain_states(index, self.order)

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[str, ...]:
        """The last labels, oldest first."""
        return tuple(labels[code - 1] if code <= len(labels) else "?" for code in reversed(key) if code)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        if not len(key):
            return "any history"
        context = " ".join(self.state(key, influencers, labels))
        return f"start {context}".strip() if 0 in key else context

    def memory(self) -> tuple[int, int | None]:
        return self.order, None
