"""A small causal transformer for all targets at once: an outside contender beside the LSTM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paper.network import make_transformer
from paper.network_contender import NetworkContender
from summarkov.errors import SettingError
from summarkov.settings import check_whole


@dataclass(frozen=True)
class TransformerContender(NetworkContender):
    """A transformer that says the next label: embedding and place, blocks of masked attention, softmax.

    Parameters
    ----------
    width, heads, layers : int
        Numbers per position, heads of attention that share them evenly, and blocks.
    dropout : float
        The share of numbers left out at random while it learns. The other parameters are those of
        :class:`NetworkContender`.

    >>> TransformerContender(epochs=25, every=10).epochs_to_try
    (10, 20, 25)
    """

    name: str = "transformer"
    learning_rates: Sequence[float] = (3e-3, 1e-3, 3e-4)
    epochs: int = 300
    width: int = 32
    heads: int = 2
    layers: int = 2
    dropout: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting in ("width", "heads", "layers"):
            check_whole(setting, getattr(self, setting), 1)
        if self.width % 2 or self.width % self.heads:
            raise SettingError(
                f"width must be even and a multiple of heads, not {self.width} with {self.heads} heads"
            )
        if not 0 <= self.dropout < 1:
            raise SettingError(f"dropout must be at least 0 and below 1, not {self.dropout!r}")

    def make(self, n_labels: int) -> Any:
        return make_transformer(n_labels, self.width, self.heads, self.layers, self.dropout, self.seed)
