"""An edge: does an influencer make its target more or less likely, how surely, and by which counts?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from summarkov.engines import StateCounts
from summarkov.engines.followings import Following
from summarkov.evidence.ratios import (
    RateRatio,
    Strata,
    added,
    directions,
    excess,
    given_selected,
    rate_ratio,
    widened,
)
from summarkov.frames import Listed, Record, Records, Sheet
from summarkov.kernels import group
from summarkov.summaries import TreeSummary
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray
from summarkov.wording import plural, several

#: The verdicts of the order test on an edge.
ORDERS = ("depends on order", "co-occurrence only", "unclear", "fixed order")
#: Fewer hits than this, both seen and to be expected, are too few; so are hits in fewer sequences than this.
FEW_HITS, FEW_SEQUENCES = 10, 5
#: Why edges are drawn and printed faintly; those that are not come first.
FAINT = ("", "crowding out", "co-occurrence only", "not comparable", "too few events")
#: What is said of an edge that allows for selection.
CORRECTED = ("corrected_ratio", "corrected_low", "corrected_high")
#: How many more targets there are, and its interval.
IMPACT = ("impact", "impact_low", "impact_high")
#: In so many sequences at least, and in this share of them, one comes first: a fixed order.
FIXED_SEQUENCES, FIXED_SHARE = 50, 0.99
#: With more occurrences in a sequence than this, sequences lead.
OFTEN = 1.5
#: What is named as not comparable where no single influencers can be: in trees.
NOT_NAMED = "other influencers"


@dataclass(frozen=True, repr=False)
class Influence(Record):
    """How an influencer Z changes the probability of a target label x: every number that people see of it.

    A position is *with* Z if Z is in its window, else *without*; a *hit* is a position of x. This is
    statistical influence (Granger style), not proof of a cause, and depends on the data set. Numbers that are
    not known are None.

    Attributes
    ----------
    influencer, target : str
        Z and x.
    effect : str
        "amplifies" if the interval lies above 1, "inhibits" if below. "mixed" if Z makes x more likely
        beside some configurations of the other influencers and less likely beside others, both beyond
        chance; of a :class:`JointSuMM`, some events later and others later. Else "unclear".
    ratio, low, high : float
        How many times as likely x is with Z as without, other influencers equal, and its 95% interval
        (:func:`summarkov.evidence.rate_ratio`).
    hits_with, n_with, hits_without, n_without : float
        Hits and positions, with Z and without, over all positions.
    cases_with, cases_followed : float or None
        Sequences that contain Z, and those in which x follows it within the window.
    occurrences, followed, follow_rate : float or None
        Occurrences of Z, those that x follows within the window in the same sequence, and their share. For
        the end of a case: those that are its last event. An attribute occurs once, before its sequence.
    occurrences_other, followed_other, follow_rate_other : float or None
        The same for all positions at which Z does not stand; for an attribute, sequences that do not have it.
    left_out, follow_rule : float or None, str or None
        How many occurrences are left out, and by which rule. "counted": none. "complete windows": those whose
        window is cut off. "product-limit": fewer than half would be left, so rates are Kaplan and Meier's
        estimates, and the numbers are all occurrences and those that were seen to be followed.
    cases_both, cases_first : float or None
        Sequences that contain both Z and x, and those in which the first Z comes before the first x. None
        if Z is x or an attribute, or x is the end of a case.
    comparable_hits, comparable_expected : float or None
        What ``ratio`` rests on: hits with Z where the other influencers are as at some position without it,
        and those expected there from the rate without.
    not_comparable : str
        The other influencers with which the comparison is missing, if ``ratio`` is 0, infinite or unknown
        for that reason alone.
    interval : str
        Where the interval is from. "robust" allows for sequences that differ
        (``summarkov.evidence.robust_widening``); "counts" takes events for independent; "resampled" is wider
        by resampled data; "likelihood" is that of a joint model, whose ratio is an odds ratio.
    frequency : float or None
        The share of graphs from resampled data that have the edge (:meth:`InfluenceGraph.confidence`).
    depends : str
        For "mixed": the other influencer, or of a joint model the time, on which the direction depends.
    corrected_ratio, corrected_low, corrected_high : float or None
        The same, allowing for selection: an edge that was barely selected looks stronger than it is
        (:func:`summarkov.evidence.given_selected`).
    order, order_ratio, order_low, order_high, order_p, order_q, order_scale : str or float, or None
        What the order test shows (:class:`summarkov.evidence.EdgeOrder`): the verdict, the ratio over that of
        shuffled sequences, its 95% interval, the p-value, the adjusted one, "short range" or "slow change".
    impact, impact_low, impact_high : float or None
        How many more targets than without Z at the moments with it (fewer, if negative), other influencers
        equal, and its 95% interval (``summarkov.evidence.ratios.excess``). Impacts of several influencers
        do not add up. None for labels on themselves, fixed successions, first events of cases, and where it
        would be more than all targets.
    succession : bool
        Whether the two are in fixed succession (``graph.course_``).
    beyond_ratio, beyond_low, beyond_high : float or None
        The rate ratio with the event just before held equal (``graph.course_``).
    competition : bool or None
        Whether Z changes x mostly because it makes other events more or less likely (crowding out); None if
        there are none such.
    """

    influencer: str
    target: str
    effect: str
    ratio: float
    low: float
    high: float
    hits_with: float
    n_with: float
    hits_without: float
    n_without: float
    cases_with: float | None = None
    cases_followed: float | None = None
    occurrences: float | None = None
    followed: float | None = None
    follow_rate: float | None = None
    occurrences_other: float | None = None
    followed_other: float | None = None
    follow_rate_other: float | None = None
    left_out: float | None = None
    follow_rule: str | None = None
    cases_both: float | None = None
    cases_first: float | None = None
    comparable_hits: float | None = None
    comparable_expected: float | None = None
    not_comparable: str = ""
    interval: str = "counts"
    frequency: float | None = None
    depends: str = ""
    corrected_ratio: float | None = None
    corrected_low: float | None = None
    corrected_high: float | None = None
    order: str | None = None
    order_ratio: float | None = None
    order_low: float | None = None
    order_high: float | None = None
    order_p: float | None = None
    order_q: float | None = None
    order_scale: str | None = None
    competition: bool | None = None
    impact: float | None = None
    impact_low: float | None = None
    impact_high: float | None = None
    succession: bool = False
    beyond_ratio: float | None = None
    beyond_low: float | None = None
    beyond_high: float | None = None

    derived_columns: ClassVar[tuple[str, ...]] = (
        *("rate_with", "rate_without", "precedence", "leads_with_cases", "directions_differ", "evidence"),
        *("is_thin", "is_narrow", "is_self", "is_reversed", "is_turned"),
        *("raw_ratio", "is_raw", "shown_effect", "set_aside", "is_beyond"),
    )

    @property
    def rate_with(self) -> float:
        """The share of positions with Z that are hits; NaN where there is none."""
        return self.hits_with / self.n_with if self.n_with else math.nan

    @property
    def rate_without(self) -> float:
        """The share of positions without Z that are hits; NaN where there is none."""
        return self.hits_without / self.n_without if self.n_without else math.nan

    @property
    def raw_ratio(self) -> float:
        """The ratio of the two rates, with nothing else held equal; NaN where it is not known."""
        if self.hits_without:
            return self.rate_with / self.rate_without
        return math.inf if self.hits_with and self.n_without else math.nan

    @property
    def precedence(self) -> float | None:
        """The share of the sequences with both labels in which the first Z comes before the first x."""
        return (
            self.cases_first / self.cases_both if self.cases_both and self.cases_first is not None else None
        )

    @property
    def leads_with_cases(self) -> bool:
        """Whether Z occurs so often in one sequence that sequences say more than occurrences."""
        if self.occurrences is None or not self.cases_with:
            return False
        return self.occurrences + (self.left_out or 0.0) > OFTEN * self.cases_with

    @property
    def directions_differ(self) -> bool:
        """Whether follow rates point the other way than the ratio; also if x follows nothing at all."""
        own, other = self.follow_rate, self.follow_rate_other
        if own is None or other is None or math.isnan(self.ratio):
            return False
        return not (own or other) or (own - other) * (self.ratio - 1) < 0

    @property
    def is_self(self) -> bool:
        """Whether a label influences itself."""
        return self.influencer == self.target

    @property
    def is_reversed(self) -> bool:
        """Whether the two rates, which look at nothing else, lie the other way round than the ratio."""
        more = self.rate_with - self.rate_without
        return more < 0 if self.effect == "amplifies" else self.effect == "inhibits" and more > 0

    @property
    def is_turned(self) -> bool:
        """Whether the order of events works the other way round than the ratio looks."""
        if self.order != ORDERS[0] or self.order_ratio is None or math.isnan(self.ratio):
            return False
        return (self.order_ratio - 1) * (self.ratio - 1) < 0

    @property
    def is_raw(self) -> bool:
        """Whether too few events are comparable (fewer than ten hits), so that the raw ratio is shown."""
        if self.comparable_hits is None or self.comparable_expected is None:
            return False
        return bool(self.not_comparable) or max(self.comparable_hits, self.comparable_expected) < FEW_HITS

    @property
    def shown_effect(self) -> str:
        """The effect; "unclear" where the numbers that are shown point different ways."""
        is_doubtful = self.directions_differ or self.is_turned or (self.is_raw and self.is_reversed)
        return "unclear" if self.not_comparable or is_doubtful else self.effect

    @property
    def is_thin(self) -> bool:
        """Whether too few events stand behind it: fewer than ten hits with Z, both seen and to be expected.

        Or too few sequences: fewer than five in which x follows Z; if it does not amplify, that contain Z.
        """
        expected = self.n_with * self.rate_without if self.n_without else 0.0
        behind = self.cases_followed if self.effect == "amplifies" else self.cases_with
        return max(self.hits_with, expected) < FEW_HITS or (behind is not None and behind < FEW_SEQUENCES)

    @property
    def is_narrow(self) -> bool:
        """Whether its direction is no longer sure once it is allowed for that it was selected."""
        if self.corrected_low is None or self.corrected_high is None:
            return False
        is_sure = self.effect in ("amplifies", "inhibits")
        return is_sure and effect_of(self.corrected_low, self.corrected_high) != self.effect

    @property
    def faint(self) -> str:
        """Why an edge is drawn and printed faintly; empty for one that is not."""
        if self.is_thin:
            return "too few events"
        if self.not_comparable:
            return "not comparable"
        if self.order == ORDERS[1]:
            return "co-occurrence only"
        return "crowding out" if self.competition else ""

    @property
    def set_aside(self) -> str:
        """Why it does not count as found; empty if it passes."""
        if self.succession or self.order == ORDERS[3] or self.is_behind:
            return ORDERS[3]
        if self.faint:
            return self.faint
        if self.order not in (None, ORDERS[0]):
            return "unclear order"
        return "unclear direction" if self.shown_effect in ("unclear", "mixed") else ""

    @property
    def is_behind(self) -> bool:
        """Whether x never follows Z because it comes first: in 99% of 50 or more cases with both."""
        both, first = self.cases_both or 0.0, self.cases_first or 0.0
        return not self.hits_with and both >= FIXED_SEQUENCES and first <= (1 - FIXED_SHARE) * both

    @property
    def is_beyond(self) -> bool:
        """Whether it holds beyond the previous step, and in the same direction: the interval leaves out 1."""
        if self.beyond_low is None or self.beyond_high is None:
            return False
        limits = {"amplifies": self.beyond_low > 1, "inhibits": self.beyond_high < 1}
        return limits.get(self.effect, False)

    @property
    def sure_impact(self) -> float:
        """The limit of its impact nearer to 0, without sign; 0 if the interval holds 0, or none is known."""
        if self.impact_low is None or self.impact_high is None:
            return 0.0
        return max(self.impact_low, -self.impact_high, 0.0)

    @property
    def evidence(self) -> float:
        """The logarithm of the lower bound of the effect, the limit nearer to 1; 0 if that holds 1."""
        sides = {"amplifies": self.low, "inhibits": self.high}
        return abs(math.log(sides.get(self.effect, 1.0)))


def effect_of(low: float, high: float, is_mixed: bool = False) -> str:
    """An effect in a word, from the interval of its ratio."""
    if is_mixed:
        return "mixed"
    return "amplifies" if low > 1 else "inhibits" if high < 1 else "unclear"


def ranked(edges: Iterable[Influence]) -> list[Influence]:
    """Edges by evidence: the surest first, then labels on themselves, then faint ones."""
    steps = {"amplifies": 0, "inhibits": 0, "mixed": 1, "unclear": 2}

    def place(e: Influence) -> tuple[Any, ...]:
        shown = steps[e.shown_effect]
        return FAINT.index(e.faint), e.is_self, shown, -e.evidence, e.target, e.influencer

    return sorted(edges, key=place)


def weight(edge: Influence) -> float:
    """How much an edge counts in a picture: its evidence, and nothing where it is faint or unclear."""
    return 0.0 if edge.faint or edge.shown_effect == "unclear" else edge.evidence


# ---------------------------------------------------------------------- with and without, all else equal


class Totals(NamedTuple):
    """Hits and positions with an influencer and without it, whatever else there is."""

    hits_with: float
    n_with: float
    hits_without: float
    n_without: float


@dataclass(frozen=True)
class Contrast:
    """Positions with an influencer and without it, and hits of one label among them.

    ``counted`` has them in every configuration c of the other influencers, ``keys[c]``, and ``totals`` over
    all positions. State s of the table is in configuration ``stratum[s]`` (-1: in none); ``here[s]`` tells
    whether the influencer is there.
    """

    counted: Strata
    keys: CodeArray
    stratum: IntArray
    here: BoolArray
    totals: Totals

    @cached_property
    def strata(self) -> Strata:
        """What is compared: configurations that were seen both with the influencer and without it."""
        return Strata.of(*vars(self.counted).values())

    @cached_property
    def estimate(self) -> RateRatio:
        """The ratio with its 95% interval."""
        return rate_ratio(self.strata)

    def added(self) -> tuple[FloatArray, FloatArray]:
        """What a position in each state adds to the logarithm of the ratio, and a hit beside that."""
        base, hit = added(self.strata)
        side = np.where(self.here, 0, 1)
        return base[side, self.stratum], hit[side, self.stratum]

    def missing(self, others: Sequence[str]) -> str:
        """The other influencers with which a comparison is missing; empty where none is.

        Where the ratio is 0, infinite or unknown though the counts of all positions are not, one influencer
        after the other is no longer held equal, each time the one that makes most comparable.
        """
        hits_with, n_with, hits_without, n_without = self.totals
        dropped: list[int] = []

        def sums(*more: int) -> list[float]:
            """Mantel and Haenszel's sums if some of the other influencers are not held equal."""
            keys = self.keys.copy()
            keys[:, [*dropped, *more]] = 0
            of, _ = group(keys)
            strata = Strata.of(*(np.bincount(of, each) for each in vars(self.counted).values()))
            return [float(each) for each in strata.sums()]

        def is_missing() -> bool:
            above, below = sums()
            return bool((hits_with and not above) or (hits_without and not below))

        if not (n_with and n_without and is_missing()):
            return ""
        while len(dropped) < len(others) and is_missing():
            rest = [column for column in range(len(others)) if column not in dropped]
            dropped.append(max(rest, key=lambda column: sorted(sums(column))))
        return several(others[column] for column in sorted(dropped)) if dropped else NOT_NAMED


