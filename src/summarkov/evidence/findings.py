"""What was found: the influences that pass, the largest first; all else is folded into a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from summarkov.engines.steps import Chain
from summarkov.errors import SettingError
from summarkov.evidence.course import Course
from summarkov.evidence.edges import FEW_HITS, FEW_SEQUENCES, Edge, Influence
from summarkov.evidence.interplay import Interplay
from summarkov.evidence.order import RATE
from summarkov.evidence.words import cases, follows, limits, times
from summarkov.frames import Listed, Sheet
from summarkov.wording import number, plural

#: What influences may be ordered by.
BY = ("impact", "ratio")
#: Why influences are set aside, and what is said of them.
ASIDE = {
    "itself": "on themselves",
    "fixed order": "fixed order",
    "crowding out": "crowding out",
    "co-occurrence only": "co-occurrence only",
    "unclear order": "unclear order",
    "unclear direction": "unclear direction",
    "not comparable": "not comparable",
    "too few events": "too few events",
}


@dataclass(frozen=True, repr=False)
class Miss(Edge):
    """An influence that was not found but came near, and ``why`` not: how far it is from being found."""

    why: str

    @classmethod
    def of(cls, edge: Influence) -> Self:
        """Why an influence that was selected does not pass."""
        seen = f"{number(edge.hits_with)} seen in {number(edge.cases_followed or 0)} cases"
        far = f"rate ratio {times(edge)} ({limits(edge)})" if limits(edge) else times(edge)
        if edge.set_aside == "too few events":
            far = f"{seen}, where {FEW_HITS} or more are needed, in {FEW_SEQUENCES} cases"
        elif edge.order_q is not None and edge.set_aside in ("unclear order", "co-occurrence only"):
            far = f"adjusted p-value of the order test {edge.order_q:.2g}, where {RATE:g} is needed"
        return cls(edge.influencer, edge.target, f"{ASIDE[edge.set_aside]}; {far}")

    @property
    def words(self) -> str:
        """It in a line."""
        return f"Nearest: {self.influencer} → {self.target}: {self.why}"


@dataclass(frozen=True, repr=False)
class Findings(Listed):
    """What was found among some labels; the frame has a row for each influence that passes.

    Attributes
    ----------
    influences : tuple of Influence
        Those between different labels that pass (``set_aside`` is empty): first what holds beyond the
        previous step, each by the lower bound of its impact, or of its rate ratio.
    chains : tuple of Chain
        What always comes in one order.
    interplays : tuple of Interplay
        How two influencers of one target act together.
    aside : dict
        How many influences are set aside, by reason; "itself" are those of labels on themselves.
    nearest : tuple of Miss
        If nothing was found: the three that came nearest, and why they are none.
    is_tested : bool
        Whether the order test was run.
    """

    listed: ClassVar[tuple[str, ...]] = ("influences", "nearest")

    influences: tuple[Influence, ...]
    chains: tuple[Chain, ...] = ()
    interplays: tuple[Interplay, ...] = ()
    aside: dict[str, int] = field(default_factory=dict)
    nearest: tuple[Miss, ...] = ()
    is_tested: bool = False

    @property
    def extent(self) -> str:
        """How many event types influence others."""
        n = len({edge.influencer for edge in self.influences})
        if not n:
            return "No event type was found to influence another"
        course = " beyond the fixed course of the process" if self.chains else ""
        return f"{plural(n, 'event type')} {'influences' if n == 1 else 'influence'} others{course}"

    @property
    def headline(self) -> str:
        """One sentence: how many event types influence others, and which influence is the largest."""
        if not self.influences:
            return self.extent
        first = self.influences[0]
        said = f": {impact_words(first, named=False)}" if first.impact is not None else f" {times(first)}"
        return f"{self.extent}; the largest: {first.influencer} → {first.target}{said}"

    @property
    def aside_words(self) -> str:
        """How many influences were set aside as what; empty if none was."""
        each = [f"{number(n)} {ASIDE[why]}" for why in ASIDE if (n := self.aside.get(why))]
        return f"Set aside: {', '.join(each)}." if each else ""

    @property
    def needed_words(self) -> list[str]:
        """If nothing was found: what could show more, and what came nearest."""
        needed = "More cases, or another look-back window, may show weaker influences."
        return [] if self.influences else [needed, *(each.words for each in self.nearest)]

    def _title(self) -> str:
        return self.headline

    def _notes(self) -> list[str]:
        lines = [chain_words(chain) for chain in self.chains]
        lines += [f"{each.words}." for each in self.interplays]
        lines += self.needed_words
        untested = "Not tested for order: order_test(events)." if not self.is_tested else ""
        return [*lines, *filter(None, (self.aside_words, untested))]

    def summary(self) -> Sheet:
        head = ("influence", "follows", "others", "rate ratio (95%)", "impact", "cases")
        rows = [
            (
                f"{edge.influencer} → {edge.target}",
                follows(edge).replace("(", "").replace(")", ""),
                follows(edge, others=True, counts=False),
                f"{times(edge)} ({limits(edge)})",
                impact_cell(edge),
                cases(edge),
            )
            for edge in self.influences[:10]
        ]
        return Sheet(self._title(), head, rows, len(self.influences), self._notes())


def findings_of(
    edges: Sequence[Influence],
    course: Course | None = None,
    *,
    by: str = "impact",
    is_tested: bool = False,
    near: Sequence[Miss] = (),
) -> Findings:
    """What was found, of all edges of a graph; ``near`` are those that the search did not select."""
    if by not in BY:
        raise SettingError(f"by must be 'impact' or 'ratio', not {by!r}")
    passing = [edge for edge in edges if not (edge.is_self or edge.set_aside)]
    passing.sort(key=lambda edge: place(edge, by))
    reasons = Counter(edge.set_aside or "itself" for edge in edges if edge.set_aside or edge.is_self)
    doubtful = {(e.influencer, e.target): e.set_aside for e in edges}
    passed = {(e.influencer, e.target) for e in passing}
    others = sorted((edge for edge in edges if not edge.is_self), key=lambda edge: place(edge, by))
    nearest = () if passing else (*map(Miss.of, others), *near)[:3]
    return Findings(
        tuple(passing),
        () if course is None else course.chains,
        () if course is None else tuple(one for one in course.interplays if holds(one, doubtful, passed)),
        dict(reasons),
        nearest,
        is_tested,
    )


def place(edge: Influence, by: str) -> tuple[Any, ...]:
    """Where an edge stands among findings."""
    size = edge.sure_impact if by == "impact" else edge.evidence
    return not edge.is_beyond, -size, -edge.evidence, edge.target, edge.influencer


def holds(one: Interplay, aside: dict[tuple[str, str], str], passed: set[tuple[str, str]]) -> bool:
    """Whether an interplay is of influences that pass: one at least, and the other is at most unclear."""
    pairs = [(z, one.target) for z in (one.first, one.second)]
    return bool(passed.intersection(pairs)) and all(
        aside.get(pair, "").startswith("unclear") or not aside.get(pair) for pair in pairs
    )


def chain_words(chain: Chain) -> str:
    """A chain in a line.

    >>> chain_words(Chain(("A", "B", "C"), 5004, 5113))
    'Always in this order: A → B → C (5,004 of 5,113 cases)'
    """
    return (
        f"Always in this order: {' → '.join(chain.labels)} "
        f"({number(chain.cases)} of {number(chain.cases_with_any)} cases)"
    )


def rough(value: float) -> str:
    """A number to two digits.

    >>> rough(243.2), rough(18765.0), rough(3.14), rough(0.2)
    ('240', '19,000', '3', '0')
    """
    return number(float(f"{value:.2g}") if abs(value) >= 10 else round(value))


def impact_cell(edge: Influence) -> str:
    """The impact for a table: how many more or fewer targets; empty where it is not known."""
    if edge.impact is None:
        return ""
    return f"{'+' if edge.impact > 0 else '-'}{rough(abs(edge.impact))}"


def impact_limits(edge: Influence) -> str:
    """The interval of the impact; empty where it is not known.

    >>> numbers = "page error", "purchase", "inhibits", 0.3, 0.2, 0.4, 30, 1000, 90, 2000
    >>> impact_limits(Influence(*numbers, impact=-24.0, impact_low=-51.0, impact_high=3.0))
    '51 fewer to 3 more'
    """
    if edge.impact_low is None or edge.impact_high is None:
        return ""
    if edge.impact_low < 0 < edge.impact_high:
        return f"{rough(abs(edge.impact_low))} fewer to {rough(edge.impact_high)} more"
    return " to ".join(map(rough, sorted(abs(each) for each in (edge.impact_low, edge.impact_high))))


def impact_words(edge: Influence, *, named: bool = True) -> str:
    """The impact with its interval, and what it is of if that is ``named``.

    >>> numbers = "page error", "purchase", "inhibits", 0.3, 0.2, 0.4, 30, 1000, 90, 2000
    >>> impact_words(Influence(*numbers, impact=-243.2, impact_low=-271.0, impact_high=-208.0))
    "about 240 fewer 'purchase' (210 to 270)"
    """
    if edge.impact is None:
        return ""
    more = "more" if edge.impact > 0 else "fewer"
    what = f" '{edge.target}'" if named else ""
    return f"about {rough(abs(edge.impact))} {more}{what} ({impact_limits(edge)})"
