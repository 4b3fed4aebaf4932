"""Outcomes: log loss beside logistic regression and a decision tree; and what ticks and times cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import summarkov as sm
from benchmarks.timing import Row
from summarkov.events.moments import NANOSECONDS, Moments

LABELS = [f"e{j}" for j in range(12)]
Sequences = list[list[str]]


def both(s: list[str]) -> float:
    """Two events together make it likely."""
    return 0.7 if "e1" in s and "e2" in s else 0.1


def in_order(s: list[str]) -> float:
    """One before the other makes it likely."""
    return 0.7 if "e1" in s and "e2" in s and s.index("e1") < s.index("e2") else 0.1


def one(s: list[str]) -> float:
    """Each of three events makes it a little likelier."""
    return 0.1 + 0.2 * sum(z in s for z in ("e1", "e2", "e3"))


def rows() -> Iterator[Row]:
    """Made data with known truth, half of it to learn from; then what ticks and times cost."""
    worlds: tuple[tuple[str, Callable[[list[str]], float]], ...] = (
        ("two events together", both),
        ("one event before another", in_order),
        ("three events, each a little", one),
    )
    for name, chance in worlds:
        sequences, y = _drawn(chance)
        n = len(sequences) // 2
        train, test = sequences[:n], sequences[n:]
        found = {
            "BSuMM": _summm(sm.BSuMM(lookback=None), train, y[:n], test),
            "OSuMM": _summm(sm.OSuMM(lookback=None, mask="first"), train, y[:n], test),
            "TreeSuMM": _summm(sm.TreeSuMM(), train, y[:n], test),
            "logistic regression": _sklearn(
                LogisticRegressionCV(Cs=10, max_iter=2000, scoring="neg_log_loss"), train, y[:n], test
            ),
            "decision tree": _sklearn(
                GridSearchCV(
                    DecisionTreeClassifier(random_state=0),
                    {"min_samples_leaf": [5, 10, 20, 40, 80]},
                    scoring="neg_log_loss",
                ),
                train,
                y[:n],
                test,
            ),
            "truth": np.array([chance(s) for s in test]),
        }
        losses = {kind: _loss(p, y[n:]) for kind, p in found.items()}
        told = ", ".join(f"{kind} {loss:.4f}" for kind, loss in losses.items())
        yield Row(f"log loss of an outcome, {name}", told, "at most that of the others")
    yield from _costs()


def _drawn(chance: Callable[[list[str]], float]) -> tuple[Sequences, np.ndarray]:
    rng = np.random.default_rng(0)
    sequences = [[LABELS[j] for j in rng.integers(0, 12, rng.integers(4, 16))] for _ in range(4000)]
    return sequences, np.array([rng.random() < chance(s) for s in sequences])


def _summm(
    model: sm.BSuMM | sm.OSuMM | sm.TreeSuMM, train: Sequences, y: np.ndarray, test: Sequences
) -> np.ndarray:
    """The probabilities at the ends of whole sequences."""
    fitted = sm.OutcomeModel(model, value="True").fit(train, y.tolist())
    return fitted.predict_ended(test)


def _presence(sequences: Sequences) -> np.ndarray:
    return np.array([[z in s for z in LABELS] for s in sequences], float)


def _sklearn(model: object, train: Sequences, y: np.ndarray, test: Sequences) -> np.ndarray:
    return model.fit(_presence(train), y).predict_proba(_presence(test))[:, 1]


def _loss(p: np.ndarray, y: np.ndarray) -> float:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-np.log(np.where(y, p, 1 - p)).mean())


def _costs() -> Iterator[Row]:
    """A graph of a million events, plain, as ticks, and with windows in time."""
    rng = np.random.default_rng(0)
    n, length = 1_000_000, 50
    codes, offsets = np.zeros(n, np.int32), np.arange(0, n + 1, length)
    labels = [f"l{j:02d}" for j in range(20)]
    codes[:] = rng.integers(0, 20, n)
    after = np.flatnonzero(codes[:-1] < 5) + 1  # each of five labels is followed by the next one at times
    after = after[rng.random(len(after)) < 0.3]
    codes[after] = codes[after - 1] + 5
    starts = np.arange(n) % 2 == 0
    hours = np.tile(np.arange(length), n // length) * 3600 * 10**9
    times = hours + rng.integers(0, 3 * 10**12, n)
    each = np.ones(n, bool)
    data = {
        "plain": (sm.EventSequences(codes, offsets, labels), 4),
        "ticks": (_made(codes, offsets, labels, starts, None), 2),
        "one event per hour": (_made(codes, offsets, labels, each, hours), "4h"),
        "events at any time": (_made(codes, offsets, labels, each, times), "4h"),
    }
    spent: dict[str, list[float]] = {kind: [] for kind in data}
    for _ in range(3):
        for kind, (events, lookback) in data.items():
            began = time.process_time()
            sm.InfluenceGraph(sm.BSuMM(lookback=lookback)).fit(events)
            spent[kind].append(time.process_time() - began)
    best = {kind: min(each) for kind, each in spent.items()}
    for kind in list(data)[1:]:
        told = f"{best[kind] / best['plain']:.2f}x ({best[kind]:.2f} s and {best['plain']:.2f} s)"
        name = "ticks, two ticks back" if kind == "ticks" else f"{kind}, 4h back"
        yield Row(f"graph of 10^6 events as {name}, by plain, four events back", told, "at most 1.3x")


def _made(
    codes: np.ndarray, offsets: np.ndarray, labels: list[str], starts: np.ndarray, times: np.ndarray | None
) -> sm.EventSequences:
    codes, offsets, moments = Moments.made(codes, offsets, starts, times, NANOSECONDS)
    return sm.EventSequences(codes, offsets, labels, moments=moments)