def presence(table: StateCounts) -> StateCounts:
    """A table by presence alone: ordinal and count states are collapsed."""
    return table.regroup((table.keys > 0).astype(np.int32))


def contrast(table: StateCounts, scale: int, column: int, outcome: int) -> Contrast:
    """The contrast of the influencer in ``column`` in a table by presence; replicates come first."""
    here, others = table.keys[:, column] > 0, table.keys.copy()
    others[:, column] = 0
    stratum, first = group(others)
    keys = others[first]
    counted = np.zeros((4, *table.counts.shape[:-2], len(keys)))
    for side, rows in enumerate((here, ~here)):
        counted[2 * side][..., stratum[rows]] = table.counts[..., rows, outcome] / scale
        counted[2 * side + 1][..., stratum[rows]] = table.counts[..., rows, :].sum(axis=-1) / scale
    totals = Totals(*counted.sum(axis=-1).tolist())
    return Contrast(Strata(*counted), np.delete(keys, column, axis=1), stratum, here, totals)


def contrasts_in_table(table: StateCounts, scale: int, n_labels: int) -> Iterator[tuple[int, int, Contrast]]:
    """Column, outcome and contrast for every influencer of a table and the first ``n_labels`` outcomes."""
    collapsed = presence(table)
    for column in range(table.keys.shape[1]):
        for outcome in range(n_labels):
            yield column, outcome, contrast(collapsed, scale, column, outcome)


