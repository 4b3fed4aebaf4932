"""Two influencers of one target: each for itself, only together, either of them, one unless the other?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from summarkov.engines import EventSource, StateCounts, StatesRequest
from summarkov.evidence.edges import presence
from summarkov.frames import Record
from summarkov.summaries import OrdinalSummary
from summarkov.typing import FloatArray
from summarkov.wording import percent

#: Kinds; of moments with none, the first alone, the second alone and both, where x is more or less likely.
KINDS = {"and": (0, 0, 0, 1), "or": (0, 1, 1, 1), "unless": (0, 1, 0, 0)}
#: The chance that of all pairs of a graph one is named that is none.
LEVEL = 0.05
#: A kind explains this share of what differs, and rates that it takes for alike differ by at most this share
#: of the effect. What crowding out makes of influences that act each for itself does neither.
_EXPLAINED, _ALIKE = 0.95, 0.25
#: Steps of fitting rates to strata; after so many they no longer move.
_STEPS = 20
#: Places of two influencers in the order of their last occurrences: none, one of them, both in either order.
_CELLS = [(0, 0), (1, 0), (0, 1), (2, 1), (1, 2)]


@dataclass(frozen=True, repr=False)
class Interplay(Record):
    """How two influencers act together on a target.

    Attributes
    ----------
    first, second, target : str
        The influencers Z1 and Z2, and x.
    kind : str
        "and": with both, x is more or less likely, with one alone as without. "or": with one or both.
        "unless": with Z1 where Z2 is not. "in order": with both, if the last Z1 is before the last Z2.
    effect : str
        "amplifies" or "inhibits".
    hits_on, n_on, hits_off, n_off : float
        Hits and moments where the kind says that x is more or less likely, and at all others.
    p_value : float
        The chance of so large a difference from influences that act each for itself: whose effects add up,
        multiply, or anything between.
    """

    first: str
    second: str
    target: str
    kind: str
    effect: str
    hits_on: float
    n_on: float
    hits_off: float
    n_off: float
    p_value: float

    derived_columns: ClassVar[tuple[str, ...]] = ("rate_on", "rate_off")

    @property
    def rate_on(self) -> float:
        """The share of hits where the kind says that x is more or less likely."""
        return self.hits_on / self.n_on

    @property
    def rate_off(self) -> float:
        """The share of hits at all other moments."""
        return self.hits_off / self.n_off

    @property
    def words(self) -> str:
        """A sentence.

        >>> one = Interplay("A", "B", "C", "unless", "amplifies", 50, 200, 40, 800, 1e-6)
        >>> print(one.words)  # doctest: +NORMALIZE_WHITESPACE
        'C' is more likely with 'A' unless 'B' is there: next at 25.0% of 200 such moments,
        at 5.0% of 800 others
        """
        when = {
            "and": f"only with both '{self.first}' and '{self.second}'",
            "or": f"with '{self.first}' or '{self.second}', and with both no more than with one",
            "unless": f"with '{self.first}' unless '{self.second}' is there",
            "in order": f"only with '{self.first}' and then '{self.second}'",
        }
        more = "more" if self.effect == "amplifies" else "less"
        return (
            f"'{self.target}' is {more} likely {when[self.kind]}: next at {percent(self.rate_on)} of "
            f"{self.n_on:,.0f} such moments, at {percent(self.rate_off)} of {self.n_off:,.0f} others"
        )


@dataclass(frozen=True)
class Pair:
    """Two influencers by their columns; hits and moments ``[none or first or second or both, stratum]``."""

    columns: tuple[int, int]
    hits: FloatArray
    n: FloatArray
    widening: float = 1.0  # how many times wider intervals are because sequences differ


def pairs_of(table: StateCounts, scale: int, widenings: Sequence[float]) -> list[Pair]:
    """All pairs of influencers in a table, the other influencers as strata."""
    table = presence(table)
    counts, found = table.counts / scale, []
    for i, j in combinations(range(table.keys.shape[1]), 2):
        stratum = np.unique(np.delete(table.keys, (i, j), axis=1), axis=0, return_inverse=True)[1].ravel()
        cell = table.keys[:, i] + 2 * table.keys[:, j]
        hits, n = np.zeros((2, 4, stratum.max(initial=-1) + 1))
        np.add.at(hits, (cell, stratum), counts[:, 0])
        np.add.at(n, (cell, stratum), counts.sum(axis=1))
        found.append(Pair((i, j), hits, n, max(widenings[i], widenings[j])))
    return found


def rates_of(hits: FloatArray, n: FloatArray, alike: npt.ArrayLike) -> tuple[FloatArray, float]:
    """Rates of cells, those of equal numbers in ``alike`` equal, and the log-likelihood.

    Every stratum has a level of its own, by which the rates of all cells are multiplied; hits are taken for
    Poisson. The rates are those at the mean level.
    """
    from scipy.special import xlogy

    groups = np.asarray(alike)
    ratio, level = np.ones(len(n)), np.zeros(n.shape[1])
    for _ in range(_STEPS):
        level = hits.sum(axis=0) / np.maximum((n * ratio[:, None]).sum(axis=0), 1e-300)
        expected = np.bincount(groups, (n * level).sum(axis=1))[groups]
        ratio = np.bincount(groups, hits.sum(axis=1))[groups] / np.maximum(expected, 1e-300)
    expected = np.maximum(n * level * ratio[:, None], 1e-300)
    mean = float(level @ n.sum(axis=0) / n.sum())
    return np.minimum(ratio * mean, 1.0), float((xlogy(hits, expected) - expected).sum())


def chance_of_independence(rates: FloatArray, hits: FloatArray, widening: float) -> float:
    """The chance of such a rate with both, if rates add, multiply, multiply as odds, or anything between."""
    from scipy.special import ndtr

    none, first, second, both = np.maximum(rates, 0.5 / max(hits.sum(), 1.0) * rates.max())
    odds = np.prod([p / max(1 - p, 1e-9) for p in (first, second)]) * (1 - none) / none
    adds, multiplies = first + second - none, first * second / none
    low, high = min(adds, multiplies, odds / (1 + odds)), max(adds, multiplies, odds / (1 + odds))
    if low <= both <= high:
        return 1.0
    nearest = high if both > high else low
    if nearest <= 0:
        return 1.0
    slopes = np.array([-1, 1, 1]) * ((none, first, second) / adds if nearest == adds else 1.0)
    variance = (np.append(slopes**2, 1.0) / np.maximum(hits, 0.5)).sum()
    return float(2 * ndtr(-abs(np.log(both / nearest)) / np.sqrt(variance) / widening))


class Kind(NamedTuple):
    """A kind of interplay; whether the first column is the second influencer; hits and moments on and off.

    Where it is not clear with both, the order of the two may explain it.
    """

    name: str
    swapped: bool
    on: tuple[float, float]
    off: tuple[float, float]
    chance: float
    is_clear: bool = True

    @classmethod
    def of(
        cls,
        name: str,
        swapped: bool,
        hits: FloatArray,
        n: FloatArray,
        on: Sequence[int],
        chance: float,
        is_clear: bool = True,
    ) -> Self:
        """From hits and moments of cells, those ``on`` as the kind says."""
        is_on = np.asarray(on, bool)
        there, other = ((float(hits[some].sum()), float(n[some].sum())) for some in (is_on, ~is_on))
        return cls(name, swapped, there, other, chance, is_clear)


def kind_of(pair: Pair, level: float) -> Kind | None:
    """The kind of a pair; None if each may act for itself, or in no way that has a name."""
    compared = (pair.n > 0).sum(axis=0) > 1
    hits, n = pair.hits[:, compared], pair.n[:, compared]
    if not n.size or not (n.sum(axis=1) > 0).all() or not hits.sum():
        return None
    rates, most = rates_of(hits, n, range(4))
    chance = chance_of_independence(rates, hits.sum(axis=1), pair.widening)
    if chance > level:
        return None
    _, least = rates_of(hits, n, (0, 0, 0, 0))
    tried = [*((name, False, alike) for name, alike in KINDS.items()), ("unless", True, (0, 0, 1, 0))]
    fits = [rates_of(hits, n, alike)[1] for *_, alike in tried]
    name, swapped, on = tried[int(np.argmax(fits))]
    is_clear = max(fits) - least >= _EXPLAINED * (most - least) and are_alike(rates, n.sum(axis=1), on)
    if not is_clear and name != "and":
        return None
    return Kind.of(name, swapped, pair.hits.sum(axis=1), pair.n.sum(axis=1), on, chance, is_clear)


def are_alike(rates: FloatArray, n: FloatArray, groups: Sequence[int]) -> bool:
    """Whether rates within each of two groups differ by little, beside the difference of the groups."""
    of = np.asarray(groups)
    means = np.array([np.average(rates[of == group], weights=n[of == group]) for group in (0, 1)])
    return bool(np.abs(rates - means[of]).max() <= _ALIKE * abs(means[1] - means[0]))


def order_of_pair(table: Any, scale: int, level: float) -> Kind | None:
    """The kind "in order" if, with both, only one order counts, by states in the order of occurrence."""
    from scipy.special import chdtrc, xlogy

    cell = [_CELLS.index(tuple(key)) for key in table.keys.tolist()]
    hits, n = np.zeros((2, len(_CELLS)))
    hits[cell], n[cell] = table.counts[:, 0] / scale, table.counts.sum(axis=1) / scale
    some, of = hits[3:], n[3:]
    if not n.all() or not some.sum():
        return None
    misses, pooled = of - some, some.sum() / of.sum()
    deviance = (
        2 * (xlogy(some, some / of / pooled) + xlogy(misses, misses / of / max(1 - pooled, 1e-300))).sum()
    )
    chance = float(chdtrc(1, deviance))
    for swapped, on in ((False, (0, 0, 0, 0, 1)), (True, (0, 0, 0, 1, 0))):
        if chance <= level and are_alike(hits / n, n, on):
            return Kind.of("in order", swapped, hits, n, on, chance)
    return None


def find_interplays(source: EventSource, models: Sequence[Any]) -> list[tuple[Interplay, ...]]:
    """The interplays of fitted models; where both must be there, a pass tells whether their order counts."""
    every = [(at, pair) for at, model in enumerate(models) for pair in _pairs(model, source.scale)]
    level = LEVEL / max(1, len(every))
    named = [(at, pair, kind) for at, pair in every if (kind := kind_of(pair, level)) is not None]
    asked = [
        at for at, (of, _, kind) in enumerate(named) if kind.name == "and" and not models[of].layout.together
    ]
    tables = (
        source.count([_both(models[named[at][0]], named[at][1].columns) for at in asked]) if asked else []
    )
    ordered = {at: order_of_pair(table, source.scale, level) for at, table in zip(asked, tables, strict=True)}
    found: list[list[Interplay]] = [[] for _ in models]
    for at, (of, pair, kind) in enumerate(named):
        model = models[of]
        kind = ordered.get(at) or kind
        if not kind.is_clear:
            continue
        first, second = (model.influencer_labels[column] for column in pair.columns)
        if kind.swapped:
            first, second = second, first
        effect = "amplifies" if kind.on[0] * kind.off[1] > kind.off[0] * kind.on[1] else "inhibits"
        target = model.labels[model.target.codes[0]]
        found[of].append(
            Interplay(first, second, target, kind.name, effect, *kind.on, *kind.off, kind.chance)
        )
    return [tuple(some) for some in found]


def _pairs(model: Any, scale: int) -> list[Pair]:
    """The pairs of a model of one label whose states tell presence; of no other."""
    if not model.summary.by_level or len(model.target.codes) > 1:
        return []
    wider = [model.wider(column, outcome, found) or 1.0 for column, outcome, found in model.contrasts()]
    own = [column for column, z in enumerate(model.influencers) if z in (*model.target.codes, *model.given)]
    return [pair for pair in pairs_of(model.table, scale, wider) if not {*pair.columns} & {*own}]


def _both(model: Any, columns: tuple[int, int]) -> StatesRequest:
    """What tells in which order two influencers came last."""
    z, y = (model.influencers[column] for column in columns)
    window = model.reach(model.labels[z])
    return StatesRequest(OrdinalSummary(window.lookback, window.delay), (z, y), model.target)
