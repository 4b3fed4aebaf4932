"""How sequences end and what had happened by then, told by hand: a slow twin, of the standard library alone.

A *case* is as in :mod:`oracle_ticks`: ``(attributes, ticks)``, a tick being ``(time, labels)``.
"""

import oracle_ticks


def told(ticks, result, asked):
    """Whether a case has the outcome (None: not known), and the ticks that are looked at to tell it.

    ``asked`` has settings of ``OutcomeModel``, ``result`` is the value of the column that it may name.
    """
    after = asked.get("after")
    if "outcome" in asked:
        hit = None if result is None else result == asked["value"]
    elif "ends_with" in asked:
        hit, ticks = asked["ends_with"] in ticks[-1][1], ticks[:-1]
    else:
        reached = [asked["reaches"] in labels for _, labels in ticks]
        hit = None if any(reached[:after]) or len(ticks) <= after else any(reached)
    if after is not None:
        hit, ticks = (hit if len(ticks) >= after else None), ticks[:after]
    return hit, ticks


def states_of_beginnings(case, influencers, lookbacks, delay, kind):
    """The state after each beginning of a case, the empty one first, at the time of its last tick."""
    attributes, ticks = case
    found = []
    for n in range(len(ticks) + 1):
        now = ticks[n - 1][0] if n else 0
        asked_then = (attributes, [*ticks[:n], (now, set())])
        found.append(oracle_ticks.state(asked_then, n, influencers, lookbacks, delay, kind))
    return found