def contrast_in_tree(tree: TreeSummary, at_nodes: FloatArray, influencer: int, outcome: int) -> Contrast:
    """The contrast of an influencer where a tree first asks about it on each path: yes against no.

    ``at_nodes[node, x]`` are the counts. The last stratum is empty, for leaves that are below no such node.
    """
    asks = [
        row
        for row, test in enumerate(tree.nodes)
        if test is not None
        and influencer in test.labels[:1]
        and not any(influencer in earlier.labels for earlier, _ in tree.path(row))
    ]
    stratum, here = np.full(len(tree.nodes), -1), np.zeros(len(tree.nodes), bool)
    counted = np.zeros((4, len(asks) + 1))
    for at, row in enumerate(asks):
        yes, no = tree.branches[row]
        stratum[[yes, no]], here[yes] = at, True
        counted[:, at] = [number for side in at_nodes[[yes, no]] for number in (side[outcome], side.sum())]
    for row, above in enumerate(tree.parent.tolist()):  # which come first
        if above >= 0 and stratum[row] < 0:
            stratum[row], here[row] = stratum[above], here[above]
    totals, keys = Totals(*counted.sum(axis=-1).tolist()), np.arange(len(asks) + 1, dtype=np.int32)[:, None]
    return Contrast(Strata(*counted), keys, stratum[tree.leaves], here[tree.leaves], totals)


