"""What every ``fit`` takes: events that are counted where they are, shard by shard of whole sequences.

Shards keep what kernels look up from pass to pass.
"""

from __future__ import annotations

import bisect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeGuard, TypeVar

import numpy as np

from summarkov import kernels
from summarkov.engines.counts import (
    CandidateCounts,
    CandidatesRequest,
    Counts,
    JointCounts,
    RecencyCounts,
    RecencyRequest,
    Request,
    StateCounts,
    StatesRequest,
    Target,
    fixed_point,
    join,
    refuse_overflow,
)
from summarkov.errors import SettingError, TooLargeError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin
from summarkov.events.draws import Bootstrap
from summarkov.events.moments import TimeUnit
from summarkov.events.rows import Rows, cuts, recoded, row_labels, row_offsets
from summarkov.events.sequences import refuse_end
from summarkov.events.vocabulary import END, Unknown, count_codes
from summarkov.settings import is_whole
from summarkov.summaries import ChainSummary, WindowSummary
from summarkov.typing import CodeArray, HashArray, IntArray

if TYPE_CHECKING:
    from summarkov.engines.replicates import ReplicatedSource

#: Rows of a shard at most, unless one sequence has more: bounds what the kernels need beside the data itself,
#: which is more in NumPy.
SHARD_EVENTS = 1 << (22 if kernels.backend() == "native" else 20)
#: Rows of a shard of events on disk, which are not kept from pass to pass if there are more.
_MAPPED_EVENTS = 1 << 20
#: Bytes that the tables of one request may take.
TABLE_BYTES = 1 << 30
#: Rows of a sequence at most: positions are 32 bits wide in C++.
MOST_ROWS = 2**31 - 1
#: With fewer events, counting takes no longer than putting counts together.
_FROM_EVENTS = 1 << 17
#: Bytes of counts that are kept for the next pass.
_MOST_KEPT = 1 << 28
#: More threads than any machine has cores.
_MOST_THREADS = 1024

Answer = TypeVar("Answer")


# ---------------------------------------------------------------------- shards


@dataclass(frozen=True)
class Shard:
    """Some sequences; ``first`` is the number of the first, ``start`` that of its first row.

    ``all_keys`` tells the keys of all sequences, by which they are drawn and shuffled.
    """

    rows: Rows
    weights: IntArray | None = None  # one per sequence
    first: int = 0
    start: int = 0
    all_keys: Callable[[], HashArray] | None = field(default=None, repr=False)

    @property
    def codes(self) -> CodeArray:
        return self.rows.codes

    @property
    def offsets(self) -> IntArray:
        return self.rows.offsets

    @property
    def labels(self) -> tuple[str, ...]:
        return self.rows.labels

    @property
    def n_sequences(self) -> int:
        return len(self.rows.offsets) - 1

    @cached_property
    def index(self) -> kernels.Index:
        """The rows as kernels take them, with what these keep."""
        if len(self.codes) > MOST_ROWS:
            raise TooLargeError(
                f"a sequence has {len(self.codes):,} rows, and at most {MOST_ROWS:,} can be counted; cut it "
                "into sessions, or into other parts that belong together"
            )
        return self.rows.index()

    @cached_property
    def keys(self) -> HashArray:
        """Numbers for the names of the sequences."""
        assert self.all_keys is not None
        return np.asarray(self.all_keys()[self.first : self.first + self.n_sequences])

    def weighed(self, weights: IntArray) -> Shard:
        """The same sequences under other weights."""
        found = replace(self, weights=weights)
        vars(found)["index"] = self.index
        return found

    def count(self, request: Request) -> Counts:
        """Answer one request for this shard alone."""
        try:
            return self._count(request)
        except MemoryError:
            raise too_large(request) from None

    def _count(self, request: Request) -> Counts:
        index, weights = self.index, self.weights
        outcomes = (request.target.outcome_of(), request.target.n_outcomes)
        if isinstance(request, RecencyRequest):
            tree, recency = request.summary, request.summary.tests.recency(request.candidates)
            slots = np.full(len(tree.nodes), -1, np.int64)
            slots[tree.leaves[list(request.open)]] = np.arange(len(request.open))
            if recency.in_time:
                recency = recency._replace(lookbacks=kernels.in_units(recency.lookbacks, index.unit))
            nodes = tree.arrays_for(index)
            return RecencyCounts(*kernels.count_tests(index, weights, nodes, slots, recency, *outcomes))
        if not isinstance(request.summary, WindowSummary):
            ids, keys = request.summary.encode(index, request.influencers, self.labels)
            counted = kernels.outcomes_counted(index, weights, outcomes[0])
            return StateCounts(keys, kernels.tabulate(counted, ids, len(keys), outcomes[1]))
        candidates: tuple[int, ...] = ()
        given = None
        if isinstance(request, CandidatesRequest):
            candidates = request.candidates
            given = None if request.given is None else request.influencers.index(request.given)
        chosen, joining = np.array(request.influencers, np.int32), np.array(candidates, np.int32)
        window = request.summary.window(self.labels)
        found = kernels.count_candidates(index, weights, chosen, joining, *outcomes, window, given=given)
        return CandidateCounts(*found) if isinstance(request, CandidatesRequest) else StateCounts(*found[:2])


