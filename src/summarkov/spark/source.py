"""Events of a Spark dataframe, counted where they are: a shard of whole cases on every partition."""

from __future__ import annotations

import contextlib
import pickle
import uuid
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import methodcaller
from typing import Any, Generic, TypeVar, Unpack

import numpy as np

from summarkov import kernels
from summarkov.arrow import pa
from summarkov.engines import MemorySource
from summarkov.engines.source import EventSource
from summarkov.engines.weights import FIXED_POINT, in_units, n_fractions, refuse_overflow
from summarkov.engines.work import Answer, Work
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.attributes import Attributes
from summarkov.events.describe import Origin
from summarkov.events.draws import Drawn
from summarkov.events.moments import TimeUnit
from summarkov.events.prepare import RARE, START, map_each, pool_each
from summarkov.events.rows import recoded
from summarkov.events.vocabulary import END, Label, Unknown, check_unknown, refuse_unknown_labels
from summarkov.read.case_attributes import CASES, AttributeNames, attribute_names
from summarkov.read.encoding import Encoded
from summarkov.read.ticks import Ties, refuse_ties, warn_of_ties
from summarkov.read.wanted import Reading
from summarkov.settings import check_whole
from summarkov.spark.frames import Frame, Shard, counted
from summarkov.spark.session import ANSWERS, FRAME, Answering, answers, job, map_partitions, parallelism
from summarkov.spark.session import functions as f
from summarkov.typing import BoolArray, HashArray, IntArray

#: Bytes that the tables of counts of a task may take, unless told otherwise.
WORKER_MEMORY = 1 << 27
#: Events to a partition, unless there are fewer than there are tasks at a time.
PARTITION_EVENTS = 1 << 20
#: Where there are more partitions than this, answers are added up on the workers first, this many at a time.
FAN_IN = 16
#: Of these parts of :class:`Origin` there is a number for each shard.
_NUMBERS = ("unlabelled", "other_lifecycle", "caseless", "duplicates", "dropped")

Result = TypeVar("Result")
#: Something to do with the events of each shard before they are counted.
Step = Callable[[EventSequences], EventSequences]


def scan_spark(
    dataframe: Any,
    *,
    memory: int = WORKER_MEMORY,
    partitions: int | None = None,
    **reading: Unpack[Reading],
) -> SparkSource:
    """Count the events of a Spark dataframe on its cluster; a row is an event.

    Spark brings the rows of each case together and sorts them. Workers turn every partition into codes once,
    and Spark caches these. Every pass of a search then counts each partition where it is, and brings back
    counts, never events. ``close()``, or the end of a ``with`` block, makes the cluster forget the codes.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
    memory
        Bytes that tables of counts may take in a task; 128 MiB by default. A task also holds the events of
        its partition.
    partitions
        In how many parts to cut the data, each of which is a task; by default of a million events each. A
        case is in one part.
    **reading
        ``case``, ``event``, ``order``, ``labels`` and all other settings of :func:`read_events`. Rows with
        the same place in the order stay as they come, by file and row, and with ``order=False`` all do;
        Spark keeps the order of rows only where files are read as they are, so name a column if you can.

    The workers need this package too, in the same version; see the guide to Spark.
    """
    for name, value in (("memory", memory), ("partitions", partitions)):
        if value is not None:
            check_whole(name, value, 1)
    frame = Frame.of(dataframe, reading)
    session = dataframe.sparkSession
    with job(session, "reading"):
        n = partitions or n_partitions(session, frame.rows.count())
        read = Answering(frame.shards())
        # Spark's cache goes by what a dataframe does: without a name of its own, two sources would share it.
        apart = f.lit(uuid.uuid4().hex) != f.lit("")
        shards = map_partitions(frame.by_case(n), read, ANSWERS).where(apart).persist()
        data = Data(session, shards, n)
        try:
            return SparkSource(data.look(frame), memory)
        except BaseException:
            data.close()
            raise


