"""From blocks of any source to events: rows as codes, put in order, then sequences with ticks and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from summarkov.arrow import arrow_of, pa, text_array
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import Lifecycles, Origin, late_cases
from summarkov.events.moments import NANOSECONDS, Moments
from summarkov.events.vocabulary import UNKNOWN, coded_lists, is_missing, label_text
from summarkov.read.case_attributes import attributes_of, number_of
from summarkov.read.columns import Columns, Wanted
from summarkov.read.ordering import (
    Keys,
    Ties,
    count_falls,
    cut_sessions,
    group,
    refuse_no_order,
    refuse_ties,
    repeated,
    run_starts,
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
#: The code of the one row of a sequence that has no events.
_NO_EVENT = -3


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
    """What is read block by block: what is asked of it, and its columns that are chosen.

    A ``thing`` of it is a "row" of a table; an "event" of a log or a "line", of sequences that are known by
    their places and may be empty. Each block begins a new sequence then.
    """

    name: str
    wanted: Wanted
    chosen: Columns
    blocks: Iterable[Block] | Iterable[Lines]
    thing: str = "row"


@dataclass(frozen=True)
class Coded:
    """Rows as codes: of the case, into its names, and of the label.

    ``keys`` of order columns are of the types ``kinds``; others may follow. ``values`` must not change during
    a case.
    """

    case: Array
    names: Sequence[str]
    codes: CodeArray
    keys: list[Array]
    kinds: list[pa.DataType]
    values: dict[str, CodeArray]


class Assembly:
    """A source on its way to events: rows as codes, put in order in memory or on disk, then finished.

    All labels, and the types of order columns, are known once all blocks were read.
    """

    def __init__(self, source: Source) -> None:
        self.source, self.chosen, self.wanted = (
            source,
            source.chosen,
            source.wanted.for_columns(source.chosen),
        )
        self.by_place, self.is_lines = source.thing != "row", source.thing == "line"
        if self.is_lines and self.wanted.ties is None:
            self.wanted = replace(self.wanted, ties="together")
        if not self.chosen.order and not self.is_lines:
            refuse_no_order(self.wanted, source.name)
        names = self.chosen.order or ()
        self.order = [OrderColumn(name, self.wanted.date_format, source.thing) for name in names]
        self.labels = Vocabulary(self.wanted.labels)
        self.texts = {name: Vocabulary() for name in self.chosen.per_case}
        self.ties, self.n_rows, self.n_events, self.has_names = Ties(), 0, 0, not self.is_lines
        #: What :class:`Origin` tells of events that were left out, or may better be; and rows by lifecycle.
        self.noted, self.lifecycles = Counter[str](), Counter[str]()
        self._values: dict[str, list[Array]] = {name: [] for name in self.texts}
        self._last: tuple[Keys, IntArray] = ((), np.zeros(1, np.int64))

    def in_memory(self) -> EventSequences:
        """All events."""
        blocks = [self.code(block) for block in self.source.blocks]
        rows = self.in_order(self.together([self.settled(block) for block in blocks]))
        self.refuse_none_left(self.source.name)
        (events,) = self.chunks([rows])
        origin, (keys, offsets) = self.origin(), self._last
        if origin is not None and self.kinds and pa.types.is_timestamp(self.kinds[0]):
            late = late_cases(keys[0], offsets)
            if late is not None:
                since = np.datetime64(late[1], self.kinds[0].unit).astype("datetime64[s]")
                origin = replace(origin, late=late[0], late_since=str(since))
        names = {} if self.has_names else {"_ids": None}
        return self.finished(events, events.ids).but(origin=origin, **names)

    # ------------------------------------------------------------------ rows as codes

    def code(self, block: Block | Lines) -> Coded:
        """Code some rows, or lines, and count those that are left out."""
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
        labels = self._labels(table, block)
        values = {name: encode(table.column(name), name, path) for name in self.texts}
        if chosen.lifecycle is not None:
            lifecycle = encode(table.column(chosen.lifecycle), chosen.lifecycle, path)
            refuse_missing(lifecycle.missing, chosen.lifecycle, path, first_row)
            kept &= self._of_lifecycle(lifecycle, kept)
        elif chosen.other_lifecycle in table.column_names:
            with suppress(DataError):  # nobody asked for it
                self._count_lifecycles(encode(table.column(chosen.other_lifecycle), "", path))
        each = [one.keys(table.column(one.name), path, first_row) for one in self.order]
        if chosen.other_order is not None:
            with suppress(DataError):  # nobody asked for it
                only = OrderColumn(chosen.other_order).keys(table.column(chosen.other_order), path)
                return self._kept(case, labels, [only[0]], [], values, kept)
        return self._kept(case, labels, [key for key, _ in each], [kind for _, kind in each], values, kept)

    def _of_lines(self, block: Lines) -> Coded:
        """Whole sequences as rows, whose places come after all other keys."""
        path, first, lines = block
        codes, offsets, texts, places = coded_lists(
            (line.events for line in lines), None, label_reader(self.wanted.missing)
        )
        case = np.repeat(np.arange(len(lines)), np.diff(offsets))
        begins = np.cumsum([0, *(len(line.events) for line in lines)])
        names = [str(first + at) if line.name is None else line.name for at, line in enumerate(lines)]
        keys, kinds = list[Array](), list[Any]()
        for one in self.order:
            times = text_array(chain.from_iterable(line.times[one.name] for line in lines))
            times = times.take(arrow_of(begins[case] + places))
            key, kind = one.keys(pa.chunked_array([times]), path, first)
            keys, kinds = [*keys, key], [*kinds, kind]
            falls = np.flatnonzero((key[1:] < key[:-1]) & (case[1:] == case[:-1]))
            if len(falls):
                raise DataError(
                    f"{one.name!r} of {self.source.name} run backwards in sequence "
                    f"{names[case[falls[0]]][:40]!r}; sort its events by time"
                )
        self.has_names = self.has_names or any(line.name is not None for line in lines)
        of_lines, values = dict[str, CodeArray](), dict[str, Encoded]()
        for name, known in self.texts.items():
            given = (line.values[name] for line in lines)
            of_lines[name] = np.array([-1 if text is None else known[text] for text in given], np.int32)
            values[name] = Encoded(of_lines[name][case], [*known])
        labels, kept = Encoded(codes, texts), np.ones(len(codes), bool)
        return self._kept(Encoded(case, names), labels, [*keys, places], kinds, values, kept, of_lines)

    def _kept(
        self,
        case: Encoded,
        labels: Encoded,
        keys: Sequence[Array],
        kinds: list[pa.DataType],
        values: Mapping[str, Encoded],
        kept: BoolArray,
        of_cases: Mapping[str, CodeArray] = {},
    ) -> Coded:
        """The rows that have a label, and one for each sequence known by its place that has none."""
        self.noted["unlabelled"] += int(np.count_nonzero(kept & (labels.codes == UNKNOWN)))
        kept &= labels.codes != UNKNOWN
        some = slice(None) if kept.all() else kept
        rows = Coded(
            case.codes[some],
            case.texts,
            self.labels.recode(Encoded(labels.codes[some], labels.texts)),
            [key[some] for key in keys],
            kinds,
            {name: self.texts[name].recode(Encoded(v.codes[some], v.texts)) for name, v in values.items()},
        )
        self.n_rows += len(rows.case)
        n_rows = np.bincount(rows.case, minlength=len(case.texts)) if self.by_place else np.ones(0)
        empty = np.flatnonzero(n_rows == 0)
        if not len(empty):
            return rows
        at, none = np.searchsorted(rows.case, empty), np.full(len(case.texts), -1, np.int32)
        return replace(
            rows,
            case=np.insert(rows.case, at, empty),
            codes=np.insert(rows.codes, at, np.int32(_NO_EVENT)),
            keys=[np.insert(key, at, 0) for key in rows.keys],
            values={n: np.insert(v, at, of_cases.get(n, none)[empty]) for n, v in rows.values.items()},
        )

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

    def refuse_none_left(self, source: str) -> None:
        """Refuse a lifecycle that no event has, where there are events."""
        if self.noted["other_lifecycle"] and not self.n_rows and not self.noted["unlabelled"]:
            known = ", ".join(repr(text[:40]) for text in sorted(self.lifecycles)[:8])
            raise DataError(
                f"no event of {source} has lifecycle={self.wanted.lifecycle!r}; there are {known}"
            )

    def _labels(self, table: pa.Table, block: Block) -> Encoded:
        """The labels of rows; -1 where a row has none and is to be left out."""
        missing, name = self.wanted.missing, str(self.chosen.event)
        labels = encode(table.column(name), name, block.path)
        if missing == "error":
            remedy = "fill them, or leave these events out with missing='skip'"
            refuse_missing(labels.missing, name, block.path, block.first_row, remedy=remedy)
        elif missing != "skip" and len(labels.missing):
            texts = list(dict.fromkeys([*labels.texts, missing]))
            return Encoded(np.where(labels.codes < 0, texts.index(missing), labels.codes), texts)
        return labels

    # ------------------------------------------------------------------ rows in order

    def settled(self, rows: Coded) -> Coded:
        """Rows with keys of the types that all blocks have in common."""
        each = zip(self.order, rows.keys, rows.kinds, strict=False)
        keys = [column.settled(key, kind) for column, key, kind in each]
        return replace(rows, keys=[*keys, *rows.keys[len(keys) :]], kinds=self.kinds)

    @property
    def kinds(self) -> list[pa.DataType]:
        """The types of the order columns, once all blocks were read."""
        return [one.kind or pa.timestamp("ms") for one in self.order]

    def together(self, blocks: Sequence[Coded]) -> Coded:
        """Several blocks as one."""
        if len(blocks) == 1:
            return blocks[0]
        if self.by_place:
            before = np.cumsum([0, *(len(block.names) for block in blocks)]).tolist()
            names = [name for block in blocks for name in block.names]
            cases = [block.case + first for block, first in zip(blocks, before, strict=False)]
        else:
            known = Vocabulary()
            cases = [known.recode(Encoded(block.case, block.names)) for block in blocks]
            names = [*known]
        keys = zip(*(block.keys for block in blocks), strict=True)
        return Coded(
            _joined(cases),
            names,
            _joined([block.codes for block in blocks]),
            [*map(_joined, keys)] or [np.empty(0, np.int64) for _ in self.order],
            self.kinds,
            {name: _joined([block.values[name] for block in blocks]) for name in self.texts},
        )

    def in_order(self, rows: Coded) -> Coded:
        """The rows of each case together, cases by their first rows, and sorted."""
        if self.is_lines:
            return rows
        order = group(rows.case, rows.keys if self.order else ())
        if rows.keys and not self.order and len(rows.case):
            self.noted["backwards"] = count_falls(rows.keys, run_starts(rows.case))
        if order is None:
            return rows
        values = {name: each[order] for name, each in rows.values.items()}
        keys = [key[order] for key in rows.keys]
        return replace(rows, case=rows.case[order], codes=rows.codes[order], keys=keys, values=values)

    # ------------------------------------------------------------------ whole sequences

    def chunks(self, parts: Iterable[Coded]) -> Iterator[EventSequences]:
        """All events, some whole sequences at a time, from rows in order; see :meth:`finished`."""
        labels, final = self.labels.settled()
        for part in parts:
            yield self._events(part, labels, final)

    def _events(self, rows: Coded, labels: Sequence[str], final: CodeArray) -> EventSequences:
        """Leave out duplicates and cut into sessions if asked to; count ties, and make ticks of them."""
        wanted, source = self.wanted, self.source
        starts = run_starts(rows.case)
        ids: list[str] = [rows.names[code] for code in rows.case[starts].tolist()]
        values = self._of_cases(rows, starts, ids)
        codes, keys, offsets = rows.codes, rows.keys, np.append(starts, len(rows.codes))

        def only(kept: BoolArray) -> None:
            nonlocal codes, keys, offsets
            codes, keys = codes[kept], [key[kept] for key in keys]
            offsets = np.append(0, np.cumsum(kept))[offsets]

        if len(codes) and codes.min() == _NO_EVENT:
            only(codes != _NO_EVENT)
        codes = final[codes]
        about = (self.kinds[0], self.order[0].name, source.name) if self.order else None
        together = wanted.ties == "together"
        same = tied(keys, offsets[:-1][np.diff(offsets) > 0]) if keys else np.zeros(len(codes), bool)
        if same.any() and not together and not self.is_lines:
            again = repeated(codes, same)
            self.noted["dropped" if wanted.drop_duplicates else "duplicates"] += int(np.count_nonzero(again))
            if wanted.drop_duplicates:
                only(~again)
                same = same[~again]
        if wanted.gap is not None and about is not None:
            offsets, ids, of = cut_sessions(wanted.gap.exceeded(keys[0], *about), offsets, ids)
            values = {name: each[of] for name, each in values.items()}
        for name, each in values.items():
            self._values[name].append(each)
        ties = Ties() if together else Ties.of(same, offsets, ids)
        if about is not None or self.is_lines:
            refuse_ties(ties, wanted, about[1] if about else "itemset", source.name)
        self.ties = Ties(self.ties.n + ties.n, self.ties.case or ties.case)
        moments = None
        if together or (about is not None and wanted.times):
            when = times_of(keys[0], *about) if about is not None and wanted.times else (None, NANOSECONDS)
            begins = ~same if together else np.ones(len(codes), bool)
            codes, offsets, moments = Moments.made(codes, offsets, begins, *when, has_ticks=together)
        self.n_events += len(codes)
        self._last = keys, offsets
        codes.flags.writeable = False  # so that it need not be copied
        events = EventSequences(codes, offsets, labels, ids, moments=moments, tied_order=ties.n)
        return wanted.ended(events)

    def _of_cases(self, rows: Coded, starts: IntArray, ids: Sequence[str]) -> dict[str, Array]:
        """The value of every sequence in the columns that must not change."""
        found = {}
        for name, codes in rows.values.items():
            found[name] = codes[starts]
            other = np.setdiff1d(np.flatnonzero(codes[1:] != codes[:-1]) + 1, starts)
            if len(other):
                case = ids[int(np.searchsorted(starts, other[0], side="right")) - 1]
                texts = [*self.texts[name], None]
                values = (texts[codes[at]] for at in (other[0] - 1, other[0]))
                first, second = ("no value" if value is None else repr(value[:40]) for value in values)
                raise DataError(
                    f"column {name!r} of {self.source.name} changes during case {case[:40]!r}: {first} "
                    f"in one row and {second} in another; it must have one value per case: correct it, or "
                    "leave it out"
                )
        return found

    # ------------------------------------------------------------------ all events

    @property
    def needs_names(self) -> bool:
        """Whether names of sequences are needed to finish events."""
        return self.chosen.weight is not None

    def finished(self, events: EventSequences, ids: Sequence[str]) -> EventSequences:
        """All events, with what is known of whole sequences; ``ids`` are needed if :attr:`needs_names`."""
        warn_of_ties(events.tied_order, events.n_events, self.origin(), self.source.wanted, self.source.name)
        values = dict[str, Encoded]()
        for name, codes in self._values.items():
            values[name] = Encoded(np.concatenate(codes), [*self.texts[name]])
        weight = values.pop(self.chosen.weight or "", None)
        if weight is not None:
            events = events.with_weights(self._weights(weight, ids))
        return attributes_of(events, values, self.wanted, self.source.name)

    def _weights(self, column: Encoded, names: Sequence[str]) -> FloatArray:
        """The numbers that texts stand for, one per sequence."""
        weights: FloatArray = np.array([*map(number_of, column.texts), None], float)[column.codes]
        wrong = np.flatnonzero(~(weights >= 0))
        if len(wrong):
            value = [*column.texts, None][column.codes[wrong[0]]]
            raise DataError(
                f"weight column {self.chosen.weight!r} of {self.source.name} holds "
                f"{'no value' if value is None else repr(value[:40])} in case {names[wrong[0]][:40]!r}; a "
                "weight is a number from 0 on: correct it"
            )
        return weights

    def origin(self) -> Origin | None:
        """How events were read; None of files without columns, where there is nothing to tell."""
        chosen = self.chosen
        if self.is_lines and not (self.wanted.columns.names() or self.noted["unlabelled"] or self.ties.n):
            return None
        numbers: dict[str, Any] = dict(self.noted)
        return Origin(
            chosen.case,
            chosen.event,
            () if self.is_lines else chosen.order or (),
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


def label_reader(missing: str) -> Callable[[Any], str | None]:
    """What makes a label's text of a value, None if it is to be left out, as ``missing`` says."""
    if missing == "error":
        return label_text
    instead = None if missing == "skip" else missing
    return lambda value: instead if is_missing(value) else label_text(value)


def _joined(arrays: Sequence[Array]) -> Array:
    return np.concatenate(arrays) if len(arrays) else np.empty(0, np.int32)