def too_large(request: Request) -> TooLargeError:
    """What is said of counts that would not fit in memory."""
    if isinstance(request, RecencyRequest):
        return TooLargeError(
            f"the tests of {len(request.candidates)} labels at {len(request.open)} leaves for "
            f"{request.target.n_outcomes} outcomes are too many to count; give candidates, set max_depth, "
            "raise gamma, or leave out counts or pairs"
        )
    joined = "" if isinstance(request, StatesRequest) else " joined by each of its candidates"
    return TooLargeError(
        f"the states of {len(request.influencers)} influencers{joined} are too many to count; set "
        "max_influencers, raise gamma, or give candidates"
    )


def count_all(shard: Shard, requests: Sequence[Request]) -> list[Counts]:
    """The answers to some requests."""
    return [shard.count(request) for request in requests]


def count_labels(shard: Shard) -> IntArray:
    """N(x) of every label, weighted."""
    if shard.weights is None:
        return count_codes(shard.codes, len(shard.labels))
    counts = np.zeros(len(shard.labels) + 1, np.int64)
    np.add.at(counts, shard.codes, shard.weights[shard.index.sequence])
    return counts[:-1]


def count_starts(shard: Shard) -> IntArray:
    """How many sequences begin with each label; weights do not matter."""
    index = shard.index
    first = ~index.attribute & (index.tick == index.bounds[index.sequence])
    return count_codes(shard.codes[first], len(shard.labels))


@dataclass(frozen=True)
class Gathered:
    """What each shard has, one after the other."""

    parts: list[Any]

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(self.parts + other.parts)


def filled_keys(shard: Shard) -> Gathered:
    """The keys of the sequences with something to count: not empty, and of a weight above 0."""
    filled = np.diff(shard.index.bounds) > 0
    return Gathered([shard.keys[filled if shard.weights is None else filled & (shard.weights > 0)]])


def added(answers: Sequence[Any]) -> Any:
    """Arrays, numbers and counts added up; tuples and lists item by item.

    >>> added([[1, (2, 3)], [10, (20, 30)]])
    [11, (22, 33)]
    """
    first = answers[0]
    if len(answers) == 1:
        return first
    if isinstance(first, list | tuple):
        sums = map(added, zip(*answers, strict=True))
        return type(first)(*sums) if hasattr(first, "_fields") else type(first)(sums)
    return sum(answers[1:], first) if hasattr(first, "__add__") else first.total(answers)


# ---------------------------------------------------------------------- sources


