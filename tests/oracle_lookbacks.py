"""The slow, obvious twin of the search for labels and their look-backs; standard library only.

A *place* is a dict from influencer to its look-back (an int, or None for the whole past). ``score_of`` takes
a place.
"""

import math

from oracle import allowed_labels, first_best, improves


def shortest_first(lookbacks):
    """Look-backs in the order in which ties are settled.

    >>> shortest_first((None, 5, 1))
    [1, 5, None]
    """
    return sorted(lookbacks, key=lambda k: math.inf if k is None else k)


def greedy_lookbacks(
    labels, lookbacks, score_of, required=(), forbidden=(), candidates=None, max_influencers=None
):
    """Forward rounds of additions and changes, then backward rounds of removals and changes.

    Each round makes the best move while that improves. Additions, from score -inf, are all pairs of a label
    and a look-back; a change gives an influencer another look-back. Ties go to changes before additions, to
    removals before changes, then to the first label, then to the shorter look-back. The required labels enter
    first, the best pair each time, whether or not it improves.

    Returns the place, its score, and the trace: a list of (action, label, look-back, score after it).
    """
    lookbacks = shortest_first(lookbacks)
    place = {}
    while set(required) - set(place):
        waiting = [z for z in sorted(required) if z not in place]
        (z, k), _ = first_best([((z, k), score_of({**place, z: k})) for z in waiting for k in lookbacks])
        place[z] = k

    def changes():
        return [
            (("change", z, k), score_of({**place, z: k}))
            for z in sorted(place)
            for k in lookbacks
            if k != place[z]
        ]

    def additions():
        if max_influencers is not None and len(place) >= max_influencers:
            return []
        joining = [z for z in allowed_labels(labels, required, forbidden, candidates) if z not in place]
        return [(("add", z, k), score_of({**place, z: k})) for z in joining for k in lookbacks]

    def removals():
        return [
            (("remove", z, place[z]), score_of({u: k for u, k in place.items() if u != z}))
            for z in sorted(place)
            if z not in required
        ]

    trace, current = [], -math.inf
    if not additions():
        current = score_of(place)
    while True:
        moves = additions() if current == -math.inf else changes() + additions()
        if not moves or not improves(first_best(moves)[1], current):
            break
        (action, z, k), current = first_best(moves)
        place = {**place, z: k}
        trace.append((action, z, k, current))
    while True:
        moves = removals() + changes()
        if not moves or not improves(first_best(moves)[1], current):
            break
        (action, z, k), current = first_best(moves)
        place = {u: j for u, j in place.items() if u != z} if action == "remove" else {**place, z: k}
        trace.append((action, z, k, current))
    return place, current, trace
