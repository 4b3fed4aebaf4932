"""Events of a Spark dataframe, counted where they are."""

from __future__ import annotations

import contextlib
import os
import uuid
import warnings
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.engines.source import EventSource
from summarkov.engines.spark.frames import Frame
from summarkov.engines.spark.kept_codes import KeptCodes, code_schema, fingerprint_of
from summarkov.engines.spark.session import (
    ANSWERS,
    FRAME,
    Adding,
    Tally,
    added,
    check_frame,
    explained,
    map_partitions,
    named,
    parallelism,
    unstable,
)
from summarkov.engines.spark.session import functions as f
from summarkov.engines.spark.sorted_rows import Sorted
from summarkov.engines.spark.sorting import ROW_BYTES, sorted_by_case
from summarkov.engines.spark.workers import Contents, OnPartition, ToCodes, numbers
from summarkov.engines.views import Seen, SurveyWork, joined
from summarkov.engines.weights import FIXED_POINT, in_units, refuse_overflow
from summarkov.engines.work import Answer, Work
from summarkov.errors import DataError, SummarkovError, TooLargeError
from summarkov.events.ends import AskedEnds
from summarkov.io.addresses import name_of
from summarkov.io.ticks import Ties, refuse_ties, warn_of_ties
from summarkov.io.wanted import Reading, Wanted
from summarkov.settings import check_whole
from summarkov.typing import HashArray, IntArray

#: Bytes that a task on a worker may use unless told otherwise.
WORKER_MEMORY = 1 << 27
#: Events to a partition, unless there are fewer than there are tasks at a time: as many as a worker sorts.
PARTITION_EVENTS = 1 << 20
#: Where that would be more partitions than this, they are up to four times as large.
_MANY_PARTITIONS = 1 << 14
#: Where there are more partitions than this, answers are added up on the workers first, this many at a time.
FAN_IN = 16


