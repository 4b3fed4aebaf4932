"""The result of a comparison: a table, and which differences are differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from summarkov.errors import SettingError, nearest
from summarkov.frames import Listed, Records, Sheet
from summarkov.models.prediction import ReliabilityBin, reliability_bins
from summarkov.store import finite
from summarkov.typing import FloatArray
from summarkov.wording import plural


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
    def log_likelihood(self) -> float:
        """Test log-likelihood, mean over the targets: a cell of the paper's tables."""
        return float(np.mean([each.log_likelihood for each in self.chosen]))


@dataclass(frozen=True)
class Line:
    """One contender, over all splits.

    Attributes
    ----------
    name : str
        The contender.
    log_likelihood : float
        On the test sequences, the mean over targets and splits; -inf if what happened was ruled out.
    log_loss, brier : float
        Of "this label or not", the mean over targets and positions: minus the logarithm of the probability
        of what happened, and the squared error.
    top_1, top_3 : float or None
        How often the next event was the most likely one, or among the three most likely ones; None where
        no next event is predicted.
    next_event_log_loss : float or None
        Minus the mean logarithm of the probability of the label that came, among labels that occur in train;
        the probabilities of all labels are divided by their sum. None as for ``top_1``.
    n_influencers : float or None
        The mean number of influencers.
    seconds : float
        What fitting and choosing took.
    difference, interval : float, pair of float
        Of the log-likelihood, to the best contender, and its 95% interval.
    verdict : str
        "best", "worse", "no difference", or "refuted".
    """

    name: str
    log_likelihood: float
    log_loss: float
    brier: float
    top_1: float | None
    top_3: float | None
    next_event_log_loss: float | None
    n_influencers: float | None
    seconds: float
    difference: float
    interval: tuple[float, float]
    verdict: str


