"""Predictions as rows, some at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.engines import EventSource, make_source
from summarkov.engines.work import Part, carry_past
from summarkov.errors import UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.rows import Block
from summarkov.events.vocabulary import UNKNOWN, Unknown, check_unknown
from summarkov.kernels import Index
from summarkov.models.predictor import Predictor, column_names
from summarkov.typing import CodeArray, IntArray


def prediction_rows(
    model: Predictor, events: EventSequences | EventSource, unknown: Unknown = "error"
) -> Iterator[dict[str, Any]]:
    """Predict every event, in memory or streamed: some rows at a time, see :func:`predict_part`."""
    source = make_source(events).without_ends()
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
    first = 0  # the number of the first sequence of the block
    for block, index, position in _with_positions(blocks_to_predict(model, part, unknown)):
        p, lengths, rows = model._at(index), np.diff(block.offsets), index.begins
        ids_here = all_ids.slice(first, len(lengths)) if block.names is None else block.names
        first += len(lengths) - block.goes_on
        of = np.repeat(np.arange(len(lengths)), lengths)
        event = labels.take(block.codes)
        if block.moments is not None:
            event = _together(block.codes, _ticks(block, index), part)
        told = {"sequence": ids_here.take(of[rows]), "position": position[rows], "event": event}
        yield told | {name: np.ascontiguousarray(p[rows, i]) for i, name in enumerate(names)}


def _together(codes: CodeArray, tick: IntArray, part: Part) -> list[str]:
    """What happened at each position: labels, with " + " between those of one tick."""
    found: list[list[str]] = [[] for _ in range(int(tick[-1]) if len(tick) else 0)]
    for code, at in zip(codes.tolist(), tick.tolist(), strict=True):
        if code >= 0 and not (part.attributes is not None and part.attributes[code]):
            found[at - 1].append(part.labels[code])
    return [" + ".join(each) for each in found]


def _with_positions(blocks: Iterable[tuple[Block, Index]]) -> Iterator[tuple[Block, Index, IntArray]]:
    """Each block with the place of its rows in their sequences, from 1 on; several may stand at one."""
    before = 0  # positions of the sequence that goes on from the block before
    for block, index in blocks:
        ticks, lengths = np.append(0, _ticks(block, index)), np.diff(block.offsets)
        position = ticks[1:] - np.repeat(ticks[block.offsets[:-1]], lengths)
        position[: lengths[:1].sum()] += before
        before = (0 if block.begin else before) + int(ticks[-1] - ticks[block.begin])
        yield block, index, position


def _ticks(block: Block, index: Index) -> IntArray:
    """How many positions of a block have begun at each of its rows."""
    rows = index.begins
    return np.cumsum(np.ones(len(block.codes), bool) if isinstance(rows, slice) else rows)


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
