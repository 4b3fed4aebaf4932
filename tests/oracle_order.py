"""The order test, slow and obvious: standard library only, and nothing of the package."""

from __future__ import annotations

from collections import Counter

MASK = 2**64 - 1


def random_number(seed, step):
    """The number that SplitMix64 gives `step` steps after a seed."""
    x = (seed + step * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def sequence_seed(seed, replicate, number):
    """The seed of one sequence in one replicate."""
    mixed = 0
    for each in (seed, replicate, number):
        mixed = random_number(mixed, each + 1)
    return mixed


def shuffled(sequence, seed, within=None, kept=0):
    """A sequence, the events of each block after the first `kept` sorted by their random numbers."""
    blocks = {}
    for place, event in enumerate(sequence):
        block = place - kept if place < kept else 0 if within is None else (place - kept) // within
        blocks.setdefault(block, []).append((random_number(seed, place + 1) >> 24, place, event))
    return [event for block in sorted(blocks) for _, _, event in sorted(blocks[block])]


def shuffled_in_periods(sequence, periods, seed, kept=0):
    """A sequence, the events of each stretch of one period after the first `kept` sorted by random numbers.

    Each stretch has a seed of its own, from that of the sequence and the place where it begins.
    """
    stretches = []
    for place, period in enumerate(periods):
        if place <= kept or period != periods[place - 1]:
            stretches.append([])
        stretches[-1].append(place)
    found = []
    for places in stretches:
        own = random_number(seed, places[0] + 1)
        order = sorted((random_number(own, at + 1) >> 24, at) for at in range(len(places)))
        found += [sequence[places[at]] for _, at in order]
    return found


def stratum(place, ends):
    """In which stratum position `place` (from 1 on) is."""
    return sum(place > end for end in ends)


def counts(sequences, weights, target, windows, ends):
    """How often each label of `target` (None: another) came, by presence of labels and by stratum.

    `windows` has (label, delay, look-back), a look-back of None reaching to the start.
    """
    found = Counter()
    for sequence, weight in zip(sequences, weights, strict=True):
        for i, event in enumerate(sequence):
            presence = tuple(
                int(label in sequence[max(0, i - (i if k is None else k)) : max(0, i - d)])
                for label, d, k in windows
            )
            outcome = event if event in target else None
            found[(*presence, stratum(i + 1, ends)), outcome] += weight
    return {cell: n for cell, n in found.items() if n}


def sums(found, column, label):
    """Mantel and Haenszel's two sums for the influencer in `column`, from `counts`."""
    strata = {}
    for (key, outcome), n in found.items():
        others = (*key[:column], *key[column + 1 :])
        cell = strata.setdefault(others, [0, 0, 0, 0])
        cell[0 if key[column] else 2] += n * (outcome == label)
        cell[1 if key[column] else 3] += n
    above = below = 0.0
    for a, n1, b, n0 in strata.values():
        if n1 and n0:
            above += a * n0 / (n1 + n0)
            below += b * n1 / (n1 + n0)
    return above, below
