"""Predictions for the events of a Spark dataframe, made on its cluster."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events.rows import cuts
from summarkov.events.vocabulary import Unknown, check_unknown
from summarkov.models.parameters import Predictor
from summarkov.models.prediction import Residual, column_names, most_rows, predict_next, predict_rows
from summarkov.spark.source import Frame, Reader, explained, map_partitions, types

#: What a row is about.
Rows = Literal["events", "next"]


def predict_spark(
    model: Predictor,
    dataframe: Any,
    *,
    case: str | None = None,
    event: str | None = None,
    order_by: str | Sequence[str] | Literal[False] | None = None,
    rows: Rows = "events",
    unknown: Unknown = "error",
) -> Any:
    """Predict the events of a Spark dataframe on its cluster.

    Parameters
    ----------
    model
        A fitted model or graph, or a joint model.
    dataframe, case, event, order_by
        As for :func:`scan_spark`. Times are read if the model looks back in time.
    rows : {"events", "next"}
        What a row of the result is about. "events": one row per event, predicted from those before it.
        "next": one row per sequence, what comes after its last event.
    unknown
        As for ``predict_proba``.

    Returns
    -------
    pyspark.sql.DataFrame
        ``sequence``: the case; ``position``: the place in it, from 1 on, that the row is about; and
        ``p_...`` for every label: the numbers of ``predict_proba``. Names have only letters a to z, digits
        and "_", as every table format takes them; the label itself is in the metadata of the column
        ("label"). ``p_other`` is for all labels outside the target together. Rows of events also have
        ``event``, and where the model has one distribution of what comes next its ``log_likelihood``,
        null for a label that the model does not know.

        It is worked out when it is used, such as by ``.write.parquet(path)``.
    """
    if not isinstance(model, Predictor):
        raise SettingError(
            f"this takes a fitted model or graph, not {type(model).__name__}; only these predict events"
        )
    if rows not in get_args(Rows):
        raise SettingError(f"rows must be one of {', '.join(map(repr, get_args(Rows)))}, not {rows!r}")
    check_unknown(unknown)
    if model.layout_.together or model.layout_.attributes:
        raise SettingError(
            "rows of a dataframe are predicted from events one after the other, and this model was learned "
            "from events that happened together, or with attributes; predict from events that were read "
            "with read_events instead"
        )
    times = model.layout_.time is not None
    reading = {"case": case, "event": event, "order_by": order_by, "times": times, "ties": "in row order"}
    frame = Frame.of(dataframe, {**reading, "ends": "complete"})
    with explained():
        _, reader, _ = frame.settle(has_labels=unknown == "error")
        for label in sorted({*reader.nothing.labels} - {*model.labels_}):
            raise UnknownLabelError(label, model.labels_)
        by_case = frame.by_case(frame.n_partitions())
    schema = types.StructType().add("sequence", "string").add("position", "long")
    if rows == "events":
        schema.add("event", "string")
        if model.fitted.is_complete:
            schema.add("log_likelihood", "double")
    for name, outcome in zip(table_names(model.outcomes_), model.outcomes_, strict=False):
        schema.add(name, "double", metadata=None if isinstance(outcome, Residual) else {"label": outcome})
    return map_partitions(by_case, partial(_predicted, model, reader, schema.names), schema)


def table_names(outcomes: Sequence[str | Residual]) -> list[str]:
    """Names of columns of probabilities that every table format takes.

    They have the letters a to z without accents, digits and "_"; no two differ only by upper and lower case.

    >>> table_names(["Add to cart", "add-to-cart", "Café", "\N{SNOWMAN}", Residual.OTHER])
    ['p_Add_to_cart', 'p_add_to_cart_2', 'p_Cafe', 'p_label_4', 'p_other']
    """
    names: list[str] = []
    taken = {"p_other"}
    for number, outcome in enumerate(outcomes[: len(column_names(outcomes))], start=1):
        if isinstance(outcome, Residual):
            return [*names, "p_other"]
        plain = unicodedata.normalize("NFKD", outcome).encode("ascii", "ignore").decode()
        name = stem = "p_" + (re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_")[:48] or f"label_{number}")
        again = 1
        while name.casefold() in taken:
            again += 1
            name = f"{stem}_{again}"
        taken.add(name.casefold())
        names.append(name)
    return names


def _predicted(
    model: Predictor, reader: Reader, names: Sequence[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The predictions for a partition, some sequences at a time, on a worker."""
    events = reader(batches)
    for first, last in () if events is None else cuts(events.offsets, most_rows(model.fitted)):
        assert events is not None
        predict = predict_rows if "event" in names else predict_next
        found = predict(model.fitted, events[first:last], "ignore")
        table = found.to_frame("pyarrow")
        if "log_likelihood" in names:
            at = {outcome: x for x, outcome in enumerate(found.outcomes)}
            other = at.get(Residual.OTHER, -1)
            known = {x: at.get(x, other) for x in model.labels_}
            place = np.array([known.get(x, -1) for x in found.events or ()], np.int64)
            with np.errstate(divide="ignore"):
                logs = np.log(found.probabilities[np.arange(len(place)), place])
            column = pa.array(np.where(place < 0, np.nan, logs), from_pandas=True)
            table = table.add_column(3, "log_likelihood", column)
        yield from table.rename_columns(list(names)).combine_chunks().to_batches()
