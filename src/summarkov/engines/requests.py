"""What a search can ask to have counted, of which target, and how requests for several targets become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov.summaries import Summary, TreeSummary, WindowSummary
from summarkov.typing import CodeArray


@dataclass(frozen=True)
class Target:
    """Labels of the target X as sorted codes; one outcome each, plus a residual one unless X is all labels.

    >>> Target((0, 2), n_labels=4).n_outcomes
    3
    """

    codes: tuple[int, ...]
    n_labels: int
    n_attributes: int = 0  # those of the labels that are no labels of events
    keeps_rest: bool = False  # a residual outcome for events of no known label, though X is all labels
    only: bool = False  # no position counts but those where one of the labels is: outcomes of sequences

    @property
    def has_residual(self) -> bool:
        """Whether there is an outcome for what is not in the target."""
        return self.keeps_rest or (not self.only and len(self.codes) < self.n_labels - self.n_attributes)

    @property
    def never_influence(self) -> tuple[int, ...]:
        """The labels that may influence nothing: outcomes, which stand at the end."""
        return self.codes if self.only else ()

    @property
    def n_outcomes(self) -> int:
        """|X|, the number of states of the target's variable."""
        return len(self.codes) + self.has_residual

    def outcome_of(self) -> CodeArray:
        """Outcome of every code; the last entry is for events of no known label (-1: not counted)."""
        outcomes = np.full(self.n_labels + 1, len(self.codes) if self.has_residual else -1, np.int32)
        outcomes[list(self.codes)] = np.arange(len(self.codes))
        return outcomes


@dataclass(frozen=True)
class StatesRequest:
    """Count N(x; s) over the states of these influencers.

    Of a source with replicates (:class:`ReplicatedSource`), ``replicates`` says which are asked about; counts
    have them as their first axis.
    """

    summary: Summary
    influencers: tuple[int, ...]
    target: Target
    replicates: tuple[int, ...] | None = None

    @property
    def shared(self) -> tuple[object, ...]:
        """What requests must have in common to be counted as one."""
        return (type(self), id(self.summary), self.influencers, self.target.only and self.target)


@dataclass(frozen=True)
class CandidatesRequest:
    """Count N(x; s, z) over the states of these influencers joined by each candidate z in turn.

    With ``given``, one of the influencers, only at positions at which that one is present.
    """

    summary: WindowSummary
    influencers: tuple[int, ...]
    target: Target
    candidates: tuple[int, ...]
    replicates: tuple[int, ...] | None = None
    given: int | None = None

    @property
    def shared(self) -> tuple[object, ...]:
        """What requests must have in common to be counted as one."""
        only = self.target.only and self.target
        return (type(self), id(self.summary), self.influencers, self.candidates, self.given, only)

    @property
    def given_place(self) -> int | None:
        """The place of ``given`` among the influencers."""
        return None if self.given is None else self.influencers.index(self.given)


@dataclass(frozen=True)
class RecencyRequest:
    """Count what every test of the candidates would tell apart at some leaves of a tree."""

    summary: TreeSummary
    target: Target
    candidates: tuple[int, ...]
    open: tuple[int, ...]  # numbers of leaves
    replicates: tuple[int, ...] | None = None

    @property
    def shared(self) -> tuple[object, ...]:
        """What requests must have in common to be counted as one."""
        return (type(self), self.summary, self.candidates, self.open, self.target.only and self.target)

    @property
    def cells(self) -> int:
        """How many numbers there are to an outcome."""
        tests, n = self.summary.tests, len(self.candidates)
        each = n * tests.depth * (len(tests.lookbacks) + 1) + len(tests.starts) + n * n * tests.pairs
        return len(self.open) * each


Request = StatesRequest | CandidatesRequest | RecencyRequest


def join(requests: Sequence[Request], most: int) -> tuple[list[Request], list[int]]:
    """Make one request of those that differ in nothing but the target.

    Every event has one label, so one table with an outcome for each label of any target answers them all
    (N(s, z) is shared). A joint request has at most ``most`` labels, unless one target alone has more. If
    they are all labels, it keeps a residual outcome too: events of no known label are in the residual of
    each target that has one.
    Returns the joint requests and, for every given one, which of them answers it.
    """
    joint: list[Request] = []
    labels: list[set[int]] = []
    open_: dict[tuple[object, ...], int] = {}
    answered_by: list[int] = []
    for request in requests:
        at = open_.get(request.shared)
        if at is None or len(labels[at] | set(request.target.codes)) > most:
            at = open_[request.shared] = len(joint)
            joint.append(request)
            labels.append(set())
        labels[at] |= set(request.target.codes)
        answered_by.append(at)
    rest = {at for request, at in zip(requests, answered_by, strict=True) if request.target.has_residual}
    joined = []
    for at, (request, codes) in enumerate(zip(joint, labels, strict=True)):
        target = request.target
        if target.only:  # its labels are in no other target
            joined.append(request)
            continue
        keeps_rest = at in rest and len(codes) == target.n_labels - target.n_attributes
        every = Target(tuple(sorted(codes)), target.n_labels, target.n_attributes, keeps_rest)
        joined.append(replace(request, target=every))
    return joined, answered_by
