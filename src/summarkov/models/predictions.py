"""Probabilities of what comes next: with the places that they are for, in memory and block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.engines import EventSource, make_source
from summarkov.engines.work import Part, carry_past
from summarkov.errors import UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.moments import Moments
from summarkov.events.rows import Block, Rows
from summarkov.events.vocabulary import UNKNOWN, Unknown, check_unknown
from summarkov.frames import MOST, Column, Sheet, Tabular
from summarkov.kernels import Index
from summarkov.typing import CodeArray, FloatArray, IntArray
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted
    from summarkov.models.predictor import Predictor


class Residual:
    """The outcome that stands for every label outside the target.

    A reserved object, so that no label, not even "other", can be taken for it.
    """

    _only: Residual | None = None

    def __new__(cls) -> Residual:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "OTHER"

    def __reduce__(self) -> tuple[type[Residual], tuple[()]]:
        return (Residual, ())


OTHER = Residual()
#: A printed row names at most this many outcomes.
_LIKELIEST = 3


def column_names(outcomes: Sequence[str | Residual]) -> list[str]:
    """The names of columns of probabilities; no label can be taken for that of all the others.

    Of one label and all the others the first says it all.

    >>> column_names(["A", "B"]), column_names(["A", Residual()]), column_names(["A", "B", Residual()])
    (['p(A)', 'p(B)'], ['p(A)'], ['p(A)', 'p(B)', 'p_other'])
    """
    names = ["p_other" if isinstance(x, Residual) else f"p({x})" for x in outcomes]
    return names[:1] if len(names) == 2 and names[1] == "p_other" else names


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Tabular):
    """Probabilities, one row per place in a sequence; ``numpy.asarray`` gives them, too.

    The frame has the columns ``sequence``, ``position``, ``event`` where it is known, and one ``p(label)``
    for each outcome.

    Attributes
    ----------
    outcomes : tuple
        What the columns of ``probabilities`` stand for.
    probabilities : array
        One row per place, one column per outcome.
    ids : tuple of str
        The names of the sequences.
    sequences, positions : array of int
        For each row the number of its sequence in ``ids``, and the position there, counted from 1.
    events : tuple of str or None
        What happened at each place; None where that is still to come.
    """

    outcomes: tuple[str | Residual, ...]
    probabilities: npt.NDArray[np.float64]
    ids: tuple[str, ...]
    sequences: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    events: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.probabilities)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.probabilities, dtype=dtype, copy=copy)

    @property
    def most_likely(self) -> tuple[str | Residual, ...]:
        """The most likely outcome of every row."""
        return tuple(self.outcomes[x] for x in self.probabilities.argmax(axis=1).tolist())

    def _columns(self) -> Mapping[str, Column]:
        known = {} if self.events is None else {"event": Column(str, self.events)}
        return {
            "sequence": Column(str, [self.ids[s] for s in self.sequences.tolist()]),
            "position": Column(int, self.positions),
            **known,
            **{
                name: Column(float, np.ascontiguousarray(self.probabilities[:, x]))
                for x, name in enumerate(column_names(self.outcomes))
            },
        }

    def summary(self) -> Sheet:
        """The first rows, with the outcomes that are most likely; or with the one that was asked about."""
        asked = str(self.outcomes[0]) if len(self.outcomes) == 1 else None
        head = ["sequence", "position", *([] if self.events is None else ["event"]), asked or "most likely"]
        rows = []
        for row, p in enumerate(self.probabilities[:MOST]):
            likely = np.argsort(-p, kind="stable")[:_LIKELIEST].tolist()
            rows.append(
                [
                    self.ids[self.sequences[row]],
                    str(self.positions[row]),
                    *([] if self.events is None else [self.events[row]]),
                    percent(p[0])
                    if asked
                    else ", ".join(f"{self.outcomes[x]} {percent(p[x])}" for x in likely),
                ]
            )
        title = f"Probabilities of {plural(len(self.outcomes), 'outcome')} at {plural(len(self), 'place')}"
        return Sheet(title, head, rows, len(self))


def after_all(fitted: Fitted, data: EventSequences) -> FloatArray:
    """The probability of each outcome after the last event of each sequence."""
    rows = Rows.of(data)
    if rows.moments is None:
        rows = replace(rows, moments=Moments(np.ones(data.n_events, bool)))
    rows = rows.with_next()
    return np.asarray(fitted.theta[fitted.predict(rows.index())[rows.offsets[1:] - 1]])


def prediction_rows(
    model: Predictor, events: EventSequences | EventSource, unknown: Unknown = "error"
) -> Iterator[dict[str, Any]]:
    """Predict every event, in memory or streamed: some rows at a time, see :func:`predict_part`."""
    source = make_source(events)
    return predict_part(model, source.part(), unknown, source.ids)


def predict_part(
    model: Predictor, part: Part, unknown: Unknown = "error", ids: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Predict every event of a part: columns of some rows at a time.

    A row has the sequence, the position in it (from 1 on), the event, and what ``predict_proba`` says of it.
    A graph of some labels only is not normalised: each of its models stands for itself. ``ids`` are the names
    of the sequences, where the blocks of the part do not have them.
    """
    names, labels = column_names(model.outcomes_), pa.array(part.labels, pa.string())
    all_ids = pa.array(ids, pa.string())
    before = 0  # events of the sequence that goes on from the block before
    first = 0  # the number of the first sequence of the block
    for block, index, p in block_probabilities(model, part, unknown):
        lengths, rows = np.diff(block.offsets), index.begins
        ids_here = all_ids.slice(first, len(lengths)) if block.names is None else block.names
        first += len(lengths) - block.goes_on
        ticks = np.append(0, np.cumsum(np.ones(len(p), bool) if isinstance(rows, slice) else rows))
        position = ticks[1:] - np.repeat(ticks[block.offsets[:-1]], lengths)
        position[: lengths[0] if len(lengths) else 0] += before
        before = (0 if block.begin else before) + int(ticks[-1] - ticks[block.begin])
        of = np.repeat(np.arange(len(lengths)), lengths)
        event = labels.take(block.codes)
        if block.moments is not None:
            event = _together(block.codes, ticks[1:], part)
        told = {"sequence": ids_here.take(of[rows]), "position": position[rows], "event": event}
        yield told | {name: np.ascontiguousarray(p[rows, i]) for i, name in enumerate(names)}


