"""From blocks of any table to codes: of cases, labels, places, and of what must not change during a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError
from summarkov.events.describe import Lifecycles
from summarkov.events.vocabulary import is_missing
from summarkov.read.columns import Columns
from summarkov.read.encoding import (
    FILL_LABELS,
    Encoded,
    Vocabulary,
    arrow_of,
    caseless_rows,
    count,
    encode,
    encode_some,
    is_list,
    missing_rows,
    numpy_of,
    plain_text,
    refuse_caseless,
    refuse_missing,
    which_occur,
)
from summarkov.read.ordering import OrderColumn
from summarkov.read.ticks import refuse_no_order
from summarkov.read.wanted import Wanted
from summarkov.typing import BoolArray, CodeArray, IntArray

#: What lifecycles are called of which an activity has one row each, when it begins and when it is over.
_STARTS = {"start", "started", "begin", "begun"}
_ENDS = {"complete", "completed", "end", "ended", "finish", "finished"}


@dataclass(frozen=True)
class Block:
    """Some rows: the chosen columns, of which file, where they begin, and bytes of all files read, about.

    Where sequences are known by their places, and not by the names of cases, ``sequences`` has their names
    and what does not change during them, and ``sequence`` the number of the one that each row is of.
    """

    table: pa.Table
    path: str
    first_row: int = 0
    done: int = 0
    sequence: IntArray | None = None
    sequences: pa.Table | None = None


@dataclass(frozen=True)
class Source:
    """A table that is read block by block, and its columns that are chosen.

    ``of_lists``: a row is a whole sequence. ``by_place``: sequences are known by their places, and not by the
    names of cases. ``is_lines``: it is a file without columns. ``thing`` is what messages call a row.
    """

    name: str
    chosen: Columns
    blocks: Iterable[Block]
    of_lists: bool = False
    by_place: bool = False
    is_lines: bool = False
    thing: str = "row"
    n_bytes: int = 0


@dataclass
class LeftOut:
    """How many events were left out, and why; and what there is that may better be left out.

    ``caseless`` are rows without a case. ``duplicates`` are events of the case, label and place of an earlier
    one, of which some were ``dropped``.
    """

    unlabelled: int = 0
    lifecycle: int = 0
    lifecycles: set[str] = field(default_factory=set)  # some of those that there are
    caseless: int = 0
    duplicates: int = 0
    dropped: int = 0
    looked_at: Counter[str] = field(default_factory=Counter)  # lifecycles that nobody asked for

    def look_at(self, lifecycle: Encoded) -> None:
        """Count the lifecycles of some rows; all that mean neither a start nor an end are one."""
        counts = np.bincount(lifecycle.codes + 1, minlength=len(lifecycle.texts) + 1).tolist()
        for text, n in zip(("", *lifecycle.texts), counts, strict=True):
            self.looked_at[text if text.strip().casefold() in _STARTS | _ENDS else ""] += n

    def mixed(self, column: str | None) -> Lifecycles | None:
        """Starts and ends of activities that stand side by side, if most rows are of these."""
        if column is None:
            return None
        kinds = [
            Counter({text: n for text, n in self.looked_at.items() if n and text.strip().casefold() in known})
            for known in (_STARTS, _ENDS)
        ]
        if not all(kinds) or 2 * sum(map(Counter.total, kinds)) <= self.looked_at.total():
            return None
        (start, _), (end, _) = (kind.most_common(1)[0] for kind in kinds)
        return Lifecycles(column, start, kinds[0].total(), end, kinds[1].total())

    def refuse_all(self, wanted: Wanted, n_events: int, source: str) -> None:
        """Refuse a lifecycle that no event has, where there are events."""
        if self.lifecycle and not n_events and not self.unlabelled:
            known = ", ".join(repr(text[:40]) for text in sorted(self.lifecycles))
            raise DataError(f"no event of {source} has lifecycle={wanted.lifecycle!r}; there are {known}")


@dataclass(frozen=True)
class Coded:
    """Rows as codes, but for those that are left out.

    ``names`` are those of cases; None: these are called by their numbers. ``keys`` of order columns are of
    the types ``kinds``. ``starts`` tells which rows begin a tick, where lists do. ``values``, of what must
    not change, are those of rows; where sequences are known by their places, of these: ``n_sequences``.
    """

    case: npt.NDArray[np.integer]
    names: list[str] | None
    codes: CodeArray
    keys: list[npt.NDArray[Any]]
    kinds: list[pa.DataType]
    values: dict[str, CodeArray]
    starts: BoolArray | None = None
    n_sequences: int | None = None


class Coding:
    """Turns blocks into codes; knows all labels, and the types of order columns, once all were read."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source, self.chosen = source, source.chosen
        self.wanted = wanted.for_columns(source.chosen)
        if not self.chosen.order:
            refuse_no_order(replace(self.wanted, ties=None) if source.of_lists else self.wanted, source.name)
        names = self.chosen.order or ()
        self.order = [OrderColumn(name, wanted.date_format, source.thing) for name in names]
        self.labels = Vocabulary(wanted.labels)
        self.values = {name: Vocabulary() for name in self.chosen.per_case}
        self.left_out = LeftOut()

    def code(self, block: Block) -> Coded:
        """Code some rows, and count those that are left out."""
        names = block.table.column_names
        table = pa.table({name: plain_text(block.table.column(name)) for name in names})
        return self._lists(table, block) if self.source.of_lists else self._rows(table, block)

    def _rows(self, table: pa.Table, block: Block) -> Coded:
        chosen, path, first_row = self.chosen, block.path, block.first_row
        kept = np.ones(table.num_rows, bool)
        if block.sequence is not None and block.sequences is not None:
            case = Encoded(block.sequence, block.sequences.column(0).to_pylist())
        else:
            assert chosen.case is not None
            absent = caseless_rows(table.column(chosen.case))
            if self.wanted.missing != "skip":
                refuse_caseless(absent, chosen.case, path, first_row)
            if len(absent):
                self.left_out.caseless += len(absent)
                kept[absent] = False
                rows = np.where(kept, np.arange(len(kept)), kept.argmax())  # others in place of these
                rows, kept = (rows, kept) if kept.any() else (rows[:0], kept[:0])
                table = table.take(arrow_of(rows))
            case = encode(table.column(chosen.case), chosen.case, path, first_row)
        event = self._joined_labels(table, path, first_row)
        values = self._values(table if block.sequences is None else block.sequences, path)
        if chosen.lifecycle is not None:
            lifecycle = encode(table.column(chosen.lifecycle), chosen.lifecycle, path, first_row)
            kept &= self._of_lifecycle(lifecycle, kept)
        elif chosen.other_lifecycle in table.column_names:
            with suppress(DataError):  # nobody asked for it
                self.left_out.look_at(encode_some(table.column(chosen.other_lifecycle), "", path))
        self.left_out.unlabelled += int(np.count_nonzero(kept & (event.codes < 0)))
        kept &= event.codes >= 0
        keys, kinds = list[npt.NDArray[Any]](), list[pa.DataType]()
        for one in self.order:
            found, kind = one.keys(table.column(one.name), path, first_row)
            keys, kinds = [*keys, found], [*kinds, kind]
        if chosen.other_order is not None:
            with suppress(DataError):  # nobody asked for it
                keys = [OrderColumn(chosen.other_order).keys(table.column(chosen.other_order), path)[0]]
        some = slice(None) if kept.all() else kept
        if block.sequences is None:
            values = {name: Encoded(each.codes[some], each.texts) for name, each in values.items()}
        return Coded(
            case.codes[some],
            case.texts,
            self.labels.recode(Encoded(event.codes[some], event.texts)),
            [each[some] for each in keys],
            kinds,
            {name: self.values[name].recode(each) for name, each in values.items()},
            n_sequences=None if block.sequences is None else len(case.texts),
        )

    def _values(self, table: pa.Table, path: str) -> dict[str, Encoded]:
        """The columns that must not change during a case."""
        return {name: encode_some(table.column(name), name, path) for name in self.chosen.per_case}

    def _of_lifecycle(self, lifecycle: Encoded, with_case: BoolArray) -> BoolArray:
        """Which rows have the lifecycle that is wanted, in capitals or not; others are counted."""
        asked = str(self.wanted.lifecycle).casefold()
        fits = np.array([*(text.casefold() == asked for text in lifecycle.texts), False])
        kept: BoolArray = fits[lifecycle.codes]
        self.left_out.lifecycle += int(np.count_nonzero(with_case & ~kept))
        self.left_out.lifecycles.update(lifecycle.texts[: 8 - len(self.left_out.lifecycles)])
        return kept

    # ------------------------------------------------------------------ labels

    def _joined_labels(self, table: pa.Table, path: str, first_row: int) -> Encoded:
        """The labels of rows, of one column or several; -1 where a row has none and is to be left out."""
        parts = list[Encoded]()
        for name in self.chosen.event:
            if self.wanted.missing == "error":
                refuse_missing(table.column(name), name, path, first_row, FILL_LABELS)
            parts.append(self._filled(encode_some(table.column(name), name, path)))
        for part, name in zip(parts[:-1], self.chosen.event, strict=False):
            for text, here in zip(part.texts, which_occur(part.codes, len(part.texts)).tolist(), strict=True):
                if here and self.wanted.separator in text:
                    raise DataError(
                        f"column {name!r} of {path} holds {text[:40]!r}, with {self.wanted.separator!r} in "
                        "it, which joins the labels of several columns; choose another one with separator="
                    )
        return reduce(lambda first, second: joined(first, second, self.wanted.separator), parts)

    def _filled(self, column: Encoded) -> Encoded:
        """The same labels, with the one that is asked for where one is missing."""
        absent = column.codes < 0
        if self.wanted.missing in ("error", "skip") or not absent.any():
            return column
        texts = list(dict.fromkeys([*column.texts, self.wanted.missing]))
        return Encoded(np.where(absent, texts.index(self.wanted.missing), column.codes), texts)

    # ------------------------------------------------------------------ rows that are whole sequences

    def _lists(self, table: pa.Table, block: Block) -> Coded:
        """Rows that are sequences, which may be empty; a list in a list is a tick, and may be empty."""
        chosen, name, first_row, n = self.chosen, self.chosen.event[0], block.first_row, table.num_rows
        column = table.column(name)
        refuse_missing(column, name, block.path, first_row)
        names = None
        if chosen.case is not None and chosen.case in table.column_names:
            case = encode(table.column(chosen.case), chosen.case, block.path, first_row)
            names = [case.texts[code] for code in case.codes.tolist()]
        events, offsets = _flat(column)
        of = np.repeat(np.arange(n), np.diff(offsets))  # the sequence of every event, or tick
        self._refuse_unlabelled(events, of, block)
        place, starts = np.arange(len(of)), None  # of every label among events, or ticks
        if is_list(events.type):
            sizes = np.diff(_flat(events)[1])
            absent, place = missing_rows(events), np.repeat(place, sizes)
            alone = np.flatnonzero(sizes == 0)  # of no label
            labels = self._list_labels(_flat(events)[0], of[place], block)
            before = np.append(0, np.cumsum(sizes))[alone]
            event = self._filled(Encoded(np.insert(labels.codes, before, -1), labels.texts))
            place = np.insert(place, before, alone)
            empty = np.zeros(len(place), bool)  # ticks stay, as rows of no label
            empty[before + np.arange(len(alone))] = ~np.isin(alone, absent)
            event = Encoded(np.where(empty, -1, event.codes), event.texts)
        else:
            event, empty = self._list_labels(events, of, block), np.zeros(len(of), bool)
        kept = (event.codes >= 0) | empty
        self.left_out.unlabelled += int(np.count_nonzero(~kept))
        place = place[kept]
        if is_list(events.type):
            starts = np.append(True, place[1:] != place[:-1])[: len(place)]
        keys, kinds = self._list_times(table, offsets, block)
        values = self._values(table, block.path)
        return Coded(
            of[place],
            names,
            self.labels.recode(Encoded(event.codes[kept], event.texts)),
            [each[place] for each in keys],
            kinds,
            {name: self.values[name].recode(each) for name, each in values.items()},
            starts,
            n,
        )

    def _list_labels(self, events: pa.ChunkedArray, of: IntArray, block: Block) -> Encoded:
        """The labels in lists; those that are missing are an error, have the code -1, or another label."""
        self._refuse_unlabelled(events, of, block)
        return self._filled(encode_some(events, self.chosen.event[0], block.path))

    def _refuse_unlabelled(self, events: pa.ChunkedArray, of: IntArray, block: Block) -> None:
        """Refuse events without a label, unless that is allowed; ``of`` are their rows."""
        absent = missing_rows(events)
        if len(absent) and self.wanted.missing == "error":
            thing = self.source.thing
            raise DataError(
                f"column {self.chosen.event[0]!r} of {block.path} has {count(len(absent), 'event')} without "
                f"a label, the first in {thing} {block.first_row + int(of[absent[0]]) + 1} (the first "
                f"{thing} of data is 1); {FILL_LABELS}"
            )

    def _list_times(
        self, table: pa.Table, offsets: IntArray, block: Block
    ) -> tuple[list[npt.NDArray[Any]], list[pa.DataType]]:
        """The time of every event, or tick, from a column of lists."""
        if not self.order:
            return [], []
        (one,) = self.order
        column = table.column(one.name)
        times, of_times = _flat(column)
        other = np.flatnonzero((of_times != offsets)[1:])
        if len(other):
            raise DataError(
                f"{block.path}, {self.source.thing} {block.first_row + int(other[0]) + 1}: expected "
                f"{one.name!r}, a list of {int(np.diff(offsets)[other[0]])} times, one per event; leave out "
                "times=True otherwise"
            )
        found, kind = one.keys(times, block.path)
        return [found], [kind]


