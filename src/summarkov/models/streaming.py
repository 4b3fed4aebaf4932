"""Probabilities for events that need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from summarkov.engines.pieces import carried
from summarkov.engines.work import Part
from summarkov.errors import UnknownLabelError
from summarkov.events.arrays import UNKNOWN
from summarkov.events.block import Block
from summarkov.events.labels import check_unknown
from summarkov.kernels import Index
from summarkov.models.predictions import column_names
from summarkov.models.predictor import Predictor, Unknown
from summarkov.typing import CodeArray, FloatArray


def predict_part(model: Predictor, part: Part, unknown: str = "error") -> Iterator[dict[str, Any]]:
    """Predict every event of a part whose sequences have names: columns of some rows at a time.

    A row has the sequence, the position in it (from 1 on), the event, and what ``predict_proba`` says of it.
    A graph of some labels only is not normalised: each of its models stands for itself.
    """
    import pyarrow as pa

    names, labels = column_names(model.outcomes_), pa.array(part.labels, pa.string())
    before = 0  # events of the sequence that goes on from the block before
    for block, _, p in joint_probabilities(model, part, unknown):
        assert block.names is not None
        lengths = np.diff(block.offsets)
        position = np.arange(1, len(block.codes) + 1) - np.repeat(block.offsets[:-1], lengths)
        position[: lengths[0] if len(lengths) else 0] += before
        before = (0 if block.begin else before) + len(block.codes) - block.begin
        of = np.repeat(np.arange(len(lengths)), lengths)
        told = {"sequence": block.names.take(of), "position": position, "event": labels.take(block.codes)}
        yield told | {name: np.ascontiguousarray(p[:, i]) for i, name in enumerate(names)}


@dataclass(frozen=True)
class PredictPart:
    """Predicts a part of a Spark dataframe, on a worker."""

    model: Predictor
    unknown: str

    def __call__(self, part: Part) -> Iterator[dict[str, Any]]:
        """Columns of some rows at a time."""
        return predict_part(self.model, part, self.unknown)


def predict_frame(
    model: Predictor,
    dataframe: Any,
    *,
    case: str | None = None,
    event: str | None = None,
    order: str | Literal[False] | None = None,
    unknown: Unknown = "error",
) -> Any:
    """Predict every event of a Spark dataframe on its cluster.

    Parameters
    ----------
    model
        A fitted model, graph or bag.
    dataframe, case, event, order
        As for :meth:`EventSource.spark`.
    unknown
        As for ``predict_proba``.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per event: ``sequence``, ``position`` (from 1 on), ``event``, and a column ``p(label)`` for
        every label that the model predicts, the numbers of ``predict_proba``. It is worked out when it is
        used, such as by ``.write.parquet(path)``.
    """
    from summarkov.engines.spark import map_sorted

    columns = {"case": case, "event": event, "order": order}
    names = dict.fromkeys(column_names(model.outcomes_), "double")
    schema = {"sequence": "string", "position": "bigint", "event": "string"} | names

    def check(labels: Sequence[str]) -> None:
        translated(model, labels, unknown)

    return map_sorted(dataframe, columns, PredictPart(model, unknown), schema, check)


def joint_probabilities(
    model: Predictor, part: Part, unknown: str = "error"
) -> Iterator[tuple[Block, Index, FloatArray]]:
    """Every block of a part, its events in the codes of the model, and the probabilities there."""
    translate = translated(model, part.labels, unknown)
    blocks = part.blocks(64 * (2 * len(model.outcomes_) + 4))
    for block, here in carried(blocks, len(model.labels_), model._memory(), translate=translate):
        yield block, here, model._at(here)


def translated(model: Predictor, labels: Sequence[str], unknown: str) -> CodeArray:
    """The codes that a model has for labels, -1 for those that it does not know, if these may be ignored.

    One more is for events that have no label already.
    """
    check_unknown(unknown)
    index = {label: code for code, label in enumerate(model.labels_)}
    for label in labels:
        if unknown == "error" and label not in index:
            raise UnknownLabelError(label, model.labels_)
    return np.array([*(index.get(label, UNKNOWN) for label in labels), UNKNOWN], np.int32)
