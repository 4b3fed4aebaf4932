"""How often a target follows an influencer, counted the slow and obvious way. Standard library only.

A *case* is ``(attributes, ticks, is_complete)``: a set of names that hold for the whole case, a list of ticks
``(time, labels)``, oldest first, and whether the case is over or was cut off. A *span* is
``(size, in_time)``: a number of ticks, or a time; a size of None has no limit.
"""

END = "(end of case)"


def cases_of(sequences):
    """Lists of labels as cases: one that ends in END is complete."""
    found = []
    for labels in sequences:
        is_complete = bool(labels) and labels[-1] == END
        events = labels[:-1] if is_complete else labels
        found.append((frozenset(), [(i, {label}) for i, label in enumerate(events)], is_complete))
    return found


def lag_of(case, i, j, span):
    """From tick i to tick j, in what a span is measured in."""
    return case[1][j][0] - case[1][i][0] if span[1] else j - i


def first_after(case, i, x, delay, lookback):
    """How long after tick i the first x comes that is in the window; None if there is none."""
    _, ticks, is_complete = case
    if x == END:
        return 1 if is_complete and i == len(ticks) - 1 else None
    for j in range(i + 1, len(ticks)):
        late_enough = lag_of(case, i, j, delay) > delay[0]
        soon_enough = lookback[0] is None or lag_of(case, i, j, lookback) <= lookback[0]
        if late_enough and soon_enough and x in ticks[j][1]:
            return lag_of(case, i, j, lookback)
    return None


def occurrences(cases, weights, stands, x, delay, lookback):
    """For every tick that ``stands`` picks: weight, lag to x or None, what comes later, if that is enough."""
    if x == END:
        delay, lookback = (0, False), (1, False)
    found = []
    for case, weight in zip(cases, weights, strict=True):
        _, ticks, is_complete = case
        for i, (_, labels) in enumerate(ticks):
            if stands(labels):
                later = lag_of(case, i, len(ticks) - 1, lookback)
                is_enough = is_complete or (lookback[0] is not None and later >= lookback[0])
                found.append((weight, first_after(case, i, x, delay, lookback), later, is_enough))
    return found


def product_limit(found):
    """The share that is followed, by Kaplan and Meier."""
    left = 1.0
    for time in sorted({lag for _, lag, _, _ in found if lag is not None}):
        hits = sum(w for w, lag, _, _ in found if lag == time)
        risk = 0
        for w, lag, later, is_enough in found:
            leaves = lag if lag is not None else float("inf") if is_enough else later
            risk += w if leaves >= time else 0
        if risk:
            left *= 1 - hits / risk
    return 1 - left


def following(cases, weights, z, x, delay, lookback, attributes=()):
    """All numbers of an edge, by the names of the fields of an influence."""

    def contains(case, label):
        if label in attributes:
            return label in case[0]
        return case[2] if label == END else any(label in labels for _, labels in case[1])

    def total(picks):
        return sum(w for case, w in zip(cases, weights, strict=True) if picks(case))

    found = {"cases_with": total(lambda case: contains(case, z)), "cases_both": None, "cases_first": None}
    if z in attributes:
        found |= {"follow_rule": "counted", "left_out": 0}
        for name, has in (("", True), ("_other", False)):
            n = total(lambda case, has=has: contains(case, z) == has)
            hits = total(lambda case, has=has: contains(case, z) == has and contains(case, x))
            found |= {f"occurrences{name}": n, f"followed{name}": hits}
            found[f"follow_rate{name}"] = hits / n if n else None
        found["cases_followed"] = found["followed"]
        return found

    def is_followed(case):
        return any(lag is not None for _, lag, _, _ in occurrences([case], [1], own, x, delay, lookback))

    def own(labels):
        return z in labels

    def other(labels):
        return z not in labels

    found["cases_followed"] = total(is_followed)
    if z != x and x != END:

        def first(case, label):
            return min(i for i, (_, labels) in enumerate(case[1]) if label in labels)

        def both(case):
            return contains(case, z) and contains(case, x)

        found["cases_both"] = total(both)
        found["cases_first"] = total(lambda case: both(case) and first(case, z) < first(case, x))
    mine = occurrences(cases, weights, own, x, delay, lookback)
    n, enough = sum(w for w, _, _, _ in mine), sum(w for w, _, _, is_enough in mine if is_enough)
    rule = "counted" if enough == n else "complete windows" if 2 * enough >= n else "product-limit"
    found |= {"follow_rule": rule, "left_out": n - enough if rule == "complete windows" else 0}
    for name, stands in (("", own), ("_other", other)):
        each = occurrences(cases, weights, stands, x, delay, lookback)
        if rule != "product-limit":
            each = [one for one in each if one[3]]
        n, hits = sum(w for w, _, _, _ in each), sum(w for w, lag, _, _ in each if lag is not None)
        found |= {f"occurrences{name}": n, f"followed{name}": hits}
        rate = (product_limit(each) if rule == "product-limit" else hits / n) if n else None
        found[f"follow_rate{name}"] = rate
    return found
