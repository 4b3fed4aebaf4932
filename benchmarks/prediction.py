"""The joint model beside LightGBM, both tuned on dev: log loss of the next event, single labels, and seconds.

    python -m benchmarks.prediction DIR linkedin beigebooks [--split 0 1 2]

DIR holds NAME.train.jsonl, NAME.dev.jsonl and NAME.test.jsonl. With --split all sequences are pooled and
split anew (70/15/15) by that seed. LightGBM is not installed with the project: pip install lightgbm.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import summarkov as sm
from summarkov.baselines import JointContender
from summarkov.baselines.learners import positions, recency_features, window_features
from summarkov.kernels import Index

PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0, 3000.0)
ROUNDS = tuple(range(0, 301, 10))
LIGHTGBM = (
    {"num_leaves": 4, "min_data_in_leaf": 20, "lambda_l2": 10},
    {"num_leaves": 8, "min_data_in_leaf": 20, "lambda_l2": 10},
    {"num_leaves": 4, "min_data_in_leaf": 5, "lambda_l2": 1},
    {"num_leaves": 8, "min_data_in_leaf": 50, "lambda_l2": 100},
)
#: The labels that the paper's table of Timelines is about.
TIMELINES = [
    "armed conflict",
    "arrest",
    "aviation incident",
    "bomb attack",
    "disease outbreak",
    "economy",
    "election",
    "explosion",
    "military raid",
    "pathogen spread",
    "protest",
    "quarantine",
    "riot",
    "vaccination",
    "war",
]

Tuned = Iterator[tuple[str, Any]]


def outcomes(events: sm.EventSequences, targets: Sequence[str]) -> Any:
    """The target at every position, the number of targets for all other labels."""
    number = {label: at for at, label in enumerate(targets)}
    return np.array([number.get(label, len(targets)) for label in events.labels])[events.codes]


def joint(train: sm.EventSequences, targets: Sequence[str]) -> Tuned:
    """Settings, and what gives probabilities of all outcomes."""
    model = sm.JointSuMM(gamma=0.0, leaves=8, learning_rate=0.05)
    for settings, predictor in JointContender("joint", model, PENALTIES, ROUNDS).fit_each(train, targets):
        yield (
            str(settings),
            lambda events, fitted=predictor.fitted: fitted.at(
                Index(events.codes, events.offsets, len(events.labels))
            ),
        )


def features(events: sm.EventSequences) -> Any:
    """Lags, counts in several windows, the last labels and the position."""
    counts = [window_features(events, k, "counts").toarray() for k in (5, 10, 20, 500)]
    before, last = positions(events), np.full((events.n_events, 3), -1)
    for lag in (1, 2, 3):
        there = np.flatnonzero(before >= lag)
        last[there, lag - 1] = events.codes[there - lag]
    return np.hstack([recency_features(events, last_position=200), *counts, last])


def lightgbm(train: sm.EventSequences, dev: sm.EventSequences, targets: Sequence[str]) -> Tuned:
    """The same of LightGBM, stopped on dev and somewhat earlier and later."""
    import lightgbm as lgb

    n = len(targets) + (len(targets) < len(train.labels))
    fixed = {"objective": "multiclass", "num_class": n, "verbosity": -1, "num_threads": 1, "seed": 0}
    sampled = {"learning_rate": 0.05, "feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 1}
    for grid in LIGHTGBM:
        data = lgb.Dataset(features(train), outcomes(train, targets), params={"verbosity": -1})
        valid = lgb.Dataset(features(dev), outcomes(dev, targets), reference=data)
        stop = [lgb.early_stopping(25, verbose=False)]
        model = lgb.train({**fixed, **sampled, **grid}, data, 600, [valid], callbacks=stop)
        for trees in sorted({max(1, round(model.best_iteration * share)) for share in (0.5, 0.7, 0.85, 1)}):
            yield (
                f"{grid}, {trees} trees",
                lambda events, m=model, t=trees: m.predict(features(events), num_iteration=t),
            )


def single(p: Any, happened: Any) -> Any:
    """Log-likelihood of "this label or not", for each outcome."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    hit = np.arange(p.shape[1]) == happened[:, None]
    return np.where(hit, np.log(p), np.log1p(-p)).sum(axis=0)


def measure(tuned: Tuned, dev: Any, test: Any, targets: Sequence[str]) -> tuple[float, float, int]:
    """Log loss on test of what is best on dev; the mean over labels of their own best; settings tried."""
    best, each, tried = (np.inf, np.nan), {}, 0
    y, z = outcomes(dev, targets), outcomes(test, targets)
    for _, predict in tuned:
        tried += 1
        on_dev, on_test = predict(dev), None
        loss, singles = -np.log(on_dev[np.arange(len(y)), y]).mean(), single(on_dev, y)
        better = [x for x in range(len(targets)) if x not in each or singles[x] > each[x][0]]
        if loss < best[0] or better:
            on_test = predict(test)
            if loss < best[0]:
                best = loss, -np.log(on_test[np.arange(len(z)), z]).mean()
            found = single(on_test, z)
            each |= {x: (singles[x], found[x]) for x in better}
    return best[1], float(np.mean([found for _, found in each.values()])), tried


def main() -> None:
    """Print one row per data set, split and model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--split", type=int, nargs="*", default=[])
    given = parser.parse_args()
    print("| data | split | model | log loss per event | single labels | settings tried | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name in given.names:
        parts = [sm.read_events(given.folder / f"{name}.{part}.jsonl") for part in ("train", "dev", "test")]
        pooled = sm.read_events([sequence for part in parts for sequence in part.to_lists()])
        targets = TIMELINES if name == "timelines" else pooled.labels
        for seed in given.split or [None]:
            recoded = [part.recode(pooled.labels) for part in parts]
            train, dev, test = recoded if seed is None else pooled.split((0.7, 0.15, 0.15), seed=seed)
            for model in ("joint", "LightGBM"):
                start = time.perf_counter()
                tuned = joint(train, targets) if model == "joint" else lightgbm(train, dev, targets)
                loss, singles, tried = measure(tuned, dev, test, targets)
                took = time.perf_counter() - start
                where = "the paper's" if seed is None else seed
                print(f"| {name} | {where} | {model} | {loss:.4f} | {singles:.2f} | {tried} | {took:.0f} |")


if __name__ == "__main__":
    main()
