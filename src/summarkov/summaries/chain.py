"""The k-th order Markov chain as a summary: the last k labels themselves."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from summarkov import kernels
from summarkov.settings import check_whole
from summarkov.summaries.base import Memory, Summary
from summarkov.typing import IntArray, KeyArray

if TYPE_CHECKING:
    from summarkov.store import Node


@dataclass(frozen=True)
class ChainSummary(Summary):
    r"""The labels at lags 1..k; contexts cut short by the start of a sequence are contexts of their own.

    .. math:: |S| = \sum_{i=0}^{k} M^i

    >>> ChainSummary(order=2).n_states(0, n_labels=10)
    111
    """

    order: int = 1

    keys_on_page: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole("order", self.order, 0, 1000)

    @property
    def takes_ticks(self) -> bool:  # type: ignore[override]  # depends on the order
        return self.order == 0

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

    def memory(self) -> Memory:
        return Memory(self.order, None)

    def page_form(self, influencers: Sequence[str], written: Sequence[str]) -> dict[str, Any]:
        return {"kind": "chain", "order": int(self.order)}

    def key_width(self, n_influencers: int) -> int:
        return self.order

    def state_document(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> Any:
        """The last labels, the most recent first; null before the start."""
        return [labels[code - 1] if code else None for code in key]

    def read_key(self, node: Node, influencers: Sequence[str], codes: Mapping[str, int]) -> tuple[int, ...]:
        key = tuple(code + 1 for code in codes_or_start(node, node.list(self.order), codes))
        if any(nearer == 0 < farther for nearer, farther in itertools.pairwise(key)):
            node.wrong("nulls only where the sequence had not begun")
        return key


def codes_or_start(node: Node, items: Sequence[Node], codes: Mapping[str, int]) -> list[int]:
    """The labels of a context in a file as codes, the most recent first; -1 for null, before the start."""
    context = [item.value for item in items]
    if any(label is not None and not (isinstance(label, str) and label in codes) for label in context):
        node.wrong("labels of 'data', or null before the start")
    return [-1 if label is None else codes[label] for label in context]
