"""On the workers: rows that are sorted, read as codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from summarkov.arrow import pa, pc
from summarkov.engines.spark.session import FRAME, unstable
from summarkov.errors import UnknownLabelError
from summarkov.events.moments import Moments, TimeUnit
from summarkov.io.encoding import Vocabulary, encode, encode_some, refuse_caseless, refuse_missing
from summarkov.io.ordering import run_starts, sort_keys, tied
from summarkov.io.rows import changes, one_per_case, refuse_no_weight, text_of, weights_of
from summarkov.io.ticks import Sessions, Ties, times_of
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

if TYPE_CHECKING:
    from summarkov.engines.spark.sorting import Sorting


@dataclass(frozen=True)
class SortedBlock:
    """Rows one after the other, as codes, with the runs of rows of one case.

    ``continues`` says that the first run goes on with the last one of the block before.
    """

    codes: CodeArray
    starts: IntArray
    names: list[str]  # one per run
    ties: Ties
    continues: bool
    moments: Moments
    heads: CodeArray  # the codes of the attributes of each run, sorted
    weights: FloatArray  # of the runs; none if they have none


@dataclass(frozen=True)
class Sorted:
    """Reads sorted rows: columns "case", "event", "order0", ..., "value0", ... and "weight".

    ``together`` says that rows of one place happened together; ``times`` are the type and the name of the
    column of times, if these are to be kept; ``heads`` are the names of columns of attributes, and the code
    of every value of each. ``sorting`` unpacks and sorts rows that are packed. ``weight`` is
    the name of the column of weights, if there is one. Where more than ``gap`` lies between
    two rows of a case, another sequence begins.
    """

    case: str  # what the columns are called by the user
    event: str
    labels: tuple[str, ...]
    together: bool = False
    times: tuple[pa.DataType, str] | None = None
    heads: tuple[tuple[str, dict[str | None, int]], ...] = ()
    sorting: Sorting | None = None
    weight: str | None = None
    gap: Fraction | None = None

    @property
    def time_unit(self) -> TimeUnit | None:
        """What times are measured in, if they are kept."""
        if self.times is None:
            return None
        kind, name = self.times
        return times_of(np.empty(0, np.int64), kind, (name, FRAME)).unit

    def blocks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[SortedBlock, IntArray]]:
        """Blocks of rows, each with the places in it where sequences end."""
        before: SortedBlock | None = None
        for block in self._read(_tables(batches) if self.sorting is None else self.sorting(batches)):
            if before is not None:
                yield before, _ends(before, closed=not block.continues)
            before = block
        if before is not None:
            yield before, _ends(before, closed=True)

    def _read(self, tables: Iterable[pa.Table]) -> Iterator[SortedBlock]:
        vocabulary, per_case = Vocabulary(self.labels), _PerCase(self)
        sessions = None if self.gap is None else Sessions(self.gap)
        last_case: str | None = None
        last_order: list[Any] = []
        for table in _whole_ticks(tables) if self.together else tables:
            refuse_caseless(table.column("case"), self.case, FRAME)
            case = encode(table.column("case"), self.case, FRAME)
            event = encode(table.column("event"), self.event, FRAME)
            starts = run_starts(case.codes)
            names = [case.texts[code] for code in case.codes[starts].tolist()]
            heads, weights = per_case.read(table, starts, names)
            order = [table.column(name) for name in table.column_names if "order" in name]
            for each in order:
                refuse_missing(each, "order", FRAME)
            keys = [sort_keys(each, "order", FRAME) for each in order]
            if sessions is not None:
                starts, names, of = sessions.cut(keys[0], starts, names)
                heads, weights = heads[of], weights[of] if len(weights) else weights
            continues, same = names[0] == last_case, np.zeros(table.num_rows, bool)
            if order:
                same = tied(keys, starts)
                first = [each[0] for each in order]  # keys of one table may say nothing of another
                same[0] = continues and first == last_order
                last_order = [each[-1] for each in order]
            try:
                codes = vocabulary.recode(event)
            except UnknownLabelError as error:  # all labels were looked up before
                raise unstable(f"there was no label {error.label!r} when labels were looked up") from None
            last_case, ties = names[-1], _ties(same, starts, names)
            if not self.together:
                same[:] = False
            times = None
            if self.times is not None:
                kind, name = self.times
                times = times_of(keys[0], kind, (name, FRAME)).values
            offsets = np.append(starts, len(codes))
            codes, offsets, moments = Moments.made(codes, offsets, ~same, times)
            yield SortedBlock(
                codes,
                offsets[:-1],
                names,
                Ties() if self.together else ties,
                continues,
                moments or Moments(np.ones(len(codes), bool)),
                heads,
                weights,
            )


class _PerCase:
    """Reads what must not change during a case: attributes and the weight."""

    def __init__(self, rows: Sorted) -> None:
        self._rows = rows
        self._columns = [(f"value{at}", name) for at, (name, _) in enumerate(rows.heads)]
        self._columns += [] if rows.weight is None else [("weight", rows.weight)]
        self._case: str | None = None
        self._last: list[str | None] = []  # the values of the last row, which was of that case

    def read(self, table: pa.Table, starts: IntArray, names: list[str]) -> tuple[CodeArray, FloatArray]:
        """The codes of the attributes of each run, sorted, and the weights of the runs."""
        offsets, found = np.append(starts, table.num_rows), []
        for role, name in self._columns:
            column = encode_some(table.column(role), name, FRAME)
            found.append(one_per_case(column, offsets, name, names, FRAME))
        first = [text_of(column, int(column.codes[0])) for column in found]
        for (_, name), before, value in zip(self._columns, self._last, first, strict=False):
            if names[0] == self._case and before != value:
                raise changes(name, names[0], FRAME, before, value)
        self._case, self._last = names[-1], [text_of(column, int(column.codes[-1])) for column in found]
        weights = np.empty(0)
        if self._rows.weight is not None:
            refuse_no_weight(found[-1], self._rows.weight, FRAME, None)
            weights = weights_of(found[-1])
        heads = np.empty((len(starts), len(self._rows.heads)), np.int32)
        for at, (_, codes) in enumerate(self._rows.heads):
            each = [codes.get(text, -1) for text in (*found[at].texts, None)]
            heads[:, at] = np.array(each, np.int32)[found[at].codes]
        if (heads < 0).any():
            raise unstable("an attribute has a value that was not there when values were looked up")
        return np.sort(heads, axis=1), weights


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    return (pa.table(batch) for batch in batches if batch.num_rows)


def _whole_ticks(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, cut where the place in the order is another one."""
    held: pa.Table | None = None
    for some in tables:
        table = some if held is None else pa.concat_tables([held, some]).combine_chunks()
        names = [name for name in table.column_names if name == "case" or name.startswith("order")]
        other = [pc.not_equal(table.column(name), table.column(name)[-1]).combine_chunks() for name in names]
        places = [pc.indices_nonzero(each) for each in other]
        cut = max((each[-1].as_py() + 1 for each in places if len(each)), default=0)
        held = table.slice(cut)
        if cut:
            yield table.slice(0, cut)
    if held is not None:
        yield held


def _ties(same: BoolArray, starts: IntArray, names: Sequence[str]) -> Ties:
    """How many rows are tied, and the first name of a case with some."""
    runs = np.unique(np.searchsorted(starts, np.flatnonzero(same), side="right") - 1).tolist()
    return Ties(int(np.count_nonzero(same)), min((names[run] for run in runs), default=None))


def _ends(block: SortedBlock, *, closed: bool) -> IntArray:
    return np.append(block.starts[1:], len(block.codes)) if closed else block.starts[1:]
