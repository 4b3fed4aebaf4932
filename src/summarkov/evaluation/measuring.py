"""Predictors asked about events, in memory or wherever they are, in one pass for all targets."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from summarkov.baselines import BlockPredictor, Predictor
from summarkov.baselines.contenders import Data
from summarkov.engines import make_source
from summarkov.engines.messages import travels
from summarkov.engines.work import EVENT_BYTES, Part, carry_past
from summarkov.errors import SettingError
from summarkov.evaluation.measures import SequenceSums, Sums, hits, logs
from summarkov.events import EventSequences
from summarkov.events.rows import Block
from summarkov.kernels import Index
from summarkov.scores.estimates import ExactSum
from summarkov.summaries import Memory
from summarkov.typing import BoolArray, FloatArray, HashArray

#: How far outside 0 to 1 a probability may be.
_ROUNDING = 1e-9
#: Accuracy of the next event is left out where a predictor must be asked about all events at once, and the
#: probabilities of all labels would not fit into memory.
_MOST_CELLS = 10**8


# ---------------------------------------------------------------------- what is asked


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


@dataclass(frozen=True)
class Question:
    """A target, and who is asked for its probability."""

    target: str
    predictor: BlockPredictor | Whole


def by_ticks(block: Block, index: Index) -> Block:
    """The sequences of a block with one row per position."""
    before = index.ticks.before
    return replace(
        block,
        codes=block.codes[index.begins],
        offsets=before[block.offsets],
        begin=int(before[block.begin]),
        moments=None,
    )


@dataclass(frozen=True)
class Told:
    """What was told of one target on one block."""

    number: int  # of the question
    p: FloatArray
    occurred: BoolArray
    by_sequence: FloatArray  # log-likelihoods of the sequences that ended


@dataclass(frozen=True)
class Questions:
    """What is asked of one contender."""

    contender: str
    each: tuple[Question, ...]

    @property
    def by_block(self) -> bool:
        """Whether events may be cut."""
        return not any(isinstance(question.predictor, Whole) for question in self.each)

    def blocks(self, part: Part, cells: int = 0) -> Iterator[tuple[Block, Iterator[Told]]]:
        """Every block of a part with what is told of each target; ``cells``: numbers to keep an event."""
        memory = Memory.joint(question.predictor.memory() for question in self.each)
        carries = [0.0] * len(self.each)
        blocks = part.blocks(2 * EVENT_BYTES + 24 * cells) if self.by_block else part.read(sys.maxsize)
        for block, index in carry_past(blocks, len(part.labels), memory, part.attributes):
            yield block, self._told(block, index, part.labels, carries)

    def _told(
        self, block: Block, index: Index, labels: Sequence[str], carries: list[float]
    ) -> Iterator[Told]:
        sums = SequenceSums(block if index.in_rows else by_ticks(block, index))
        for number, question in enumerate(self.each):
            p, occurred = self._asked(question, index), block.codes == labels.index(question.target)
            if not index.in_rows:
                occurred = np.isin(np.arange(len(index.ticks.rows)), index.ticks.of[occurred])
            ended, carries[number] = sums.of(logs(p, occurred), carries[number])
            yield Told(number, p, occurred, ended)

    def _asked(self, question: Question, index: Index) -> FloatArray:
        """The probabilities, refused if they are none."""
        n, target = len(index.codes) if index.in_rows else len(index.ticks.rows), question.target
        p = np.asarray(question.predictor.at(index, target), dtype=np.float64)
        if isinstance(question.predictor, BlockPredictor) and not index.in_rows:
            p = p[index.begins]
        if p.shape != (n,):
            raise SettingError(
                f"{self.contender} must give {target!r} one probability per position, {n} of them, not an "
                f"array of shape {p.shape}"
            )
        if not ((p >= -_ROUNDING) & (p <= 1 + _ROUNDING)).all():
            raise SettingError(f"{self.contender} gives {target!r} a probability that is not between 0 and 1")
        return np.clip(p, 0.0, 1.0)


# ---------------------------------------------------------------------- to choose by


def log_likelihoods(
    data: Data, contender: str, asked: Sequence[Mapping[str, Predictor]]
) -> list[dict[str, float]]:
    """The log-likelihood of each target, summed over all positions, for each of several settings."""
    each = [_questions(data, contender, some).each for some in asked]
    together = Questions(contender, tuple(question for some in each for question in some))
    sums = make_source(data).run(LikelihoodWork(together))
    left = iter(sums)
    return [{question.target: float(next(left)) for question in some} for some in each]


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


# ---------------------------------------------------------------------- to report


@travels
@dataclass(frozen=True)
class Found:
    """All measures on some of the events; the sums of several parts add up."""

    sums: tuple[Sums, ...]  # one per question
    hits: tuple[int, int]  # events whose label was the most probable, or among the three most probable
    by_sequence: tuple[tuple[int, FloatArray], ...]  # one per part, mean over the targets


@dataclass(frozen=True)
class Report:
    """All measures on all of the events."""

    sums: dict[str, Sums]  # by target
    by_sequence: FloatArray  # mean over the targets; sequences in the order of their keys
    hits: tuple[int, int] | None  # None: not looked at


def report(data: Data, contender: str, asked: Mapping[str, Predictor], *, accuracy: bool) -> Report:
    """Measure predictions, and the accuracy of the next event too if that is wanted and fits into memory."""
    questions = _questions(data, contender, asked)
    accuracy &= questions.by_block or data.n_events * len(asked) <= _MOST_CELLS
    source = make_source(data)
    accuracy &= not source.has_ticks and not source.attributes  # else there is no one next event, or row
    found = source.run(ReportWork(questions, accuracy))
    return Report(
        {question.target: sums for question, sums in zip(questions.each, found.sums, strict=True)},
        _by_key(dict(found.by_sequence), source.sequence_keys()),
        found.hits if accuracy else None,
    )


def _by_key(by_part: Mapping[int, FloatArray], keys: Sequence[HashArray]) -> FloatArray:
    """One value per sequence, as each part of a source has them, in the order of the sequences' keys."""
    found = [by_part[number] for number, some in enumerate(keys) if len(some)]  # others were not looked at
    return np.concatenate([np.empty(0), *found])[np.argsort(np.concatenate(keys))]


