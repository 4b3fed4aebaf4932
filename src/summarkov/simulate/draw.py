"""Draw sequences: from a next-event distribution, or with times, attributes and outcomes beside labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from summarkov.errors import SettingError, TooLargeError
from summarkov.events import EventSequences
from summarkov.events.attributes import Attributes, refuse_column
from summarkov.events.moments import Moments, TimeUnit
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import END, UNKNOWN, translation
from summarkov.settings import Duration, check_whole, is_number
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

#: All sequences are drawn side by side, in memory.
_MOST_EVENTS = 1 << 30
#: Times are drawn in whole seconds from this moment on: the start of 2026.
_SECONDS, _START = TimeUnit(10**9, True), 1_767_225_600


def draw_sequences(
    next_event: Callable[[CodeArray], FloatArray],
    labels: Sequence[str],
    n_sequences: int,
    length: int | Sequence[int],
    seed: int,
) -> EventSequences:
    """Draw sequences event by event, all sequences side by side.

    ``next_event`` takes the histories of some sequences, ``codes[k, t]``, and returns the probability of
    every label for each, ``p[k, m]``. ``length`` is one for all, or one per sequence: there it is cut off,
    unless ``END`` came before.
    """
    lengths = checked_lengths(n_sequences, length).copy()
    rng = np.random.default_rng(seed)
    codes = np.zeros((n_sequences, int(lengths.max(initial=0))), np.int32)
    complete = np.zeros(n_sequences, bool)
    for t in range(codes.shape[1]):
        going = np.flatnonzero(lengths > t)
        codes[going, t] = one_of_each(next_event(codes[going, :t]), rng)
        if END in labels:
            ended = going[codes[going, t] == list(labels).index(END)]
            complete[ended], lengths[ended] = True, t
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    drawn = codes[np.arange(codes.shape[1]) < lengths[:, None]]
    others = [label for label in labels if label != END]
    return EventSequences(translation(labels, others)[drawn], offsets, others, ends=complete)


def draw_ticks(
    predict: Callable[[list[list[list[str]]]], FloatArray],
    labels: Sequence[str],
    targets: Sequence[str],
    n_sequences: int,
    length: int | Sequence[int],
    seed: int,
) -> EventSequences:
    """Draw sequences of ticks: each target by itself, with its probability after what came before."""
    lengths = checked_lengths(n_sequences, length)
    rng = np.random.default_rng(seed)
    drawn: list[list[list[str]]] = [[] for _ in range(n_sequences)]
    complete = np.zeros(n_sequences, bool)
    for position in range(int(lengths.max(initial=0))):
        going = np.flatnonzero((lengths > position) & ~complete).tolist()
        if not going:
            break
        p = predict([drawn[each] for each in going])
        for each, hits in zip(going, rng.random(p.shape) < p, strict=True):
            tick = [label for label, hit in zip(targets, hits, strict=True) if hit]
            complete[each] = END in tick
            drawn[each] += [] if complete[each] else [tick]
    others = [label for label in labels if label != END]
    return EventSequences.from_lists(drawn, labels=others, ends=complete)


def one_of_each(p: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw one column for each row, with probabilities like ``p``."""
    cumulative = np.cumsum(p, axis=1)
    chance = rng.random(len(p))[:, None] * cumulative[:, -1:]
    return np.asarray((cumulative[:, :-1] <= chance).sum(axis=1))


def checked_lengths(n_sequences: int, length: int | Sequence[int]) -> IntArray:
    """The length of each sequence; what cannot be drawn is refused."""
    check_whole("n_sequences", n_sequences, 0)
    if n_sequences > _MOST_EVENTS:
        raise TooLargeError(
            f"n_sequences is too large; draw {_MOST_EVENTS:,} at most, and more in further calls"
        )
    given = np.asarray(length, dtype=None if np.size(length) else np.int64)
    lengths = np.full(n_sequences, given) if given.ndim == 0 else given
    if lengths.dtype.kind not in "iu" or lengths.shape != (n_sequences,) or (lengths < 0).any():
        raise SettingError(
            f"length must be a whole number from 0 on, or one for each of the {n_sequences} sequences, "
            f"not {length!r}"
        )
    if n_sequences * int(lengths.max(initial=0)) > _MOST_EVENTS:
        raise TooLargeError(
            f"{n_sequences:,} sequences of {int(lengths.max()):,} events are too many to draw at once; draw "
            f"{_MOST_EVENTS:,} events at most, and more in further calls with other seeds"
        )
    return lengths


def after_histories(
    codes: CodeArray, offsets: IntArray, recent: int | None
) -> tuple[CodeArray, IntArray, IntArray]:
    """Lay histories out as a shard with an empty place after each, where the next event will stand.

    Only the last ``recent`` events are kept; None: all. Returns codes, offsets and the positions of the empty
    places.

    >>> codes, offsets, ends = after_histories(np.array([3, 4, 5, 6]), np.array([0, 3, 4]), 2)
    >>> codes.tolist(), offsets.tolist(), ends.tolist()
    ([4, 5, -1, 6, -1], [0, 3, 5], [2, 4])
    """
    lengths = np.diff(offsets)
    kept = lengths if recent is None else np.minimum(lengths, recent)
    new = np.concatenate([[0], np.cumsum(kept + 1)])
    within = np.ones(new[-1], bool)
    within[new[1:] - 1] = False
    laid = np.full(new[-1], UNKNOWN, np.int32)
    first = offsets[1:] - kept  # of the events kept
    laid[within] = codes[np.repeat(first - np.cumsum(kept) + kept, kept) + np.arange(int(kept.sum()))]
    return laid, new, new[1:] - 1