def influence_of(
    influencer: str,
    target: str,
    found: Contrast,
    others: Sequence[str] = (),
    counted: Following | None = None,
    *,
    margin: float | None = None,
    wider: float | None = None,
    level: float = 0.95,
) -> Influence:
    """What a contrast says. ``others`` names the columns of its keys, if they stand for influencers.

    ``margin`` is that by which the influencer was selected (:func:`given_selected`), ``wider`` how many times
    wider than from counts its interval is, because sequences differ.
    """
    strata = found.strata
    estimate = found.estimate if level == 0.95 else rate_ratio(strata, level)
    factor = 1.0 if wider is None else wider
    low, high = (float(limit) for limit in widened(estimate, np.asarray(factor)))
    impact: dict[str, Any] = {}
    if influencer != target:
        numbers = excess(strata, level, factor)
        if abs(numbers[0]) <= found.totals.hits_with + found.totals.hits_without:
            impact = dict(zip(IMPACT, numbers, strict=True))
    more, less = directions(strata)
    is_mixed = bool(more.any() and less.any())
    expected = strata.n_with * strata.hits_without / np.maximum(strata.n_without, 1e-300)
    selected: dict[str, Any] = {}
    if margin is not None:
        selected = dict(zip(CORRECTED, given_selected(strata, margin, level, factor, estimate), strict=True))
    return Influence(
        influencer,
        target,
        effect_of(low, high, is_mixed),
        float(estimate.ratio),
        low,
        high,
        **found.totals._asdict(),
        **({} if counted is None else follow_numbers(counted)),
        interval="counts" if wider is None else "robust",
        comparable_hits=float(strata.hits_with.sum()),
        comparable_expected=float(expected.sum()),
        not_comparable=found.missing(others),
        depends=_depends(found.keys[more], found.keys[less], others) if is_mixed else "",
        **selected,
        **impact,
    )


