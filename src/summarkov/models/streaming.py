"""Probabilities for events that need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import joint_memory
from summarkov.engines.pieces import carried
from summarkov.engines.stream import StreamSource
from summarkov.errors import UnknownLabelError
from summarkov.kernels import Index
from summarkov.models.bag import Bag
from summarkov.models.graph import InfluenceGraph
from summarkov.models.model import SummaryModel

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predicted:
    """Some events in a row: sequence, position in it (from 1 on), code in the source, and probabilities."""

    sequence: Any  # an Arrow array of names
    position: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    probabilities: FloatArray


def stream_probabilities(
    model: SummaryModel | InfluenceGraph | Bag, source: StreamSource, *, unknown: str = "error"
) -> Iterator[Predicted]:
    """Predict every event of a source that has names, some at a time; the numbers of ``predict_proba``.

    A graph of some labels only is not normalised: each of its models stands for itself.
    """
    index = {label: code for code, label in enumerate(model.labels_)}
    for label in source.labels:
        if unknown == "error" and label not in index:
            raise UnknownLabelError(label, model.labels_)
    translate = np.array([index.get(label, -1) for label in source.labels], np.int32)
    each = [model] if isinstance(model, SummaryModel) else list(_members(model))
    memory = joint_memory(one.fitted.summary for one in each)
    columns = sum(len(one.outcomes_) for one in each)
    before = 0  # events of the sequence that goes on from the block before
    for block, here in carried(
        source.blocks(64 * (columns + 4)), len(model.labels_), memory, translate=translate
    ):
        assert block.names is not None
        lengths = np.diff(block.offsets)
        position = np.arange(1, len(block.codes) + 1) - np.repeat(block.offsets[:-1], lengths)
        position[: lengths[0] if len(lengths) else 0] += before
        before = (0 if block.begin else before) + len(block.codes) - block.begin
        of = np.repeat(np.arange(len(lengths)), lengths)
        yield Predicted(block.names.take(of), position, block.codes, _probabilities(model, here))


def _members(model: InfluenceGraph | Bag) -> tuple[SummaryModel, ...]:
    return tuple(model.models_.values()) if isinstance(model, InfluenceGraph) else model.models_


def _probabilities(model: Any, index: Index) -> FloatArray:
    if isinstance(model, SummaryModel):
        return model.fitted.theta[model.fitted.predict(index)]
    each = [_probabilities(one, index) for one in _members(model)]
    if isinstance(model, Bag):
        return np.asarray(sum(each[1:], each[0]) / len(each))
    p = np.column_stack([one[:, 0] for one in each])
    return p / p.sum(axis=1, keepdims=True) if len(each) == len(model.labels_) else p
