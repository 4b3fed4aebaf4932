"""The slow, obvious twin of counting where events happen together, at a time, in sequences with attributes.

Standard library only. A *case* is ``(attributes, ticks)``: a set of names that hold for the whole sequence,
and a list of ticks ``(time, labels)``, oldest first, ``labels`` being a set. A *span* is ``(size, in_time)``:
a number of ticks, or a time; a size of None has no limit.
"""


def occurrences(case, position, label, lookback, delay):
    """Ticks j in the window of ``position`` at which ``label`` occurred, oldest first.

    An attribute occurred before all ticks (-1), whatever the look-back and the delay.
    """
    attributes, ticks = case
    if label in attributes:
        return [-1]
    found = []
    for j in range(position):
        ago, time_ago = position - j, ticks[position][0] - ticks[j][0]
        late_enough = (time_ago if delay[1] else ago) > delay[0]
        recent = lookback[0] is None or (time_ago if lookback[1] else ago) <= lookback[0]
        if late_enough and recent and label in ticks[j][1]:
            found.append(j)
    return found


def state(case, position, influencers, lookbacks, delay, kind, cap=2):
    """The state of a position: binary, count, or ordinal ("last" or "first").

    Labels of one tick stand in the order of their names.
    """
    found = [occurrences(case, position, z, lookbacks[z], delay) for z in influencers]
    if kind == "binary":
        return tuple(int(bool(some)) for some in found)
    if kind == "count":
        return tuple(min(cap, len(some)) for some in found)
    pick = {"last": max, "first": min}[kind]
    order = sorted((pick(some), z) for z, some in zip(influencers, found, strict=True) if some)
    names = [z for _, z in order]
    return tuple(names.index(z) + 1 if z in names else 0 for z in influencers)


def counts(cases, weights, target, state_of):
    """N(x; s): at how many positions in each state each label of ``target`` occurred, and how many are left.

    The last number is that of positions less those before it, so that all of them add up to the positions.
    """
    found = {}
    for case, weight in zip(cases, weights, strict=True):
        for position, (_, labels) in enumerate(case[1]):
            row = found.setdefault(state_of(case, position), [0] * (len(target) + 1))
            row[-1] += weight
            for x, label in enumerate(target):
                if label in labels:
                    row[x] += weight
                    row[-1] -= weight
    return found