def _depends(up: CodeArray, down: CodeArray, others: Sequence[str]) -> str:
    """The other influencer that tells all configurations of one direction from all of the other, if any."""
    for column, name in enumerate(others):
        if up[:, column].all() and not down[:, column].any():
            return f"amplifies with {name}, inhibits without"
        if down[:, column].all() and not up[:, column].any():
            return f"inhibits with {name}, amplifies without"
    return ""


# ---------------------------------------------------------------------- how often the target follows


def follow_numbers(counted: Following) -> dict[str, Any]:
    """The fields of an :class:`Influence` that tell of followings."""
    names = ("cases_with", "cases_followed", "cases_both", "cases_first")
    found: dict[str, Any] = {name: getattr(counted, name) for name in names}
    own, lags = counted.own, counted.lags
    if own is None or counted.others is None:
        return found
    is_cut, is_estimated = own.n_whole < own.n, 2 * own.n_whole < own.n and lags is not None
    found["follow_rule"] = "product-limit" if is_estimated else "complete windows" if is_cut else "counted"
    found["left_out"] = own.n - own.n_whole if is_cut and not is_estimated else 0.0
    for row, (name, each) in enumerate((("", own), ("_other", counted.others))):
        n, followed = (each.n, each.followed) if is_estimated else (each.n_whole, each.followed_whole)
        rate = followed / n if n else None
        if n and is_estimated and lags is not None:
            rate = product_limit(n, lags[lags[:, 0] == row, 1:])
        found |= {f"occurrences{name}": n, f"followed{name}": followed, f"follow_rate{name}": rate}
    return found


