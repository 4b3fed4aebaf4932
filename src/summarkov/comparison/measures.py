"""A trial: fit a contender on train, choose its settings on dev for each target, measure it on test."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.comparison.contenders import Contender, Predictor
from summarkov.comparison.learners import is_target
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.rows import cuts
from summarkov.models.prediction import binned, hits
from summarkov.typing import BoolArray, FloatArray

#: How far outside 0 to 1 a probability may be.
_ROUNDING = 1e-9
#: Rows to ask about at once, and numbers to keep of them, at most (unless one sequence has more).
_MOST_ROWS, _MOST_CELLS = 1 << 22, 10**8


@dataclass(frozen=True)
class Split:
    """Train, dev and test over the vocabulary of train; other labels have the code -1."""

    train: EventSequences
    dev: EventSequences
    test: EventSequences


@dataclass(frozen=True)
class Chosen:
    """What was chosen for one target, and how it did on all test sequences."""

    target: str
    settings: dict[str, Any]
    dev_log_likelihood: float
    influencers: tuple[str, ...] | None
    log_likelihood: float  # summed over positions; -inf where what happened was ruled out
    brier: float  # mean of (p - [it occurred])^2 over positions
    reliability: list[list[float]]  # one row per bin: positions, sum of p, occurrences

    @property
    def n_influencers(self) -> int | None:
        """How many there are; None where that means nothing."""
        return None if self.influencers is None else len(self.influencers)


@dataclass(frozen=True)
class Tuned:
    """One contender on one split: the settings that were chosen, and how they did on test."""

    name: str
    chosen: tuple[Chosen, ...]
    by_sequence: FloatArray  # log-likelihood of each test sequence, mean over the targets
    seconds: float
    top_1: float | None
    top_3: float | None
    next_event_log_loss: float | None = None
    one_for_all: bool = False  # whether all targets have the same settings

    @property
    def n_positions(self) -> int:
        """The number of positions in the test part: events, or ticks where events happened together."""
        return int(sum(row[0] for row in self.chosen[0].reliability))

    @property
    def log_likelihood(self) -> float:
        """Test log-likelihood, mean over the targets: a cell of the paper's tables."""
        return float(np.mean([each.log_likelihood for each in self.chosen]))


def total_of(each: Sequence[Tuned]) -> float:
    """The log-likelihood of a contender, mean over splits."""
    return float(np.mean([tuned.log_likelihood for tuned in each]))


# ---------------------------------------------------------------------- probabilities


def pieces(events: EventSequences, n_targets: int) -> list[EventSequences]:
    """Events in pieces of whole sequences, small enough to keep the probabilities of all targets."""
    most = min(_MOST_ROWS, _MOST_CELLS // max(1, n_targets))
    return [events] if events.n_rows <= most else [events[a:b] for a, b in cuts(events.offsets, most)]


class Answer(NamedTuple):
    """What a predictor said of a target, position by position, and what it comes to for each sequence."""

    p: FloatArray
    occurred: BoolArray
    by_sequence: FloatArray


def ask(contender: str, predictor: Predictor, events: EventSequences, target: str) -> Answer:
    """The probabilities of a target, refused if they are none.

    The log-likelihood is minus infinity, without a warning, where what happened was given no probability.
    """
    p, n = np.asarray(predictor.probability(events, target), dtype=np.float64), events.n_ticks
    if p.shape != (n,):
        raise SettingError(
            f"{contender} must give {target!r} one probability per position, {n} of them, not an "
            f"array of shape {p.shape}"
        )
    if not ((p >= -_ROUNDING) & (p <= 1 + _ROUNDING)).all():
        raise SettingError(f"{contender} gives {target!r} a probability that is not between 0 and 1")
    p, occurred = np.clip(p, 0.0, 1.0), is_target(events, target)
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    if events.moments is not None:
        sequence = sequence[events.moments.starts]
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(occurred, p, 1 - p))
    return Answer(p, occurred, np.bincount(sequence, weights=logs, minlength=len(events)).astype(float))


def logs_among_all(codes: npt.NDArray[np.integer], p: FloatArray) -> FloatArray:
    """Logarithms of what came, where ``p[i, m]`` is divided by the sum of its row; without events of code -1.

    They are minus infinity, without a warning, where what came was given no probability at all.

    >>> logs_among_all(np.array([0, -1, 1]), np.array([[0.5, 1.5], [1, 1], [0, 0]])).round(4).tolist()
    [-1.3863, -inf]
    """
    known = np.flatnonzero(codes >= 0)
    own, total = p[known, codes[known]], p.sum(axis=1)[known]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.divide(own, total, out=np.zeros_like(own), where=own > 0)))


