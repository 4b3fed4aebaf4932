"""Generated events for the benchmarks."""

from __future__ import annotations

import numpy as np

import summarkov as sm


def planted(
    n_events: int, n_labels: int, seed: int = 0, mean_length: int = 50, part: int = 0
) -> sm.EventSequences:
    """Labels from a zipf distribution (exponent 1.1), each with two influencers planted.

    The influencers come from the middle third by frequency. Half of the events are drawn from the labels that
    an event up to 10 places back influences, where it influences any; the others by frequency alone.
    Parts of one seed are different events with the same influencers.
    """
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, n_labels + 1) ** 1.1
    frequency /= frequency.sum()
    middle = np.arange(n_labels // 3, 2 * n_labels // 3)
    influencers = np.array([rng.choice(middle, 2, replace=False) for _ in range(n_labels)])
    influenced = [np.flatnonzero((influencers == z).any(axis=1)) for z in range(n_labels)]

    if part:
        rng = np.random.default_rng([seed, part])
    lengths = rng.poisson(mean_length, n_events // mean_length + 1)
    offsets = np.minimum(np.concatenate([[0], np.cumsum(lengths)]), n_events)
    offsets[-1] = n_events
    place = np.arange(n_events) - np.repeat(offsets[:-1], np.diff(offsets))
    codes = rng.choice(n_labels, n_events, p=frequency).astype(np.int32)
    source = np.arange(n_events) - rng.integers(1, 11, n_events)
    by_influence = np.flatnonzero((rng.random(n_events) < 0.5) & (source >= np.arange(n_events) - place))
    order = by_influence[np.argsort(place[by_influence], kind="stable")]
    for now in np.split(
        order, np.flatnonzero(np.diff(place[order])) + 1
    ):  # one place in all sequences at once
        cause = codes[source[now]]
        for z in np.unique(cause):
            if len(chosen := influenced[z]):
                here = now[cause == z]
                share = frequency[chosen] / frequency[chosen].sum()
                codes[here] = rng.choice(chosen, len(here), p=share)
    return sm.EventSequences(codes, offsets, [f"label{z:05d}" for z in range(n_labels)], ends="cut off")


def presence(events: sm.EventSequences, lookback: int) -> np.ndarray:
    """The table that other tools need: did each label occur in the window of each position?"""
    table = np.zeros((events.n_events, len(events.labels)), dtype=bool)
    begin = np.repeat(events.offsets[:-1], events.lengths)
    here = np.arange(events.n_events)
    for lag in range(1, lookback + 1):
        seen = here[here - lag >= begin]
        table[seen, events.codes[seen - lag]] = True
    return table
