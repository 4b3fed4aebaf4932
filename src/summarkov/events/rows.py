"""Events as rows: one row per event in a table, those that kernels count, and blocks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from summarkov.arrow import pa
from summarkov.events.attributes import attribute_values
from summarkov.events.moments import Moments, join_moments, time_column
from summarkov.events.sequences import EventSequences
from summarkov.events.vocabulary import UNKNOWN, Unknown, check_unknown, refuse_unknown_labels, translation
from summarkov.frames import Column
from summarkov.kernels import Index, Places
from summarkov.typing import BoolArray, CodeArray, HashArray, IntArray

#: The columns of a table of events, beside those of attributes. Of tick and position there is one.
NAMES = ("sequence", "tick", "position", "time", "event", "weight")
#: Numbers to hold at a time, such as a probability of every label for every event.
_CELLS = 1 << 22


def event_table(events: EventSequences) -> dict[str, Column]:
    """Sequence, position (or tick) and label of every event; times, attributes and weights, if there are any.

    An empty tick is a row without a label.

    >>> from summarkov import EventSequences
    >>> found = event_table(EventSequences.from_lists([["a", ["b", "c"]]]))
    >>> {name: list(map(str, column.values)) for name, column in found.items()}
    {'sequence': ['0', '0', '0'], 'tick': ['1', '2', '2'], 'event': ['a', 'b', 'c']}
    """
    sequence = np.repeat(np.arange(len(events)), events.lengths)
    moments = events.moments
    is_ticks = moments is not None and moments.has_ticks
    columns = {
        "sequence": Column(str, np.array(events.ids, object)[sequence]),
        "tick" if is_ticks else "position": Column(int, events.positions),
    }
    if moments is not None and moments.times is not None:
        columns["time"] = time_column(moments)
    labels = [*events.labels, None if is_ticks else "?"]
    columns["event"] = Column(str, [labels[code] for code in events.codes.tolist()])
    for name, values in attribute_values(events.attributes, NAMES).items():
        columns[name] = Column(str, np.array(values, object)[sequence])
    if events.weights is not None:
        columns["weight"] = Column(float, events.weights[sequence])
    return columns


@dataclass(frozen=True)
class Rows:
    """One row per event, and before those of each sequence one per attribute that it has.

    ``labels`` are those of events and the names of attributes, sorted; ``attributes`` tells which are which
    (the last entry is for events of no known label).
    """

    codes: CodeArray
    offsets: IntArray
    labels: tuple[str, ...]
    attributes: BoolArray
    moments: Moments | None

    @classmethod
    def of(cls, events: EventSequences) -> Rows:
        """The rows of some events."""
        given = events.attributes
        if given is None or not given.names:
            nothing = np.zeros(len(events.labels) + 1, bool)
            return cls(events.codes, events.offsets, events.labels, nothing, events.moments)
        labels = tuple(sorted((*events.labels, *given.names)))
        attributes = np.append(translation(labels, given.names)[:-1] >= 0, False)
        sequence, name = np.nonzero(given.present)
        at = events.offsets[sequence]
        codes = np.insert(
            translation(events.labels, labels)[events.codes], at, translation(given.names, labels)[:-1][name]
        )
        more = np.bincount(sequence, minlength=len(events))
        offsets = events.offsets + np.append(0, np.cumsum(more))
        moments = events.moments or Moments(np.ones(events.n_events, bool))
        # The first event begins a tick in any case, and attributes none.
        return cls(codes.astype(np.int32), offsets, labels, attributes, moments.with_attributes(at))

    def of_events(self, values: IntArray) -> IntArray:
        """Numbers, one per event, as numbers of rows: attributes have that of the first event after them."""
        event = ~self.attributes[self.codes]
        if event.all():
            return values
        at: IntArray = np.cumsum(event) - event
        return np.asarray(np.append(values, 0)[np.minimum(at, len(values))])

    def with_next(self) -> Rows:
        """With one more position at the end of each sequence, of no label: where the next event will stand.

        Its time is that of the last event: what is asked about is the present.
        """
        assert self.moments is not None
        n = len(self.offsets) - 1
        codes = np.insert(self.codes, self.offsets[1:], np.int32(UNKNOWN))
        moments = self.moments.with_ends(self.offsets, np.ones(n, bool))
        return replace(self, codes=codes, offsets=self.offsets + np.arange(n + 1), moments=moments)

    def index(self) -> Index:
        """All of them as the kernels take them."""
        return Index(
            self.codes, self.offsets, len(self.labels), places=places_of(self.moments, self.attributes)
        )


def recoded(events: EventSequences, labels: Sequence[str], unknown: Unknown) -> EventSequences:
    """The same events in another vocabulary, of labels and of names of attributes."""
    given = events.attributes
    if given is None:
        return events.recode(labels, unknown=unknown)
    check_unknown(unknown)
    if unknown == "error":
        refuse_unknown_labels(given.names, given.present.sum(axis=0), labels)
    known = np.flatnonzero(translation(given.names, labels)[:-1] >= 0).tolist()
    names = set(given.names)
    more = events.recode([label for label in labels if label not in names], unknown=unknown)
    return more if len(known) == len(names) else more.with_attributes(given.only(known))


def places_of(
    moments: Moments | None, attributes: BoolArray, past_times: IntArray | None = None
) -> Places | None:
    """Where rows stand, as the kernels take it; None where every row is a position and has no time."""
    if moments is None:
        return None
    return Places(moments.starts, attributes, moments.times, past_times, moments.unit.size)


@dataclass(frozen=True)
class Block:
    """Some events in a row.

    ``offsets`` cut them into sequences; the first may be the continuation of one that began in an earlier
    block, the last may go on in the next. ``begin`` is where the last begins, 0 if it began earlier.
    ``names``, ``weights`` and ``keys``, the numbers that stand for names, have one value per sequence,
    continuations included, if there are any. ``moments`` tells which rows stand together and when; a block
    never cuts a tick. Rows may also be attributes of their sequence, which stand before its events: codes
    tell which.
    """

    codes: CodeArray
    offsets: IntArray
    begin: int
    names: pa.Array | None = None
    weights: IntArray | None = None
    keys: HashArray | None = None
    moments: Moments | None = None

    @classmethod
    def of(cls, codes: CodeArray, ends: IntArray) -> Block:
        """A block from the places in it where sequences end."""
        begin = int(ends[-1]) if len(ends) else 0
        last = [len(codes)] if begin < len(codes) else []
        return cls(codes, np.concatenate([[0], ends, last]).astype(np.int64), begin)

    @property
    def goes_on(self) -> bool:
        """Whether the last sequence goes on in the next block."""
        return self.begin < len(self.codes)

    def with_events(
        self,
        codes: CodeArray,
        ends: IntArray,
        kept: BoolArray | None = None,
        moments: Moments | None = None,
    ) -> Block:
        """Other events of the same sequences, or of all but the last; or of those that are ``kept``."""
        block = Block.of(codes, ends)
        n = len(block.offsets) - 1
        names = self.names if self.names is None or kept is None else self.names.filter(kept)
        weights = self.weights if self.weights is None or kept is None else self.weights[kept]
        keys = self.keys if self.keys is None or kept is None else self.keys[kept]
        return Block(
            block.codes,
            block.offsets,
            block.begin,
            None if names is None else names[:n],
            None if weights is None else weights[:n],
            None if keys is None else keys[:n],
            moments,
        )


def with_keys(
    blocks: Iterable[Block], keys: HashArray | None, weights: IntArray | None = None
) -> Iterator[Block]:
    """All blocks of some sequences with the keys of these, and other weights; as they are without any."""
    done = 0  # sequences that ended in the blocks before
    for block in blocks:
        n = len(block.offsets) - 1
        mine = slice(done, done + n)
        yield replace(
            block,
            keys=block.keys if keys is None else np.asarray(keys[mine]),
            weights=block.weights if weights is None else weights[mine],
        )
        done += n - block.goes_on


def uncut(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks of whole sequences: one that goes on is held until it ends."""
    held: Block | None = None
    for each in blocks:
        block = each if held is None else _joined(held, each)
        if not block.goes_on:
            held = None
            yield block
            continue
        ended = np.arange(len(block.offsets) - 1) < len(block.offsets) - 2
        moments = block.moments
        held = block.with_events(
            block.codes[block.begin :],
            np.empty(0, np.int64),
            ~ended,
            None if moments is None else moments[block.begin :],
        )
        if ended.any():
            before = None if moments is None else moments[: block.begin]
            yield block.with_events(block.codes[: block.begin], block.offsets[1:-1], ended, before)


