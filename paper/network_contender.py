"""Networks as contenders: what the LSTM and the transformer have in common.

They take part in ``sm.compare(events, models=["bsumm", LstmContender()])`` by what
:class:`summarkov.comparison.Contender` asks for, and by nothing else.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from paper.network import label_probabilities, load_torch, reproducibly, seeded, train_epoch
from summarkov.comparison.contenders import TINY
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.settings import check_whole, is_number
from summarkov.typing import FloatArray

T = TypeVar("T")


class EventCache(Generic[T]):
    """Values by (events object, key), the least recently used forgotten first.

    Events are compared by identity: they cannot be changed, and live here as long as their value does.
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


def clip(probability: FloatArray) -> FloatArray:
    """Keep probabilities away from 0 and 1 by ``TINY``."""
    return np.asarray(np.clip(probability, TINY, 1 - TINY))


def positives(name: str, values: object) -> None:
    """Refuse a grid that is empty or holds anything but finite numbers above 0."""
    if not isinstance(values, tuple | list | np.ndarray) or not len(values):
        raise SettingError(f"{name} must be a list of at least one number, not {values!r}")
    for value in values:
        if not is_number(value) or not 0 < value < float("inf"):
            raise SettingError(f"{name} must be finite numbers above 0, not {value!r}")


@dataclass(frozen=True)
class NetworkPredictor:
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
                return label_probabilities(self.network, events.recode(self.labels, unknown="ignore"))

        return self.rows.get(events, self.key, compute)

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """Probability of the target at every position, at least ``TINY`` away from 0 and 1."""
        return clip(self.next_event(events)[:, self.labels.index(target)])

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """None: the network looks at everything."""
        return None


@dataclass(frozen=True)
class NetworkContender:
    """A network that says the next label, trained by Adam on the CPU; a subclass makes the network.

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
    batch_size : int
        Sequences per step; whole ones, of nearly equal length.
    seed : int
        The same seed gives the same network, on one machine with one number of threads.
    threads : int
        Threads of PyTorch; more than one rarely pays for networks this small.
    name : str
        What tables call it.
    """

    learning_rates: Sequence[float] = (1e-2, 1e-3, 5e-4, 1e-4, 1e-5, 1e-6)
    epochs: int = 2000
    every: int = 10
    checkpoints: Sequence[int] | None = None
    batch_size: int = 32
    seed: int = 0
    threads: int = 1
    name: str = "network"

    def __post_init__(self) -> None:
        positives("learning_rates", self.learning_rates)
        for setting in ("epochs", "every", "batch_size", "threads"):
            check_whole(setting, getattr(self, setting), 1)
        if self.checkpoints is not None:
            if not len(self.checkpoints):
                raise SettingError("checkpoints must hold at least one epoch")
            for epoch in self.checkpoints:
                check_whole("checkpoints", epoch, 1)
        check_whole("seed", self.seed, 0)

    def make(self, n_labels: int) -> Any:
        """A network that has not learned anything."""
        raise NotImplementedError

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
    ) -> Iterator[tuple[dict[str, Any], NetworkPredictor]]:
        """One per learning rate and epoch; a network serves all targets."""
        torch = load_torch()
        rows: EventCache[FloatArray] = EventCache(most=3)
        for learning_rate in self.learning_rates:
            rng = np.random.default_rng(self.seed)
            network = self.make(len(train.labels))
            optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
            done = 0
            for epoch in self.epochs_to_try:
                with reproducibly(self.threads), seeded(self.seed + done):
                    for _ in range(epoch - done):
                        train_epoch(network, optimizer, train, self.batch_size, rng)
                done = epoch
                yield (
                    {"learning_rate": learning_rate, "epoch": epoch},
                    NetworkPredictor(
                        train.labels,
                        copy.deepcopy(network).requires_grad_(False),
                        self.threads,
                        rows,
                        (learning_rate, epoch),
                    ),
                )