def n_partitions(session: Any, n_events: int) -> int:
    """So many that none is large, and that there is work for all if there is much."""
    return max(min(2 * parallelism(session), 1 + n_events // (1 << 14)), -(-n_events // PARTITION_EVENTS))


# ---------------------------------------------------------------------- on the workers


@dataclass(frozen=True)
class Prepared:
    """How a worker makes what is counted from its shard: in one vocabulary, with attributes by their names.

    ``steps`` prepare the events. ``scale`` is the unit of weights, if there are any.
    """

    labels: tuple[str, ...]
    named: AttributeNames | None
    has_ends: bool
    scale: int | None
    steps: tuple[Step, ...] = ()

    def events(self, shard: Shard) -> EventSequences:
        """The events of a shard."""
        events = shard.events.recode(self.labels)
        if self.named is not None:
            present = np.zeros((len(events), len(self.named.names)), bool)
            columns = zip(self.named.texts, self.named.codes, shard.values.values(), strict=False)
            for texts, codes, values in columns:
                place = dict(zip((*texts, None), codes.tolist(), strict=True))
                of_value = np.array([place.get(text, -1) for text in (*values.texts, None)])
                present[np.arange(len(events)), of_value[values.codes]] = True
            events = events.with_attributes(Attributes(self.named.names, self.named.of, present))
        for step in self.steps:
            events = step(events)
        if self.has_ends and END not in events.labels:  # which another shard may have
            events = events.recode(sorted((*events.labels, END)))
        return events

    def source(self, shard: Shard) -> MemorySource:
        """The events of a shard, as works are asked of them."""
        events, weights = self.events(shard), None
        if self.scale is not None and events.weights is not None:
            weights = in_units(events.weights, self.scale)
        return MemorySource(events, sample_weight=weights)


def _count(prepared: Prepared, work: Work[Answer], shard: Shard) -> Answer:
    return prepared.source(shard).run(work)


def _n_events(prepared: Prepared, shard: Shard) -> int:
    return prepared.source(shard).n_events


def _sequences(prepared: Prepared, shard: Shard) -> tuple[HashArray, BoolArray, IntArray | None]:
    """The keys of the sequences of a shard, which have something to count, and their weights."""
    source = prepared.source(shard)
    keys = source.sequence_keys()
    return keys, np.isin(keys, source.filled_keys()), source.weights


@dataclass(frozen=True)
class OnShard(Generic[Result]):
    """Applies a function to the shard of a partition."""

    function: Callable[[Shard], Result]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
        """One result, pickled; none of a partition without rows."""
        packed = b"".join(answers(batches))
        if packed:
            yield pickle.dumps(self.function(pickle.loads(packed)))


@dataclass(frozen=True)
class Adding(Generic[Answer]):
    """Adds up the answers that came to one partition."""

    work: Work[Answer]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
        """One answer, or none if none came."""
        found = [pickle.loads(value) for value in answers(batches)]
        if found:
            yield pickle.dumps(self.work.total(found))


@dataclass(frozen=True)
class Survey:
    """What is known of a shard before anything is counted."""

    label_counts: Counter[str]
    values: dict[str, Counter[str | None]]
    numbers: Counter[str]  # of sequences, events, ...
    origin: Origin
    has_ticks: bool
    time_unit: TimeUnit | None
    weight: float
    shard: Shard  # without its events


def survey(shard: Shard) -> Survey:
    """Look at a shard."""
    events, origin = shard.events, shard.events.origin or Origin()
    moments, weights = events.moments, np.ones(len(events)) if events.weights is None else events.weights
    in_units(weights, FIXED_POINT if n_fractions(weights) else 1)  # refuses what cannot be counted
    numbers = {name: getattr(origin, name) for name in _NUMBERS} | {
        "sequences": len(events),
        "complete": int(events.complete.sum()),
        "events": events.n_events,
        "ticks": events.n_ticks,
        "tied": events.tied_order,
        "fractions": n_fractions(weights),
        "in NumPy": int(kernels.backend() != "native"),
    }
    return Survey(
        Counter(dict(zip(events.labels, events.label_counts.tolist(), strict=True))),
        {name: counted(values) for name, values in shard.values.items()},
        Counter(numbers),
        origin,
        moments is not None and moments.has_ticks,
        None if moments is None or moments.times is None else moments.unit,
        float(weights @ (events.lengths + 1)),
        replace(shard, events=EventSequences([], [0], []), values={}),
    )


# ---------------------------------------------------------------------- on the driver


@dataclass
class Data:
    """The shards of a dataframe, cached on its cluster, and what is known of all of them together."""

    session: Any
    shards: Any
    n_partitions: int

    def __post_init__(self) -> None:
        self._finalizer = weakref.finalize(self, _forget, self.shards)
        self._finalizer.atexit = False  # with Python the session ends too

    def close(self) -> None:
        """Let the cluster forget the shards."""
        self._finalizer()

    def ask(self, function: Callable[[Shard], Result], what: str) -> list[Result]:
        """What a function returns for every shard."""
        with job(self.session, what):
            return [pickle.loads(value) for value in answers(self._map(function).toArrow().to_batches())]

    def total(self, function: Callable[[Shard], Answer], work: Work[Answer]) -> list[Answer]:
        """The answers of all shards, many of them added up on the workers."""
        with job(self.session, type(work).__name__):
            found, n = self._map(function), self.n_partitions
            while n > FAN_IN:
                n = -(-n // FAN_IN)
                found = map_partitions(found.repartition(n), Answering(Adding(work)), ANSWERS)
            return [pickle.loads(value) for value in answers(found.toArrow().to_batches())]

    def _map(self, function: Callable[[Shard], Any]) -> Any:
        if not self._finalizer.alive:
            raise DataError("this source is closed and its cached events are gone; make a new one")
        return map_partitions(self.shards, Answering(OnShard(function)), ANSWERS)

    def look(self, frame: Frame) -> Data:
        """Find out what all shards have together; refuse what does not fit together."""
        found = self.ask(survey, "reading")
        wanted, chosen = frame.wanted, frame.chosen
        self.label_counts = sum((each.label_counts for each in found), Counter[str]())
        labels = tuple(sorted(self.label_counts)) if wanted.labels is None else tuple(wanted.labels)
        for label in sorted({*self.label_counts} - {*labels}):
            raise UnknownLabelError(label, labels)
        for label in () if wanted.ends is None else wanted.ends.closed_by:
            if label not in labels:
                raise SettingError(f"closed_by names {label!r}, which is no label of the data")
        self.n = n = sum((each.numbers for each in found), Counter[str]())
        if n["other_lifecycle"] and not n["events"] and not n["unlabelled"]:
            known = ", ".join(repr(text[:40]) for text in found[0].shard.lifecycles)
            raise DataError(f"no event of {FRAME} has lifecycle={wanted.lifecycle!r}; there are {known}")
        tied = min((each.origin.tied_case for each in found if each.origin.tied_case), default=None)
        per_case = (chosen.weight, chosen.lifecycle, chosen.attributes)
        origin = Origin(chosen.case, chosen.event, chosen.order or (), *per_case)
        numbers: dict[str, Any] = {name: n[name] for name in _NUMBERS}
        self.origin = replace(origin, tied_case=tied, **numbers)
        if chosen.order:
            refuse_ties(Ties(n["tied"], tied), wanted, chosen.order[0], FRAME)
        warn_of_ties(n["tied"], n["events"], self.origin, wanted, FRAME)
        self.has_ticks = any(each.has_ticks for each in found)
        filled = [each for each in found if each.numbers["events"]]
        units, families = ({each.time_unit for each in filled}, {each.shard.families for each in filled})
        if len(units) > 1 or len(families) > 1:
            kinds = ", ".join(sorted({family for each in families for family in each}))
            raise DataError(
                f"the order columns of {FRAME} cannot be put in order: text in them is of several kinds "
                f"({kinds}, whole or not); write all alike, or cast them to numbers or timestamps"
            )
        self.time_unit, scale = next(iter(units), None), None
        if chosen.weight is not None:
            scale = FIXED_POINT if n["fractions"] else 1
            refuse_overflow(sum(each.weight for each in found) * scale, scale)
        self.prepared = Prepared(labels, _named(frame, found), n["complete"] > 0, scale)
        if n["in NumPy"] and kernels.backend() == "native":
            warnings.warn(
                f"{n['in NumPy']} of {len(found)} tasks count in NumPy, which takes tens of times as long: "
                "summarkov is there without its compiled part; install a wheel of it on the workers",
                stacklevel=3,
            )
        return self


def _named(frame: Frame, found: Sequence[Survey]) -> AttributeNames | None:
    """The names of attributes, from the values of all sequences."""
    columns = {}
    for name in dict.fromkeys(name for each in found for name in each.values):
        total = sum((each.values.get(name, Counter()) for each in found), Counter[str | None]())
        texts = sorted(text for text in total if text is not None)
        codes = np.repeat(np.arange(-1, len(texts)), [total[None], *(total[text] for text in texts)])
        columns[name] = Encoded(codes, texts)
    if not columns:
        return None
    return attribute_names(columns, frame.wanted, FRAME if frame.wanted.cases is None else CASES)


def _forget(shards: Any) -> None:
    with contextlib.suppress(Exception):  # the session may have been stopped
        shards.unpersist()


class SparkSource(EventSource):
    """An :class:`EventSource` over events that are cached on a Spark cluster."""

    def __init__(self, data: Data, memory: int, prepared: Prepared | None = None) -> None:
        self._data, self.memory, self._prepared = data, memory, prepared or data.prepared
        prepared = self._prepared
        self._nothing = prepared.events(Shard(EventSequences([], [0], []), {}))
        attributes = self._nothing.attributes
        self.attributes = () if attributes is None else attributes.names
        self.labels = tuple(sorted((*self._nothing.labels, *self.attributes)))
        self.n_sequences, self.tied_order, self.origin = data.n["sequences"], data.n["tied"], data.origin
        self.has_ticks, self.time_unit, self.scale = data.has_ticks, data.time_unit, prepared.scale or 1
        if prepared is data.prepared and not self.is_weighted and not self.attributes:
            counts = {**data.label_counts, END: data.n["complete"]}
            self.label_counts = np.array([counts.get(label, 0) for label in self.labels], np.int64)
            self.n_ticks = data.n["ticks"] + data.n["complete"]

    @property
    def n_partitions(self) -> int:
        """In how many parts the data are cut."""
        return self._data.n_partitions

    @property
    def n_events(self) -> int:
        """The number of events; the end of a sequence is none."""
        if not self._prepared.steps:
            return self._data.n["events"]
        return sum(self._data.ask(partial(_n_events, self._prepared), "events"))

    def close(self) -> None:
        """Let the cluster forget the events; sources that were made from this one, too."""
        self._data.close()

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every shard; only the answers come back to the driver."""
        count = partial(_count, self._prepared, work)
        return work.total(self._data.total(count, work) or [count(Shard(EventSequences([], [0], []), {}))])

    # ------------------------------------------------------------------ of sequences

    def sequence_keys(self) -> HashArray:
        """Numbers for the names of sequences; 8 bytes per sequence come to the driver, once."""
        return np.concatenate([np.empty(0, np.uint64), *(keys for keys, _, _ in self._sequences)])

    def filled_keys(self) -> HashArray:
        """The keys of all sequences with something to count."""
        keys = [keys[filled] for keys, filled, _ in self._sequences]
        return np.concatenate([np.empty(0, np.uint64), *keys])

    @property
    def n_filled(self) -> int:
        """How many sequences are not empty."""
        return len(self.filled_keys())

    @property
    def is_weighted(self) -> bool:
        """Whether sequences have weights of their own; it takes no pass."""
        return self._prepared.scale is not None

    @property
    def weights(self) -> IntArray | None:  # type: ignore[override]  # looked up when it is needed
        """Those of the sequences, in units of ``1 / scale``; 8 bytes per sequence come to the driver."""
        if not self.is_weighted:
            return None
        found = [weights for _, _, weights in self._sequences if weights is not None]
        return np.concatenate([np.empty(0, np.int64), *found])

    @cached_property
    def _sequences(self) -> list[tuple[HashArray, BoolArray, IntArray | None]]:
        return self._data.ask(partial(_sequences, self._prepared), "keys of sequences")

    # ------------------------------------------------------------------ prepare

    def _then(self, step: Step, **about: Any) -> SparkSource:
        steps = (*self._prepared.steps, step)
        return SparkSource(self._data, self.memory, replace(self._prepared, steps=steps, **about))

    @property
    def _event_labels(self) -> list[str]:
        return [label for label in self._nothing.labels if label != END]

    def map_labels(self, mapping: Mapping[Any, object] | Callable[[str], object]) -> SparkSource:
        """Replace labels, as :meth:`EventSequences.map_labels` does; this source must stay open."""
        return self._renamed(map_each(self._event_labels, mapping))

    def pool_rare(self, min_count: int, *, into: Label = RARE) -> SparkSource:
        """Make one label of all that occur fewer than ``min_count`` times; see :meth:`map_labels`."""
        labels = self._event_labels
        counts = dict(zip(self.labels, self.label_counts.tolist(), strict=True))
        each = np.array([counts[label] for label in labels], np.int64)
        return self._renamed(pool_each(labels, each, min_count, into))

    def _renamed(self, becomes: Sequence[str]) -> SparkSource:
        mapping = dict(zip(self._event_labels, becomes, strict=True))
        return self._then(methodcaller("map_labels", mapping))

    def collapse_repeats(self) -> SparkSource:
        """Keep only the first of equal labels in a row; see :meth:`map_labels`."""
        if self.has_ticks:
            raise DataError("repeats can be left out of events in a row, and some of these happened together")
        found = self._then(methodcaller("collapse_repeats"))
        found.tied_order = 0  # events at the same place may be gone
        return found

    def add_start(self, label: Label = START) -> SparkSource:
        """Begin every sequence with one more event; see :meth:`map_labels`."""
        return self._then(methodcaller("add_start", label))

    def drop_first(self) -> SparkSource:
        """Leave out the first event of every sequence; see :meth:`map_labels`."""
        return self._then(methodcaller("drop_first"))

    def without_ends(self) -> SparkSource:
        """The same sequences, all of them taken for cut off."""
        if not self._prepared.has_ends:
            return self
        return self._then(methodcaller("with_ends", "cut off"), has_ends=False)

    def recode(self, labels: Sequence[str], *, unknown: Unknown = "error") -> SparkSource:
        """The same events in the codes of another vocabulary, see :meth:`EventSequences.recode`."""
        check_unknown(unknown)
        if tuple(labels) == self.labels:
            return self
        if END not in labels and self._prepared.has_ends:
            return self.without_ends().recode(labels, unknown=unknown)
        if unknown == "error":
            refuse_unknown_labels(self.labels, self.label_counts, labels)
        return self._then(partial(recoded, labels=tuple(labels), unknown=unknown))

    def only(self, drawn: Drawn) -> SparkSource:
        """The sequences that were drawn, however often. This takes a pass."""
        found = self._then(methodcaller("only", drawn))
        found.n_sequences = len(found.sequence_keys())
        return found