def joined(first: Encoded, second: Encoded, separator: str) -> Encoded:
    """The labels of two columns as one.

    >>> found = joined(Encoded(np.array([0, 1]), ["a", "b"]), Encoded(np.array([0, 0]), ["x"]), "+")
    >>> [found.texts[code] for code in found.codes]
    ['a+x', 'b+x']
    """
    n = max(1, len(second.texts))
    pairs = first.codes.astype(np.int64) * n + second.codes
    pairs[(first.codes < 0) | (second.codes < 0)] = -1
    used, codes = np.unique(pairs, return_inverse=True)
    absent = int(len(used) > 0 and used[0] < 0)
    texts = [f"{first.texts[p // n]}{separator}{second.texts[p % n]}" for p in used[absent:].tolist()]
    return Encoded(codes - absent, texts)


def _flat(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, IntArray]:
    """What is in the lists of a column, and where each begins and the last ends; a missing one is empty."""
    offsets = np.zeros(len(column) + 1, dtype=np.int64)
    lengths = pc.list_value_length(column)
    np.cumsum(numpy_of(pc.fill_null(lengths, 0) if lengths.null_count else lengths), out=offsets[1:])
    return plain_text(pc.list_flatten(column)), offsets


def labelled(given: Sequence[object], wanted: Wanted, left_out: LeftOut) -> list[Any]:
    """Labels in a list: those that are missing are left out and counted, or have another label, as asked."""
    if wanted.missing != "skip":
        return [wanted.missing if is_missing(label) else label for label in given]
    kept = [label for label in given if not is_missing(label)]
    left_out.unlabelled += len(given) - len(kept)
    return kept


def changes(name: str, case: str, source: str, first: str | None, second: str | None) -> DataError:
    """The error for a column that changes during a case."""
    values = [repr(value[:40]) if value is not None else "no value" for value in (first, second)]
    return DataError(
        f"column {name!r} of {source} changes during case {case[:40]!r}: {values[0]} in one row and "
        f"{values[1]} in another; it must have one value per case: correct it, or leave it out"
    )
