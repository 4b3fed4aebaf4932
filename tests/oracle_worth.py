"""What beginnings of sequences are worth, counted by hand: a slow twin, of the standard library alone."""

from collections import Counter


def worth(sequences):
    """For each state, with how many independent sequences with and without the outcome it may be compared.

    ``sequences`` are the states after all beginnings of one, and whether it has the outcome.
    """
    visits = {}
    for states, hit in sequences:
        for state, times in Counter(states).items():
            visits.setdefault(state, []).append((times, bool(hit)))
    found = {}
    for state, each in visits.items():
        n = sum(times for times, _ in each)
        p = sum(times for times, hit in each if hit) / n
        size = n**2 / sum(times**2 for times, _ in each)
        if 0 < p < 1:
            variance = sum((times * (hit - p)) ** 2 for times, hit in each) / n**2
            size = min(size, p * (1 - p) / variance)
        found[state] = [size * p, size * (1 - p)]
    return found
