"""How good probabilities are: predictors are asked about events, wherever these are, and measured."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from summarkov.comparison.contenders import BlockPredictor, Data, Predictor
from summarkov.comparison.next_event import NextEvent
from summarkov.engines import make_source
from summarkov.engines.messages import travels
from summarkov.engines.work import EVENT_BYTES, Part, carry_past
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.rows import Block
from summarkov.kernels import Index
from summarkov.models.measures import Binned, Measured
from summarkov.scores.estimates import ExactSum
from summarkov.summaries import Memory
from summarkov.typing import BoolArray, FloatArray

#: How far outside 0 to 1 a probability may be.
_ROUNDING = 1e-9
#: Measures of the next event are left out where a predictor must be asked about all events at once, and the
#: probabilities of all labels would not fit into memory.
_MOST_CELLS = 10**8


@dataclass(frozen=True)
class Measures:
    """One target's probabilities against what happened in all test sequences."""

    log_likelihood: float  # summed over positions; -inf where what happened was ruled out
    brier: float  # mean of (p - [it occurred])^2 over positions
    reliability: FloatArray  # one row per bin: positions, sum of p, occurrences

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {**vars(self), "reliability": self.reliability.tolist()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Measures:
        """Read what :meth:`to_dict` returned."""
        return cls(**{**given, "reliability": np.array(given["reliability"])})


@travels
@dataclass(frozen=True)
class Sums:
    """One target's probabilities against what happened in some of the events.

    The sums are exact, so they do not depend on where the events are nor on how they are cut.
    """

    measured: Measured = field(default_factory=Measured)  # the logs of the sequences that ended
    binned: Binned = field(default_factory=Binned)

    @classmethod
    def of(cls, p: FloatArray, occurred: BoolArray, by_sequence: FloatArray) -> Sums:
        """Measure the probabilities of a block, in which sequences ended that have these log-likelihoods."""
        return cls(
            Measured(*map(ExactSum.of, (np.array([float(len(p))]), by_sequence, (p - occurred) ** 2))),
            Binned.of(p, np.ones(len(p), np.int64), occurred.astype(np.int64)),
        )

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.measured + other.measured, self.binned + other.binned)

    @property
    def measures(self) -> Measures:
        """What they come to."""
        return Measures(self.measured.log_likelihood, self.measured.brier, np.array(self.binned.rows()))