@dataclass(frozen=True)
class ReportWork:
    """All measures of all targets on every part."""

    questions: Questions
    accuracy: bool

    def run(self, part: Part) -> Found:
        """Block by block."""
        n = len(self.questions.each)
        column = {target: at for at, target in enumerate(sorted(q.target for q in self.questions.each))}
        column_of = np.array([column.get(label, -1) for label in part.labels])
        sums, by_sequence = [Sums()] * n, []
        best = best_three = 0
        for block, told in self.questions.blocks(part, n if self.accuracy else 0):
            together = np.empty((len(block.codes), n if self.accuracy else 0))
            mean = np.zeros(0)
            for one in told:
                sums[one.number] += Sums.of(one.p, one.occurred, one.by_sequence)
                mean = one.by_sequence if one.number == 0 else mean + one.by_sequence
                if self.accuracy:
                    together[:, column[self.questions.each[one.number].target]] = one.p
            by_sequence.append(mean / n)
            if self.accuracy:
                best += hits(column_of[block.codes], together, 1)
                best_three += hits(column_of[block.codes], together, 3)
        return Found(tuple(sums), (best, best_three), ((part.number, np.concatenate(by_sequence)),))

    def total(self, answers: Sequence[Found]) -> Found:
        """Add up several parts."""
        sums = zip(*(answer.sums for answer in answers), strict=True)
        right = zip(*(answer.hits for answer in answers), strict=True)
        best, best_three = map(sum, right)
        return Found(
            tuple(sum(same, Sums()) for same in sums),
            (best, best_three),
            tuple(part for answer in answers for part in answer.by_sequence),
        )


# ---------------------------------------------------------------------- where events are


def _questions(data: Data, contender: str, asked: Mapping[str, Predictor]) -> Questions:
    """The questions, those to one predictor in a row, so that what it works out for them is at hand."""
    turn: dict[int, int] = {}
    for predictor in asked.values():
        turn.setdefault(id(predictor), len(turn))
    questions = []
    for target, predictor in sorted(asked.items(), key=lambda pair: turn[id(pair[1])]):
        if isinstance(predictor, BlockPredictor):
            questions.append(Question(target, predictor))
        elif isinstance(data, EventSequences):
            questions.append(Question(target, Whole(predictor, data)))
        else:
            raise SettingError(
                f"{contender} says that it takes sources, but what it yields cannot be asked block by block; "
                "see BlockPredictor"
            )
    return Questions(contender, tuple(questions))
