"""Outcomes of whole cases, and of open ones, told by hand: a slow twin, of the standard library alone.

A *case* is as in :mod:`oracle_ticks`: ``(attributes, ticks)``, a tick being ``(time, labels)``.
"""

import oracle_ticks

#: A state that fewer cases were in at a moment is also looked up at the moments around it.
ENOUGH = 20


def hit_of(ticks, result, asked):
    """Whether a whole case has the outcome; None: not known.

    ``asked`` has settings of ``OutcomeModel``, ``result`` is the value of the column that it may name.
    """
    if "outcome" in asked:
        return None if result is None else result == asked["value"]
    if "ends_with" in asked:
        return bool(ticks) and asked["ends_with"] in ticks[-1][1]
    return any(asked["contains"] in labels for _, labels in ticks)


def told(ticks, result, asked, thing="event"):
    """Whether a case has the outcome, the ticks that are looked at, and why it is left out, if it is."""
    hit, after = hit_of(ticks, result, asked), asked.get("after")
    if hit is None:
        return None, ticks, "no outcome known"
    if after is None:
        return hit, ticks, None
    if isinstance(after, str):
        age = int(after)
        seen = [(time, labels) for time, labels in ticks if time - ticks[0][0] <= age]
        ended, moment = not ticks or ticks[-1][0] - ticks[0][0] < age, f"{age} unit{'s' * (age != 1)}"
        before = f"the age of {moment}"
    else:
        seen, ended = ticks[:after], len(ticks) < after
        moment, before = f"{after} {thing}{'s' * (after != 1)}", f"{thing} {after}"
    if any(asked.get("contains") in labels for _, labels in seen):
        return hit, seen, f"reached it within {moment}"
    return hit, seen, f"ended before {before}" if ended else None


def states_of_beginnings(case, influencers, lookbacks, delay, kind):
    """The state after each beginning of a case, the empty one first, at the time of its last tick."""
    attributes, ticks = case
    found = []
    for n in range(len(ticks) + 1):
        now = ticks[n - 1][0] if n else 0
        asked_then = (attributes, [*ticks[:n], (now, set())])
        found.append(oracle_ticks.state(asked_then, n, influencers, lookbacks, delay, kind))
    return found


def open_cases(cases):
    """``[moment][state]``: how many cases were open, with the outcome and without.

    ``cases`` are the states after each beginning, whether the case has the outcome, its weight, and after how
    many ticks it has reached the outcome, None if it never shows.
    """
    found = []
    for states, hit, weight, reached in cases:
        for n, state in enumerate(states):
            if hit is None or (reached is not None and reached <= n):
                continue
            while len(found) <= n:
                found.append({})
            found[n].setdefault(state, [0, 0])[not hit] += weight
    return found


def share_at(counted, n, state):
    """Cases with the outcome and without, in a state after n ticks; where few, from the moments around."""
    n = min(n, len(counted) - 1)
    width, counts = 1, counted[n].get(state, [0, 0])
    while sum(counts) < ENOUGH and width < 2 * len(counted):
        near = [each.get(state, [0, 0]) for each in counted[max(0, n - width) : n + width + 1]]
        yes, no, most = sum(c[0] for c in near), sum(c[1] for c in near), max(map(sum, near))
        counts = [yes / (yes + no) * most, no / (yes + no) * most] if most else [0, 0]
        width *= 2
    return counts