class Layout(NamedTuple):
    """What else is to be known of data than its events in a row.

    ``together`` says that events may have happened together, ``time`` what times are ("clock", "number", or
    None where there are none), ``attributes`` which of the labels are attributes of sequences, ``outcomes``
    which say how a sequence ended.
    """

    together: bool = False
    time: str | None = None
    attributes: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: EventSource) -> Layout:
        """That of a source."""
        time = None if source.time_unit is None else source.time_unit.kind
        return cls(source.has_ticks, time, source.attributes, source.outcomes)


#: Events in a row, and nothing else.
IN_A_ROW = Layout()


class EventSource(ABC):
    """Events that are counted where they are, by functions of shards of whole sequences.

    All counts are integers; with weights that are not whole they are multiples of ``1 / scale``.
    """

    labels: tuple[str, ...]  # the vocabulary in sorted order
    scale: int = 1  # what counts must be divided by
    memory: int = TABLE_BYTES  # bytes that the tables of counts may take at a time
    has_ticks: bool = False  # whether events may have happened together
    time_unit: TimeUnit | None = None  # what times are measured in, where events have some
    attributes: tuple[str, ...] = ()  # those of the labels that are attributes of sequences
    outcomes: tuple[str, ...] = ()  # those that say how a sequence ended
    n_sequences: int
    tied_order: int
    weights: IntArray | None = None  # of the sequences by number, in units of 1 / scale
    origin: Origin | None = None  # how the events were read

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_sequences:,} sequences, {len(self.labels):,} labels)"

    @abstractmethod
    def map(
        self,
        function: Callable[..., Answer],
        questions: Sequence[Any] | None = None,
        most_rows: int | None = None,
    ) -> Answer:
        """What a function, which may have to travel, returns for every shard, ``added`` up.

        With ``questions`` it takes these too, and returns a list of answers. ``most_rows`` is how many rows
        of a shard it takes, as far as sequences allow.
        """

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        return self.count_by(count_all, requests)

    def count_by(self, function: Callable[..., list[Counts]], requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass, by a function that answers some for a shard."""
        if not requests:
            return []
        joint, answered_by = join(requests, most_targets(requests, self.memory))
        counted = self.map(function, joint)
        totals = [JointCounts(of, request.target) for of, request in zip(counted, joint, strict=True)]
        return [totals[at].narrow(request.target) for request, at in zip(requests, answered_by, strict=True)]

    @cached_property
    def label_counts(self) -> IntArray:
        """N(x) of every label, weighted, in units of ``1 / scale``: counted in one pass, unless known."""
        return self.map(count_labels)

    @cached_property
    def n_events(self) -> int:
        """The number of events; the end of a sequence is none."""
        ends = self.label_counts[self.labels.index(END)] if END in self.labels else 0
        return int(self.event_counts.sum() - ends)

    @property
    def event_counts(self) -> IntArray:
        """``label_counts`` without attributes, which are no events."""
        counts = self.label_counts.copy()
        counts[np.searchsorted(self.labels, self.attributes)] = 0
        return counts

    @cached_property
    def n_positions(self) -> int:
        """N, the number of positions, weighted, in units of ``1 / scale``."""
        if self.outcomes:
            return int(self.label_counts[np.searchsorted(self.labels, self.outcomes)].sum())
        if not self.has_ticks:
            return int(self.event_counts.sum())
        (counted,) = self.count([self.positions()])
        return int(counted.tables[0].sum())

    def positions(self, replicate: int | None = None) -> StatesRequest:
        """What to ask about all positions."""
        outcomes = tuple(np.searchsorted(self.labels, self.outcomes).tolist())
        target = Target(outcomes, len(self.labels), only=bool(outcomes))
        return StatesRequest(ChainSummary(0), (), target, replicate)

    @property
    def is_weighted(self) -> bool:
        """Whether sequences have weights of their own."""
        return self.weights is not None

    def filled_keys(self) -> HashArray:
        """Numbers for the names of all sequences with something to count, sorted."""
        return np.sort(np.concatenate(self.map(filled_keys).parts))

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> EventSource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        raise NotImplementedError  # nobody asks for that of sequences with outcomes, nor for what follows

    def without_ends(self) -> EventSource:
        """The same sequences, all of them taken for cut off."""
        raise NotImplementedError

    def map_labels(self, *settings: Any, **named: Any) -> EventSource:
        """Not every source can be prepared as :class:`EventSequences` can."""
        raise SettingError(f"a {type(self).__name__} cannot be prepared; prepare the events themselves")

    pool_rare = collapse_repeats = add_start = map_labels

    def replicated(self, draws: Bootstrap) -> ReplicatedSource:
        """The same sequences under each of many weights."""
        from summarkov.engines.replicates import ReplicatedSource

        keys = self.filled_keys()
        if len(keys) < 2:
            raise SettingError(
                "sequences are drawn again, and these events have one; cut it into several, such as days or "
                "documents, when the events are read"
            )
        return ReplicatedSource(self, draws, keys)

    def close(self) -> None:  # noqa: B027  # not every source holds something
        """Let go of what the source holds, such as temporary files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def most_targets(requests: Sequence[Request], table_bytes: int) -> int:
    """How many labels may share one table of candidates."""
    cells = [2 * len(r.candidates) for r in requests if isinstance(r, CandidatesRequest)]
    cells += [r.cells for r in requests if isinstance(r, RecencyRequest)]
    return max(1, (table_bytes >> 2) // (8 * max([*cells, 2])))


# ---------------------------------------------------------------------- in memory


class MemorySource(EventSource):
    """An :class:`EventSource` over events in memory or on a memory map.

    Counts do not depend on ``n_jobs``, the number of threads (None: one; -1: one per core), nor on how the
    sequences are dealt out to shards.
    """

    def __init__(
        self,
        events: EventSequences,
        *,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        outcomes: tuple[str, ...] = (),
    ) -> None:
        self.given, self._offsets, self.outcomes = events, row_offsets(events), outcomes
        if events.complete.any():
            refuse_end(events)
        self.tied_order, self.origin, self.ids = events.tied_order, events.origin, events.ids
        self.labels, self.n_sequences, self.n_events = row_labels(events), len(events), events.n_events
        self.attributes = () if events.attributes is None else events.attributes.names
        self.time_unit, self.has_ticks = events.time_unit, events.has_ticks
        self.n_jobs = threads(n_jobs)
        self.weights, self.scale = fixed_point(sample_weight, len(events))
        # How many rows each has at most; those of the last pass.
        self._shards: tuple[int, list[Shard]] = 0, []
        if self.weights is not None:
            refuse_overflow(float(self.weights.astype(float) @ np.diff(self._offsets)), self.scale)

    def map(
        self,
        function: Callable[..., Answer],
        questions: Sequence[Any] | None = None,
        most_rows: int | None = None,
    ) -> Answer:
        """As many shards at a time as there are threads; a few shards share questions."""
        shards, answers = self.shards(most_rows), list[Any]()
        with ThreadPoolExecutor(self.n_jobs) as pool:
            map_ = map if self.n_jobs == 1 else pool.map
            while few := list(islice(shards, self.n_jobs)):
                step = -(-self.n_jobs // len(few)) if questions else 1
                shares = [()] if questions is None else [(questions[at::step],) for at in range(step)]
                asked = [(shard, *share) for shard in few for share in shares]
                parts: list[Any] = list(map_(lambda one: function(*one), asked))
                if step > 1:
                    parts = [in_order(parts[at : at + step]) for at in range(0, len(parts), step)]
                answers = [added([*answers, *parts])]
        found: Answer = answers[0]
        return found

    def shards(self, most: int | None = None) -> Iterator[Shard]:
        """Shards of at most so many rows, as far as sequences allow, and few enough for all threads."""
        n = int(self._offsets[-1])
        most = min(n, SHARD_EVENTS if most is None else min(most, SHARD_EVENTS))
        if self.given.is_mapped and n > _MAPPED_EVENTS:
            return self._cut(min(most, _MAPPED_EVENTS))
        if self.n_jobs > 1:
            rounds = max(1, -(-n // (most * self.n_jobs))) if most else 1  # as many shards for each thread
            most = -(-n // (rounds * self.n_jobs))
        if self._shards[0] != max(1, most):
            self._shards = max(1, most), list(self._cut(max(1, most)))
        return iter(self._shards[1])

    def _cut(self, most: int) -> Iterator[Shard]:
        for first, last in cuts(self._offsets, most):
            weights = None if self.weights is None else self.weights[first:last]
            rows = Rows.of(self.given, first, last, ends=True)
            yield Shard(rows, weights, first, int(self._offsets[first]), self.sequence_keys)

    @cached_property
    def _keys(self) -> HashArray:
        return self.given.sequence_keys()

    def sequence_keys(self) -> HashArray:
        """Numbers for the names of the sequences, see :meth:`EventSequences.sequence_keys`."""
        return self._keys

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> MemorySource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        if tuple(labels) == self.labels and unknown == "error":
            self.given.refuse_unknown()
            return self
        given = self.given if END in labels else self.given.with_ends("cut off")
        return self._of(recoded(given, labels, unknown))

    def without_ends(self) -> MemorySource:
        """The same sequences, all of them taken for cut off."""
        return self if END not in self.labels else self._of(self.given.with_ends("cut off"))

    def _of(self, events: EventSequences) -> MemorySource:
        """A source of other events of the same sequences, with their weights in units of ``1 / scale``."""
        made = MemorySource(events, sample_weight=self.weights, n_jobs=self.n_jobs, outcomes=self.outcomes)
        made.scale = self.scale
        return made


def as_events(data: Any) -> EventSequences | EventSource:
    """A source as it is; whatever else ``read_events`` takes, in memory."""
    from summarkov.read import read_events

    return data if isinstance(data, EventSource | EventSequences) else read_events(data)


def make_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> EventSource:
    """A source of events: one already, or whatever ``read_events`` takes; events of no label are fine."""
    events = as_events(data)
    if isinstance(events, EventSequences):
        if sample_weight is None:
            sample_weight = events.weights
        elif events.weights is not None:
            raise SettingError(
                "the events have weights of their own, from a weight column; leave out sample_weight, or "
                "give events.with_weights(None)"
            )
        return MemorySource(events, sample_weight=sample_weight, n_jobs=n_jobs)
    if sample_weight is not None:
        raise SettingError(
            f"sample_weight needs events in memory, and this is a {type(events).__name__}; name a column of "
            "weights with weight= where the source is made, or give events that were read with read_events"
        )
    return events


def as_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> EventSource:
    """Turn what ``fit`` was given into a source: one already, events, or whatever ``read_events`` takes."""
    source = make_source(data, sample_weight=sample_weight, n_jobs=n_jobs)
    if isinstance(source, MemorySource) and source is not data:
        source.given.refuse_unknown()
    return source


# ---------------------------------------------------------------------- threads


def in_order(answers: Sequence[list[Any]]) -> list[Any]:
    """The answers to all questions, from those to every so many of them."""
    found = [None] * sum(map(len, answers))
    for first, some in enumerate(answers):
        found[first :: len(answers)] = some
    return found


def threads(n_jobs: int | None) -> int:
    """The number of threads asked for."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0 or n_jobs < -1:
        raise SettingError(f"n_jobs must be a number of threads, None or -1 for one per core, not {n_jobs!r}")
    if n_jobs > _MOST_THREADS:
        raise SettingError(
            f"n_jobs {n_jobs} is too large; it may be {_MOST_THREADS} at most, or -1 for one per core"
        )
    return (os.cpu_count() or 1) if n_jobs == -1 else int(n_jobs)


# ---------------------------------------------------------------------- sets of influencers that grow


class GrowingCounts:
    r"""Asks a source for less where its last answers help, and completes what comes back.

    With the counts of U known, those of :math:`U \cup \{g\}` follow from what is counted where g is present:

    .. math:: N(x; s, g \text{ absent}, z) = N(x; s, z) - \sum_{l > 0} N(x; s, g \text{ at level } l, z)

    So a round of a search looks at the surroundings of the labels that joined in the last one, not at those
    of all influencers. It holds where the level of a label does not depend on other labels: in binary and
    count summaries. The answers of one pass are kept for the next, as far as there is room.
    """

    def __init__(self, source: EventSource) -> None:
        self._source = source
        # A state that only sequences of weight 0 are in is listed, and counts do not tell of it.
        self._is_worth = not source.is_weighted and int(source.label_counts.sum()) >= _FROM_EVENTS
        self._known: dict[tuple[object, ...], tuple[tuple[int, ...], CandidateCounts]] = {}

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""
        if not self._is_worth:
            return self._source.count(requests)
        asked, known = [*requests], [self._without_one(request) for request in requests]
        for at, before in enumerate(known):
            request = asked[at]
            if before is not None and isinstance(request, CandidatesRequest):
                asked[at] = replace(request, given=request.influencers[before[0]])
        answers = self._source.count(asked)
        for at, before in enumerate(known):
            answers[at] = answers[at] if before is None else _completed(answers[at], *before)
        self._known, room = {}, _MOST_KEPT
        for request, answer in zip(requests, answers, strict=True):
            if _can_grow(request) and isinstance(answer, CandidateCounts) and room > 0:
                self._known[_name(request, request.influencers)] = request.candidates, answer
                room -= answer.present.nbytes
        return answers

    def _without_one(self, request: Request) -> tuple[int, CandidateCounts, IntArray] | None:
        """The place of an influencer without which enough is known; these counts, and rows of candidates."""
        if not self._known or not _can_grow(request):
            return None
        for at, z in enumerate(request.influencers):
            rest = _name(request, (*request.influencers[:at], *request.influencers[at + 1 :]))
            there, counts = self._known.get(rest, ((), None))
            place = bisect.bisect_left(there, z)
            if counts is None or z not in there[place : place + 1]:
                continue
            if there[:place] + there[place + 1 :] == request.candidates:
                return at, counts, np.delete(np.arange(len(there)), place)
            if there[place + 1 :] == request.candidates:
                return at, counts, np.arange(place + 1, len(there))
        return None


def _can_grow(request: Request) -> TypeGuard[CandidatesRequest]:
    return isinstance(request, CandidatesRequest) and request.summary.kind in (kernels.BINARY, kernels.COUNT)


def _name(request: CandidatesRequest, influencers: tuple[int, ...]) -> tuple[object, ...]:
    return id(request.summary), request.target, influencers


def _completed(answer: Counts, place: int, before: CandidateCounts, rows: IntArray) -> CandidateCounts:
    """The counts of all positions, from those at which a label is present and those without that label."""
    assert isinstance(answer, CandidateCounts)
    _, (_, absent) = kernels.merge_keys([before.keys, np.delete(answer.keys, place, axis=1)])
    counts, present = before.counts.copy(), before.present[rows]
    np.subtract.at(counts, absent, answer.counts)
    for level in set(answer.keys[:, place].tolist()):  # of each, a state stands once
        at = answer.keys[:, place] == level
        present[:, absent[at]] -= answer.present[:, at]
    keys = np.concatenate([np.insert(before.keys, place, 0, axis=1), answer.keys])
    order = np.lexsort(keys.T[::-1])
    order = order[np.append(counts.any(axis=1), np.ones(len(answer.keys), bool))[order]]
    counts, present = (
        np.concatenate([counts, answer.counts]),
        np.concatenate([present, answer.present], axis=1),
    )
    return CandidateCounts(keys[order], counts[order], present[:, order])