def _joined(held: Block, block: Block) -> Block:
    """A sequence that went on, and the block that goes on with it."""
    n = len(held.codes)
    moments = join_moments([(n, held.moments), (len(block.codes), block.moments)])
    ends = block.offsets[1 : len(block.offsets) - block.goes_on] + n
    return block.with_events(np.concatenate([held.codes, block.codes]), ends, moments=moments)


def cut_events(events: EventSequences | Rows, most: int, weights: IntArray | None = None) -> Iterator[Block]:
    """Cut events anywhere into blocks of about equal size, at most ``most`` events each; at least one block.

    Ticks are not cut, nor attributes from what they belong to: blocks may be larger by those. ``weights`` has
    one weight per sequence.

    >>> events = EventSequences.from_lists([["A", "A", "A"], [], ["A", "B"]])
    >>> [block.offsets.tolist() for block in cut_events(events, 4)]
    [[0, 2], [0, 1, 1, 3]]
    """
    n, ends, moments = len(events.codes), events.offsets[1:], events.moments
    ends_at = np.linspace(0, n, max(1, -(-n // most)) + 1).astype(np.int64)
    if moments is not None and len(ends_at) > 2:  # to the next tick, but not from attributes to the first
        begins = np.flatnonzero(moments.starts)
        at = np.searchsorted(begins, events.offsets[:-1])
        may = np.append(moments.starts, True)
        may[begins[at[at < len(begins)]]] = False
        may[events.offsets] = True
        begins = np.flatnonzero(may)
        ends_at[1:-1] = begins[np.searchsorted(begins, ends_at[1:-1])]
    cuts = np.unique(ends_at).tolist()
    first = 0  # the sequence that has not ended yet
    for start, stop in pairwise(cuts if n else [0, 0]):
        last = int(np.searchsorted(ends, stop, side="right"))
        block = Block.of(events.codes[start:stop], ends[first:last] - start)
        if weights is not None or moments is not None:
            block = replace(
                block,
                weights=None if weights is None else weights[first : last + block.goes_on],
                moments=None if moments is None else moments[start:stop],
            )
        yield block
        first = last


def cut_between_sequences(
    events: EventSequences, columns: int, cells: int = _CELLS
) -> Iterator[EventSequences]:
    """Cut between sequences, so that ``columns`` numbers per event stay within bounds; at least one part.

    >>> from summarkov import read_events
    >>> [part.n_events for part in cut_between_sequences(read_events([["A"] * 3] * 4), columns=2, cells=12)]
    [6, 6]
    """
    most = max(1, cells // max(1, columns))
    offsets = events.offsets
    start = 0
    if not len(events):
        yield events
    while start < len(events):
        stop = int(offsets.searchsorted(offsets[start] + most, side="right")) - 1
        stop = max(stop, start + 1)
        yield events[start:stop]
        start = stop
