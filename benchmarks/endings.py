"""How real sequences go on: log loss of outcomes beside logistic regression and a decision tree.

Real events, from the folder that ``SUMMARKOV_DATA`` names; without it nothing is measured. Sequences are cut
into pieces of 20 events. Of pieces without a label among the first 10, does it come among the next 10? Where
sequences are short, is it the last? Asked of every label for which the answer is yes for 5% to 95% of the
training pieces; learned from train, measured on test.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import summarkov as sm
from benchmarks.timing import Row

#: Data sets, and whether their sequences are long enough to be cut.
SETS = {"diabetes": True, "stackoverflow": True, "linkedin": False}
PAST, PIECE = 10, 20
MODELS = {
    "BSuMM": sm.BSuMM(lookback=None, prior="base-rate"),
    "BSuMM, last 3": sm.BSuMM(lookback=3, prior="base-rate"),
    "CSuMM": sm.CSuMM(lookback=None, prior="base-rate"),
    "TreeSuMM": sm.TreeSuMM(),
}

Cases = list[tuple[list[str], bool]]


def rows() -> Iterator[Row]:
    """One row per data set: the mean log loss over all outcomes."""
    for name, is_long in SETS.items():
        folder = Path(os.environ.get("SUMMARKOV_DATA", ""))
        parts = [folder / f"{name}.{part}.jsonl" for part in ("train", "test")]
        if not all(path.exists() for path in parts):
            continue
        train, test = (_pieces(path, is_long) for path in parts)
        losses: dict[str, list[float]] = {}
        labels = sorted({label for piece in train for label in piece})
        for label in labels:
            known, asked = (_cases(pieces, label, is_long) for pieces in (train, test))
            share = np.mean([hit for _, hit in known]) if known else 0.0
            if not 0.05 <= share <= 0.95 or len(known) < 100 or not asked:
                continue
            for kind, p in _predicted(known, asked, labels, float(share)):
                losses.setdefault(kind, []).append(_loss(p, [hit for _, hit in asked]))
        means = {kind: float(np.mean(each)) for kind, each in losses.items()}
        told = ", ".join(f"{kind} {loss:.4f}" for kind, loss in means.items())
        n = len(losses["base rate"])
        asks = "come within the next 10" if is_long else "come last"
        yield Row(f"{name}: does a label {asks}, mean log loss of {n} labels", told, "whatever comes out")


def _pieces(path: Path, is_long: bool) -> list[list[str]]:
    sequences = [json.loads(line)["events"] for line in path.read_text(encoding="utf-8").splitlines()]
    if not is_long:
        return [sequence for sequence in sequences if len(sequence) > 1]
    cuts = ((sequence, at) for sequence in sequences for at in range(0, len(sequence) - PIECE + 1, PIECE))
    return [sequence[at : at + PIECE] for sequence, at in cuts]


def _cases(pieces: list[list[str]], label: str, is_long: bool) -> Cases:
    """What came before, and whether the label did after that."""
    if not is_long:
        return [(piece[:-1], piece[-1] == label) for piece in pieces]
    return [(piece[:PAST], label in piece[PAST:]) for piece in pieces if label not in piece[:PAST]]


def _predicted(
    known: Cases, asked: Cases, labels: list[str], share: float
) -> Iterator[tuple[str, np.ndarray]]:
    """The probability of each case that is asked about, by every method."""
    (train, y), test = zip(*known, strict=True), [past for past, _ in asked]
    yield "base rate", np.full(len(test), share)
    for kind, model in MODELS.items():
        fitted = sm.OutcomeModel(model, value="True").fit(list(train), [str(hit) for hit in y])
        yield kind, fitted.predict_ended(test, unknown="ignore")
    logistic = LogisticRegressionCV(Cs=10, max_iter=2000, scoring="neg_log_loss")
    tree = GridSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"min_samples_leaf": [5, 10, 20, 40, 80]},
        scoring="neg_log_loss",
    )
    for kind, most in (("presence", 1), ("counts", PIECE)):
        learned, new = (_counts(each, labels, most) for each in (train, test))
        yield f"logistic regression, {kind}", logistic.fit(learned, y).predict_proba(new)[:, 1]
        yield f"decision tree, {kind}", tree.fit(learned, y).predict_proba(new)[:, 1]


def _counts(pasts: object, labels: list[str], most: int) -> np.ndarray:
    return np.array([[min(past.count(label), most) for label in labels] for past in pasts], float)


def _loss(p: np.ndarray, y: list[bool]) -> float:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return float(-np.log(np.where(y, p, 1 - p)).mean())