class Comparison(Listed):
    """Contenders on the same test sequences, sorted from best to worst, in ``lines``.

    One is "worse" than the best only if the 95% interval of the difference in log-likelihood, from a paired
    bootstrap over the test sequences, lies entirely below 0. One that gave no probability at all to something
    that happened is "refuted".
    """

    listed = ("lines",)

    def __init__(
        self,
        results: Sequence[Sequence[Tuned]],
        n_test: Sequence[int],
        *,
        unit: Literal["event", "tick"] = "event",
        sequences: Sequence[npt.ArrayLike] | None = None,
        n_bootstrap: int = 2000,
        seed: int = 0,
    ) -> None:
        """``results[c][s]`` is contender c on split s, with ``n_test[s]`` test positions of this ``unit``.

        ``sequences[s]`` has the keys of its test sequences, by which those of several splits are the same.
        """
        self.results = [tuple(each) for each in results]
        self.n_test, self.unit = tuple(n_test), unit
        self.sequences = sequences
        self.n_bootstrap, self.seed = n_bootstrap, seed
        self._sorted = sorted(self.results, key=lambda each: (-_total(each), each[0].name))
        self.lines = Records((self._line(each, self._sorted[0]) for each in self._sorted), Line)

    def _line(self, each: tuple[Tuned, ...], best: tuple[Tuned, ...]) -> Line:
        total = _total(each)
        if total == -math.inf:
            difference, interval, verdict = -math.inf, (-math.inf, -math.inf), "refuted"
        elif each is best:
            difference, interval, verdict = 0.0, (0.0, 0.0), "best"
        else:
            difference, interval = self._apart(each, best)
            verdict = "worse" if interval[1] < 0 else "no difference"
        chosen = [one for tuned in each for one in tuned.chosen]
        sizes = [one.n_influencers for one in chosen if one.n_influencers is not None]
        return Line(
            name=each[0].name,
            log_likelihood=total,
            log_loss=float(
                np.mean([-t.log_likelihood / max(n, 1) for t, n in zip(each, self.n_test, strict=True)])
            ),
            brier=float(np.mean([one.brier for one in chosen])),
            top_1=_mean([tuned.top_1 for tuned in each]),
            top_3=_mean([tuned.top_3 for tuned in each]),
            next_event_log_loss=_mean([tuned.next_event_log_loss for tuned in each]),
            n_influencers=float(np.mean(sizes)) if sizes else None,
            seconds=float(np.sum([tuned.seconds for tuned in each])),
            difference=difference,
            interval=interval,
            verdict=verdict,
        )

    def reliability(self, name: str) -> Records[ReliabilityBin]:
        """Calibration of one contender: mean prediction and share that occurred, per bin of predictions."""
        by_name = {each[0].name: each for each in self.results}
        if name not in by_name:
            raise SettingError(f"there is no contender {name!r}{nearest(name, by_name)}")
        return reliability_bins([one.reliability for tuned in by_name[name] for one in tuned.chosen])

    def calibration_error(self, name: str) -> float:
        """Mean absolute difference between predicted and occurred over the bins, weighted by positions."""
        bins = self.reliability(name)
        n = sum(each.n for each in bins)
        return sum(each.n * abs(each.predicted - each.occurred) for each in bins) / max(n, 1)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; None in place of a number that is infinite."""
        return {
            "format": "summarkov-comparison",
            "version": 1,
            "splits": len(self.n_test),
            f"test_{self.unit}s": list(self.n_test),
            "lines": [finite(vars(line)) for line in self.lines],
            "calibration": {
                line.name: [each.to_dict() for each in self.reliability(line.name)] for line in self.lines
            },
            "targets": {
                each[0].name: [
                    {
                        "target": one.target,
                        "settings": finite(one.settings),
                        "dev_log_likelihood": finite(one.dev_log_likelihood),
                        "test_log_likelihood": finite(one.log_likelihood),
                        "influencers": one.n_influencers,
                        "split": s,
                    }
                    for s, tuned in enumerate(each)
                    for one in tuned.chosen
                ]
                for each in self.results
            },
        }

    def _apart(self, each: Sequence[Tuned], other: Sequence[Tuned]) -> tuple[float, tuple[float, float]]:
        """By how much one contender is better than another, with its 95% interval."""
        apart = [mine.by_sequence - theirs.by_sequence for mine, theirs in zip(each, other, strict=True)]
        difference = float(np.mean([d.sum() for d in apart]))
        return difference, paired_interval(apart, self.n_bootstrap, self.seed, self.sequences)

    @property
    def settings(self) -> dict[str, list[dict[str, Any]]]:
        """What was chosen on each split, for each contender that has the same settings for all targets."""
        same = (each for each in self._sorted if each[0].one_for_all)
        return {each[0].name: [tuned.chosen[0].settings for tuned in each] for each in same}

    def summary(self) -> Sheet:
        """The lines, as a table that prints well and that notebooks show in HTML."""
        columns: list[tuple[str, Callable[[Line], Any], str]] = [
            ("model", lambda line: line.name, ""),
            ("log-likelihood", lambda line: line.log_likelihood, ".2f"),
            ("to the best (95% interval)", _difference, ""),
            (f"log loss per {self.unit} and label", lambda line: line.log_loss, ".4f"),
            ("Brier", lambda line: line.brier, ".4f"),
            ("calibration error", lambda line: self.calibration_error(line.name), ".4f"),
            ("log loss of the next event", lambda line: line.next_event_log_loss, ".4f"),
            ("top 1", lambda line: line.top_1, ".1%"),
            ("top 3", lambda line: line.top_3, ".1%"),
            ("influencers", lambda line: line.n_influencers, ".1f"),
            ("seconds", lambda line: line.seconds, ".1f"),
            ("verdict", lambda line: line.verdict, ""),
        ]
        rows = [
            ["" if (value := of(line)) is None else f"{value:{form}}" for _, of, form in columns]
            for line in self.lines
        ]
        head = [name for name, _, _ in columns]
        tested = plural(sum(self.n_test), f"test {self.unit}")
        return Sheet(f"{plural(len(rows), 'contender')} on {tested}, the best first", head, rows, len(rows))


def _difference(line: Line) -> str:
    low, high = line.interval
    if line.verdict == "best":
        return ""
    return f"{line.difference:+.2f}" + (f" ({low:+.2f} to {high:+.2f})" if math.isfinite(high - low) else "")


def _total(each: Sequence[Tuned]) -> float:
    """The log-likelihood of a contender, mean over splits."""
    return float(np.mean([tuned.log_likelihood for tuned in each]))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def paired_interval(
    differences: Sequence[FloatArray],
    n_bootstrap: int,
    seed: int,
    sequences: Sequence[npt.ArrayLike] | None = None,
) -> tuple[float, float]:
    r"""95% interval of the mean over splits of the summed differences, by resampling test sequences.

    The Bayesian bootstrap: sequence i gets a weight :math:`w_i`, exponentially distributed, in every split
    where it is tested, so that more splits of the same data do not pass for more data.

    .. math:: \bar n \frac{\sum_i w_i \sum_s d_{si}}{\sum_i w_i m_i}

    with :math:`m_i` the number of splits that test i, and :math:`\bar n` the mean number of test sequences.
    The interval is then widened about the observed difference as Student's t interval is wider than the
    normal one. From a single sequence nothing can be said.

    References
    ----------
    Rubin: The Bayesian Bootstrap, Annals of Statistics 9, 1981. On intervals that are too narrow in small
    samples: Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69, 2015.
    """
    from scipy.special import stdtrit

    if sequences is None:
        ends = np.cumsum([0, *(len(each) for each in differences)])
        sequences = [np.arange(start, stop) for start, stop in pairwise(ends.tolist())]
    _, which = np.unique(np.concatenate([np.asarray(each) for each in sequences]), return_inverse=True)
    sums = np.bincount(which, weights=np.concatenate(differences))
    times = np.bincount(which)
    n, splits = len(times), len(differences)
    if n < 2:
        return -math.inf, math.inf
    rng = np.random.default_rng(seed)
    draws = np.empty(n_bootstrap)
    rows = max(1, 10**6 // n)  # bounded memory however many sequences there are
    for start in range(0, n_bootstrap, rows):
        weights = rng.standard_exponential((min(rows, n_bootstrap - start), n))
        draws[start : start + rows] = (weights @ sums) / (weights @ times)
    observed = sums.sum() / splits
    low, high = np.quantile(draws * times.sum() / splits, [0.025, 0.975])
    wider = float(stdtrit(n - 1, 0.975)) / NormalDist().inv_cdf(0.975) * math.sqrt((n + 1) / (n - 1))
    return float(observed + wider * (low - observed)), float(observed + wider * (high - observed))
