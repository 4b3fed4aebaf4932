"""Made-up worlds: sequences that differ, drift, special starts; and which edges are true in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from summarkov.events import EventSequences
from summarkov.typing import FloatArray

Random = np.random.Generator

#: How far back influence reaches, where there is some.
LOOKBACK = 5


@dataclass(frozen=True)
class World:
    """Events, and the edges that are true in them: influencer and target, with the factor of its rate."""

    events: EventSequences
    truth: Mapping[tuple[str, str], float]


def drawn(
    rng: Random,
    rates: FloatArray,
    edges: Mapping[tuple[int, int], float] = MappingProxyType({}),
    *,
    lookback: int = LOOKBACK,
    first: int | None = None,
) -> World:
    """Draw every label in proportion to its rate, ``rates[sequence, position, label]``.

    While label z is among the last ``lookback`` events, the rate of label x is multiplied by
    ``edges[z, x]``. With ``first`` every sequence begins with that label.
    """
    n, length, n_labels = rates.shape
    codes = np.empty((n, length), np.int32)
    last = np.full((n, n_labels), -(10**9))
    everyone = np.arange(n)
    for i in range(length):
        now = rates[:, i].copy()
        for (z, x), times in edges.items():
            now[i - last[:, z] <= lookback, x] *= times
        ends = now.cumsum(axis=1)
        codes[:, i] = (rng.random((n, 1)) * ends[:, -1:] > ends).sum(axis=1)
        if first is not None and i == 0:
            codes[:, 0] = first
        last[everyone, codes[:, i]] = i
    labels = tuple(f"L{label:03}" for label in range(n_labels))
    events = EventSequences(codes.reshape(-1), np.arange(n + 1) * length, labels, ends="cut off")
    return World(events, {(labels[z], labels[x]): times for (z, x), times in edges.items()})


def random_edges(rng: Random, n_labels: int, n: int, times: float) -> dict[tuple[int, int], float]:
    """``n`` pairs of different labels."""
    pairs = [(z, x) for z in range(n_labels) for x in range(n_labels) if z != x]
    return {pairs[at]: times for at in rng.choice(len(pairs), n, replace=False)}


def alike(rng: Random, n: int, length: int, n_labels: int, evenness: float = 3.0) -> FloatArray:
    """The same random rates everywhere."""
    return np.broadcast_to(rng.dirichlet(np.full(n_labels, evenness)), (n, length, n_labels))


def classes(rng: Random, n: int, length: int, n_labels: int = 10, times: float = 3.0) -> FloatArray:
    """Three classes of sequences, each with half of the labels ``times`` as frequent."""
    of_class = np.ones((3, n_labels))
    for row in of_class:
        row[rng.permutation(n_labels)[: n_labels // 2]] *= times
    return np.broadcast_to(of_class[rng.integers(3, size=n)][:, None], (n, length, n_labels))


def own_rates(rng: Random, n: int, length: int, n_labels: int = 10) -> FloatArray:
    """Every sequence has rates of its own."""
    each = rng.dirichlet(np.full(n_labels, 5.0), n)
    return np.broadcast_to(each[:, None], (n, length, n_labels))


def drifting(rng: Random, n: int, length: int, n_labels: int = 10) -> FloatArray:
    """Rates that change evenly from the first position to the last."""
    start, stop = rng.dirichlet(np.full(n_labels, 2.0), 2)
    share = np.linspace(0, 1, length)[:, None]
    return np.broadcast_to((1 - share) * start + share * stop, (n, length, n_labels))


def regimes(rng: Random, length: int, n_labels: int = 10) -> FloatArray:
    """One sequence that changes between three hidden regimes, on average every hundred events."""
    rates = rng.dirichlet(np.full(n_labels, 2.0), 3)
    changes = rng.random(length) < 0.01
    chosen = np.where(changes, rng.integers(3, size=length), 0)
    since = np.maximum.accumulate(np.where(changes, np.arange(length), 0))  # where the regime began
    return np.asarray(rates[chosen[since]][None])


def eight_among_classes(rng: Random) -> World:
    """Eight true edges of twice the rate, in sequences of three classes."""
    rates = classes(rng, 400, 40)
    return drawn(rng, rates, random_edges(rng, 10, 8, 2.0))


def swapped(rng: Random, world: World) -> World:
    """The events two by two in an order of chance, as if every two had the same time stamp."""
    codes = world.events.codes.copy()
    first = 2 * np.flatnonzero(rng.random(len(codes) // 2) < 0.5)
    codes[first], codes[first + 1] = codes[first + 1], codes[first]
    return World(
        EventSequences(codes, world.events.offsets, world.events.labels, ends="cut off"), world.truth
    )


#: All worlds, by what is special about them.
WORLDS: Mapping[str, Callable[[Random], World]] = MappingProxyType(
    {
        "all alike, 8 true edges x2": lambda rng: drawn(
            rng, alike(rng, 400, 40, 10, 100.0), random_edges(rng, 10, 8, 2.0)
        ),
        "three classes, 8 true edges x2": eight_among_classes,
        "rare labels (40 of them), 8 true edges x4": lambda rng: drawn(
            rng, alike(rng, 500, 40, 40, 100.0), random_edges(rng, 40, 8, 4.0)
        ),
        "learned with look-back 5, true one 15, 8 edges x2": lambda rng: drawn(
            rng, alike(rng, 400, 40, 10, 100.0), random_edges(rng, 10, 8, 2.0), lookback=15
        ),
        "competition: one true edge x6": lambda rng: drawn(
            rng, alike(rng, 2500, 40, 10, 1000.0), random_edges(rng, 10, 1, 6.0)
        ),
        "noise, 10 labels": lambda rng: drawn(rng, alike(rng, 250, 40, 10)),
        "noise, 100 labels": lambda rng: drawn(rng, alike(rng, 250, 40, 100)),
        "three classes, no influence": lambda rng: drawn(rng, classes(rng, 1000, 40)),
        "every sequence its own rates": lambda rng: drawn(rng, own_rates(rng, 1000, 40)),
        "a fixed first event": lambda rng: drawn(rng, alike(rng, 5000, 10, 10, 5.0), first=0),
        "drift": lambda rng: drawn(rng, drifting(rng, 1000, 40)),
        "one sequence, hidden regimes": lambda rng: drawn(rng, regimes(rng, 20_000)),
        "ties: order of every two by chance, 8 true edges x2": lambda rng: swapped(
            rng, drawn(rng, alike(rng, 400, 40, 10, 100.0), random_edges(rng, 10, 8, 2.0))
        ),
    }
)
