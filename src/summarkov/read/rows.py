"""From blocks of any table to events: rows as codes, then whole sequences in order, with ticks and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from summarkov.arrow import arrow_of, pa, text_array
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import Lifecycles, Origin, late_cases
from summarkov.events.moments import NANOSECONDS, Moments
from summarkov.events.vocabulary import coded_lists, is_missing
from summarkov.read.case_attributes import attributes_of, number_of, with_cases
from summarkov.read.columns import SEPARATOR, Columns, Wanted
from summarkov.read.ordering import (
    Keys,
    Ties,
    count_falls,
    cut_sessions,
    group,
    refuse_no_order,
    refuse_ties,
    repeated,
    tied,
    times_of,
    warn_of_ties,
)
from summarkov.read.values import Encoded, OrderColumn, Vocabulary, encode, refuse_missing, without_codes
from summarkov.typing import Array, BoolArray, CodeArray, FloatArray, IntArray

#: What lifecycles are called of which an activity has one row each, when it begins and when it is over.
_STARTS = {"start", "started", "begin", "begun"}
_ENDS = {"complete", "completed", "end", "ended", "finish", "finished"}
#: How many different lifecycles are told apart.
_MOST_LIFECYCLES = 1000


@dataclass(frozen=True)
class Block:
    """Some rows: the chosen columns, of which file, where they begin, and ``case`` if no column names it."""

    table: pa.Table
    path: str
    first_row: int = 0
    case: Encoded | None = None


class Line(NamedTuple):
    """A sequence: its labels, or lists of labels that happened together; its name, if it has any.

    ``times``, of each event, and ``values`` of what does not change, are known by their columns.
    """

    events: list[Any]
    name: str | None = None
    times: Mapping[str, list[str]] = {}
    values: Mapping[str, str | None] = {}


class Lines(NamedTuple):
    """Some sequences of a file, of which they begin with the one of this number."""

    path: str
    first: int
    lines: list[Line]


@dataclass(frozen=True)
class Source:
    """A table, or sequences, to be read block by block: what is asked of it, and its columns that are chosen.

    ``by_place``: cases are known by their places, and may be empty.
    """

    name: str
    wanted: Wanted
    chosen: Columns
    blocks: Iterable[Block] | Iterable[Lines]
    by_place: bool = False
    is_lines: bool = False


@dataclass(frozen=True)
class Coded:
    """Rows as codes, but for those that are left out, with the names of cases.

    ``keys`` of order columns are of the types ``kinds``; ``values`` must not change during a case.
    """

    case: Array
    names: Sequence[str]
    codes: CodeArray
    keys: list[Array]
    kinds: list[pa.DataType]
    values: dict[str, CodeArray]


@dataclass(frozen=True)
class Part:
    """Whole sequences, their events in order; as :class:`Coded`, but with one value per sequence of lines.

    Lists tell themselves which of their events begin a tick (``starts``).
    """

    codes: CodeArray
    offsets: IntArray
    ids: Sequence[str] | range
    keys: list[Array]
    kinds: list[pa.DataType]
    values: Mapping[str, CodeArray]
    starts: BoolArray | None = None


class Assembly:
    """A source on its way to events: rows as codes, put in order in memory or on disk, then finished.

    All labels, and the types of order columns, are known once all blocks were read.
    """

    def __init__(self, source: Source) -> None:
        self.source, self.chosen, wanted = source, source.chosen, source.wanted
        self.wanted = wanted.for_columns(source.chosen)
        if not self.chosen.order:
            refuse_no_order(replace(self.wanted, ties=None) if source.is_lines else self.wanted, source.name)
        thing = "line" if source.is_lines else "event" if source.by_place else "row"
        self.order = [OrderColumn(name, wanted.date_format, thing) for name in self.chosen.order or ()]
        self.labels = Vocabulary(wanted.labels)
        self.texts = {name: Vocabulary() for name in self.chosen.per_case}
        self.ties, self.n_events = Ties(), 0
        #: What :class:`Origin` tells of events that were left out, or may better be; and rows by lifecycle.
        self.noted, self.lifecycles = Counter[str](), Counter[str]()
        self._values: dict[str, list[Array]] = {name: [] for name in self.texts}
        self._last: tuple[Keys, IntArray] = ((), np.zeros(1, np.int64))

    def in_memory(self) -> EventSequences:
        """All events."""
        blocks = [self.code(block) for block in self.source.blocks]
        blocks = [self.settled(block) for block in blocks]
        part = _in_a_row(blocks) if self.source.is_lines else self.part(self.together(blocks))
        self.refuse_none_left(len(part.codes), self.source.name)
        (events,) = self.chunks([part])
        origin, (keys, offsets) = self.origin(), self._last
        if origin is not None and self.kinds and pa.types.is_timestamp(self.kinds[0]):
            late = late_cases(keys[0], offsets)
            if late is not None:
                since = np.datetime64(late[1], self.kinds[0].unit).astype("datetime64[s]")
                origin = replace(origin, late=late[0], late_since=str(since))
        return self.finished(events, events.ids if self.needs_names else ()).but(origin=origin)

    # ------------------------------------------------------------------ rows as codes

    def code(self, block: Block | Lines) -> Any:
        """Code some rows, or lines, and count those that are left out: ``Coded``, or a ``Part``."""
        if isinstance(block, Lines):
            return self._of_lines(block)
        chosen, path, first_row, table = self.chosen, block.path, block.first_row, block.table
        kept = np.ones(table.num_rows, bool)
        case = block.case
        if case is None:
            case = encode(table.column(chosen.case), str(chosen.case), path, blanks=False)
            if len(case.missing):
                if self.wanted.missing != "skip":
                    what = "no value, or only blanks,"
                    remedy = "fill them, or leave these rows out with missing='skip'"
                    refuse_missing(case.missing, str(chosen.case), path, first_row, what, remedy)
                self.noted["caseless"] += len(case.missing)
                kept = case.codes >= 0
                rows = np.where(kept, np.arange(len(kept)), kept.argmax())  # others in place of these
                rows, kept = (rows, kept) if kept.any() else (rows[:0], kept[:0])
                columns = {name: without_codes(table.column(name)) for name in table.column_names}
                table, case = pa.table(columns).take(arrow_of(rows)), Encoded(case.codes[rows], case.texts)
        event = self._labels(table, block)
        values = {name: encode(table.column(name), name, path) for name in self.texts}
        if chosen.lifecycle is not None:
            lifecycle = encode(table.column(chosen.lifecycle), chosen.lifecycle, path)
            refuse_missing(lifecycle.missing, chosen.lifecycle, path, first_row)
            kept &= self._of_lifecycle(lifecycle, kept)
        elif chosen.other_lifecycle in table.column_names:
            with suppress(DataError):  # nobody asked for it
                self._count_lifecycles(encode(table.column(chosen.other_lifecycle), "", path))
        self.noted["unlabelled"] += int(np.count_nonzero(kept & (event.codes < 0)))
        kept &= event.codes >= 0
        each = [one.keys(table.column(one.name), path, first_row) for one in self.order]
        keys, kinds = [found for found, _ in each], [kind for _, kind in each]
        if chosen.other_order is not None:
            with suppress(DataError):  # nobody asked for it
                keys = [OrderColumn(chosen.other_order).keys(table.column(chosen.other_order), path)[0]]
        some = slice(None) if kept.all() else kept
        return Coded(
            case.codes[some],
            case.texts,
            self.labels.recode(Encoded(event.codes[some], event.texts)),
            [key[some] for key in keys],
            kinds,
            {name: self.texts[name].recode(Encoded(v.codes[some], v.texts)) for name, v in values.items()},
        )

    def _of_lines(self, block: Lines) -> Part:
        """Whole sequences as codes, without events that are left out; their times must not fall."""
        path, first, lines = block
        each = kept = [line.events for line in lines]
        if self.wanted.missing != "error":
            each = [[self._labelled(event) for event in events] for events in kept]
            kept = [[event for event in events if event is not None] for events in each]
        codes, offsets, texts, starts = coded_lists(kept, None)
        place = np.arange(len(codes)) if starts is None else np.cumsum(starts) - 1
        keys, kinds = list[Array](), list[Any]()
        for one in self.order:
            pairs = zip(chain(*(line.times[one.name] for line in lines)), chain(*each), strict=True)
            times = text_array(time for time, event in pairs if event is not None).take(arrow_of(place))
            found, kind = one.keys(pa.chunked_array([times]), path, first)
            keys, kinds = [*keys, found], [*kinds, kind]
            falls = np.setdiff1d(np.flatnonzero(found[1:] < found[:-1]) + 1, offsets)
            if len(falls):
                at = int(np.searchsorted(offsets, falls[0], side="right")) - 1
                raise DataError(
                    f"{one.name!r} of {self.source.name} run backwards in sequence "
                    f"{(lines[at].name or str(first + at))[:40]!r}; sort its events by time"
                )
        ids: Sequence[str] | range = range(first, first + len(lines))
        if any(line.name is not None for line in lines):
            ids = [str(at) if line.name is None else line.name for at, line in enumerate(lines, start=first)]
        values = {}
        for name, known in self.texts.items():
            given = (line.values[name] for line in lines)
            values[name] = np.array([-1 if text is None else known[text] for text in given], np.int32)
        return Part(self.labels.recode(Encoded(codes, texts)), offsets, ids, keys, kinds, values, starts)

    def _labelled(self, event: Any) -> Any:
        """A label, or several that happened together, without those that are missing; None if none is left.

        These are counted, or have another label, as asked.
        """
        together, missing = isinstance(event, list | tuple | Set), self.wanted.missing
        if not together and not is_missing(event):
            return event
        given = [*event] if together else [event]
        if missing == "skip":
            kept = [label for label in given if not is_missing(label)]
            self.noted["unlabelled"] += len(given) - len(kept)
        else:
            kept = [missing if is_missing(label) else label for label in given]
        if given and not kept:
            return None
        return kept if together else kept[0]

    def _of_lifecycle(self, lifecycle: Encoded, with_case: BoolArray) -> BoolArray:
        """Which rows have the lifecycle that is wanted, in capitals or not; others are counted."""
        asked = str(self.wanted.lifecycle).casefold()
        fits = np.array([*(text.casefold() == asked for text in lifecycle.texts), False])
        kept: BoolArray = fits[lifecycle.codes]
        self.noted["other_lifecycle"] += int(np.count_nonzero(with_case & ~kept))
        self._count_lifecycles(lifecycle)
        return kept

    def _count_lifecycles(self, lifecycle: Encoded) -> None:
        for text, n in zip(lifecycle.texts, lifecycle.counts.tolist(), strict=True):
            self.lifecycles[text if len(self.lifecycles) < _MOST_LIFECYCLES else ""] += n

    def refuse_none_left(self, n_events: int, source: str) -> None:
        """Refuse a lifecycle that no event has, where there are events."""
        if self.noted["other_lifecycle"] and not n_events and not self.noted["unlabelled"]:
            known = ", ".join(repr(text[:40]) for text in sorted(self.lifecycles)[:8])
            raise DataError(
                f"no event of {source} has lifecycle={self.wanted.lifecycle!r}; there are {known}"
            )

    def _labels(self, table: pa.Table, block: Block) -> Encoded:
        """The labels of rows, of one column or several; -1 where a row has none and is to be left out."""
        wanted, parts = self.wanted, list[Encoded]()
        for name in self.chosen.event:
            part = encode(table.column(name), name, block.path)
            if wanted.missing == "error":
                remedy = "fill them, or leave these events out with missing='skip'"
                refuse_missing(part.missing, name, block.path, block.first_row, remedy=remedy)
            elif wanted.missing != "skip" and len(part.missing):
                texts = list(dict.fromkeys([*part.texts, wanted.missing]))
                part = Encoded(np.where(part.codes < 0, texts.index(wanted.missing), part.codes), texts)
            parts.append(part)
        for part, name in zip(parts[:-1], self.chosen.event, strict=False):
            for text, n in zip(part.texts, part.counts.tolist(), strict=True):
                if n and SEPARATOR in text:
                    raise DataError(
                        f"column {name!r} of {block.path} holds {text[:40]!r}, with {SEPARATOR!r} in it, "
                        "which joins the labels of several columns; write it otherwise, or join them first"
                    )
        return reduce(joined, parts)

    def settled(self, coded: Any) -> Any:
        """Rows, or a part, with keys of the types that all blocks have in common."""
        if not coded.kinds:
            return coded
        each = zip(self.order, coded.keys, coded.kinds, strict=True)
        return replace(coded, keys=[one.settled(key, kind) for one, key, kind in each], kinds=self.kinds)

    @property
    def kinds(self) -> list[pa.DataType]:
        """The types of the order columns, once all blocks were read."""
        return [one.kind or pa.timestamp("ms") for one in self.order]

    def together(self, blocks: Sequence[Coded]) -> Coded:
        """Several blocks as one."""
        if len(blocks) == 1:
            (only,) = blocks
            return only
        known = Vocabulary()
        cases = [known.recode(Encoded(block.case, block.names)) for block in blocks]
        keys = zip(*(block.keys for block in blocks), strict=True)
        return Coded(
            _joined(cases),
            [*known],
            _joined([block.codes for block in blocks]),
            [*map(_joined, keys)] or [np.empty(0, np.int64) for _ in self.order],
            self.kinds,
            {name: _joined([block.values[name] for block in blocks]) for name in self.texts},
        )

    # ------------------------------------------------------------------ whole sequences

    def part(self, coded: Coded) -> Part:
        """The rows of whole cases, put together and in order."""
        rows, starts, cases = group(coded.case, coded.keys if self.order else ())
        offsets, names = np.append(starts, len(coded.case)), [coded.names[code] for code in cases.tolist()]
        if self.source.by_place:
            offsets, names = np.searchsorted(coded.case, np.arange(len(coded.names) + 1)), [*coded.names]
        if coded.keys and not self.order and len(coded.case):
            self.noted["backwards"] = count_falls(coded.keys, starts)
        some = slice(None) if rows is None else rows
        keys, values = [key[some] for key in coded.keys], coded.values
        return Part(
            coded.codes[some], offsets, names, keys, self.kinds, {name: values[name][some] for name in values}
        )

    def chunks(self, parts: Iterable[Part]) -> Iterator[EventSequences]:
        """All events, some whole sequences at a time; see :meth:`finished`."""
        labels, final = self.labels.settled()
        for part in parts:
            yield self._events(part, labels, final)

    def _events(self, part: Part, labels: Sequence[str], final: CodeArray) -> EventSequences:
        """Leave out duplicates and cut into sessions if asked to; count ties, and make ticks of them."""
        wanted, source = self.wanted, self.source
        codes, offsets, ids, keys = final[part.codes], part.offsets, part.ids, part.keys
        about = (self.kinds[0], self.order[0].name, source.name) if self.order else None
        values = self._of_cases(part)
        together = about is not None and wanted.ties == "together"
        same = tied(keys, offsets[:-1][np.diff(offsets) > 0]) if keys and len(codes) else None
        if source.is_lines:
            same = None if part.starts is None or wanted.ties in (None, "together") else ~part.starts
        elif same is not None and not together and same.any():
            again = repeated(codes, same)
            self.noted["dropped" if wanted.drop_duplicates else "duplicates"] += int(np.count_nonzero(again))
            if wanted.drop_duplicates:
                offsets = np.append(0, np.cumsum(~again))[offsets]
                codes, keys, same = codes[~again], [key[~again] for key in keys], same[~again]
        if wanted.gap is not None and about is not None:
            offsets, ids, of = cut_sessions(wanted.gap.exceeded(keys[0], *about), offsets, ids)
            values = {name: each[of] for name, each in values.items()}
        for name, each in values.items():
            self._values[name].append(each)
        ties = Ties.of(same, offsets, ids)
        if about is not None or source.is_lines:
            refuse_ties(ties, wanted, about[1] if about else "itemset", source.name)
        self.ties = Ties(self.ties.n + ties.n, self.ties.case or ties.case) if not together else self.ties
        starts, moments = part.starts if same is None else ~same if together else None, None
        in_time = about is not None and wanted.times
        if starts is not None or in_time:
            when = times_of(keys[0], *about) if about is not None and in_time else (None, NANOSECONDS)
            begins = np.ones(len(codes), bool) if starts is None else starts
            has_ticks = part.starts is not None or not begins.all()
            codes, offsets, moments = Moments.made(codes, offsets, begins, *when, has_ticks=has_ticks)
        self.n_events += len(codes)
        self._last = keys, offsets
        codes.flags.writeable = False  # so that it need not be copied
        n, plain = 0 if together else ties.n, isinstance(ids, range) and ids[:1] in (range(0), range(1))
        names = None if plain else [*map(str, ids)]
        return wanted.ended(EventSequences(codes, offsets, labels, names, moments=moments, tied_order=n))

    def _of_cases(self, part: Part) -> dict[str, Array]:
        """The value of every sequence in the columns that must not change."""
        if self.source.is_lines:
            return dict(part.values)
        filled, found = np.diff(part.offsets) > 0, {}
        starts = part.offsets[:-1][filled]
        for name, rows in part.values.items():
            found[name] = np.full(len(filled), -1, np.int32)
            found[name][filled] = rows[starts]
            other = np.setdiff1d(np.flatnonzero(rows[1:] != rows[:-1]) + 1, starts)
            if len(other):
                case = part.ids[int(np.searchsorted(part.offsets, other[0], side="right")) - 1]
                texts = [*self.texts[name], None]
                values = (texts[rows[at]] for at in (other[0] - 1, other[0]))
                first, second = ("no value" if value is None else repr(value[:40]) for value in values)
                raise DataError(
                    f"column {name!r} of {self.source.name} changes during case {str(case)[:40]!r}: {first} "
                    f"in one row and {second} in another; it must have one value per case: correct it, or "
                    "leave it out"
                )
        return found

    # ------------------------------------------------------------------ all events

    @property
    def needs_names(self) -> bool:
        """Whether names of sequences are needed to finish events."""
        return bool(self._values) or self.wanted.cases is not None

    def finished(self, events: EventSequences, ids: Sequence[str]) -> EventSequences:
        """All events, with what is known of whole sequences; ``ids`` are needed if :attr:`needs_names`."""
        warn_of_ties(events.tied_order, events.n_events, self.origin(), self.source.wanted, self.source.name)
        wanted, values = self.wanted, dict[str, Encoded]()
        for name, codes in self._values.items():
            values[name] = Encoded(np.concatenate(codes), [*self.texts[name]])
        weight = values.pop(wanted.columns.weight or "", None)
        if weight is not None:
            events = events.with_weights(self._weights(weight, ids))
        if wanted.cases is not None:
            cases = ids if wanted.gap is None else [name.rpartition("/")[0] for name in ids]
            return with_cases(events, wanted, cases)
        return attributes_of(events, values, wanted, self.source.name)

    def _weights(self, column: Encoded, names: Sequence[str]) -> FloatArray:
        """The numbers that texts stand for, one per sequence."""
        weights: FloatArray = np.array([*map(number_of, column.texts), None], float)[column.codes]
        wrong = np.flatnonzero(~(weights >= 0))
        if len(wrong):
            value = [*column.texts, None][column.codes[wrong[0]]]
            raise DataError(
                f"weight column {self.wanted.columns.weight!r} of {self.source.name} holds "
                f"{'no value' if value is None else repr(value[:40])} in case {names[wrong[0]][:40]!r}; a "
                "weight is a number from 0 on: correct it"
            )
        return weights

    def origin(self) -> Origin | None:
        """How events were read; None of files without columns, where there is nothing to tell."""
        chosen, is_lines = self.chosen, self.source.is_lines
        if is_lines and not (self.wanted.columns.names() or self.noted["unlabelled"] or self.ties.n):
            return None
        numbers: dict[str, Any] = dict(self.noted)
        return Origin(
            chosen.case,
            chosen.event,
            () if is_lines else chosen.order or (),
            chosen.weight,
            chosen.lifecycle,
            chosen.attributes,
            tied_case=self.ties.case,
            mixed=self._mixed(chosen.other_lifecycle),
            **numbers,
        )

    def _mixed(self, column: str | None) -> Lifecycles | None:
        """Starts and ends of activities that stand side by side, if most rows are of these."""
        starts, ends = (
            Counter(
                {text: n for text, n in self.lifecycles.items() if n and text.strip().casefold() in known}
            )
            for known in (_STARTS, _ENDS)
        )
        some = starts.total() + ends.total()
        if column is None or not starts or not ends or 2 * some <= self.lifecycles.total():
            return None
        start, end = (kind.most_common(1)[0][0] for kind in (starts, ends))
        return Lifecycles(column, start, starts.total(), end, ends.total())


def _in_a_row(parts: Sequence[Part]) -> Part:
    """Several parts, one after the other, as one."""
    ids: Sequence[str] | range = range(sum(len(part.ids) for part in parts))
    if not all(isinstance(part.ids, range) for part in parts):
        ids = [str(name) for part in parts for name in part.ids]
    starts = None
    if any(part.starts is not None for part in parts):
        each = (np.ones(len(part.codes), bool) if part.starts is None else part.starts for part in parts)
        starts = np.concatenate([*each])
    return Part(
        _joined([part.codes for part in parts]),
        np.append(0, np.cumsum(_joined([np.diff(part.offsets) for part in parts]))),
        ids,
        [*map(_joined, zip(*(part.keys for part in parts), strict=True))],
        parts[0].kinds,
        {name: _joined([part.values[name] for part in parts]) for name in parts[0].values},
        starts,
    )


def _joined(arrays: Sequence[Array]) -> Array:
    return np.concatenate(arrays) if len(arrays) else np.empty(0, np.int32)


def joined(first: Encoded, second: Encoded) -> Encoded:
    """The labels of two columns as one.

    >>> found = joined(Encoded(np.array([0, 1]), ["a", "b"]), Encoded(np.array([0, 0]), ["x"]))
    >>> [found.texts[code] for code in found.codes]
    ['a+x', 'b+x']
    """
    n = max(1, len(second.texts))
    pairs = first.codes.astype(np.int64) * n + second.codes
    pairs[(first.codes < 0) | (second.codes < 0)] = -1
    used, codes = np.unique(pairs, return_inverse=True)
    absent = int(len(used) > 0 and used[0] < 0)
    texts = [f"{first.texts[p // n]}{SEPARATOR}{second.texts[p % n]}" for p in used[absent:].tolist()]
    return Encoded(codes - absent, texts)
