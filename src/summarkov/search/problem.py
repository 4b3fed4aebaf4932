"""What a search is given, and what it returns.

A search is a function ``search(problems, ask, done)``: it solves all problems in step, so that each call of
``ask(requests)`` answers one round of questions for all of them, and returns a result for each.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from summarkov.engines import CandidateCounts, Request, StateCounts, StatesRequest, Target
from summarkov.engines.counts import Counts, joined_tables
from summarkov.errors import StoreError
from summarkov.events.vocabulary import END
from summarkov.frames import Records
from summarkov.search.criteria import Scorer, half_log
from summarkov.summaries import Summary, WindowSummary
from summarkov.summaries.window import plain_span
from summarkov.typing import BoolArray, FloatArray, IntArray

#: Answers all requests of one round, in one pass over the data.
Ask = Callable[[Sequence[Request]], list[Counts]]
#: Is told of how many further problems the search is over.
Done = Callable[[int], None]
Search = Callable[[Sequence["Problem"], Ask, Done], list["SearchResult"]]
#: Influencers as sorted codes.
Codes = tuple[int, ...]
#: Influencers with their look-backs, None where these are not learned.
Chosen = Mapping[int, int | None]


@dataclass(frozen=True)
class Step:
    """One move of a search.

    Attributes
    ----------
    action, label : str
        "add" or "remove", and the label that entered or left; of a tree "split", and the question.
    score, gain : float
        The score then, and what the move gained.
    """

    action: str
    label: str
    score: float
    gain: float


@dataclass(frozen=True)
class LookbackStep(Step):
    """A move of a search for look-backs: that of the label once it entered or changed, or as it left."""

    lookback: int | None = None


@dataclass(frozen=True)
class Certificate:
    """How far an exact search proves that no other set of influencers scores better.

    Attributes
    ----------
    examined, pruned, open : int
        How many of the allowed sets were scored, proved to score no better without that, or neither,
        because the search was stopped.
    bound, gap : float
        No set scores above ``bound``, so none is better than what was found by more than ``gap``.
    greedy, greedy_gap : tuple of str, float
        The influencers that greedy search finds, and what they score less.
    """

    examined: int
    pruned: int
    open: int
    bound: float
    gap: float
    greedy: tuple[str, ...]
    greedy_gap: float

    @property
    def is_optimal(self) -> bool:
        """Whether nothing is open: no allowed set scores better."""
        return self.open == 0


class Trace(Records[Step]):
    """The moves of a search, in order; ``certificate`` is that of an exact search."""

    certificate: Certificate | None

    def __new__(
        cls, steps: Iterable[Step] = (), record: type = Step, certificate: Certificate | None = None
    ) -> Trace:
        """Keep the moves and the certificate."""
        trace = super().__new__(cls, steps, record)
        trace.certificate = certificate
        return trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace, (tuple(self), self.record, self.certificate)


@dataclass(frozen=True)
class SearchResult:
    """What was found: the summary, which may itself be learned, the influencers (sorted codes), and how."""

    summary: Summary
    influencers: Codes
    score: float
    table: StateCounts
    steps: tuple[Step, ...]
    certificate: Certificate | None = None


@dataclass(frozen=True)
class Problem:
    """One target, and which influencers may be considered for it; in one replicate of the data, if told."""

    summary: Summary
    target: Target
    scorer: Scorer
    labels: Sequence[str]
    n_events: float
    scale: int
    required: Codes
    optional: Codes  # candidates that are not required, sorted
    max_influencers: int | None = None
    reachable_only: bool = False
    max_sets: int | None = None  # the most sets that the exact search scores
    n_targets: int = 1  # how many are learned together, this one included
    given: Codes = ()  # required attributes: strata, of which there are ``n_strata``
    n_strata: int = 1
    replicate: int | None = None
    lookbacks: tuple[int | None, ...] = ()  # to choose from for each influencer, shortest first

    @property
    def room(self) -> int:
        """How many optional influencers there may be; none where the target is always the same."""
        if self.target.n_outcomes == 1:
            return 0
        if self.max_influencers is None:
            return len(self.optional)
        return min(len(self.optional), self.max_influencers - len(self.required))

    @property
    def bytes_held(self) -> int:
        """About how much a round of the search holds for this target: one table per candidate, and more."""
        each = 64 * self.target.n_outcomes if isinstance(self.summary, WindowSummary) else 1024
        return each * len(self.optional) * max(1, len(self.lookbacks))

    def states(self, influencers: Codes) -> StatesRequest:
        """What to ask about the states of some influencers."""
        return StatesRequest(self.summary, influencers, self.target, self.replicate)

    # ---------------------------------------------------------------- scores

    @property
    def per_state(self) -> float:
        r"""What BIC takes off for the distribution of a state: :math:`\gamma (|X| - 1) \log(N) / 2`."""
        return self.scorer.gamma * (self.target.n_outcomes - 1) * float(half_log(self.n_events))

    @cached_property
    def _n_labels(self) -> int:
        """How many labels a history can hold: the end is in none."""
        at = bisect.bisect_left(self.labels, END)
        return len(self.labels) - (END in self.labels[at : at + 1])

    def n_states(self, influencers: Sequence[int]) -> float:
        """|S(U)| as a float (infinite where no float is large enough), for each of the strata."""
        others = [z for z in influencers if z not in self.given]
        if self.reachable_only:
            n = self.summary.n_reachable([self.labels[z] for z in others], self._n_labels)
        else:
            n = self.summary.n_states(len(others), self._n_labels)
        n *= self.n_strata
        return float(n) if n < 2**1000 else float("inf")

    def score(self, table: StateCounts, influencers: Sequence[int]) -> float:
        return float(self.scores(table.counts, len(influencers), self.n_states(influencers)))

    def scores(
        self,
        counts: IntArray | FloatArray,
        n_influencers: int | IntArray,
        n_states: float | FloatArray,
        n_events: float | FloatArray | None = None,
    ) -> FloatArray:
        """Scores of tables along leading axes, which those of the other arguments go along with."""
        return self.scorer(
            counts if self.scale == 1 else counts / self.scale,
            n_influencers - len(self.given),
            n_states,
            len(self.required) + len(self.optional) - len(self.given),
            self.n_events if n_events is None else n_events,
            self.n_targets,
            max(1, len(self.lookbacks)),
        )

    def n_joined(self, influencers: Codes, candidates: Sequence[int]) -> list[float]:
        """|S(U)| once each candidate joins; one number if it is the same for all."""
        each = candidates if self.reachable_only else candidates[:1]
        return [self.n_states((*influencers, z)) for z in each]

    def joined_scores(
        self, counts: CandidateCounts, influencers: Codes, candidates: Sequence[int]
    ) -> FloatArray:
        n_states = np.array(self.n_joined(influencers, candidates))
        return np.asarray(self.scores(joined_tables([counts]), len(influencers) + 1, n_states)[0])

    def margins(self, influencers: Codes, table: StateCounts, score: float) -> tuple[float, ...] | None:
        """By how much the score exceeds that without each influencer; infinite for required ones.

        None where a table does not tell what would be without one.
        """
        if not self.summary.by_level:
            return None
        found = []
        for column, z in enumerate(influencers):
            rest = [at for at in range(len(influencers)) if at != column]
            left = table.regroup(self.summary.restricted(table.keys, rest))
            worse = score - self.score(left, [influencers[at] for at in rest])
            found.append(float("inf") if z in self.required else worse)
        return tuple(found)

    # ---------------------------------------------------------------- look-backs that are learned

    def at(self, chosen: Chosen, rest: int | None = None) -> Self:
        """The same problem, the influencers having their look-backs and all other labels that of ``rest``."""
        if not self.lookbacks:
            return self
        assert isinstance(self.summary, WindowSummary)
        own = [(self.labels[z], k) for z, k in chosen.items()]
        return replace(self, summary=self.summary.variant(own, rest, self.labels))

    def learned(self, chosen: Chosen) -> Self:
        """The same problem with the summary of the influencers found, which looks for no others."""
        if not self.lookbacks:
            return self
        assert isinstance(self.summary, WindowSummary)
        own = {self.labels[z]: chosen[z] for z in sorted(chosen)}
        return replace(self, summary=replace(self.summary, lookback=own, only=True))

    # ---------------------------------------------------------------- in files

    def read_learned(self, told: Any, influencers: Codes) -> Self:
        """The same problem with what was learned of its summary, from the entry of a target in a file."""
        if not self.lookbacks:
            return self
        names = [self.labels[z] for z in influencers]
        if told.lookbacks is None or sorted(told.lookbacks) != names:
            wanted = ", ".join(names) or "no influencers"
            raise StoreError.expected(f"'lookbacks' for each of {wanted}", told.lookbacks)
        return self.learned({z: self._lookback(told.lookbacks[self.labels[z]]) for z in influencers})

    def read_step(self, told: Any) -> Step | None:
        """A move of the search, from a file; None where what was learned tells it."""
        step = told.action, told.label, told.score, told.gain
        return LookbackStep(*step, self._lookback(told.lookback)) if self.lookbacks else Step(*step)

    def _lookback(self, told: int | str | None) -> int | None:
        named = {plain_span(k): k for k in self.lookbacks}
        if told not in named:
            raise StoreError.expected(f"one of the look-backs {', '.join(map(str, named))}", told)
        return named[told]

    def influencers_of(self, table: StateCounts) -> Codes | None:
        """The influencers that a table of states tells; None where it does not."""
        return None


def ask_states(problems: Sequence[Problem], ask: Ask, sets: Sequence[Codes]) -> list[StateCounts]:
    """Ask at once for the counts of one set of influencers for each of several problems."""
    requests = [problem.states(influencers) for problem, influencers in zip(problems, sets, strict=True)]
    return [table for table in ask(requests) if isinstance(table, StateCounts)]


def fixed(problems: Sequence[Problem], ask: Ask, done: Done) -> list[SearchResult]:
    """Count the states of the required influencers and score them."""
    tables = ask_states(problems, ask, [problem.required for problem in problems])
    done(len(problems))
    return [
        SearchResult(each.summary, each.required, each.score(table, each.required), table, ())
        for each, table in zip(problems, tables, strict=True)
    ]


def improves(new: float | FloatArray, old: float | FloatArray) -> BoolArray:
    """Whether a score, or each of several, is better by more than a tie: 1e-9, relative."""
    with np.errstate(invalid="ignore"):  # of infinite scores
        by_more = new - old > 1e-9 * np.maximum(1.0, np.maximum(np.abs(new), np.abs(old)))
    return np.where(old == -np.inf, new > old, by_more)


def first_best(scores: Sequence[float] | FloatArray) -> int:
    """The first of those that tie with the best."""
    return int(first_bests(np.asarray(scores, dtype=float)))


def first_bests(scores: FloatArray) -> IntArray:
    """The first of those that tie with the best, along the last axis."""
    best = scores.max(axis=-1, keepdims=True)
    return np.asarray((scores >= best - 1e-9 * np.maximum(1.0, np.abs(best))).argmax(axis=-1))