class SparkSource(EventSource):
    """An :class:`EventSource` over codes that are cached on the cluster."""

    def __init__(
        self,
        frame: Frame,
        labels: tuple[str, ...],
        label_counts: IntArray,
        n_partitions: int,
        memory: int,
        codes_path: str | None = None,
    ) -> None:
        self.memory, self.n_partitions = memory, n_partitions
        origin = frame.origin(int(label_counts.sum()))
        self._session = frame.frame.sparkSession
        named = frame.attributes()
        self.labels = together = labels if named is None else joined(labels, named.names)
        codes: list[dict[str | None, int]] = []
        if named is not None:
            self.attributes, codes = named.names, named.codes_in(together)
        self._tally: Tally | None = None
        self._n_events = 0
        self._content: Contents
        self._is_attribute = None if named is None else np.append(np.isin(together, named.names), False)
        n_events = int(label_counts.sum())
        fits = n_events * ROW_BYTES <= 0.75 * memory * n_partitions  # if no partition is much larger
        self._kept: KeptCodes | None = None
        if codes_path is None:
            reading = self._sort(frame, codes, memory if fits else None)
        else:
            fingerprint = fingerprint_of(frame.wanted, labels, label_counts, (frame.chosen, together))
            reading = self._keep(frame, codes, codes_path, fingerprint)
        try:
            try:
                self.label_counts = self.run(SurveyWork())
                if self._kept is not None:
                    self._kept.check(self._session, self._tally)
            except TooLargeError:  # one is
                self.close()
                reading = self._sort(frame, codes, None)
                self.label_counts = self.run(SurveyWork())
            except DataError as error:
                if self._kept is not None and not self._kept.is_new:
                    raise DataError(
                        f"{self._kept.path} does not hold the codes that were written there ({error}); "
                        "remove it, and they are made anew"
                    ) from error
                frame.refuse_missing()  # which can tell how many values are missing, and where
                raise
            assert self._tally is not None
            self._n_events = int(self.event_counts.sum())
            self.n_sequences, self.tied_order = self._tally.sequences, self._tally.ties
            self.has_ticks = self._tally.together > 0
            ties = Ties(self.tied_order, self._tied_case())
            self.origin = replace(origin, tied_case=ties.case)
            if frame.wanted.drop_duplicates and not reading.together:
                self.origin = replace(self.origin, dropped=n_events - self._n_events)
            refuse_ties(ties, frame.wanted, frame.roles.get("order0", ""), FRAME)
            warn_of_ties(ties.n, self.n_events, self.origin, frame.wanted, FRAME)
            found = self.event_counts[np.searchsorted(self.labels, labels)]
            fewer = reading.together or frame.wanted.drop_duplicates
            same = (found <= label_counts) if fewer else (found == label_counts)
            if not same.all():
                raise unstable("its labels were counted twice, with different results")
            if reading.weight is not None:
                self._weigh()
            if self._kept is not None and self._kept.is_new:
                self._kept.seal(self._session, self._tally)
        except BaseException as error:
            self.close()
            if self._kept is not None and self._kept.is_new and isinstance(error, SummarkovError):
                raise DataError(f"{error}; before that, remove {self._kept.path}") from error
            raise

    def _weigh(self) -> None:
        """Count by the weights of sequences, in units that suit all of them."""
        assert self._tally is not None
        self.scale = FIXED_POINT if self._tally.fractions else 1
        refuse_overflow(float(self._tally.weight << 20) * self.scale, self.scale)
        self._content = replace(self._content, scale=self.scale)
        self.label_counts = self.run(SurveyWork())

    @property
    def n_events(self) -> int:
        """N, without weights."""
        return self._n_events

    @property
    def is_weighted(self) -> bool:
        """Whether sequences have weights of their own; it takes no pass."""
        return self._content.scale is not None

    @cached_property
    def weights(self) -> IntArray | None:  # type: ignore[override]  # looked up when it is needed
        """Those of the sequences, in units of ``1 / scale``; 8 bytes per sequence come to the driver."""
        if self._content.scale is None:
            return None
        return in_units(np.concatenate([np.empty(0), *self._of_sequences("weights", np.float64)]), self.scale)

    def _sort(self, frame: Frame, heads: Sequence[dict[str | None, int]], memory: int | None) -> Sorted:
        """Sort and cache, on the workers in that much memory, or by Spark."""
        rows, reading = sorted_by_case(frame, self.labels, self.n_partitions, heads, memory)
        self._hold(_apart(map_partitions(rows, ToCodes(reading), code_schema())).persist(), reading)
        return reading

    def _keep(
        self, frame: Frame, heads: Sequence[dict[str | None, int]], path: str, fingerprint: str
    ) -> Sorted:
        """Take codes from a folder; where there are none yet, sort by Spark and write them."""
        rows, reading = sorted_by_case(frame, self.labels, self.n_partitions, heads)

        def make(schema: Any) -> Any:
            return map_partitions(rows, ToCodes(reading), schema)

        self._kept = KeptCodes.of(self._session, path, fingerprint, self.n_partitions, make)
        self.n_partitions = self._kept.n_partitions
        self._hold(self._kept.frame, reading)
        return reading

    def _hold(self, codes: Any, reading: Sorted) -> None:
        self.time_unit = reading.time_unit
        timed = self.time_unit is not None
        moments = self._is_attribute is not None or reading.together or timed
        self._content = Contents(self.labels, self._is_attribute, self.time_unit, moments)
        self._codes = codes
        self._finalizer = weakref.finalize(self, _forget, codes)
        self._finalizer.atexit = False  # with Python the session ends too

    def close(self) -> None:
        """Let the cluster forget the codes; those in a folder stay."""
        self._finalizer()

    def run(self, work: Work[Answer]) -> Answer:
        """Do some work on every partition; only the answers come back to the driver."""
        if not self._finalizer.alive:
            raise DataError("this source is closed and its cached events are gone; make a new one")
        with explained(self._session), named(self._session, _name_of(work)):
            answers = map_partitions(self._codes, OnPartition(work, self._content, self.memory), ANSWERS)
            n = self.n_partitions
            while n > FAN_IN:
                n = -(-n // FAN_IN)
                answers = map_partitions(answers.repartition(n), Adding(work), ANSWERS)
            returned = added(work, answers.toArrow().to_pylist() or self._of_nothing(work))
        if self._tally is None:
            self._tally = returned.tally
            self._tell_of_kernels(returned.plain)
        elif self._tally != returned.tally:
            raise unstable("what was cached was lost, and came out differently when it was worked out anew")
        return returned.answer

    def _tied_case(self) -> str | None:
        """A case with events of the same place, if there are any."""
        if not self.tied_order:
            return None
        with explained(self._session), named(self._session, "ties"):
            return str(self._codes.agg(f.min("tied_case")).collect()[0][0])

    def _of_nothing(self, work: Work[Answer]) -> list[dict[str, Any]]:
        """The answer of a dataframe without rows, of which Spark may make no partition at all."""
        rows: list[dict[str, Any]] = OnPartition(work, self._content, self.memory).answer(0, []).to_pylist()
        return rows

    def _tell_of_kernels(self, plain: int) -> None:
        """Say it if workers count far more slowly than they need."""
        if plain and kernels.backend() == "native":
            warnings.warn(
                f"{plain} of {self.n_partitions} tasks count in NumPy, which takes tens of times as long: "
                "summarkov is there without its compiled part; install a wheel of it on the workers",
                stacklevel=5,
            )

    def sequence_keys(self) -> Sequence[HashArray]:
        """Numbers for the names of sequences; 8 bytes per sequence come to the driver, once."""
        return self._keys

    @cached_property
    def _keys(self) -> list[HashArray]:
        return self._of_sequences("keys", np.uint64)

    def _of_sequences(self, name: str, kind: npt.DTypeLike) -> list[npt.NDArray[Any]]:
        """A column of the codes that has a number per sequence, by partition."""
        with explained(self._session), named(self._session, f"{name} of sequences"):
            found = self._codes.select("part", name).toArrow()
        each: list[list[npt.NDArray[Any]]] = [[np.empty(0, kind)] for _ in range(self.n_partitions)]
        for batch in found.to_batches():
            column = batch.column(name)
            for at, part in enumerate(batch.column("part").to_pylist()):
                each[part].append(numbers(column[at : at + 1], kind))
        return [np.concatenate(some) for some in each]


def _apart(frame: Any) -> Any:
    """A dataframe that Spark does not take for any other, whose cache it would share.

    The cache of Spark goes by what a dataframe does. Two sources of one dataframe would have one entry, and
    closing one of them would drop it for both.
    """
    return frame.where(f.lit(uuid.uuid4().hex) != f.lit(""))


def _name_of(work: Work[Answer]) -> str:
    """What a job is for: the kind of its work, such as "CountWork"."""
    while isinstance(work, Seen):
        work = work.work
    return type(work).__name__


def _forget(codes: Any) -> None:
    with contextlib.suppress(Exception):  # the session may have been stopped
        codes.unpersist()


def scan_spark(
    dataframe: Any,
    *,
    memory: int = WORKER_MEMORY,
    partitions: int | None = None,
    codes: str | os.PathLike[str] | None = None,
    **reading: Unpack[Reading],
) -> EventSource:
    """Count the events of a Spark dataframe on its cluster; a row is an event.

    The rows are brought together by case and sorted once, and cached as codes (4 bytes per event, 8 more for
    its time with ``times=True``, 8 per sequence); every pass of a search then runs the
    kernels on each partition and brings back counts, never events. The session is that of the dataframe, and
    ``close()``, or the end of a ``with`` block, makes it forget the codes.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
    memory
        Bytes that a task may use on a worker, beside Python itself and the counts; 128 MiB by default.
    partitions
        In how many parts to cut the data, each of which is a task; by default of a million events each
        (up to 16,384 of them), which workers sort in that memory. Larger ones are sorted by Spark.
    codes
        A folder to keep the codes in, as Spark names it (``"s3a://bucket/codes"``, ``"/lake/codes"``),
        instead of the cache of the session, which some do not have. They stay there after ``close()``. Where
        codes of the same events, read in the same way, are there already, they are taken and nothing is
        sorted: labels, how often each occurs, columns and settings are compared.
    **reading
        ``case``, ``event``, ``order``, ``labels`` and all other settings of :func:`read_events`. A table of
        ``attributes`` may be a dataframe. Rows of one order stay as they come, and with
        ``order=False`` all do; Spark keeps the order of rows only where files are read as they are, so name a
        column if you can.

    The workers need this package too, in the same version; see the guide on scale.
    """
    for name, value in (("memory", memory), ("partitions", partitions)):
        if value is not None:
            check_whole(name, value, 1)
    check_frame(dataframe)
    wanted = Wanted.of(**reading)
    frame = Frame.of(dataframe, wanted)
    with explained(dataframe.sparkSession), named(dataframe.sparkSession, "labels and order"):
        found, counts = frame.vocabulary(wanted.labels, whole=codes is not None)
        n = partitions or n_partitions(dataframe.sparkSession, int(counts.sum()))
        source = SparkSource(frame, found, counts, n, memory, None if codes is None else name_of(codes))
    return source.with_ends(wanted.ends or AskedEnds.default())


def n_partitions(session: Any, n_events: int) -> int:
    """So many that none is large, and that there is work for all if there is much."""
    few = min(2 * parallelism(session), 1 + n_events // (1 << 14))
    fewer = max(_MANY_PARTITIONS, -(-n_events // (4 * PARTITION_EVENTS)))
    return max(few, min(-(-n_events // PARTITION_EVENTS), fewer))