def product_limit(n: float, lags: FloatArray) -> float:
    r"""The share of occurrences that are followed within the window, by Kaplan and Meier.

    A row of ``lags`` is 0 (followed) or 1 (cut off), the bin of a lag, and a number of the ``n``
    occurrences. With :math:`h_l` followed after lag l and :math:`r_l` neither followed nor cut off before,
    it is :math:`1 - \prod_l (1 - h_l / r_l)` (Journal of the American Statistical Association 53, 1958).

    >>> product_limit(4, np.array([[0, 1, 1], [1, 1, 2], [0, 2, 1]]))
    1.0
    """
    order = np.lexsort((lags[:, 0], lags[:, 1]))  # one that is followed when it is cut off is followed
    kind, _, numbers = lags[order].T
    at_risk = n - np.append(0, np.cumsum(numbers))[:-1]
    hits = (kind == 0) & (numbers > 0)
    return float(1 - np.prod(np.clip(1 - numbers[hits] / at_risk[hits], 0, 1)))


# ---------------------------------------------------------------------- what other data say of an edge


@dataclass(frozen=True, repr=False)
class Edge(Record):
    """Something that is said of an edge, found or possible, from ``influencer`` to ``target``."""

    influencer: str
    target: str

    def added_to(self, edge: Influence) -> Influence:
        """The edge with what is shown of this."""
        return edge


@dataclass(frozen=True)
class Difference(Record):
    """A ratio that is 1 where nothing differs, such as of a second group by a first.

    Attributes
    ----------
    ratio, low, high : float
        The ratio and its interval.
    p_value, adjusted : float
        How likely at least such a difference is by chance, and the same allowing for all comparisons: times
        their number (Bonferroni), or the least share of false ones among those kept (false-discovery rate).
    """

    ratio: float
    low: float
    high: float
    p_value: float
    adjusted: float


class EdgeList(Listed):
    """A dataclass of what is said of ``edges``."""

    listed: ClassVar[tuple[str, ...]] = ("edges",)
    edges: tuple[Any, ...]

    def of(self, influencer: str, target: str) -> Any:
        """What is said of the edge from ``influencer`` to ``target``; None if it is not listed."""
        listed = (one for name in self.listed for one in getattr(self, name))
        return next((one for one in listed if (one.influencer, one.target) == (influencer, target)), None)

    def added_to(self, edges: Iterable[Influence]) -> list[Influence]:
        """Edges with what is shown of this."""
        said = {(one.influencer, one.target): one for one in self.edges}
        found = ((edge, said.get((edge.influencer, edge.target))) for edge in edges)
        return [edge if one is None else one.added_to(edge) for edge, one in found]


@dataclass(frozen=True, repr=False)
class Confidence(EdgeList):
    """The result of a bootstrap: graphs, each learned from data drawn with replacement; a row for each edge.

    Attributes
    ----------
    n, seed, level : int, int, float
        How many graphs there are, the seed, and the level of the intervals.
    n_sequences : int
        How many sequences were drawn for each graph.
    edges : tuple of Influence
        Those of the graph with their ``frequency``, the share of replicates that have them, and the wider
        interval if the ratios of the replicates spread more.
    others : tuple
        Pairs that the graph does not have, and some replicates have, those that most have first: influencer,
        target, and the share of replicates.
    """

    n: int
    seed: int
    level: float
    n_sequences: int
    edges: tuple[Influence, ...]
    others: tuple[tuple[str, str, float], ...] = ()

    def _title(self) -> str:
        drawn = (
            f"{plural(self.n, 'graph')}, each learned from {plural(self.n_sequences, 'sequence')} drawn again"
        )
        return f"{drawn}; {self.level:.0%} intervals"

    def summary(self) -> Sheet:
        """The first edges of the graph, with what was found of them."""
        edges = Records(self.edges, Influence)
        edges.shown = ("influencer", "target", "effect", "ratio", "low", "high", "frequency", *CORRECTED)
        return edges.sheet(self._title())

    def stable(self, at_least: float = 0.9) -> Records[Influence]:
        """The edges of the graph that at least this share of the replicates have too."""
        return Records((edge for edge in self.edges if (edge.frequency or 0) >= at_least), Influence)

    def missing(self, at_least: float = 0.5) -> tuple[tuple[str, str, float], ...]:
        """The pairs of ``others`` that at least this share of the replicates has."""
        return tuple(pair for pair in self.others if pair[2] >= at_least)

    def added_to(self, edges: Iterable[Influence]) -> list[Influence]:
        return [self.of(edge.influencer, edge.target) or edge for edge in edges]
