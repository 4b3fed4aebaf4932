"""Draw sequences from a next-event distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from summarkov.errors import SettingError, TooLargeError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import END, UNKNOWN, translation
from summarkov.settings import check_whole
from summarkov.typing import CodeArray, FloatArray, IntArray

#: All sequences are drawn side by side, in memory.
_MOST_EVENTS = 1 << 30


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
    check_whole("n_sequences", n_sequences, 0, _MOST_EVENTS)
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
    if recent is not None:
        lengths = np.diff(offsets)
        left = np.repeat(offsets[1:], lengths) - np.arange(len(codes))  # events from this one on
        codes, offsets = codes[left <= recent], np.append(0, np.cumsum(np.minimum(lengths, recent)))
    new = offsets + np.arange(len(offsets))
    return np.insert(codes, offsets[1:], np.int32(UNKNOWN)), new, new[1:] - 1


def flat(histories: CodeArray, recent: int | None) -> tuple[CodeArray, IntArray]:
    """Histories of equal length, ``codes[k, t]``, flat: the last ``recent`` events of each."""
    histories = histories if recent is None else histories[:, max(0, histories.shape[1] - recent) :]
    n, width = histories.shape
    return histories.reshape(-1), np.arange(n + 1, dtype=np.int64) * width
