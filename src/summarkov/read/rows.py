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

from summarkov.arrow import pa
from summarkov.errors import DataError
from summarkov.events.describe import Lifecycles
from summarkov.events.vocabulary import is_missing
from summarkov.read.columns import Columns
from summarkov.read.encoding import Encoded, Vocabulary, arrow_of, encode, refuse_missing, without_codes
from summarkov.read.ordering import OrderColumn
from summarkov.read.ticks import refuse_no_order
from summarkov.read.wanted import Wanted
from summarkov.typing import BoolArray, CodeArray, IntArray

#: What lifecycles are called of which an activity has one row each, when it begins and when it is over.
_STARTS = {"start", "started", "begin", "begun"}
_ENDS = {"complete", "completed", "end", "ended", "finish", "finished"}


@dataclass(frozen=True)
class Block:
    """Some rows: the chosen columns, of which file, and where they begin.

    Where sequences are known by their places, ``sequence`` is the number of the one that each row is of, and
    ``names`` and ``values`` are their names, or numbers, and what does not change during them. Where rows
    come from lists, ``starts`` tells which begin a tick, and ``empty`` which stand for one without a label.
    """

    table: pa.Table
    path: str
    first_row: int = 0
    sequence: IntArray | None = None
    names: Sequence[str] | range = ()
    values: pa.Table | None = None
    starts: BoolArray | None = None
    empty: BoolArray | None = None


