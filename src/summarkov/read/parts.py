"""From codes to sequences: cases together and in order, with ticks, times and sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import Origin, late_cases
from summarkov.events.ends import AskedEnds
from summarkov.events.moments import NANOSECONDS, Moments
from summarkov.events.rows import Rows
from summarkov.read.case_attributes import AttributeNames, CaseTable, attribute_names
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
    ids: Sequence[str]
    keys: Keys = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    starts: BoolArray | None = None


@dataclass(frozen=True)
class _Finished:
    """Sequences as they will be, but for ticks, whose labels are not sorted yet."""

    part: Part
    moments: Moments | None
    ties: Ties
    of_cases: dict[str, Encoded]
    attributes: dict[str, Encoded]
    duplicates: int
    dropped: int


class Assembly:
    """Codes of a source on their way to events, in memory or on disk."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.coding = Coding(source, wanted)
        self.source, self.wanted, self.left_out = source, self.coding.wanted, self.coding.left_out
        self.cases = None if wanted.cases is None else CaseTable.of(wanted.cases, wanted.columns.case)
        self.ties, self.backwards, self.n_events = Ties(), 0, 0
        self._named: AttributeNames | None = None
        self._labels: list[str] = []
        self._last: Part

    # ------------------------------------------------------------------ in memory

    def in_memory(self) -> EventSequences:
        """All events."""
        coded = self.coding.together([self.coding.code(block) for block in self.source.blocks])
        self.left_out.refuse_all(self.wanted, len(coded.codes), self.source.name)
        part = self.part(coded)
        (events,) = self.chunks(lambda: [part])
        origin = self.origin()
        kinds = self.coding.kinds
        if origin is not None and kinds and pa.types.is_timestamp(kinds[0]):
            late = late_cases(self._last.keys[0], self._last.offsets)
            if late is not None:
                since = np.datetime64(late[1], kinds[0].unit)
                origin = replace(origin, late=late[0], late_since=str(since.astype("datetime64[s]")))
        return events.with_origin(origin)

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

    def _look_back(self, keys: Keys, starts: IntArray, cases: Any, names: Sequence[str]) -> None:
        """Look at times that rows are not sorted by: those of lists must not fall, others may."""
        self.backwards = count_falls(keys, starts)
        if self.backwards and self.source.is_lines:
            each = zip(starts.tolist(), [*starts[1:].tolist(), None], strict=True)
            run = next(at for at, (a, b) in enumerate(each) if (np.diff(keys[0][a:b]) < 0).any())
            raise DataError(
                f"{self.coding.order[0].name!r} of {self.source.name} run backwards in sequence "
                f"{names[cases[run]][:40]!r}; sort its events by time"
            )

    # ------------------------------------------------------------------ all parts

    def chunks(self, parts: Callable[[], Iterable[Part]]) -> Iterator[EventSequences]:
        """All events, some whole sequences at a time. Numbers of attributes are cut by all of them, first."""
        self._labels = self.coding.labels.settled()[0]
        wanted, source = self.wanted, self.source.name if self.cases is None else self.cases.source
        names = wanted.columns.attributes if self.cases is None else (*self.cases.columns,)
        if names:
            found = list[dict[str, Encoded]]()
            for done in map(self._finish, parts()):
                found.append(done.attributes)
                ids = done.part.ids
            values = {name: _concatenated([each[name] for each in found]) for name in names}
            self._named = attribute_names(values, wanted, source, ids if len(found) == 1 else None)
        for part in parts():
            yield self._events(self._finish(part))

    def _finish(self, part: Part) -> _Finished:
        """Leave out duplicates and cut into sessions if asked to; with ties, moments and values of cases."""
        wanted, order, kinds = self.wanted, self.coding.order, self.coding.kinds
        together = bool(order) and wanted.ties == "together"
        filled = part.offsets[:-1][np.diff(part.offsets) > 0]
        same = tied(part.keys, filled) if part.keys and len(part.codes) else None
        of_cases = self._of_cases(part)
        duplicates = dropped = 0
        if self.source.is_lines:
            same = None if part.starts is None or wanted.ties in (None, "together") else ~part.starts
        elif same is not None and not together and same.any():
            again = repeated(part.codes, same)
            duplicates = int(np.count_nonzero(again))
            if duplicates and wanted.drop_duplicates:
                dropped, keep = duplicates, ~again
                offsets = np.append(0, np.cumsum(keep))[part.offsets]
                keys, same = [each[keep] for each in part.keys], same[keep]
                part = replace(part, codes=part.codes[keep], offsets=offsets, keys=keys)
        if wanted.gap is not None and kinds:
            limit = wanted.gap.in_keys(kinds[0], order[0].name, self.source.name)
            offsets, ids, of = cut_sessions(part.keys[0], part.offsets, part.ids, limit)
            part = replace(part, offsets=offsets, ids=ids)
            of_cases = {name: Encoded(each.codes[of], each.texts) for name, each in of_cases.items()}
        attributes = of_cases if self.cases is None else self.cases.values(_cases(part.ids, wanted))
        ties = Ties.of(same, part.offsets, part.ids)
        if order or self.source.is_lines:
            refuse_ties(ties, wanted, order[0].name if order else "itemset", self.source.name)
        starts = part.starts if same is None else ~same if together else None
        moments, keeps = None, bool(order) and wanted.times
        if starts is not None or keeps:
            times, unit = None, NANOSECONDS
            if keeps:
                times, unit = times_of(part.keys[0], kinds[0], order[0].name, self.source.name)
            moments = Moments(np.ones(len(part.codes), bool) if starts is None else starts, times, unit)
        ties = Ties() if together else ties
        return _Finished(part, moments, ties, of_cases, attributes, duplicates, dropped)

    def _of_cases(self, part: Part) -> dict[str, Encoded]:
        """The value of every sequence in the columns that must not change."""
        found, lengths = {}, np.diff(part.offsets)
        for name, rows in part.values.items():
            column = Encoded(rows, [*self.coding.values[name]])
            if not self.source.by_place:
                first = rows[part.offsets[:-1]]
                other = np.flatnonzero(rows != np.repeat(first, lengths))
                if len(other):
                    at = int(np.searchsorted(part.offsets, other[0], side="right")) - 1
                    texts = column.text(int(part.offsets[at])), column.text(int(other[0]))
                    raise changes(name, part.ids[at], self.source.name, *texts)
                column = Encoded(first, column.texts)
            found[name] = column
        return found

    def _events(self, found: _Finished) -> EventSequences:
        """Some sequences, as events."""
        self._last, wanted = found.part, self.wanted
        part = self._last
        self.left_out.duplicates += found.duplicates
        self.left_out.dropped += found.dropped
        self.ties = Ties(self.ties.n + found.ties.n, self.ties.case or found.ties.case)
        codes, offsets, moments = part.codes, part.offsets, found.moments
        if moments is not None:
            codes, offsets, moments = Moments.made(
                codes,
                offsets,
                moments.starts,
                moments.times,
                moments.unit,
                has_ticks=part.starts is not None or moments.has_ticks,
            )
        self.n_events += len(codes)
        weight = wanted.columns.weight
        codes.flags.writeable = False  # so that it need not be copied
        events = EventSequences(
            codes,
            offsets,
            self._labels,
            part.ids,
            moments=moments,
            attributes=None if self._named is None else self._named.attributes(found.attributes),
            tied_order=found.ties.n,
            weights=None if weight is None else self._weights(found.of_cases[weight], part.ids),
        )
        return with_ends(events, wanted.ends or AskedEnds.default())

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


