"""The result of a comparison: a table, and which differences are differences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from summarkov.confidence import paired_interval
from summarkov.errors import SettingError, nearest
from summarkov.evaluation.tuning import Tuned, window_of
from summarkov.frames import Listed, Records, Sheet
from summarkov.models.measures import ReliabilityBin, reliability_bins
from summarkov.models.stability import Names, told_apart
from summarkov.settings import Duration
from summarkov.store import finite
from summarkov.wording import plural


@dataclass(frozen=True)
class Line:
    """One contender, over all splits.

    Attributes
    ----------
    name : str
        The contender.
    log_likelihood : float
        On the test sequences, the mean over targets and splits; -inf if something that happened was ruled
        out.
    log_loss, brier : float
        Per position (an event, or a tick where events happened together): minus the mean logarithm of the
        probability of what happened, and the mean squared error.
    top_1, top_3 : float or None
        How often the next event was the most likely one, or among the three most likely ones; None where
        no next event is predicted.
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
    n_influencers: float | None
    seconds: float
    difference: float
    interval: tuple[float, float]
    verdict: str


class Comparison(Listed):
    """Contenders on the same test sequences, sorted from best to worst.

    A difference in log-likelihood to the best contender is called one ("worse") only if its 95% interval,
    from a paired bootstrap over the test sequences, lies entirely below 0. A contender that gave no
    probability at all to something that happened has a likelihood of zero and is "refuted".

    ``lines`` has one line per contender, and so has the frame.
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
        """``results[c][s]`` is contender c on split s; ``n_test[s]`` the number of test positions there.

        ``unit`` says what a position is: an event, or a tick where events happened together.
        ``sequences[s]`` has the keys of the test sequences of split s, so that one that is in several of them
        is known to be the same; without it they are all different.
        """
        self.results = [tuple(each) for each in results]
        self.n_test, self.unit = tuple(n_test), unit
        self.sequences = sequences
        self.n_bootstrap, self.seed = n_bootstrap, seed
        totals = [_total(each) for each in self.results]
        order = sorted(range(len(totals)), key=lambda c: (-totals[c], self.results[c][0].name))
        self.lines = Records((self._line(self.results[c], self.results[order[0]]) for c in order), Line)

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
            brier=float(np.mean([one.measures.brier for one in chosen])),
            top_1=_mean([tuned.top_1 for tuned in each]),
            top_3=_mean([tuned.top_3 for tuned in each]),
            n_influencers=float(np.mean(sizes)) if sizes else None,
            seconds=float(np.sum([tuned.seconds for tuned in each])),
            difference=difference,
            interval=interval,
            verdict=verdict,
        )

    def reliability(self, name: str, target: str | None = None) -> Records[ReliabilityBin]:
        """Calibration of one contender: mean prediction and share that occurred, per bin of predictions.

        Over all targets, or of one of them.
        """
        by_name = {each[0].name: each for each in self.results}
        if name not in by_name:
            raise SettingError(f"there is no contender {name!r}{nearest(name, by_name)}")
        each = by_name[name]
        chosen = [one for tuned in each for one in tuned.chosen if target in (None, one.target)]
        if not chosen:
            targets = sorted({one.target for tuned in each for one in tuned.chosen})
            raise SettingError(f"there is no target {target!r}{nearest(str(target), targets)}")
        return reliability_bins([one.measures.reliability for one in chosen])

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
                        "settings": one.settings,
                        "dev_log_likelihood": finite(one.dev_log_likelihood),
                        "test_log_likelihood": finite(one.measures.log_likelihood),
                        "influencers": one.n_influencers,
                        "split": s,
                    }
                    for s, tuned in enumerate(each)
                    for one in tuned.chosen
                ]
                for each in self.results
            },
            "windows": [each.to_dict() for each in self.windows],
        }

    @property
    def windows(self) -> tuple[Windows, ...]:
        """Of each family that looked back in time and over positions, whether that tells different stories.

        The best of either kind are compared; see :class:`Windows`.
        """
        return compare_windows(self.results, self._apart)

    def _apart(self, each: Sequence[Tuned], other: Sequence[Tuned]) -> tuple[float, tuple[float, float]]:
        """By how much one contender is better than another, with its 95% interval."""
        apart = [mine.by_sequence - theirs.by_sequence for mine, theirs in zip(each, other, strict=True)]
        difference = float(np.mean([d.sum() for d in apart]))
        return difference, paired_interval(apart, self.n_bootstrap, self.seed, self.sequences)

    def _cells(self) -> list[list[str]]:
        return [cells(line, self.calibration_error(line.name)) for line in self.lines]

    def summary(self) -> Sheet:
        """The lines, as a table that prints well and that notebooks show in HTML."""
        rows = self._cells()
        tested = plural(sum(self.n_test), f"test {self.unit}")
        title = f"{plural(len(rows), 'contender')} on {tested}, the best first"
        return Sheet(title, HEADINGS, rows, len(rows))

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return markdown([HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 2), "---"], *self._cells()])


def markdown(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells as a table in Markdown."""
    return "".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |\n" for row in rows)


