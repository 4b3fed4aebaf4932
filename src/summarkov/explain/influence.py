"""Does an influencer make its target more or less likely, and how surely? Counts with it and without it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from summarkov.confidence import directions, given_selected, rate_ratio, robust_widening, widened
from summarkov.confidence.order import ORDERS, is_fixed_order
from summarkov.engines.followings import Following
from summarkov.explain.comparable import comparable_counts, not_comparable
from summarkov.explain.contrasts import Contrast
from summarkov.explain.following import follow_numbers
from summarkov.frames import Record
from summarkov.typing import CodeArray, FloatArray

#: From this share of sequences on, what comes first is not said to be mere co-occurrence.
MOSTLY_FIRST = 0.95
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
        What the interval is from. "robust" allows for sequences that differ and events that come in bursts
        (``summarkov.confidence.robust_widening``); it is never narrower than "counts", which takes events
        for independent given their past, as the model does, and is given where the other cannot be had: where
        the ratio is 0 or infinite, for outcomes, which have one position in each sequence, and of files of
        earlier versions.
        "resampled" is one that resampled data made wider (:meth:`InfluenceGraph.confidence`);
        "likelihood" is that of a :class:`JointSuMM`, whose ratio is an odds ratio.
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
    def comes_first(self) -> bool:
        """Whether the first Z comes before the first x in nearly all sequences with both, however few."""
        return self.precedence is not None and self.precedence >= MOSTLY_FIRST

    @property
    def leads_with_cases(self) -> bool:
        """Whether Z occurs so often in one sequence that sequences say more than occurrences."""
        if self.occurrences is None or not self.cases_with:
            return False
        return self.occurrences + (self.left_out or 0.0) > OFTEN * self.cases_with

    @property
    def directions_differ(self) -> bool:
        """Whether x follows Z more often than other events but the ratio is less than 1, or the reverse.

        Also if x follows nothing at all, as an event that always comes first.
        """
        if self.follow_rate is None or self.follow_rate_other is None or math.isnan(self.ratio):
            return False
        if not self.follow_rate and not self.follow_rate_other:
            return True
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

        That is where follow rates or the order test point another way than the ratio, where the two rates do
        and are all that is shown, and where nothing is comparable.
        """
        is_doubtful = self.directions_differ or self.is_turned or (self.is_raw and self.is_reversed)
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


def influence_of(
    influencer: str,
    target: str,
    found: Contrast,
    others: Sequence[str],
    counted: Following | None,
    margin: float | None = None,
    clusters: tuple[FloatArray, FloatArray] | None = None,
    wider: float | None = None,
) -> Influence:
    """What a contrast says. ``others`` names the columns of its keys, if they stand for influencers.

    ``counted`` has how often the target follows. ``margin`` is that by which the influencer was selected,
    see :func:`summarkov.confidence.given_selected`. ``clusters`` are the sums of squares and numbers that
    ``summarkov.confidence.robust_widening`` takes; or ``wider`` says how much wider than from counts its
    interval is.
    """
    estimate = rate_ratio(found.strata)
    if clusters is not None:
        wider = robust_widening(estimate, found.strata, *clusters)
    factor = 1.0 if wider is None else wider
    low, high = (float(limit) for limit in widened(estimate, np.asarray(factor)))
    more, less = directions(found.strata)
    is_mixed = bool(more.any() and less.any())
    corrected = (None, None, None) if margin is None else given_selected(found.strata, margin, factor=factor)
    hits, expected = comparable_counts(found.strata)
    return Influence(
        influencer,
        target,
        effect_of(low, high, is_mixed),
        float(estimate.ratio),
        low,
        high,
        *found.totals,
        **({} if counted is None else follow_numbers(counted)),
        interval="counts" if wider is None else "robust",
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
