"""The order test, slow and obvious: standard library only, and nothing of the package.

A sequence is a list of ticks, each a pair of a time and a set of labels.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from oracle_ticks import occurrences

MASK = 2**64 - 1


def random_number(seed, step):
    """The number that SplitMix64 gives `step` steps after a seed."""
    x = (seed + step * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def random_below(seed, step, n):
    """A number from 0 to n - 1."""
    return ((random_number(seed, step) >> 32) * n) >> 32


def block_seed(seed, number, place):
    """The seed of the block that begins at a place (from 0 on) of a sequence."""
    mixed = 0
    for each in (seed, 0, number):
        mixed = random_number(mixed, each + 1)
    return random_number(mixed, place + 1)


def blocks(n, within, kept):
    """Where the blocks of a sequence of `n` ticks begin: the first `kept` ticks are each one of its own."""
    return [p for p in range(n) if p <= kept or (within is not None and (p - kept) % within == 0)]


def stratum(place, ends):
    """In which stratum position `place` (from 1 on) is."""
    return sum(place > end for end in ends)


def counts(sequences, cuts, seeds, weights, edge, ends, replicate, stays=(), held=(), together=False):
    """By stratum: positions, positions with the influencer, hits with it, and all hits.

    `cuts[s]` has the places where blocks of sequence s begin, `seeds[s]` their seeds. An edge is a dict with
    influencer, target, lookback, delay, strata (pairs of a label and its look-back), left_out and only.
    `held[s]`: attributes of sequence s. `together`: events may happen together.
    """
    found = defaultdict(lambda: [0, 0, 0, 0])
    z, x = edge["influencer"], edge["target"]
    moves_z = z == x or x in stays
    for s, ticks in enumerate(sequences):
        attributes = held[s] if held else set()
        count = scattered if moves_z else partial(turned, together=together)
        for key, numbers in count(ticks, cuts[s], seeds[s], edge, ends, replicate, stays, attributes):
            for at, n in enumerate(numbers):
                found[key][at] += n * weights[s]
    return {key: tuple(numbers) for key, numbers in found.items() if numbers[0]}


def _key(ticks, i, place, edge, ends, attributes):
    there = [
        bool(occurrences((attributes, ticks), i, label, reach, edge["delay"]))
        for label, reach in edge["strata"]
    ]
    return stratum(place + 1, ends), there


def _block_of(place, cuts):
    return sum(begin <= place for begin in cuts) - 1


def turned(ticks, cuts, seeds, edge, ends, replicate, stays, attributes, together):
    """The others turn in their blocks, the influencer stays."""
    z, x = edge["influencer"], edge["target"]
    places = [p for p, (_, labels) in enumerate(ticks) if labels - {z} - set(stays)]
    others = [(ticks[p][0], ticks[p][1] - {z} - set(stays)) for p in places]
    by_block = defaultdict(list)
    for i, place in enumerate(places):
        if i and others[i][1] == others[i - 1][1] and not together:
            continue  # says the same again
        labels = others[i][1]
        is_out = labels & set(edge["left_out"]) and x not in labels
        after = i and others[i - 1][1] & {x, *edge["left_out"]}
        counted = not is_out and not edge["only"] and not after
        far, there = _key(others, i, place, edge, ends, attributes)
        alike = True
        if there and not together:
            ((own,), (_, reach)) = labels, edge["strata"][-1]
            alike = bool(occurrences(((), others), i, own, reach, edge["delay"])) == there[-1]
        key = far, int(alike), *map(int, there)
        with_z = bool(occurrences(((), ticks), place, z, edge["lookback"], edge["delay"]))
        by_block[_block_of(place, cuts)].append((counted, key, x in labels, with_z))
    for block, some in by_block.items():
        turn = random_below(seeds[block], replicate, len(some)) if replicate else 0
        for at, (counted, key, hit, _) in enumerate(some):
            if counted:
                with_z = some[(at - turn) % len(some)][3]
                yield key, (1, int(with_z), int(with_z and hit), int(hit))


def scattered(ticks, cuts, seeds, edge, ends, replicate, stays, attributes):
    """The influencer's events are scattered over their blocks, all else stays."""
    z, x = edge["influencer"], edge["target"]
    out, by_block = [], defaultdict(list)
    for place, (_, labels) in enumerate(ticks):
        is_out = bool(labels & set(edge["left_out"]) and x not in labels)
        out.append(is_out or (edge["only"] and not labels & set(stays)))
        if z in labels or not (labels & set(stays) or (out[-1] and x == z)):
            by_block[_block_of(place, cuts)].append(place)
    moved = []
    for block, some in by_block.items():
        mine = [p for p in some if z in ticks[p][1]]
        mixed = mine + [p for p in some if z not in ticks[p][1]]
        seed = random_number(seeds[block], replicate)
        for step in range(len(mine) if replicate else 0):
            other = step + random_below(seed, step + 1, len(mixed) - step)
            mixed[step], mixed[other] = mixed[other], mixed[step]
        moved += mixed[: len(mine)]
    made = [(time, labels - {z} | ({z} if p in moved else set())) for p, (time, labels) in enumerate(ticks)]
    for p in range(len(ticks)):
        if not out[p]:
            with_z = bool(occurrences(((), made), p, z, edge["lookback"], edge["delay"]))
            hit = x in made[p][1]
            far, there = _key(ticks, p, p, edge, ends, attributes)
            key = far, 1, *map(int, there)
            yield key, (1, int(with_z), int(with_z and hit), int(hit))