def flat(histories: CodeArray) -> tuple[CodeArray, IntArray]:
    """Histories of equal length, ``codes[k, t]``, as flat codes and offsets."""
    n, width = histories.shape
    return histories.reshape(-1), np.arange(n + 1, dtype=np.int64) * width


def checked_step(step: Any) -> tuple[Duration, Duration] | None:
    """The shortest and the longest time between two positions."""
    if step is None:
        return None
    spans = [Duration.of(one, "step") for one in (step if isinstance(step, tuple | list) else (step, step))]
    if len(spans) != 2:
        raise SettingError("step must be a time, such as '1h', or the shortest and the longest one")
    if not (all(span.is_clock for span in spans) and 10**9 <= int(spans[0]) <= int(spans[1])):
        raise SettingError(f"step must be times of 1s or more, the shorter one first, not {step!r}")
    return spans[0], spans[1]


def check_attributes(attributes: Mapping[str, Mapping[str, float]]) -> None:
    """Refuse shares of values that make no sense."""
    for column, shares in attributes.items():
        refuse_column(column, "the dynamics")
        if not shares or not all(is_number(p) and 0 <= p <= 1 for p in shares.values()):
            raise SettingError(f"attribute {column!r} must have a share from 0 to 1 for each value")
        if abs(sum(shares.values()) - 1) > 1e-9:
            raise SettingError(f"the shares of attribute {column!r} sum to {sum(shares.values()):.6g}, not 1")


@dataclass
class Drawing:
    """Sequences that are being drawn, side by side: which labels stand at each position so far."""

    labels: tuple[str, ...]
    lengths: IntArray
    present: BoolArray  # [sequence, position, label]
    times: IntArray | None  # [sequence, position], in seconds
    attributes: dict[str, BoolArray]  # by the name of a value, whether each sequence has it

    @classmethod
    def begin(
        cls,
        labels: tuple[str, ...],
        lengths: IntArray,
        step: tuple[Duration, Duration] | None,
        attributes: Mapping[str, Mapping[str, float]],
        rng: np.random.Generator,
    ) -> Drawing:
        """Draw the attributes and times of all sequences."""
        n, longest = len(lengths), int(lengths.max(initial=0))
        times = None
        if step is not None:
            shortest, most = (int(span) // 10**9 for span in step)
            times = _START + np.cumsum(rng.integers(shortest, most + 1, (n, longest)), axis=1)
        held: dict[str, BoolArray] = {}
        for column, shares in attributes.items():
            chosen = rng.choice(len(shares), size=n, p=list(shares.values()))
            held |= {f"{column}={value}": chosen == at for at, value in enumerate(shares)}
        return cls(labels, lengths, np.zeros((n, longest, len(labels)), bool), times, held)

    def events(self, which: IntArray | slice = slice(None), upto: int | None = None) -> EventSequences:
        """Some of the sequences, as far as they were drawn."""
        present = self.present[which, :upto]
        lengths = np.minimum(self.lengths[which], present.shape[1])
        there = np.arange(present.shape[1]) < lengths[:, None]
        rows = np.concatenate([present, ~present.any(axis=2, keepdims=True)], axis=2) & there[:, :, None]
        sequence, position, code = np.nonzero(rows)
        codes = np.where(code == len(self.labels), UNKNOWN, code).astype(np.int32)
        place = sequence * present.shape[1] + position
        starts = np.append(True, place[1:] != place[:-1])[: len(place)]
        times = None if self.times is None else self.times[which][sequence, position]
        offsets = np.append(0, np.cumsum(np.bincount(sequence, minlength=len(lengths))))
        empty = bool((codes == UNKNOWN).any())
        plain = times is None and starts.all() and not empty
        moments = None if plain else Moments(starts, times, _SECONDS, has_empty=empty)
        held, names = None, sorted(self.attributes)
        if names:
            values = np.column_stack([self.attributes[name][which] for name in names])
            held = Attributes(names, [name.partition("=")[0] for name in names], values)
        return EventSequences(codes, offsets, self.labels, moments=moments, attributes=held, ends="cut off")

    def next_places(self, which: IntArray, position: int) -> tuple[Rows, IntArray]:
        """The rows of some sequences up to a position, with an empty one there; and the rows of these."""
        rows = Rows.of(self.events(which, position))
        moments = rows.moments or Moments(np.ones(len(rows.codes), bool))
        rows = replace(rows, moments=moments).with_next()
        ends, moments = rows.offsets[1:] - 1, rows.moments or moments
        if self.times is not None and position < self.times.shape[1]:
            times = np.zeros(len(rows.codes), np.int64) if moments.times is None else moments.times.copy()
            times[ends] = self.times[which, position]
            rows = replace(rows, moments=replace(moments, times=times, unit=_SECONDS))
        return rows, ends