def logs(p: FloatArray, occurred: BoolArray) -> FloatArray:
    """Log p where the target occurred and log(1 - p) where it did not.

    It is minus infinity, without a warning, if something that happened was given no probability at all.

    >>> logs(np.array([0.5, 0.0]), np.array([True, False])).round(4).tolist()
    [-0.6931, 0.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.where(occurred, p, 1 - p)))


@dataclass(frozen=True)
class Whole:
    """A predictor that is asked about all events at once, which must then be one block."""

    predictor: Predictor
    events: EventSequences

    def memory(self) -> Memory:
        """Nothing: no sequence is cut."""
        return Memory(0, None)

    def at(self, index: Index, target: str) -> FloatArray:
        """Probability of the target at every position."""
        return self.predictor.probability(self.events, target)


class Told(NamedTuple):
    """What was told of one target on one block."""

    number: int  # of the question
    p: FloatArray
    occurred: BoolArray
    by_sequence: FloatArray  # log-likelihoods of the sequences that ended


@dataclass(frozen=True)
class Questions:
    """What is asked of one contender: targets, and who is asked for the probability of each."""

    contender: str
    each: tuple[tuple[str, BlockPredictor | Whole], ...]

    @classmethod
    def of(cls, data: Data, contender: str, asked: Mapping[str, Predictor]) -> Questions:
        """Those to one predictor in a row, so that what it works out for them is at hand."""
        turn: dict[int, int] = {}
        for predictor in asked.values():
            turn.setdefault(id(predictor), len(turn))
        each: list[tuple[str, BlockPredictor | Whole]] = []
        for target, predictor in sorted(asked.items(), key=lambda pair: turn[id(pair[1])]):
            if isinstance(predictor, BlockPredictor):
                each.append((target, predictor))
            elif isinstance(data, EventSequences):
                each.append((target, Whole(predictor, data)))
            else:
                raise SettingError(
                    f"{contender} says that it takes sources, but what it yields cannot be asked block by "
                    "block; see BlockPredictor"
                )
        return cls(contender, tuple(each))

    @property
    def by_block(self) -> bool:
        """Whether events may be cut."""
        return not any(isinstance(predictor, Whole) for _, predictor in self.each)

    def blocks(self, part: Part, cells: int = 0) -> Iterator[tuple[Block, Iterator[Told]]]:
        """Every block of a part with what is told of each target; ``cells`` numbers are kept per event."""
        memory = Memory.joint(predictor.memory() for _, predictor in self.each)
        carries = [0.0] * len(self.each)
        blocks = part.blocks(2 * EVENT_BYTES + 24 * cells) if self.by_block else part.read(sys.maxsize)
        for block, index in carry_past(blocks, len(part.labels), memory, part.attributes):
            yield block, self._told(block, index, part.labels, carries)

    def _told(
        self, block: Block, index: Index, labels: Sequence[str], carries: list[float]
    ) -> Iterator[Told]:
        """Each target; ``carries`` is what a sequence that was cut has come to before.

        Logarithms are summed in the order of positions, so that it does not matter where a sequence is cut.
        """
        offsets, begin, n = block.offsets, block.begin, len(block.codes)
        if not index.in_rows:
            before, n = index.ticks.before, len(index.ticks.rows)
            offsets, begin = before[offsets], int(before[begin])
        lengths = np.diff(offsets)
        of_sequence = np.concatenate([[0], np.repeat(np.arange(len(lengths)), lengths)])
        goes_on = begin < n
        for number, (target, predictor) in enumerate(self.each):
            p, occurred = self._asked(target, predictor, index, n), block.codes == labels.index(target)
            if not index.in_rows:
                occurred = np.isin(np.arange(n), index.ticks.of[occurred])
            values = np.concatenate([[carries[number]], logs(p, occurred)])
            sums = np.bincount(of_sequence, weights=values, minlength=len(lengths))
            carries[number] = float(sums[-1]) if goes_on else 0.0
            yield Told(number, p, occurred, np.asarray(sums[: len(lengths) - goes_on], dtype=np.float64))

    def _asked(self, target: str, predictor: BlockPredictor | Whole, index: Index, n: int) -> FloatArray:
        """The probabilities at n positions, refused if they are none."""
        p = np.asarray(predictor.at(index, target), dtype=np.float64)
        if isinstance(predictor, BlockPredictor) and not index.in_rows:
            p = p[index.begins]
        if p.shape != (n,):
            raise SettingError(
                f"{self.contender} must give {target!r} one probability per position, {n} of them, not an "
                f"array of shape {p.shape}"
            )
        if not ((p >= -_ROUNDING) & (p <= 1 + _ROUNDING)).all():
            raise SettingError(f"{self.contender} gives {target!r} a probability that is not between 0 and 1")
        return np.clip(p, 0.0, 1.0)


def log_likelihoods(
    data: Data, contender: str, asked: Sequence[Mapping[str, Predictor]]
) -> list[dict[str, float]]:
    """The log-likelihood of each target, summed over all positions, for each of several settings."""
    each = [Questions.of(data, contender, some).each for some in asked]
    together = Questions(contender, tuple(question for some in each for question in some))
    sums = make_source(data).run(LikelihoodWork(together))
    left = iter(sums)
    return [{target: float(next(left)) for target, _ in some} for some in each]


@dataclass(frozen=True)
class LikelihoodWork:
    """The log-likelihood of every target on every part."""

    questions: Questions

    def run(self, part: Part) -> list[ExactSum]:
        """Block by block."""
        sums = [ExactSum()] * len(self.questions.each)
        for _, told in self.questions.blocks(part):
            for one in told:
                sums[one.number] += ExactSum.of(one.by_sequence)
        return sums

    def total(self, answers: Sequence[list[ExactSum]]) -> list[ExactSum]:
        """Add up several parts."""
        return [sum(same, ExactSum()) for same in zip(*answers, strict=True)]


@travels
@dataclass(frozen=True)
class Found:
    """All measures on some of the events; the sums of several parts add up."""

    sums: tuple[Sums, ...]  # one per question
    next_event: NextEvent  # empty if not looked at
    by_sequence: tuple[tuple[int, FloatArray], ...]  # one per part, mean over the targets


@dataclass(frozen=True)
class Report:
    """All measures on all of the events."""

    sums: dict[str, Sums]  # by target
    by_sequence: FloatArray  # mean over the targets; sequences in the order of their keys
    next_event: NextEvent | None  # None: not looked at


def report(data: Data, contender: str, asked: Mapping[str, Predictor], *, next_event: bool) -> Report:
    """Measure predictions, and those of the next event too if that is wanted and fits into memory."""
    questions = Questions.of(data, contender, asked)
    next_event &= questions.by_block or data.n_events * len(asked) <= _MOST_CELLS
    source = make_source(data)
    next_event &= not source.has_ticks and not source.attributes  # else there is no one next event, or row
    found = source.run(ReportWork(questions, next_event))
    by_part, keys = dict(found.by_sequence), source.sequence_keys()
    each = [by_part[number] for number, some in enumerate(keys) if len(some)]  # others were not looked at
    return Report(
        {target: sums for (target, _), sums in zip(questions.each, found.sums, strict=True)},
        np.concatenate([np.empty(0), *each])[np.argsort(np.concatenate(keys))],
        found.next_event if next_event else None,
    )


@dataclass(frozen=True)
class ReportWork:
    """All measures of all targets on every part."""

    questions: Questions
    next_event: bool

    def run(self, part: Part) -> Found:
        """Block by block."""
        n = len(self.questions.each)
        column = {target: at for at, target in enumerate(sorted(target for target, _ in self.questions.each))}
        column_of = np.array([*(column.get(label, -1) for label in part.labels), -1])  # of no label, too
        sums, by_sequence = [Sums()] * n, []
        next_event = NextEvent()
        for block, told in self.questions.blocks(part, n if self.next_event else 0):
            together = np.empty((len(block.codes), n if self.next_event else 0))
            mean = np.zeros(0)
            for one in told:
                sums[one.number] += Sums.of(one.p, one.occurred, one.by_sequence)
                mean = one.by_sequence if one.number == 0 else mean + one.by_sequence
                if self.next_event:
                    together[:, column[self.questions.each[one.number][0]]] = one.p
            by_sequence.append(mean / n)
            if self.next_event:
                next_event += NextEvent.of(column_of[block.codes], together)
        return Found(tuple(sums), next_event, ((part.number, np.concatenate(by_sequence)),))

    def total(self, answers: Sequence[Found]) -> Found:
        """Add up several parts."""
        sums = zip(*(answer.sums for answer in answers), strict=True)
        return Found(
            tuple(sum(same, Sums()) for same in sums),
            sum((answer.next_event for answer in answers), NextEvent()),
            tuple(part for answer in answers for part in answer.by_sequence),
        )
