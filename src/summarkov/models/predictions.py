"""Predictions as rows, some at a time, of events in memory or on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from summarkov.arrow import pa
from summarkov.engines import EventSource, MemorySource, make_source
from summarkov.engines.work import Shard
from summarkov.errors import UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import UNKNOWN, Unknown, check_unknown
from summarkov.kernels import Index
from summarkov.kernels.index import Ticks
from summarkov.models.predictor import Predictor, column_names
from summarkov.typing import CodeArray, IntArray


def prediction_rows(
    model: Predictor, events: EventSequences | EventSource, unknown: Unknown = "error"
) -> Iterator[dict[str, Any]]:
    """Predict every event, in memory or on disk: some rows at a time, see :func:`predict_shard`."""
    source = make_source(events).without_ends()
    assert isinstance(source, MemorySource)
    for shard in source.shards(most_rows(model)):
        yield from predict_shard(model, shard, unknown, source.ids)


def predict_shard(
    model: Predictor, shard: Shard, unknown: Unknown, ids: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Predict every event of some sequences: columns of rows.

    A row has the sequence, the position in it (from 1 on), the event, and what ``predict_proba`` says of it.
    A graph of some labels only is not normalised: each of its models stands for itself. ``ids`` are the names
    of all sequences.
    """
    names, index = column_names(model.outcomes_), in_codes_of(model, shard, unknown).index
    p, rows, position = model._at(index), index.begins, positions_at(index)
    event: Any = pa.array(shard.labels, pa.string()).take(shard.codes)
    if index.places is not None:
        event = _together(shard, index.ticks)
    of = pa.array(shard.of_rows(np.arange(shard.n_sequences))[rows] + shard.first)
    told = {"sequence": pa.array(ids, pa.string()).take(of), "position": position[rows], "event": event}
    yield told | {name: np.ascontiguousarray(p[rows, i]) for i, name in enumerate(names)}


def _together(shard: Shard, ticks: Ticks) -> list[str]:
    """What happened at each position: labels, with " + " between those of one tick."""
    found: list[list[str]] = [[] for _ in ticks.rows]
    for code, at, held in zip(shard.codes.tolist(), ticks.of.tolist(), ticks.attribute.tolist(), strict=True):
        if code >= 0 and not held:
            found[at].append(shard.labels[code])
    return [" + ".join(each) for each in found]


def positions_at(index: Index) -> IntArray:
    """The place of rows in their sequences, from 1 on; several may stand at one."""
    before = np.arange(len(index.codes) + 1) if index.places is None else index.ticks.before
    return np.asarray(before[1:] - np.repeat(before[index.offsets[:-1]], np.diff(index.offsets)))


def most_rows(model: Predictor) -> int:
    """How many rows to predict at once."""
    return max(1, _PREDICTED_BYTES // (64 * (2 * len(model.outcomes_) + 4)))


def in_codes_of(model: Predictor, shard: Shard, unknown: Unknown = "error") -> Shard:
    """A shard in the codes of the model."""
    translate, held = translated(model, shard.labels, unknown), set(model.layout_.attributes)
    attributes = np.array([*(label in held for label in model.labels_), False])
    rows = replace(
        shard.rows, codes=translate[shard.codes], labels=tuple(model.labels_), attributes=attributes
    )
    return replace(shard, rows=rows)


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


#: Bytes of what is predicted at once.
_PREDICTED_BYTES = 1 << 28
