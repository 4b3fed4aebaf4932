"""A recurrent network for all targets at once, as in the paper's comparison: an outside contender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from paper.network import make_lstm
from paper.network_contender import NetworkContender
from summarkov.errors import SettingError
from summarkov.settings import check_whole


class LstmSettings(NamedTuple):
    """What the dev data chose."""

    learning_rate: float
    epochs: int


#: The choices that the paper reports for its data sets.
PAPER_SETTINGS = {
    "beigebooks": LstmSettings(5e-4, 630),
    "diabetes": LstmSettings(1e-3, 400),
    "linkedin": LstmSettings(5e-4, 480),
    "stackoverflow": LstmSettings(5e-4, 90),
    "timelines": LstmSettings(1e-4, 340),
}


@dataclass(frozen=True)
class LstmContender(NetworkContender):
    """An LSTM that says the next label: embedding, one LSTM layer, one linear layer, softmax.

    Parameters
    ----------
    embedding, hidden : int
        Sizes of the embedding and of the LSTM's state; the others are those of :class:`NetworkContender`.

    Departure from the paper, which does not say: the batch size.

    >>> LstmContender(epochs=25, every=10).epochs_to_try
    (10, 20, 25)
    """

    name: str = "LSTM"
    embedding: int = 50
    hidden: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("embedding", self.embedding, 1)
        check_whole("hidden", self.hidden, 1)

    def make(self, n_labels: int) -> Any:
        return make_lstm(n_labels, self.embedding, self.hidden, self.seed)

    @classmethod
    def as_published(cls, data_set: str, **settings: Any) -> LstmContender:
        """With the learning rate and number of epochs that the paper reports for one of its data sets.

        >>> LstmContender.as_published("linkedin").epochs_to_try
        (480,)
        """
        if data_set not in PAPER_SETTINGS:
            raise SettingError(f"data_set must be one of {', '.join(PAPER_SETTINGS)}, not {data_set!r}")
        learning_rate, epochs = PAPER_SETTINGS[data_set]
        return cls(learning_rates=(learning_rate,), checkpoints=(epochs,), **settings)
