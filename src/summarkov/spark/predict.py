"""Predictions for the rows of a Spark dataframe, made on its cluster."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.rows import cut_between_sequences
from summarkov.events.vocabulary import Unknown, check_unknown
from summarkov.models.parameters import Predictor
from summarkov.models.prediction import Residual, column_names, predict_each
from summarkov.spark.source import FRAME, Frame, Reader, explained, map_partitions, read_rows, types
from summarkov.typing import FloatArray, IntArray

#: What a row is about.
Rows = Literal["events", "next"]
#: Letters of a label in the name of a column.
_NAME = 48


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
        All columns of the dataframe as they are (with ``rows="next"`` those of the last event), and after
        them:

        - ``position``: the place in the sequence, from 1 on, that the row is about;
        - ``log_likelihood``: of what happened there, null for a label that the model does not know. It is
          there for events, where the model has one distribution of what comes next;
        - ``p_...`` for every label: the numbers of ``predict_proba``. Names have only letters a to z, digits
          and "_", as every table format takes them; the label itself is in the metadata of the column
          ("label"), and in its comment. ``p_other`` is for all labels outside the target together.

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
    keep = dataframe.columns if hasattr(dataframe, "columns") else ()
    frame = Frame.of(dataframe, {**reading, "ends": "complete"}, keep)
    fields = dataframe.schema.fields
    columns = new_columns(model, rows)
    taken = {field.name.casefold(): field.name for field in fields}  # Spark takes "A" and "a" for the same
    for name in columns:
        if name.casefold() in taken:
            raise SettingError(
                f"{FRAME} has a column {taken[name.casefold()]!r}, and predictions are to have one of that "
                "name; rename it with withColumnRenamed, or leave it out with drop"
            )
    with explained():
        _, reader, n_events, _ = frame.settle()
        for label in sorted({*reader.nothing.labels} - {*model.labels_}) if unknown == "error" else ():
            raise UnknownLabelError(label, model.labels_)
        by_case = frame.by_case(frame.n_partitions(n_events))
    task = PredictRows(model, rows, tuple(columns), tuple(f.name for f in fields), reader)
    schema = types.StructType(list(fields))
    for name, (kind, about) in columns.items():
        schema.add(name, kind, metadata=about)
    return map_partitions(by_case, task, schema)


def new_columns(model: Predictor, rows: Rows) -> dict[str, tuple[str, dict[str, str]]]:
    """The columns that are made: for each its type in Spark, and what to know about it."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    found["position"] = ("long", {"comment": "place in the sequence, from 1 on"})
    if rows == "events" and model.fitted.is_complete:
        found["log_likelihood"] = ("double", {"comment": "log-likelihood of what happened"})
    for name, outcome in zip(table_names(model.outcomes_), model.outcomes_, strict=False):
        about = {"comment": "probability of any other label"}
        if not isinstance(outcome, Residual):
            about = {"comment": f"probability of {outcome}", "label": outcome}
        found[name] = ("double", about)
    return found


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
            names.append("p_other")
            continue
        plain = unicodedata.normalize("NFKD", outcome).encode("ascii", "ignore").decode()
        stem = "p_" + (re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_")[:_NAME] or f"label_{number}")
        several = (f"{stem}_{again}" for again in itertools.count(2))
        name = next(name for name in itertools.chain([stem], several) if name.casefold() not in taken)
        taken.add(name.casefold())
        names.append(name)
    return names


@dataclass(frozen=True)
class PredictRows:
    """Predicts the rows of a partition, on a worker; ``new`` columns are made, ``keep`` are kept."""

    model: Predictor
    rows: Rows
    new: tuple[str, ...]
    keep: tuple[str, ...]
    reader: Reader

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that are made of one partition, some sequences at a time."""
        table = self.reader.table_of(batches)
        if table is None:
            return
        settings = self.reader.settings
        names = (settings["case"], *settings["event"], *(settings["order_by"] or ()))
        needed = table.select(list(dict.fromkeys(names)))
        events = read_rows(needed, settings)
        at = needed.column_names.index(settings["event"][0])
        numbers = pa.array(range(table.num_rows)).cast(pa.string())
        numbered = read_rows(
            needed.set_column(at, needed.column_names[at], numbers), {**settings, "labels": None}
        )
        row = np.array(numbered.labels, np.int64)[numbered.codes]  # that of every event
        kept, done = table.select(list(self.keep)), 0
        for part in cut_between_sequences(events, 2 * len(self.model.outcomes_) + 4):
            about, new = self.made(part)
            found = kept.take(pa.array(row[done + about]))
            for name in self.new:
                found = found.append_column(name, pa.array(new[name], from_pandas=True))
            yield from found.combine_chunks().to_batches()
            done += part.n_events

    def made(self, events: EventSequences) -> tuple[IntArray, dict[str, Any]]:
        """The event that each row is about, and the new columns; sequences get a position after the last."""
        ended = events.with_ends("complete").with_end_rows()
        p, last = predict_each(self.model.fitted, ended, "ignore"), ended.offsets[1:] - 1
        here, about = last, events.offsets[1:] - 1
        if self.rows == "events":
            here, about = np.delete(np.arange(len(p)), last), np.arange(events.n_events)
        found: dict[str, Any] = {"position": ended.positions[here]}
        if "log_likelihood" in self.new:
            found["log_likelihood"] = self._logs(ended, p)[here]
        names = table_names(self.model.outcomes_)
        return about, found | {name: np.ascontiguousarray(p[here, x]) for x, name in enumerate(names)}

    def _logs(self, events: EventSequences, p: FloatArray) -> FloatArray:
        """The logarithm of the probability of what happened; nan where the model does not know that."""
        outcomes, known = list(self.model.outcomes_), set(self.model.labels_)
        other = next((at for at, x in enumerate(outcomes) if isinstance(x, Residual)), -1)
        places = [outcomes.index(x) if x in outcomes else other for x in events.labels]
        column = [place if x in known else -1 for x, place in zip(events.labels, places, strict=True)]
        outcome = np.array(column, np.int64)[events.codes]
        with np.errstate(divide="ignore"):
            logs = np.log(p[np.arange(len(p)), outcome])
        return np.where(outcome < 0, np.nan, logs)
