"""Look-backs in time beside look-backs over positions: whether they tell different stories."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from summarkov.comparison.measures import Tuned, total_of
from summarkov.comparison.tuning import window_of
from summarkov.models.stability import Names, told_apart
from summarkov.settings import Duration
from summarkov.store import finite

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
        _windows(family, max(timed, key=total_of), max(placed, key=total_of), apart)
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
    ruled_out = [math.isinf(total_of(each)) for each in (timed, placed)]
    if any(ruled_out):
        end = math.inf if ruled_out[1] else -math.inf
        found = (math.nan, (math.nan, math.nan)) if all(ruled_out) else (end, (end, end))
    else:
        found = apart(timed, placed)
    return Windows(family, timed[0].name, placed[0].name, *found, others)