def _concatenated(parts: Sequence[Encoded]) -> Encoded:
    """A column from its parts, which have the same codes."""
    return Encoded(np.concatenate([each.codes for each in parts]), parts[-1].texts)


def _cases(ids: Sequence[str], wanted: Wanted) -> Sequence[str]:
    """The cases of sequences; sessions are called as their case, with a number after it."""
    return ids if wanted.gap is None else [name.rpartition("/")[0] for name in ids]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def with_ends(events: EventSequences, asked: AskedEnds) -> EventSequences:
    """Events of which it is known which sequences are complete."""
    if not asked.differ:
        return events.with_ends("cut off" if asked.cut_off else "complete")
    rows, moments = Rows.of(events), events.moments
    names = () if events.attributes is None else events.attributes.names
    unit = None if moments is None or moments.times is None else moments.unit
    rule = asked.rule(rows.labels, names, unit)
    events = events.with_ends(rule.complete(rows.codes, rows.offsets, rows.moments))
    if asked.column is None or events.attributes is None:
        return events
    return events.with_attributes(events.attributes.without(asked.column))


def with_attributes(events: EventSequences, wanted: Wanted) -> EventSequences:
    """Events that were there before, with the attributes of a second table."""
    table = CaseTable.of(wanted.cases, wanted.columns.case)
    values = table.values(events.ids)
    return events.with_attributes(
        attribute_names(values, wanted, table.source, events.ids).attributes(values)
    )