# ---------------------------------------------------------------------- a trial


class _Best(NamedTuple):
    """What is best on dev for one target, so far."""

    dev: float
    settings: dict[str, Any]
    predictor: Predictor


def tune(contender: Contender, split: Split, targets: Sequence[str]) -> Tuned:
    """Choose a contender's settings for each target by log-likelihood on dev; ties go to the first.

    One that says ``one_for_all = True`` has the same settings for all targets, those with the largest sum of
    their log-likelihoods.

    Test is predicted once, with what is best on dev, and has no say in the choice. How well the
    next event is told is measured where every label that occurs in train is a target.
    """
    start, best = time.perf_counter(), dict[str, _Best]()
    one_for_all: bool = getattr(contender, "one_for_all", False)
    dev = pieces(split.dev, len(targets))
    for settings, predictor in contender.fit_each(split.train, targets):
        sums: dict[str, list[float]] = {target: [] for target in targets}
        for part in dev:  # one after the other, so that what predictors keep of a piece is at hand
            for target in targets:
                sums[target].append(float(ask(contender.name, predictor, part, target).by_sequence.sum()))
        on_dev = {target: math.fsum(each) for target, each in sums.items()}
        if best and one_for_all and sum(on_dev.values()) <= sum(one.dev for one in best.values()):
            continue
        for target, found in on_dev.items():
            if one_for_all or target not in best or found > best[target].dev:
                best[target] = _Best(found, plain(settings), predictor)
    if not best:
        raise SettingError(f"{contender.name} has no settings to choose from, or there are no targets")
    chosen, by_sequence, top = _on_test(contender.name, split, best)
    seconds = time.perf_counter() - start
    return Tuned(contender.name, chosen, by_sequence, seconds, *top, one_for_all)


def _on_test(
    name: str, split: Split, best: Mapping[str, _Best]
) -> tuple[tuple[Chosen, ...], FloatArray, tuple[float | None, float | None, float | None]]:
    """The targets as they do on test, each test sequence, and how well the next event is told."""
    train, test, targets = split.train, split.test, sorted(best)
    occurring = {x for x, n in zip(train.labels, train.label_counts.tolist(), strict=True) if n}
    in_a_row = test.attributes is None and (test.moments is None or not test.moments.has_ticks)
    next_event = in_a_row and occurring <= set(best)
    column_of = np.array([*(targets.index(x) if x in best else -1 for x in test.labels), -1])
    sums: dict[str, list[tuple[float, float, FloatArray]]] = {target: [] for target in best}
    by_sequence, told = (
        [],
        np.zeros(4),
    )  # told: label most probable, among three, events that are targets, logs
    for part in pieces(test, len(best)):
        together, mean = np.empty((part.n_rows, len(targets) if next_event else 0)), np.zeros(len(part))
        for at, target in enumerate(targets):
            p, occurred, each = ask(name, best[target].predictor, part, target)
            bins = binned(p, np.ones(len(p), np.int64), occurred.astype(np.int64))
            sums[target].append((float(each.sum()), float(((p - occurred) ** 2).sum()), bins))
            mean += each
            if next_event:
                together[:, at] = p
        by_sequence.append(mean / len(targets))
        if next_event:
            codes = column_of[part.codes]
            logs = logs_among_all(codes, together)
            told += (hits(codes, together, 1), hits(codes, together, 3), len(logs), logs.sum())
    n = max(1, test.n_ticks)
    chosen = []
    for target, one in best.items():
        logs_of, squares, tables = zip(*sums[target], strict=True)
        told_of = (math.fsum(logs_of), math.fsum(squares) / n, np.sum(tables, axis=0).tolist())
        found = one.predictor.influencers(target)
        chosen.append(Chosen(target, one.settings, one.dev, found, *told_of))
    top: tuple[float | None, float | None, float | None] = (None, None, None)
    if next_event:
        loss = float(abs(told[3]) / told[2]) if told[2] else None
        top = (float(told[0] / n), float(told[1] / n), loss)
    return tuple(chosen), np.concatenate(by_sequence)[np.argsort(test.sequence_keys())], top


def plain(value: Any) -> Any:
    """Settings as JSON can hold them.

    >>> plain({"lookback": np.int64(5), "grid": (1, float("inf")), "of": BaseException})
    {'lookback': 5, 'grid': [1, 'inf'], 'of': "<class 'BaseException'>"}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return repr(value)
