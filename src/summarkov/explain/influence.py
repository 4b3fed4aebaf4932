"""Does an influencer make its target more or less likely, and how surely? Counts with it and without it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from summarkov.confidence import Strata, directions, given_selected, rate_ratio
from summarkov.confidence.order import ORDERS, is_fixed_order
from summarkov.engines import StateCounts
from summarkov.engines.followings import Following
from summarkov.explain.comparable import comparable_counts, not_comparable
from summarkov.explain.following import follow_numbers
from summarkov.frames import Record
from summarkov.summaries import TreeSummary
from summarkov.typing import CodeArray, FloatArray, IntArray

#: Fewer hits than this, both seen and to be expected, are too few.
FEW_HITS = 10
#: Why edges are drawn and printed faintly; those that are not come first.
FAINT = ("", "crowding out", "co-occurrence only", "not comparable", "too few events")
#: So are hits in fewer sequences than this.
FEW_SEQUENCES = 5
#: With more occurrences in a sequence than this, sequences lead.
OFTEN = 1.5


@dataclass(frozen=True, repr=False)
class Influence(Record):
    """How an influencer Z changes the probability of a target label x.

    A position is *with* Z if Z is in its window, else *without*; a *hit* is a position of x. This is
    statistical influence (Granger style), not proof of a cause, and depends on the data set.

    Attributes
    ----------
    influencer, target : str
        Z and x.
    effect : str
        "amplifies" if the interval lies above 1, "inhibits" if below. "mixed" if Z makes x more likely
        beside some configurations of the other influencers and less likely beside some, both beyond
        chance; of a :class:`JointSuMM`, if its mean is unclear but Z surely amplifies x some events later and
        inhibits it others later. Else "unclear".
    ratio, low, high : float
        How many times as likely x is with Z as without, other influencers equal, and the 95% interval of
        that: positions are compared only with those at which the target's other influencers are present
        or absent alike (Mantel and Haenszel's ratio, see :func:`summarkov.confidence.rate_ratio`).
    hits_with, n_with, hits_without, n_without : float
        Hits and positions, with Z and without, over all positions.
    cases_with, cases_followed : float or None
        Sequences that contain Z, and those in which x follows it within the window. These and all numbers
        down to ``cases_first`` are None where they are not known, as in older model files.
    occurrences, followed, follow_rate : float or None
        Occurrences of Z, those that x follows within the window in the same sequence, and their share. For
        the end of a case: those that are its last event. An attribute of a sequence occurs once in it, and
        is followed by whatever the sequence contains.
    occurrences_other, followed_other, follow_rate_other : float or None
        The same for all positions at which Z does not stand; for an attribute, sequences that do not have it.
    left_out : float or None
        Occurrences of Z that are not counted because a sequence was cut off before their window ended.
    follow_rule : str or None
        "counted": every occurrence is. "complete windows": all are left out, followed or not, whose window
        was cut off. "product-limit": fewer than half would be left, so rates are estimated as of Kaplan and
        Meier, and the numbers beside them are all occurrences and those that were seen to be followed.
    cases_both, cases_first : float or None
        Sequences that contain both Z and x, and those in which the first Z comes before the first x. None
        if Z is x or an attribute, or x is the end of a case.
    comparable_hits, comparable_expected : float or None
        Hits with Z where the other influencers are as at some position without it, and those expected there
        from the rate without: what ``ratio`` rests on. None where that is not known.
    not_comparable : str
        The other influencers with which the comparison is missing, where ``ratio`` is 0, infinite or unknown
        for that reason alone; else empty.
    interval : str
        What the interval is from. "counts" takes events for independent given their past, as the model
        does; "robust" and "resampled" (:meth:`InfluenceGraph.confidence`) allow for sequences that differ;
        "likelihood" is that of a :class:`JointSuMM`, whose ratio is a ratio of odds.
    frequency : float or None
        The share of graphs from resampled data that have the edge; None if it was not asked for.
    depends : str
        For "mixed": the other influencer, or of a joint model the time, on which the direction depends; empty
        if it is not a single influencer.
    corrected_ratio, corrected_low, corrected_high : float or None
        The same, allowing for selection: of many edges those are selected that look strong, so one that
        was barely selected looks stronger than it is
        (:func:`summarkov.confidence.given_selected`). None where the margin is not known.
    order : str or None
        What the order test shows: "depends on order", "co-occurrence only", "fixed order" or "unclear"; None
        if it was not run (:meth:`InfluenceGraph.order_test`).
    order_ratio, order_low, order_high : float or None
        The ratio over that of the same sequences shuffled inside, and its 95% interval.
    order_p, order_q : float or None
        The p-value of the order test, and the adjusted one.
    order_scale : str or None
        "short range" if the effect is there in blocks hardly longer than the window too; "slow change" if it
        is not there. None if that is not clear, was not tested, or the edge does not depend on order.
    competition : bool or None
        True if Z changes x only because it makes other events more or less likely (crowding out): one event
        stands at a position. False if that does not explain all; None if there is nothing of the kind.
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

    derived_columns: ClassVar[tuple[str, ...]] = (
        "rate_with",
        "rate_without",
        "precedence",
        "leads_with_cases",
        "directions_differ",
        "evidence",
        "is_thin",
        "is_narrow",
        "is_self",
        "is_reversed",
        "is_turned",
        "raw_ratio",
        "is_raw",
        "shown_effect",
        "set_aside",
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
        if not self.n_with or not self.n_without or not (self.hits_with or self.hits_without):
            return math.nan
        return self.rate_with / self.rate_without if self.hits_without else math.inf

    @property
    def precedence(self) -> float | None:
        """The share of the sequences with both labels in which the first Z comes before the first x."""
        if self.cases_first is None or not self.cases_both:
            return None
        return self.cases_first / self.cases_both

    @property
    def has_fixed_order(self) -> bool:
        """Whether the first Z comes before the first x in at least 99% of 50 or more sequences with both."""
        return is_fixed_order(self.cases_both, self.cases_first)

    @property
    def leads_with_cases(self) -> bool:
        """Whether Z occurs so often in one sequence that sequences say more than occurrences."""
        if self.occurrences is None or not self.cases_with:
            return False
        return self.occurrences + (self.left_out or 0.0) > OFTEN * self.cases_with

    @property
    def directions_differ(self) -> bool:
        """Whether x follows Z more often than other events but the ratio is less than 1, or the reverse."""
        if self.follow_rate is None or self.follow_rate_other is None or math.isnan(self.ratio):
            return False
        return (self.follow_rate - self.follow_rate_other) * (self.ratio - 1) < 0

    @property
    def is_self(self) -> bool:
        """Whether a label influences itself."""
        return self.influencer == self.target

    @property
    def is_reversed(self) -> bool:
        """Whether the two rates, which look at nothing else, lie the other way round than the ratio."""
        if self.effect not in ("amplifies", "inhibits") or not (self.n_with and self.n_without):
            return False
        more = self.rate_with - self.rate_without
        return more < 0 if self.effect == "amplifies" else more > 0

    @property
    def is_turned(self) -> bool:
        """Whether the order of events works the other way round than the ratio looks."""
        if self.order != ORDERS[0] or self.order_ratio is None or math.isnan(self.ratio):
            return False
        return (self.order_ratio - 1) * (self.ratio - 1) < 0

    @property
    def is_raw(self) -> bool:
        """Whether too few events are comparable, so that the ratio of the two rates is shown instead.

        Fewer than ten hits, and fewer than ten expected, where other influencers are equal; or none.
        """
        if self.comparable_hits is None or self.comparable_expected is None:
            return False
        return bool(self.not_comparable) or max(self.comparable_hits, self.comparable_expected) < FEW_HITS

    @property
    def shown_effect(self) -> str:
        """The effect; "unclear" where counts do not allow a verb.

        That is where follow rates point another way than the ratio, where the two rates do and are all that
        is shown, and where nothing is comparable.
        """
        is_doubtful = self.directions_differ or (self.is_raw and self.is_reversed)
        return "unclear" if self.not_comparable or is_doubtful else self.effect

    @property
    def is_thin(self) -> bool:
        """Whether too few events or too few sequences stand behind it.

        Fewer than ten hits with Z, and fewer than ten to be expected there from the rate without; or fewer
        than five sequences in which x follows Z (for one that does not amplify: that contain Z).
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
        """Why it does not count as found; empty if it passes.

        An edge passes if it has enough events, is comparable and has a clear effect; and, if the order test
        was run, if it depends on order and is more than crowding out.
        """
        if self.faint or self.order == "fixed order":
            return self.faint or "fixed order"
        if self.order not in (None, ORDERS[0]):
            return "unclear order"
        return "unclear direction" if self.shown_effect == "unclear" else ""

    @property
    def evidence(self) -> float:
        """The logarithm of the lower bound of the effect, the limit nearer to 1; 0 if that holds 1."""
        if self.effect == "amplifies":
            return math.log(self.low)
        if self.effect == "inhibits":
            return -math.log(self.high)
        return 0.0


def effect_of(low: float, high: float, is_mixed: bool = False) -> str:
    """An effect in a word, from the interval of its ratio.

    >>> effect_of(1.2, 3.0), effect_of(0.0, 0.9), effect_of(0.5, 2.0), effect_of(1.2, 3.0, is_mixed=True)
    ('amplifies', 'inhibits', 'unclear', 'mixed')
    """
    if is_mixed:
        return "mixed"
    return "amplifies" if low > 1 else "inhibits" if high < 1 else "unclear"


def ranked(edges: Iterable[Influence]) -> list[Influence]:
    """Edges by evidence: the surest first, then labels on themselves, then faint ones."""
    clear: Sequence[str] = ("amplifies", "inhibits", "mixed", "unclear")
    return sorted(
        edges,
        key=lambda e: (
            FAINT.index(e.faint),
            e.is_self,
            max(clear.index(e.shown_effect), 1),
            -e.evidence,
            e.target,
            e.influencer,
        ),
    )


def weight(edge: Influence) -> float:
    """How much an edge counts in a picture: its evidence, and nothing where it is faint or unclear."""
    return 0.0 if edge.faint or edge.shown_effect == "unclear" else edge.evidence


class Totals(NamedTuple):
    """Hits and positions with an influencer and without it, whatever else there is."""

    hits_with: float
    n_with: float
    hits_without: float
    n_without: float


@dataclass(frozen=True)
class Contrast:
    """Positions with an influencer and without it.

    ``strata`` has the hits of one label, ``[..., c]``, in the configurations c of the other influencers.
    ``keys[c]`` is the configuration, ``totals`` sum over all positions, those of configurations that were
    seen only with or only without included: these are ``apart``, with ``apart_keys``.
    """

    strata: Strata
    keys: CodeArray
    totals: Totals
    apart: Strata
    apart_keys: CodeArray


def presence(table: StateCounts) -> StateCounts:
    """A table by presence alone: ordinal and count states are collapsed."""
    return table.regroup((table.keys > 0).astype(np.int32))


def contrast(table: StateCounts, scale: int, column: int, outcome: int) -> Contrast:
    """The contrast of the influencer in ``column`` in a table by presence; replicates come first."""
    with_, without = presence_pairs(table.keys, column)
    hits, n = table.counts[..., outcome] / scale, table.counts.sum(axis=-1) / scale
    here = table.keys[:, column] > 0
    sums = (numbers[..., rows].sum(axis=-1) for rows in (here, ~here) for numbers in (hits, n))
    totals = Totals(*(float(each) if each.ndim == 0 else np.nan for each in sums))
    strata = Strata.of(hits[..., with_], n[..., with_], hits[..., without], n[..., without])
    others = np.delete(table.keys, column, axis=1)
    rest = np.setdiff1d(np.arange(len(here)), np.concatenate([with_, without]))
    apart = Strata(*(numbers[..., rest] * side[rest] for side in (here, ~here) for numbers in (hits, n)))
    return Contrast(strata, others[with_], totals, apart, others[rest])


def presence_pairs(keys: CodeArray, column: int) -> tuple[IntArray, IntArray]:
    """Rows of presence with the influencer in ``column``, and those that differ from them in nothing else."""
    here = keys[:, column] > 0
    others = np.delete(keys, column, axis=1).tolist()
    without = {tuple(others[row]): row for row in np.flatnonzero(~here).tolist()}
    pairs = [
        (row, without[tuple(others[row])]) for row in np.flatnonzero(here) if tuple(others[row]) in without
    ]
    with_, without_ = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return with_, without_


def contrasts_in_table(table: StateCounts, scale: int, n_labels: int) -> Iterator[tuple[int, int, Contrast]]:
    """Column, outcome and contrast for every influencer of a table and the first ``n_labels`` outcomes."""
    if not table.keys.shape[1]:
        return
    collapsed = presence(table)
    for column in range(table.keys.shape[1]):
        for outcome in range(n_labels):
            yield column, outcome, contrast(collapsed, scale, column, outcome)


def contrast_in_tree(tree: TreeSummary, at_nodes: FloatArray, influencer: int, outcome: int) -> Contrast:
    """The contrast of an influencer where a tree first asks about it on each path.

    A stratum is a node whose test is the first on its path that asks about the influencer; with it are the
    positions that answer yes. Nothing is said of a label that others are merely compared with.
    ``at_nodes[node, x]`` are the counts.
    """
    rows = []
    for row, test in enumerate(tree.nodes):
        if test is None or not test.labels or test.labels[0] != influencer:
            continue
        if not any(influencer in earlier.labels for earlier, _ in tree.path(row)):
            rows.append(tree.branches[row])
    yes, no = np.array(rows, np.int64).reshape(-1, 2).T
    hits, n = at_nodes[:, outcome], at_nodes.sum(axis=1)
    each = hits[yes], n[yes], hits[no], n[no]
    keys = np.arange(len(rows), dtype=np.int32)[:, None]
    totals = Totals(*(float(numbers.sum()) for numbers in each))
    strata = Strata.of(*each)
    return Contrast(strata, keys, totals, Strata(*(numbers[:0] for numbers in each)), keys[:0])


def influence_of(
    influencer: str,
    target: str,
    found: Contrast,
    others: Sequence[str],
    counted: Following | None,
    margin: float | None = None,
) -> Influence:
    """What a contrast says. ``others`` names the columns of its keys, if they stand for influencers.

    ``counted`` has how often the target follows. ``margin`` is that by which the influencer was selected,
    see :func:`summarkov.confidence.given_selected`.
    """
    estimate = rate_ratio(found.strata)
    more, less = directions(found.strata)
    is_mixed = bool(more.any() and less.any())
    corrected = (None, None, None) if margin is None else given_selected(found.strata, margin)
    hits, expected = comparable_counts(found.strata)
    return Influence(
        influencer,
        target,
        effect_of(float(estimate.low), float(estimate.high), is_mixed),
        float(estimate.ratio),
        float(estimate.low),
        float(estimate.high),
        *found.totals,
        **({} if counted is None else follow_numbers(counted)),
        comparable_hits=hits,
        comparable_expected=expected,
        not_comparable=not_comparable(found, others),
        depends=_depends(found.keys[more], found.keys[less], others) if is_mixed else "",
        corrected_ratio=corrected[0],
        corrected_low=corrected[1],
        corrected_high=corrected[2],
    )


def _depends(up: CodeArray, down: CodeArray, others: Sequence[str]) -> str:
    """On which other influencer it depends whether one amplifies or inhibits.

    One that is there in every configuration beside which it amplifies and in none beside which it inhibits;
    or the other way round. Nothing where there is no such label.
    """
    for column, name in enumerate(others):
        if up[:, column].all() and not down[:, column].any():
            return f"amplifies with {name}, inhibits without"
        if down[:, column].all() and not up[:, column].any():
            return f"inhibits with {name}, amplifies without"
    return ""