HEADINGS = [
    "model",
    "log-likelihood",
    "to the best (95% interval)",
    "log loss",
    "Brier",
    "calibration error",
    "top 1",
    "top 3",
    "influencers",
    "seconds",
    "verdict",
]


def cells(line: Line, calibration_error: float) -> list[str]:
    """A line of the table as texts, in the order of ``HEADINGS``."""
    share = "{:.1%}".format
    low, high = line.interval
    shown = f"{line.difference:+.2f} ({low:+.2f} to {high:+.2f})" if math.isfinite(high - low) else ""
    return [
        line.name,
        f"{line.log_likelihood:.2f}",
        "" if line.verdict == "best" else shown or f"{line.difference:+.2f}",
        f"{line.log_loss:.4f}",
        f"{line.brier:.4f}",
        f"{calibration_error:.4f}",
        "" if line.top_1 is None else share(line.top_1),
        "" if line.top_3 is None else share(line.top_3),
        "" if line.n_influencers is None else f"{line.n_influencers:.1f}",
        f"{line.seconds:.1f}",
        line.verdict,
    ]


def _total(each: Sequence[Tuned]) -> float:
    """The log-likelihood of a contender, mean over splits."""
    return float(np.mean([tuned.log_likelihood for tuned in each]))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


#: Tells by how much one contender is better than another, with an interval.
Apart = Callable[[Sequence[Tuned], Sequence[Tuned]], tuple[float, tuple[float, float]]]


@dataclass(frozen=True)
class Windows:
    """The best contender of a family that looks back in time, beside the best that does over positions.

    Attributes
    ----------
    family : str
        The kind of model.
    by_time, by_position : str
        The names of the two contenders.
    difference, interval : float, pair of float
        By how much the log-likelihood by time is better, with its 95% interval.
    others : dict
        The targets whose influencers are not the same, in the first split: those by time, and those by
        position.
    """

    family: str
    by_time: str
    by_position: str
    difference: float
    interval: tuple[float, float]
    others: Mapping[str, tuple[Names, Names]]

    @property
    def better(self) -> str | None:
        """The one that predicts clearly better; None if this data cannot tell."""
        low, high = self.interval
        return self.by_time if low > 0 else self.by_position if high < 0 else None

    @property
    def differs(self) -> bool:
        """Whether they tell different stories: one predicts better, or influencers are others."""
        return self.better is not None or bool(self.others)

    def __str__(self) -> str:
        if not self.differs:
            return f"{self.by_time} and {self.by_position} tell the same story."
        told = f"{self.by_time} and {self.by_position} tell different stories: "
        if self.better is None:
            told += "neither predicts clearly better"
        else:
            low, high = sorted(abs(end) for end in self.interval)
            told += f"{self.better} predicts better by {abs(self.difference):.2f} ({low:.2f} to {high:.2f})"
        return told + told_apart(self.others)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        found: dict[str, Any] = finite(asdict(self))
        return {**found, "better": self.better, "differs": self.differs}


def compare_windows(results: Sequence[Sequence[Tuned]], apart: Apart) -> tuple[Windows, ...]:
    """The best of either kind of each family that has both; ``apart`` tells two of them apart."""
    kinds: dict[str, tuple[list[Sequence[Tuned]], list[Sequence[Tuned]]]] = defaultdict(lambda: ([], []))
    for each in results:
        found = window_of(each[0].name) or (each[0].name.partition("-")[0], 0)
        kinds[found[0]][0 if isinstance(found[1], Duration) else 1].append(each)
    return tuple(
        _windows(family, max(timed, key=_total), max(placed, key=_total), apart)
        for family, (timed, placed) in kinds.items()
        if timed and placed
    )


def _windows(family: str, timed: Sequence[Tuned], placed: Sequence[Tuned], apart: Apart) -> Windows:
    both = [{one.target: one.influencers for one in each[0].chosen} for each in (timed, placed)]
    others = {
        target: (by_time, by_position)
        for target, by_time in both[0].items()
        if by_time is not None and (by_position := both[1].get(target)) is not None and by_time != by_position
    }
    ruled_out = [math.isinf(_total(each)) for each in (timed, placed)]
    if any(ruled_out):
        end = math.inf if ruled_out[1] else -math.inf
        found = (math.nan, (math.nan, math.nan)) if all(ruled_out) else (end, (end, end))
    else:
        found = apart(timed, placed)
    return Windows(family, timed[0].name, placed[0].name, *found, others)
