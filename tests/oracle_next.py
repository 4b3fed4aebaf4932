"""The log loss of the next event of single-label models, counted by hand; the standard library alone."""

import math

import oracle


def single_label_chains(train, dev, alphas, order):
    """For each label of train a chain of "this label or not": a function from the past to a probability.

    Alpha is that with the largest log-likelihood on dev, the first of equals.
    """

    def state(past):
        return oracle.chain_state(past, order)

    found = {}
    for target in sorted({label for sequence in train for label in sequence}):
        counts = oracle.counts(train, (target,), state)
        best = -math.inf, None
        for alpha in alphas:
            rows = oracle.predict(dev, (target,), state, counts, alpha)
            came = [label == target for sequence in dev for label in sequence]
            total = sum(math.log(row[0] if hit else row[1]) for row, hit in zip(rows, came, strict=True))
            if total > best[0]:
                estimates = oracle.theta(counts, alpha)
                best = total, lambda past, known=estimates: known.get(state(past), [0.5, 0.5])[0]
        found[target] = best[1]
    return found


def next_event_log_loss(sequences, models):
    """Minus the mean logarithm of the share that the label that came has in the sum of all labels.

    ``models`` are functions from the past, one for each label; events of other labels are left out.

    >>> round(next_event_log_loss([["a"], [], ["b", "z"]], {"a": lambda past: 0.3, "b": lambda past: 0.9}), 4)
    0.837
    """
    logs = []
    for sequence in sequences:
        for position, label in enumerate(sequence):
            if label in models:
                each = {name: model(sequence[:position]) for name, model in models.items()}
                logs.append(math.log(each[label] / sum(each.values())))
    return -sum(logs) / len(logs)
