"""An edge: does an influencer make its target more or less likely, how surely, and by which counts?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from summarkov.engines.followings import Following
from summarkov.evidence.contrasts import Contrast, comparable_counts, not_comparable
from summarkov.evidence.ratios import directions, given_selected, rate_ratio, robust_widening, widened
from summarkov.frames import Record
from summarkov.typing import CodeArray, FloatArray

#: The verdicts of the order test on an edge.
ORDERS = ("depends on order", "co-occurrence only", "unclear", "fixed order")
#: Fewer hits than this, both seen and to be expected, are too few; so are hits in fewer sequences than this.
FEW_HITS, FEW_SEQUENCES = 10, 5
#: Why edges are drawn and printed faintly; those that are not come first.
FAINT = ("", "crowding out", "co-occurrence only", "not comparable", "too few events")
#: What is said of an edge that allows for selection.
CORRECTED = ("corrected_ratio", "corrected_low", "corrected_high")
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
        or absent alike (Mantel and Haenszel's ratio, see :func:`summarkov.evidence.rate_ratio`).
    hits_with, n_with, hits_without, n_without : float
        Hits and positions, with Z and without, over all positions.
    cases_with, cases_followed : float or None
        Sequences that contain Z, and those in which x follows it within the window. These and all numbers
        down to ``cases_first`` are None where they are not known, as in older model files.
    occurrences, followed, follow_rate : float or None
        Occurrences of Z, those that x follows within the window in the same sequence, and their share. For
        the end of a case: those that are its last event. An attribute occurs once in its sequence, and is
        followed by whatever that contains.
    occurrences_other, followed_other, follow_rate_other : float or None
        The same for all positions at which Z does not stand; for an attribute, sequences that do not have it.
    left_out, follow_rule : float or None, str or None
        "counted": every occurrence is. "complete windows": those of which a sequence was cut off before their
        window ended are left out. "product-limit": fewer than half would be left, so rates are estimated as
        of Kaplan and Meier; the numbers are all occurrences, and those that were seen to be followed.
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
        (``summarkov.evidence.robust_widening``). "counts", which is never wider, takes events for independent
        given their past; it is given where the ratio is 0 or infinite, for outcomes, and of older files.
        "resampled" is one that resampled data made wider (:meth:`InfluenceGraph.confidence`), "likelihood"
        that of a :class:`JointSuMM`, whose ratio is an odds ratio.
    frequency : float or None
        The share of graphs from resampled data that have the edge; None if it was not asked for.
    depends : str
        For "mixed": the other influencer, or of a joint model the time, on which the direction depends; empty
        if it is not a single influencer.
    corrected_ratio, corrected_low, corrected_high : float or None
        The same, allowing for selection: an edge that was barely selected looks stronger than it is
        (:func:`summarkov.evidence.given_selected`). None where the margin is not known.
    order, order_ratio, order_low, order_high, order_p, order_q, order_scale : str or float, or None
        What the order test shows, see :class:`summarkov.evidence.EdgeOrder`: the verdict, the ratio over that
        of shuffled sequences, its 95% interval, the p-value and the adjusted one, and whether the effect is
        there at "short range" or by a "slow change". None if it was not run.
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
        *("rate_with", "rate_without", "precedence", "leads_with_cases", "directions_differ", "evidence"),
        *("is_thin", "is_narrow", "is_self", "is_reversed", "is_turned"),
        *("raw_ratio", "is_raw", "shown_effect", "set_aside"),
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
        """Whether x follows Z more often than other events but the ratio is less than 1, or the reverse.

        Also if x follows nothing at all, as an event that always comes first.
        """
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
        sides = {"amplifies": self.low, "inhibits": self.high}
        return abs(math.log(sides.get(self.effect, 1.0)))


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
    steps = {"amplifies": 0, "inhibits": 0, "mixed": 1, "unclear": 2}

    def place(e: Influence) -> tuple[Any, ...]:
        shown = steps[e.shown_effect]
        return FAINT.index(e.faint), e.is_self, shown, -e.evidence, e.target, e.influencer

    return sorted(edges, key=place)


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
    level: float = 0.95,
) -> Influence:
    """What a contrast says. ``others`` names the columns of its keys, if they stand for influencers.

    ``counted`` has how often the target follows. ``margin`` is that by which the influencer was selected,
    see :func:`summarkov.evidence.given_selected`. ``clusters`` are the sums of squares and numbers that
    ``summarkov.evidence.robust_widening`` takes; ``wider`` says how much wider than from counts its interval
    is at least.
    """
    estimate = rate_ratio(found.strata, level)
    if clusters is not None:
        robust = robust_widening(estimate, found.strata, *clusters, level)
        wider = wider if robust is None else max(wider or 1.0, robust)
    factor = 1.0 if wider is None else wider
    low, high = (float(limit) for limit in widened(estimate, np.asarray(factor)))
    more, less = directions(found.strata)
    is_mixed = bool(more.any() and less.any())
    selected: dict[str, Any] = {}
    if margin is not None:
        corrected = given_selected(found.strata, margin, level, factor)
        selected = dict(zip(CORRECTED, corrected, strict=True))
    hits, expected = comparable_counts(found.strata)
    hits_with, n_with, hits_without, n_without = found.totals
    return Influence(
        influencer,
        target,
        effect_of(low, high, is_mixed),
        float(estimate.ratio),
        low,
        high,
        hits_with,
        n_with,
        hits_without,
        n_without,
        **({} if counted is None else follow_numbers(counted)),
        interval="counts" if wider is None else "robust",
        comparable_hits=hits,
        comparable_expected=expected,
        not_comparable=not_comparable(found, others),
        depends=_depends(found.keys[more], found.keys[less], others) if is_mixed else "",
        **selected,
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


# ---------------------------------------------------------------------- how often the target follows


def follow_numbers(counted: Following) -> dict[str, Any]:
    """What was counted as the fields of an :class:`Influence` that tell of followings.

    >>> from summarkov.engines.followings import Occurrences
    >>> numbers = follow_numbers(Following(2, 3, own=Occurrences(4, 2, 4, 2), others=Occurrences(9, 3, 9, 3)))
    >>> numbers["follow_rule"], numbers["follow_rate"], numbers["follow_rate_other"]
    ('counted', 0.5, 0.3333333333333333)
    """
    names = ("cases_with", "cases_followed", "cases_both", "cases_first")
    found: dict[str, Any] = {name: getattr(counted, name) for name in names}
    own, lags = counted.own, counted.lags
    if own is None or counted.others is None:
        return found
    # Lags may be lost where a file of complete sequences was added to; its windows are whole.
    is_cut, is_estimated = own.n_whole < own.n, 2 * own.n_whole < own.n and lags is not None
    found["follow_rule"] = "product-limit" if is_estimated else "complete windows" if is_cut else "counted"
    found["left_out"] = own.n - own.n_whole if is_cut and not is_estimated else 0.0
    for group, (name, each) in enumerate((("", own), ("_other", counted.others))):
        n, followed = (each.n, each.followed) if is_estimated else (each.n_whole, each.followed_whole)
        rate = followed / n if n else None
        if n and is_estimated and lags is not None:
            rate = product_limit(n, lags[lags[:, 0] == group, 1:])
        found |= {f"occurrences{name}": n, f"followed{name}": followed, f"follow_rate{name}": rate}
    return found


def product_limit(n: float, lags: FloatArray) -> float:
    r"""The share of occurrences that are followed within the window, where sequences were cut off.

    A row of ``lags`` is 0 (followed) or 1 (cut off), the bin of a lag, and a number of the ``n``
    occurrences. With :math:`h_l` followed after lag l and :math:`r_l` neither followed nor cut off before,
    it is :math:`1 - \prod_l (1 - h_l / r_l)`.

    Reference: Kaplan and Meier, Journal of the American Statistical Association 53 (1958).

    >>> product_limit(4, np.array([[0, 1, 1], [1, 1, 2], [0, 2, 1]]))
    1.0
    """
    order = np.lexsort((lags[:, 0], lags[:, 1]))  # one that is followed when it is cut off is followed
    kind, _, numbers = lags[order].T
    at_risk = n - np.append(0, np.cumsum(numbers))[:-1]
    hits = (kind == 0) & (numbers > 0)
    return float(1 - np.prod(np.clip(1 - numbers[hits] / at_risk[hits], 0, 1)))
