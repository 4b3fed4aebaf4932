"""A recurrent network for all targets at once, as in the paper's comparison: an outside contender.

It takes part in ``sm.compare(events, models=["bsumm", LstmContender()])`` by what
:class:`summarkov.evaluation.Contender` asks for, and by nothing else.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from paper.network import label_probabilities, load_torch, make_network, reproducibly, train_epoch
from summarkov.baselines.learners import EventCache, clip, positives
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.settings import check_whole
from summarkov.typing import FloatArray


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
class LstmPredictor:
    """A network as it was at one epoch."""

    labels: tuple[str, ...]
    network: Any = field(repr=False)
    threads: int
    rows: EventCache[FloatArray] = field(repr=False)
    key: tuple[float, int]

    def next_event(self, events: EventSequences) -> FloatArray:
        """The distribution of the event at every position: one column per label, rows sum to 1."""

        def compute() -> FloatArray:
            with reproducibly(self.threads):
                return label_probabilities(self.network, events.recode(self.labels))

        return self.rows.get(events, self.key, compute)

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position, at least ``TINY`` away from 0 and 1."""
        return clip(self.next_event(events)[:, self.labels.index(target)])

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """None: the network looks at everything."""
        return None


@dataclass(frozen=True)
class LstmContender:
    """An LSTM that says the next label: embedding, one LSTM layer, one linear layer, softmax (Adam, CPU).

    BOS, EOS and PAD are ignored in the loss and left out when the softmax is read as probabilities.

    Parameters
    ----------
    learning_rates : sequence of float
        Learning rates to choose from; a network is trained anew for each.
    epochs : int
        How long to train. It is not stopped early, since it does not see what is chosen by.
    every : int
        There is a candidate after every ``every`` epochs, and one at the end.
    checkpoints : sequence of int, optional
        The epochs to choose from instead; the last of them ends the training.
    embedding, hidden : int
        Sizes of the embedding and of the LSTM's state.
    batch_size : int
        Sequences per step; whole ones, of nearly equal length.
    seed : int
        The same seed gives the same network, on one machine with one number of threads.
    threads : int
        Threads of PyTorch; more than one rarely pays for networks this small.
    name : str
        What tables call it.

    Departure from the paper, which does not say: the batch size.

    >>> LstmContender(epochs=25, every=10).epochs_to_try
    (10, 20, 25)
    """

    learning_rates: Sequence[float] = (1e-2, 1e-3, 5e-4, 1e-4, 1e-5, 1e-6)
    epochs: int = 2000
    every: int = 10
    checkpoints: Sequence[int] | None = None
    embedding: int = 50
    hidden: int = 50
    batch_size: int = 32
    seed: int = 0
    threads: int = 1
    name: str = "LSTM"

    def __post_init__(self) -> None:
        positives("learning_rates", self.learning_rates)
        for setting in ("epochs", "every", "embedding", "hidden", "batch_size", "threads"):
            check_whole(setting, getattr(self, setting), 1)
        if self.checkpoints is not None:
            if not len(self.checkpoints):
                raise SettingError("checkpoints must hold at least one epoch")
            for epoch in self.checkpoints:
                check_whole("checkpoints", epoch, 1)
        check_whole("seed", self.seed, 0)

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

    @property
    def epochs_to_try(self) -> tuple[int, ...]:
        """The epochs that are candidates, rising."""
        if self.checkpoints is not None:
            return tuple(sorted(set(self.checkpoints)))
        return tuple(sorted({*range(self.every, self.epochs + 1, self.every), self.epochs}))

    def require(self) -> None:
        """Refuse to go on without PyTorch."""
        load_torch()

    def fit_each(
        self, train: EventSequences, targets: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], LstmPredictor]]:
        """One per learning rate and epoch; a network serves all targets."""
        torch = load_torch()
        rows: EventCache[FloatArray] = EventCache(most=3)
        for learning_rate in self.learning_rates:
            rng = np.random.default_rng(self.seed)
            network = make_network(len(train.labels), self.embedding, self.hidden, self.seed)
            optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
            done = 0
            for epoch in self.epochs_to_try:
                with reproducibly(self.threads):
                    for _ in range(epoch - done):
                        train_epoch(network, optimizer, train, self.batch_size, rng)
                done = epoch
                yield (
                    {"learning_rate": learning_rate, "epoch": epoch},
                    LstmPredictor(
                        train.labels,
                        copy.deepcopy(network).requires_grad_(False),
                        self.threads,
                        rows,
                        (learning_rate, epoch),
                    ),
                )
