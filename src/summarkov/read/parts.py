"""From rows to sequences: cases together and in order, without duplicates, with ticks, times and sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa, pc
from summarkov.errors import DataError
from summarkov.events import EventSequences
from summarkov.events.describe import late_cases
from summarkov.events.moments import Moments
from summarkov.read.case_attributes import attributes_of
from summarkov.read.columns import Columns
from summarkov.read.encoding import (
    Encoded,
    count,
    encode,
    is_list,
    missing_rows,
    numpy_of,
    refuse_missing,
    settle,
)
from summarkov.read.ordering import Keys, group, kept_offsets, repeated, tied
from summarkov.read.rows import (
    LeftOut,
    filled,
    labels_of,
    one_per_case,
    origin_of,
    read_per_case,
    read_rows,
    weights_of,
)
from summarkov.read.ticks import Order, Ties, Times, cut_sessions, refuse_no_order, refuse_ties
from summarkov.read.wanted import Wanted
from summarkov.typing import BoolArray, IntArray


@dataclass(frozen=True)
class Part:
    """Whole sequences, as many as fit into memory, their events in order.

    ``keys`` are what events were sorted by, of the types ``kinds``. Lists tell themselves which of their
    events begin a tick (``starts``) and when that was (``times``). ``of_rows`` are columns that must not
    change during a case, with a value per event; ``of_cases`` the same with one per sequence.
    """

    codes: npt.NDArray[np.integer]
    offsets: IntArray
    ids: Sequence[str] | None
    order: Order
    keys: Keys = ()
    kinds: Sequence[pa.DataType] = ()
    starts: BoolArray | None = None
    times: Times | None = None
    ties: Ties | None = None  # None: as the keys tell
    of_rows: Mapping[str, Encoded] = field(default_factory=dict)
    of_cases: Mapping[str, Encoded] = field(default_factory=dict)

    def only(self, keep: BoolArray) -> Part:
        """The same without some events."""
        return replace(
            self,
            codes=self.codes[keep],
            offsets=kept_offsets(self.offsets, keep),
            keys=[each[keep] for each in self.keys],
            of_rows={name: Encoded(each.codes[keep], each.texts) for name, each in self.of_rows.items()},
        )

    def finish(self, wanted: Wanted, left_out: LeftOut, source: str) -> Finished:
        """Leave out duplicates and cut into sessions if asked to; with ties, moments and values of cases."""
        part, order = self, self.order
        filled = part.offsets[:-1][np.diff(part.offsets) > 0]
        same = tied(part.keys, filled) if part.keys and len(part.codes) else None
        if same is not None and not order.together:
            again = repeated(part.codes, same)
            n = int(np.count_nonzero(again))
            left_out.duplicates += n
            if n and order.drops_duplicates:
                left_out.dropped += n
                part, same = part.only(~again), same[~again]
        offsets, ids = part.offsets, part.ids
        of_cases = {
            **part.of_cases,
            **{
                name: one_per_case(each, offsets, name, ids or (), source)
                for name, each in part.of_rows.items()
            },
        }
        late = None
        if wanted.gap is not None and part.kinds:
            limit = wanted.gap.in_keys(part.kinds[0], order.columns[0].name, source)
            offsets, ids, of = cut_sessions(part.keys[0], offsets, ids or (), limit)
            of_cases = {name: Encoded(each.codes[of], each.texts) for name, each in of_cases.items()}
        if part.kinds and pa.types.is_timestamp(part.kinds[0]):
            late = late_cases(part.keys[0], offsets)
        ties = part.ties or Ties.of(same, offsets, ids or ())
        if order.columns:
            refuse_ties(ties, wanted, order.columns[0].name, source)
        if part.starts is not None or part.times is not None:
            starts = np.ones(len(part.codes), bool) if part.starts is None else part.starts
            moments: Moments | None = Moments(starts, *(part.times or ()))
        else:
            moments = order.moments(part.keys, part.kinds, same, source)
        return Finished(part.codes, offsets, ids, moments, Ties() if order.together else ties, of_cases, late)

    def events(
        self,
        texts: Sequence[str],
        chosen: Columns,
        wanted: Wanted,
        left_out: LeftOut,
        source: str,
        backwards: int = 0,
    ) -> EventSequences:
        """All events, in memory; ``texts`` are the labels of the codes."""
        codes, labels = settle(self.codes, texts, wanted.labels)
        found = replace(self, codes=codes).finish(wanted, left_out, source)
        origin = origin_of(chosen, left_out, found.ties.case, backwards)
        if found.late is not None:
            since = np.datetime64(found.late[1], self.kinds[0].unit)
            origin = replace(origin, late=found.late[0], late_since=str(since.astype("datetime64[s]")))
        codes, offsets, moments = found.codes, found.offsets, found.moments
        if moments is not None:
            ticks = self.starts is not None or moments.has_ticks
            codes, offsets, moments = Moments.made(
                codes, offsets, moments.starts, moments.times, moments.unit, has_ticks=ticks
            )
        asked, names = wanted.columns, found.ids
        if names is None:
            names = [str(at) for at in range(len(offsets) - 1)]
        named = {name: found.of_cases[name] for name in asked.attributes}
        return EventSequences(
            codes,
            offsets,
            labels,
            found.ids,
            moments=moments,
            tied_order=found.ties.n,
            origin=origin,
            attributes=attributes_of(named, wanted, source, names),
            weights=None if asked.weight is None else weights_of(found.of_cases[asked.weight]),
        )


@dataclass(frozen=True)
class Finished:
    """Sequences as they will be, but for ticks, whose labels are not sorted yet."""

    codes: npt.NDArray[np.integer]
    offsets: IntArray
    ids: Sequence[str] | None
    moments: Moments | None
    ties: Ties
    of_cases: Mapping[str, Encoded]
    late: tuple[int, int] | None


def rows_in(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """A row is an event; rows of one case make a sequence, or several with a session gap between them."""
    if not chosen.order:
        refuse_no_order(wanted, source)
    left_out = LeftOut()
    rows = read_rows(table, chosen, wanted, source, left_out)
    left_out.refuse_all(wanted, len(rows.event.codes), source)
    order = Order(chosen.order or (), wanted)
    columns = [rows.table.column(name) for name in chosen.order or ()]
    order.look(columns, source)
    keys, kinds = order.read(columns, source)
    keys = keys if rows.kept is None else [each[rows.kept] for each in keys]
    places, offsets, cases = group(rows.case.codes, keys)

    def placed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values if places is None else values[places]

    part = Part(
        placed(rows.event.codes),
        offsets,
        [rows.case.texts[code] for code in cases.tolist()],
        order,
        [placed(each) for each in keys],
        kinds,
        of_rows={
            name: Encoded(placed(each.codes), each.texts)
            for each, name in zip(rows.per_case, chosen.per_case, strict=True)
        },
    )
    return part.events(rows.event.texts, chosen, wanted, left_out, source)


# ---------------------------------------------------------------------- rows that are whole sequences


def lists_in(table: pa.Table, chosen: Columns, wanted: Wanted, source: str) -> EventSequences:
    """A row is a sequence, which may be empty."""
    if wanted.gap is not None:
        refuse_no_order(wanted, source)
    left_out = LeftOut()
    part, texts = read_lists(table, chosen, wanted, source, left_out)
    return part.events(texts, chosen, wanted, left_out, source)


def read_lists(
    table: pa.Table, chosen: Columns, wanted: Wanted, source: str, left_out: LeftOut, first_row: int = 0
) -> tuple[Part, list[str]]:
    """Read rows, from ``first_row`` on, that are sequences; and the labels of their codes.

    >>> import pyarrow as pa
    >>> table = pa.table({"events": [[["b", "a"], []], [["b"]]]})
    >>> part, _ = read_lists(table, Columns(event=("events",)), Wanted(), "the table", LeftOut())
    >>> part.codes.tolist(), part.offsets.tolist(), part.starts.tolist()
    ([0, 1, -1, 0], [0, 3, 4], [True, False, True, True])
    """
    column = table.column(chosen.event[0])
    event, offsets, starts = _events(column, chosen.event[0], wanted, source, left_out, first_row)
    names = None
    if chosen.case is not None:
        case = encode(table.column(chosen.case), chosen.case, source, first_row)
        names = [case.texts[code] for code in case.codes.tolist()]
    values = dict(zip(chosen.per_case, read_per_case(table, chosen, source, first_row), strict=True))
    return Part(event.codes, offsets, names, Order((), wanted), starts=starts, of_cases=values), event.texts


#: Labels, where each list begins and the last ends, and whether each label begins a tick.
_Events = tuple[Encoded, IntArray, BoolArray | None]


def _events(
    column: pa.ChunkedArray, name: str, wanted: Wanted, source: str, left_out: LeftOut, first_row: int
) -> _Events:
    """The labels of a column of lists."""
    refuse_missing(column, name, source, first_row)
    events, offsets = _flat(column)
    if not is_list(events.type):
        event = _list_labels(events, offsets, name, wanted, source, first_row)
        kept = event.codes >= 0
        left_out.unlabelled += int(np.count_nonzero(~kept))
        before = np.append(0, np.cumsum(kept))
        return Encoded(event.codes[kept], event.texts), before[offsets], None
    _refuse_unlabelled(missing_rows(events), offsets, name, wanted, source, first_row)
    labels, bounds = _flat(events)
    event = _list_labels(labels, bounds[offsets], name, wanted, source, first_row)
    return _ticks(event, bounds, _absent(events), offsets, wanted, left_out)


def _ticks(
    event: Encoded, bounds: IntArray, absent: BoolArray, offsets: IntArray, wanted: Wanted, left_out: LeftOut
) -> _Events:
    """Labels in lists between ``bounds``, some of which are ``absent``; ``offsets`` cut these into sequences.

    A list that is absent, or in which every label is, is left out or gets a label, as asked.
    """
    kept = event.codes >= 0
    sizes = np.diff(bounds)
    tick = np.repeat(np.arange(len(sizes)), sizes)[kept]
    left_out.unlabelled += int(np.count_nonzero(~kept))
    alone = (sizes == 0) & ~absent  # an empty tick stays, as a row of no label
    instead, texts = -1, event.texts
    if wanted.missing == "skip":
        left_out.unlabelled += int(np.count_nonzero(absent))
    elif absent.any():
        named = filled(Encoded(np.append(event.codes, -1), texts), wanted.missing)
        instead, texts, alone = int(named.codes[-1]), named.texts, alone | absent
    n = np.bincount(tick, minlength=len(sizes))
    before, more = np.cumsum(n) - n, np.flatnonzero(alone)
    codes = np.insert(event.codes[kept], before[more], np.where(absent[more], instead, -1))
    tick = np.insert(tick, before[more], more)
    rows = np.append(0, np.cumsum(n + alone))
    return Encoded(codes, texts), rows[offsets], np.append(True, tick[1:] != tick[:-1])[: len(tick)]


def _flat(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, IntArray]:
    """What is in the lists of a column, and where each begins and the last ends; a missing one is empty."""
    offsets = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(numpy_of(pc.fill_null(pc.list_value_length(column), 0)), out=offsets[1:])
    return pc.list_flatten(column), offsets


def _absent(column: pa.ChunkedArray) -> BoolArray:
    found = np.zeros(len(column), bool)
    found[missing_rows(column)] = True
    return found


def _list_labels(
    events: pa.ChunkedArray, offsets: IntArray, name: str, wanted: Wanted, source: str, first_row: int
) -> Encoded:
    """The labels in lists; those that are missing are an error, have the code -1, or another label."""
    _refuse_unlabelled(missing_rows(events), offsets, name, wanted, source, first_row)
    return labels_of(events, name, wanted, source, first_row)


def _refuse_unlabelled(
    absent: npt.NDArray[np.integer], offsets: IntArray, name: str, wanted: Wanted, source: str, first_row: int
) -> None:
    """Refuse events without a label, unless that is allowed; ``offsets`` cut all into rows."""
    if len(absent) and wanted.missing == "error":
        row = first_row + int(np.searchsorted(offsets, absent[0], side="right"))
        raise DataError(
            f"column {name!r} of {source} has {count(len(absent), 'event')} without a label, "
            f"the first in row {row} (the first row of data is 1); fill or drop them"
        )
