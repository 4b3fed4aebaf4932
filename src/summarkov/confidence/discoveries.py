"""Which edges of many hold, with a promise about how many of them are false."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from summarkov.confidence.records import Comparable
from summarkov.frames import Column, Records, Sheet, Tabular, columns_of, keep_records
from summarkov.wording import plural


@dataclass(frozen=True)
class Discovery(Comparable):
    """An edge that one half of the data proposed and the other half tested.

    ``ratio``, ``low`` and ``high`` are those of the half that tested, see
    :func:`summarkov.confidence.rate_ratio`, ``p_value`` how likely at least such a difference is by chance,
    ``adjusted`` the least false-discovery rate at which the edge is kept.
    """

    influencer: str
    target: str
    ratio: float
    low: float
    high: float
    p_value: float
    adjusted: float
    is_kept: bool


@dataclass(frozen=True, repr=False)
class Discoveries(Tabular):
    """The edges proposed by one half, target by target, and which of them are kept at ``rate``.

    The frame has one row per edge that was tested.
    """

    rate: float
    seed: int
    units: str
    n_units: int
    tested: tuple[Discovery, ...]

    def __post_init__(self) -> None:
        keep_records(self, tested=Discovery)

    @property
    def kept(self) -> Records[Discovery]:
        """The edges among which, on average, at most a share of ``rate`` is false."""
        return Records((edge for edge in self.tested if edge.is_kept), Discovery)

    def _columns(self) -> Mapping[str, Column]:
        return columns_of(Discovery, self.tested)

    def summary(self) -> Sheet:
        """The edges, as a table that prints well and that notebooks show in HTML."""
        kept, tested = len(self.kept), plural(len(self.tested), "edge")
        title = f"{kept} of {tested} kept, of which at most {self.rate:.0%} are false on average"
        return Records(self.tested, Discovery).sheet(title)


def benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    r"""Adjusted p-values: reject those up to q, and at most a share q of the rejections is false on average.

    .. math:: \tilde p_{(i)} = \min_{j \ge i} \min(1, p_{(j)} \, m \, c_m / j), \quad c_m = \sum_{k=1}^m 1/k

    It holds whatever the dependence among the tests; Benjamini and Yekutieli, Annals of Statistics 29 (2001),
    Theorem 1.3.

    >>> [round(p, 4) for p in benjamini_yekutieli([0.01, 0.04, 0.001])]
    [0.0275, 0.0733, 0.0055]
    """
    m = len(p_values)
    harmonic = sum(1 / k for k in range(1, m + 1))
    adjusted, least = [1.0] * m, 1.0
    for rank, at in sorted(enumerate(sorted(range(m), key=lambda i: p_values[i]), start=1), reverse=True):
        least = min(least, p_values[at] * m * harmonic / rank)
        adjusted[at] = least
    return adjusted
