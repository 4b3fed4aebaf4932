"""What comes just before, and what always comes in one order, counted in the plainest way."""

from collections import defaultdict


def strata(sequences, influencer, target, lookback, delay=0):
    """Hits and positions with the influencer, then without, by what is just before, and two things more."""
    found = defaultdict(lambda: [0, 0, 0, 0])
    for weight, events in sequences:
        for i, event in enumerate(events):
            window = [
                events[j] for j in range(i) if i - j > delay and (lookback is None or i - j <= lookback)
            ]
            before = events[i - 1] if i else None
            if before == influencer:
                continue
            is_near_start = lookback is None or i < lookback
            cell = found[before, target in window, is_near_start]
            side = 0 if influencer in window else 2
            cell[side] += weight * (event == target)
            cell[side + 1] += weight
    return sorted(map(tuple, found.values()))


def in_succession(cases, z, x, share=0.95, least=20):
    """Whether x comes after the last z in nearly all cases with z, and a z before the first x where x is."""
    with_z = [case for case in cases if z in case]
    with_x = [case for case in cases if x in case]
    if len(with_z) < least or len(with_x) < least:
        return False
    after = sum(x in case[len(case) - case[::-1].index(z) :] for case in with_z)
    before = sum(z in case[: case.index(x)] for case in with_x)
    return after >= share * len(with_z) and before >= share * len(with_x)


def in_order(cases, labels):
    """In how many cases the last occurrences stand in this order, and how many have any of the labels."""
    n = with_any = 0
    for case in cases:
        last = [len(case) - 1 - case[::-1].index(x) if x in case else None for x in labels]
        with_any += any(place is not None for place in last)
        n += all(place is not None for place in last) and last == sorted(last)
    return n, with_any
