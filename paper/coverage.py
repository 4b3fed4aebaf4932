"""How often the interval of a given edge holds the ratio of the population, where sequences differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

import summarkov as sm
from paper.worlds import Random, drawn
from summarkov.events import EventSequences
from summarkov.evidence import rate_ratio
from summarkov.typing import FloatArray

#: The labels: what is left, another influencer W, the target X and its influencer Z.
REST, W, X, Z = range(4)
#: Events of simulated data from which the ratio of a population is taken.
POPULATION = 1_000_000
#: Numbers of sequences, and how long they are.
SIZES = ((200, 20), (50, 40), (25, 40), (10, 200), (1, 2000))

Rates = Callable[[Random, int, int, FloatArray], FloatArray]


def _alike(rng: Random, n: int, length: int, rates: FloatArray) -> FloatArray:
    return np.broadcast_to(rates, (n, length, 4))


def _frailty(rng: Random, n: int, length: int, rates: FloatArray) -> FloatArray:
    """Each sequence has its own rate of the target."""
    own = np.tile(rates, (n, 1))
    own[:, X] *= rng.gamma(2.0, 0.5, n)
    return np.broadcast_to(own[:, None], (n, length, 4))


def _two_frailties(rng: Random, n: int, length: int, rates: FloatArray) -> FloatArray:
    """Each sequence has its own rate of the target and, apart from that, of the influencer."""
    own = np.tile(rates, (n, 1))
    own[:, X] *= rng.gamma(1.0, 1.0, n)
    own[:, Z] *= rng.gamma(1.0, 1.0, n)
    return np.broadcast_to(own[:, None], (n, length, 4))


def _one_frailty(rng: Random, n: int, length: int, rates: FloatArray) -> FloatArray:
    """Each sequence has its own rate of both."""
    own = np.tile(rates, (n, 1))
    own[:, [X, Z]] *= rng.gamma(2.0, 0.5, n)[:, None]
    return np.broadcast_to(own[:, None], (n, length, 4))


def _on_and_off(rng: Random, n: int, length: int, rates: FloatArray) -> FloatArray:
    """Labels are ten times as frequent while they are on, for some 12 events in a row."""
    on, now = np.zeros((n, length, 3), bool), rng.random((n, 3)) < 0.2
    for i in range(length):
        now = np.where(now, rng.random((n, 3)) > 0.08, rng.random((n, 3)) < 0.02)
        on[:, i] = now
    each = np.broadcast_to(rates, (n, length, 4)).copy()
    each[:, :, 1:] *= np.where(on, 5.0, 0.5)
    return each


_SELF = MappingProxyType({(X, X): 6.0, (Z, Z): 4.0})
#: Worlds by name: rates, how labels excite themselves, and whether one sequence can tell of others.
WORLDS: Mapping[str, tuple[Rates, Mapping[tuple[int, int], float], bool]] = MappingProxyType(
    {
        "all alike": (_alike, {}, True),
        "frailty of the target": (_frailty, {}, False),
        "two frailties": (_two_frailties, {}, False),
        "one frailty of both": (_one_frailty, {}, False),
        "bursts, self-excitation": (_alike, _SELF, True),
        "bursts, on and off": (_on_and_off, {}, True),
    }
)


def _events(world: str, rate: float, n: int, length: int, rng: Random) -> EventSequences:
    rates, excited, _ = WORLDS[world]
    edges = {(W, X): 2.0, (Z, X): 2.0, **excited}
    return drawn(rng, rates(rng, n, length, np.array([0.7, 0.15, rate, 0.15])), edges, lookback=3).events


def _edge(events: EventSequences) -> tuple[sm.BSuMM, int]:
    """The model of the target with its two influencers given, and the column of Z."""
    names = events.labels
    model = sm.BSuMM(names[X], lookback=3, required=[names[W], names[Z]], candidates=[]).fit(events)
    return model, model.fitted.influencers.index(Z)


def population_ratio(world: str, rate: float, length: int, seed: int, n_events: int = POPULATION) -> float:
    """Mantel and Haenszel's ratio of very many sequences of one length."""
    rng = np.random.default_rng([seed, 7])
    model, column = _edge(_events(world, rate, max(1, n_events // length), length, rng))
    return next(float(found.strata.ratio()) for at, _, found in model.fitted.contrasts() if at == column)


def covered(
    world: str, rate: float, n: int, length: int, times: int, seed: int = 0, n_events: int = POPULATION
) -> tuple[float, float, float]:
    """The share of robust intervals that hold the population's ratio, of those from counts, and their widths.

    The last is the mean of how many times as wide the robust one is, on the scale of logarithms.
    """
    truth = population_ratio(world, rate, length, seed, n_events)
    rng = np.random.default_rng([seed, n, length])
    held, wider = np.zeros(2), []
    many = _events(world, rate, n * times, length, rng)
    for number in range(times):
        model, column = _edge(many[number * n : (number + 1) * n])
        contrast = next(found for at, _, found in model.fitted.contrasts() if at == column)
        edge = next(edge for edge in model.influences_ if edge.influencer == many.labels[Z])
        counts = rate_ratio(contrast.strata)
        held += edge.low <= truth <= edge.high, bool(counts.low <= truth <= counts.high)
        if edge.interval == "robust":
            wider.append(np.log(edge.high / edge.low) / np.log(float(counts.high / counts.low)))
    robust, from_counts = held / times
    return float(robust), float(from_counts), float(np.mean(wider)) if wider else 1.0


def coverage_where_sequences_differ(times: int = 1000, n_events: int = POPULATION, seed: int = 0) -> str:
    """For each world, rate and size the coverage of the robust interval, and of that from counts."""
    rows = []
    for world, (_, _, is_one_enough) in WORLDS.items():
        for rate in (0.05, 0.15):
            cells = []
            for n, length in SIZES:
                if n == 1 and not is_one_enough:
                    cells.append("")
                    continue
                robust, counts, wider = covered(world, rate, n, length, times, seed, n_events)
                cells.append(f"{robust:.3f} ({counts:.3f}, ×{wider:.2f})")
            rows.append(f"| {world} | {rate:.0%} | " + " | ".join(cells) + " |")
    sizes = " | ".join(f"{n} × {length:,}" for n, length in SIZES)
    return "\n".join([f"| world | target | {sizes} |", "|---|--:|" + "--:|" * len(SIZES), *rows])