def _together(codes: CodeArray, tick: IntArray, part: Part) -> list[str]:
    """What happened at each position: labels, with " + " between those of one tick."""
    found: list[list[str]] = [[] for _ in range(int(tick[-1]) if len(tick) else 0)]
    for code, at in zip(codes.tolist(), tick.tolist(), strict=True):
        if code >= 0 and not (part.attributes is not None and part.attributes[code]):
            found[at - 1].append(part.labels[code])
    return [" + ".join(each) for each in found]


def block_probabilities(
    model: Predictor, part: Part, unknown: Unknown = "error"
) -> Iterator[tuple[Block, Index, FloatArray]]:
    """Every block of a part, its events in the codes of the model, and the probabilities there."""
    for block, here in blocks_to_predict(model, part, unknown):
        yield block, here, model._at(here)


def blocks_to_predict(
    model: Predictor, part: Part, unknown: Unknown = "error"
) -> Iterator[tuple[Block, Index]]:
    """Every block of a part, of a size to predict at once, and its events in the codes of the model."""
    translate = translated(model, part.labels, unknown)
    blocks = part.blocks(64 * (2 * len(model.outcomes_) + 4))
    attributes = None
    if part.attributes is not None:
        held = set(model.layout_.attributes)
        attributes = np.array([*(label in held for label in model.labels_), False])
    return carry_past(blocks, len(model.labels_), model._memory(), attributes, translate)


def translated(model: Predictor, labels: Sequence[str], unknown: Unknown) -> CodeArray:
    """The codes that a model has for labels, -1 for those that it does not know, if these may be ignored.

    One more is for events that have no label already.
    """
    check_unknown(unknown)
    index = {label: code for code, label in enumerate(model.labels_)}
    for label in labels:
        if unknown == "error" and label not in index:
            raise UnknownLabelError(label, model.labels_)
    return np.array([*(index.get(label, UNKNOWN) for label in labels), UNKNOWN], np.int32)
