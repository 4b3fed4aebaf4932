"""From codes to sequences: cases together and in order, with ticks, times and sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin, late_cases
from summarkov.events.moments import NANOSECONDS, Moments
from summarkov.read.case_attributes import attributes_of, case_table
from summarkov.read.encoding import Encoded
from summarkov.read.ordering import Keys, count_falls, group, repeated, tied
from summarkov.read.rows import Coded, Coding, Source, changes
from summarkov.read.ticks import Ties, cut_sessions, refuse_ties, times_of
from summarkov.read.wanted import Wanted
from summarkov.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Part:
    """Whole sequences, as many as fit into memory, their events in order, in final codes.

    ``keys`` are what events were sorted by. ``values`` are columns that must not change during a case, with a
    value per event, or per sequence where these are known by their places. Lists tell themselves which of
    their events begin a tick (``starts``).
    """

    codes: npt.NDArray[np.integer]
    offsets: IntArray
    ids: Sequence[str] | range
    keys: Keys = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    starts: BoolArray | None = None


class Assembly:
    """Codes of a source on their way to events, in memory or on disk."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.coding = Coding(source, wanted)
        self.source, self.wanted, self.left_out = source, self.coding.wanted, self.coding.left_out
        self.ties, self.backwards, self.n_events = Ties(), 0, 0
        self._values: dict[str, list[npt.NDArray[np.integer]]] = {name: [] for name in self.coding.values}
        self._last: tuple[Keys, IntArray] = ((), np.zeros(1, np.int64))

    # ------------------------------------------------------------------ in memory

    def in_memory(self) -> EventSequences:
        """All events."""
        coded = self.coding.together([self.coding.code(block) for block in self.source.blocks])
        self.left_out.refuse_all(self.wanted, len(coded.codes), self.source.name)
        part = self.part(coded)
        (events,) = self.chunks([part])
        origin = self.origin()
        kinds = self.coding.kinds
        if origin is not None and kinds and pa.types.is_timestamp(kinds[0]):
            keys, offsets = self._last
            late = late_cases(keys[0], offsets)
            if late is not None:
                since = np.datetime64(late[1], kinds[0].unit)
                origin = replace(origin, late=late[0], late_since=str(since.astype("datetime64[s]")))
        return self.finished(events, events.ids if self.needs_names else ()).but(origin=origin)

    def part(self, coded: Coded) -> Part:
        """The rows of whole cases, put together and in order."""
        sorts = bool(self.coding.order) and not self.source.is_lines
        rows, starts, cases = group(coded.case, coded.keys if sorts else ())
        names = coded.names
        if not self.source.by_place:
            offsets = np.append(starts, len(coded.case))
            names = [names[code] for code in cases.tolist()]
        else:
            offsets = np.searchsorted(coded.case, np.arange(len(names) + 1))
            if not sorts and coded.keys and len(coded.case):
                self._look_back(coded.keys, starts, cases, names)
        translate = self.coding.labels.settled()[1]

        def placed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return values if rows is None else values[rows]

        values = coded.values
        if not self.source.by_place:
            values = {name: placed(each) for name, each in values.items()}
        codes = translate[placed(coded.codes)]
        return Part(codes, offsets, names, [placed(key) for key in coded.keys], values, coded.starts)

    def _look_back(self, keys: Keys, starts: IntArray, cases: Any, names: Sequence[str] | range) -> None:
        """Look at times that rows are not sorted by: those of lists must not fall, others may."""
        self.backwards = count_falls(keys, starts)
        if self.backwards and self.source.is_lines:
            each = zip(starts.tolist(), [*starts[1:].tolist(), None], strict=True)
            run = next(at for at, (a, b) in enumerate(each) if (np.diff(keys[0][a:b]) < 0).any())
            raise DataError(
                f"{self.coding.order[0].name!r} of {self.source.name} run backwards in sequence "
                f"{str(names[cases[run]])[:40]!r}; sort its events by time"
            )

    # ------------------------------------------------------------------ all parts

    def chunks(self, parts: Iterable[Part]) -> Iterator[EventSequences]:
        """All events, some whole sequences at a time; see :meth:`finished`."""
        labels = self.coding.labels.settled()[0]
        for part in parts:
            yield self._events(part, labels)

    def _events(self, part: Part, labels: Sequence[str]) -> EventSequences:
        """Leave out duplicates and cut into sessions if asked to; count ties, and make ticks of them."""
        wanted, order, kinds, source = self.wanted, self.coding.order, self.coding.kinds, self.source
        codes, offsets, ids, keys = part.codes, part.offsets, part.ids, part.keys
        values = self._of_cases(part)
        together = bool(order) and wanted.ties == "together"
        filled = offsets[:-1][np.diff(offsets) > 0]
        same = tied(keys, filled) if keys and len(codes) else None
        if source.is_lines:
            same = None if part.starts is None or wanted.ties in (None, "together") else ~part.starts
        elif same is not None and not together and same.any():
            again = repeated(codes, same)
            self.left_out.duplicates += int(np.count_nonzero(again))
            if wanted.drop_duplicates:
                self.left_out.dropped += int(np.count_nonzero(again))
                offsets = np.append(0, np.cumsum(~again))[offsets]
                codes, keys, same = codes[~again], [each[~again] for each in keys], same[~again]
        if wanted.gap is not None and kinds:
            limit = wanted.gap.in_keys(kinds[0], order[0].name, source.name)
            offsets, ids, of = cut_sessions(keys[0], offsets, ids, limit)
            values = {name: each[of] for name, each in values.items()}
        for name, each in values.items():
            self._values[name].append(each)
        ties = Ties.of(same, offsets, ids)
        if order or source.is_lines:
            refuse_ties(ties, wanted, order[0].name if order else "itemset", source.name)
        self.ties = Ties(self.ties.n + ties.n, self.ties.case or ties.case) if not together else self.ties
        starts, moments = part.starts if same is None else ~same if together else None, None
        if starts is not None or (order and wanted.times):
            when = (
                times_of(keys[0], kinds[0], order[0].name, source.name)
                if order and wanted.times
                else (None, NANOSECONDS)
            )
            begins = np.ones(len(codes), bool) if starts is None else starts
            codes, offsets, moments = Moments.made(
                codes, offsets, begins, *when, has_ticks=part.starts is not None or not begins.all()
            )
        self.n_events += len(codes)
        self._last = keys, offsets
        codes.flags.writeable = False  # so that it need not be copied
        n, plain = 0 if together else ties.n, isinstance(ids, range) and ids[:1] in (range(0), range(1))
        names = None if plain else [*map(str, ids)]
        return wanted.ended(EventSequences(codes, offsets, labels, names, moments=moments, tied_order=n))

    def finished(self, events: EventSequences, ids: Sequence[str]) -> EventSequences:
        """All events, with what is known of whole sequences; ``ids`` are needed if :attr:`needs_names`."""
        wanted, values = (
            self.wanted,
            {
                name: Encoded(np.concatenate(codes), [*self.coding.values[name]])
                for name, codes in self._values.items()
            },
        )
        weight = values.pop(wanted.columns.weight or "", None)
        if weight is not None:
            events = events.with_weights(self._weights(weight, ids))
        if wanted.cases is not None:
            cases = ids if wanted.gap is None else [name.rpartition("/")[0] for name in ids]
            return with_cases(events, wanted, cases)
        return attributes_of(events, values, wanted, self.source.name, ids)

    @property
    def needs_names(self) -> bool:
        """Whether names of sequences are needed to finish events."""
        return bool(self._values) or self.wanted.cases is not None

    def _of_cases(self, part: Part) -> dict[str, npt.NDArray[np.integer]]:
        """The value of every sequence in the columns that must not change."""
        if self.source.by_place:
            return dict(part.values)
        found, lengths = {}, np.diff(part.offsets)
        for name, rows in part.values.items():
            found[name] = rows[part.offsets[:-1]]
            other = np.flatnonzero(rows != np.repeat(found[name], lengths))
            if len(other):
                at = int(np.searchsorted(part.offsets, other[0], side="right")) - 1
                column = Encoded(rows, [*self.coding.values[name]])
                texts = column.text(int(part.offsets[at])), column.text(int(other[0]))
                raise changes(name, part.ids[at], self.source.name, *texts)
        return found

    def _weights(self, column: Encoded, names: Sequence[str]) -> FloatArray:
        """The numbers that texts stand for, one per sequence."""
        weights: FloatArray = np.array([*map(_number, column.texts), np.nan])[column.codes]
        wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(wrong):
            value = column.text(int(wrong[0]))
            told = "no value" if value is None else repr(value[:40])
            raise DataError(
                f"weight column {self.wanted.columns.weight!r} of {self.source.name} holds {told} in case "
                f"{names[wrong[0]][:40]!r}; a weight is a number from 0 on: correct it"
            )
        return weights

    def origin(self) -> Origin | None:
        """How events were read; None of files without columns, where there is nothing to tell."""
        chosen, left_out = self.source.chosen, self.left_out
        if self.source.is_lines and not (self.wanted.columns.names() or left_out.unlabelled or self.ties.n):
            return None
        return Origin(
            chosen.case,
            chosen.event,
            () if self.source.is_lines else chosen.order or (),
            chosen.weight,
            chosen.lifecycle,
            chosen.attributes,
            left_out.unlabelled,
            left_out.lifecycle,
            self.backwards,
            self.ties.case,
            left_out.caseless,
            left_out.duplicates - left_out.dropped,
            left_out.dropped,
            left_out.mixed(chosen.other_lifecycle),
        )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def with_cases(events: EventSequences, wanted: Wanted, cases: Sequence[str]) -> EventSequences:
    """Events with the attributes of a second table, by the names of their cases."""
    source, values = case_table(wanted.cases, wanted.columns.case, cases)
    return attributes_of(events, values, wanted, source, events.ids)