@dataclass(frozen=True)
class Source:
    """A table that is read block by block, and its columns that are chosen.

    ``by_place``: sequences are known by their places, and not by the names of cases. ``is_lines``: it is a
    file with one sequence per line.
    """

    name: str
    chosen: Columns
    blocks: Iterable[Block]
    by_place: bool = False
    is_lines: bool = False

    @property
    def thing(self) -> str:
        """What messages call a row."""
        return "line" if self.is_lines else "event" if self.by_place else "row"


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

    ``names`` are those of cases, or their numbers. ``keys`` of order columns are of the types ``kinds``.
    ``starts`` tells which rows begin a tick, where lists do. ``values``, of what must not change, are those
    of rows, or of sequences where these are known by their places.
    """

    case: npt.NDArray[np.integer]
    names: Sequence[str] | range
    codes: CodeArray
    keys: list[npt.NDArray[Any]]
    kinds: list[pa.DataType]
    values: dict[str, CodeArray]
    starts: BoolArray | None = None


class Coding:
    """Turns blocks into codes; knows all labels, and the types of order columns, once all were read."""

    def __init__(self, source: Source, wanted: Wanted) -> None:
        self.source, self.chosen = source, source.chosen
        self.wanted = wanted.for_columns(source.chosen)
        if not self.chosen.order:
            refuse_no_order(replace(self.wanted, ties=None) if source.is_lines else self.wanted, source.name)
        names = self.chosen.order or ()
        self.order = [OrderColumn(name, wanted.date_format, source.thing) for name in names]
        self.labels = Vocabulary(wanted.labels)
        self.values = {name: Vocabulary() for name in self.chosen.per_case}
        self.left_out = LeftOut()

    def code(self, block: Block) -> Coded:
        """Code some rows, and count those that are left out."""
        chosen, path, first_row, table = self.chosen, block.path, block.first_row, block.table
        kept = np.ones(table.num_rows, bool)
        if block.sequence is not None:
            case = Encoded(block.sequence, block.names)
        else:
            case = encode(table.column(chosen.case), str(chosen.case), path, blanks=False)
            if len(case.missing):
                if self.wanted.missing != "skip":
                    what = "no value, or only blanks,"
                    remedy = "fill them, or leave these rows out with missing='skip'"
                    refuse_missing(case.missing, str(chosen.case), path, first_row, what, remedy)
                self.left_out.caseless += len(case.missing)
                kept = case.codes >= 0
                rows = np.where(kept, np.arange(len(kept)), kept.argmax())  # others in place of these
                rows, kept = (rows, kept) if kept.any() else (rows[:0], kept[:0])
                columns = {name: without_codes(table.column(name)) for name in table.column_names}
                table, case = pa.table(columns).take(arrow_of(rows)), Encoded(case.codes[rows], case.texts)
        empty = np.zeros(len(kept), bool) if block.empty is None else block.empty
        event = self._labels(table, block, empty)
        of_cases = table if block.values is None else block.values
        values = {name: encode(of_cases.column(name), name, path) for name in chosen.per_case}
        if chosen.lifecycle is not None:
            lifecycle = encode(table.column(chosen.lifecycle), chosen.lifecycle, path)
            refuse_missing(lifecycle.missing, chosen.lifecycle, path, first_row)
            kept &= self._of_lifecycle(lifecycle, kept)
        elif chosen.other_lifecycle in table.column_names:
            with suppress(DataError):  # nobody asked for it
                self.left_out.look_at(encode(table.column(chosen.other_lifecycle), "", path))
        absent = (event.codes < 0) & ~empty
        self.left_out.unlabelled += int(np.count_nonzero(kept & absent))
        kept &= ~absent
        keys, kinds = list[npt.NDArray[Any]](), list[pa.DataType]()
        for one in self.order:
            found, kind = one.keys(table.column(one.name), path, first_row)
            keys, kinds = [*keys, found], [*kinds, kind]
        if chosen.other_order is not None:
            with suppress(DataError):  # nobody asked for it
                keys = [OrderColumn(chosen.other_order).keys(table.column(chosen.other_order), path)[0]]
        some, starts = slice(None) if kept.all() else kept, block.starts
        if starts is not None:
            place = np.cumsum(starts)[some]
            starts = np.append(True, place[1:] != place[:-1])[: len(place)]
        if block.sequence is None:
            values = {name: Encoded(each.codes[some], each.texts) for name, each in values.items()}
        return Coded(
            case.codes[some],
            case.texts,
            self.labels.recode(Encoded(event.codes[some], event.texts)),
            [each[some] for each in keys],
            kinds,
            {name: self.values[name].recode(each) for name, each in values.items()},
            starts,
        )

    def together(self, blocks: Sequence[Coded]) -> Coded:
        """Several blocks as one."""
        if len(blocks) == 1:
            return self.settled(blocks[0])
        if self.source.by_place:
            before = np.cumsum([0, *(len(each.names) for each in blocks)])
            cases = [each.case + n for each, n in zip(blocks, before, strict=False)]
            names: Sequence[str] | range = range(int(before[-1]))
            if any(not isinstance(each.names, range) for each in blocks):
                names = [str(name) for each in blocks for name in each.names]
        else:
            known = Vocabulary()
            cases = [known.recode(Encoded(each.case, each.names)) for each in blocks]
            names = [*known]
        settled = [self.settled(each) for each in blocks]
        keys = [np.concatenate(some) for some in zip(*(each.keys for each in settled), strict=True)]
        starts = None
        if any(each.starts is not None for each in blocks):
            ones = (np.ones(len(each.codes), bool) if each.starts is None else each.starts for each in blocks)
            starts = np.concatenate([*ones])
        return Coded(
            np.concatenate([np.empty(0, np.int64), *cases]),
            names,
            np.concatenate([np.empty(0, np.int32), *(each.codes for each in blocks)]),
            keys or [np.empty(0, np.int64) for _ in self.order],
            self.kinds,
            {
                name: np.concatenate([np.empty(0, np.int32), *(each.values[name] for each in blocks)])
                for name in self.values
            },
            starts,
        )

    def settled(self, coded: Coded) -> Coded:
        """Rows with keys of the types that all blocks have in common."""
        if not coded.kinds:
            return coded
        each = zip(self.order, coded.keys, coded.kinds, strict=True)
        return replace(coded, keys=[one.settled(key, kind) for one, key, kind in each], kinds=self.kinds)

    @property
    def kinds(self) -> list[pa.DataType]:
        """The types of the order columns, once all blocks were read."""
        return [one.kind or pa.timestamp("ms") for one in self.order]

    def _of_lifecycle(self, lifecycle: Encoded, with_case: BoolArray) -> BoolArray:
        """Which rows have the lifecycle that is wanted, in capitals or not; others are counted."""
        asked = str(self.wanted.lifecycle).casefold()
        fits = np.array([*(text.casefold() == asked for text in lifecycle.texts), False])
        kept: BoolArray = fits[lifecycle.codes]
        self.left_out.lifecycle += int(np.count_nonzero(with_case & ~kept))
        self.left_out.lifecycles.update(lifecycle.texts[: 8 - len(self.left_out.lifecycles)])
        return kept

    def _labels(self, table: pa.Table, block: Block, empty: BoolArray) -> Encoded:
        """The labels of rows, of one column or several; -1 where a row has none and is to be left out."""
        wanted, parts = self.wanted, list[Encoded]()
        for name in self.chosen.event:
            part = encode(table.column(name), name, block.path)
            absent = (part.codes < 0) & ~empty
            if wanted.missing == "error":
                remedy = "fill them, or leave these events out with missing='skip'"
                where = block.path, block.first_row
                refuse_missing(np.flatnonzero(absent), name, *where, remedy=remedy)
            elif wanted.missing != "skip" and absent.any():
                texts = list(dict.fromkeys([*part.texts, wanted.missing]))
                part = Encoded(np.where(absent, texts.index(wanted.missing), part.codes), texts)
            parts.append(part)
        for part, name in zip(parts[:-1], self.chosen.event, strict=False):
            for text, n in zip(part.texts, part.occurring.tolist(), strict=True):
                if n and wanted.separator in text:
                    raise DataError(
                        f"column {name!r} of {block.path} holds {text[:40]!r}, with {wanted.separator!r} in "
                        "it, which joins the labels of several columns; choose another one with separator="
                    )
        return reduce(lambda first, second: joined(first, second, wanted.separator), parts)


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


def labelled(given: Sequence[object], wanted: Wanted, left_out: LeftOut) -> list[Any]:
    """Labels in a list: those that are missing are left out and counted, or have another label, as asked."""
    if wanted.missing != "skip":
        return [wanted.missing if is_missing(label) else label for label in given]
    kept = [label for label in given if not is_missing(label)]
    left_out.unlabelled += len(given) - len(kept)
    return kept


def changes(name: str, case: object, source: str, first: str | None, second: str | None) -> DataError:
    """The error for a column that changes during a case."""
    values = [repr(value[:40]) if value is not None else "no value" for value in (first, second)]
    return DataError(
        f"column {name!r} of {source} changes during case {str(case)[:40]!r}: {values[0]} in one row and "
        f"{values[1]} in another; it must have one value per case: correct it, or leave it out"
    )
