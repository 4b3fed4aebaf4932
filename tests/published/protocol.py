"""The table protocol of the paper, for the tests of its numbers."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

import summarkov as sm

ALPHAS = (0.1, 1, 5, 10)
LOOKBACKS = (1, 5, 10)
GAMMAS = (0.1, 0.5, 1)


def parts(folder: Path, name: str) -> list[sm.EventSequences]:
    """Train, dev and test over one vocabulary."""
    files = [sm.read_events(folder / f"{name}.{part}.jsonl") for part in ("train", "dev", "test")]
    labels = sorted({label for events in files for label in events.labels})
    return [events.recode(labels) for events in files]


def table_cell(family: type, folder: Path, name: str, **settings: object) -> float:
    """Fit on train, choose settings per label on dev, report the mean log-likelihood on test."""
    train, dev, test = parts(folder, name)
    best: dict[str, tuple[float, float]] = {}
    for alpha, lookback, gamma in itertools.product(ALPHAS, LOOKBACKS, GAMMAS):
        template = family(lookback=lookback, alpha=alpha, gamma=gamma, **settings)
        graph = sm.InfluenceGraph(template).fit(train)
        for label, model in graph.models_.items():
            on_dev = model.log_likelihood(dev)
            if label not in best or on_dev > best[label][0]:
                best[label] = (on_dev, model.log_likelihood(test))
    return float(np.mean([on_test for _, on_test in best.values()]))
