"""Predictions for the rows of a Spark dataframe, made on its cluster."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from summarkov.arrow import pa
from summarkov.errors import SettingError, SummarkovError
from summarkov.events import EventSequences
from summarkov.events.rows import cut_between_sequences, recoded
from summarkov.events.vocabulary import Unknown, check_unknown
from summarkov.models.distribution import Residual, column_names, likeliest, predict_each
from summarkov.models.predictor import Predictor
from summarkov.read import read_events
from summarkov.settings import check_whole
from summarkov.spark.frames import Frame, ReadShard, retold
from summarkov.spark.session import FRAME, job, map_partitions, types
from summarkov.spark.source import n_partitions
from summarkov.typing import FloatArray, IntArray

#: What a row is about.
Rows = Literal["events", "next", "sequences"]
#: One column per label, or one row per label.
Form = Literal["wide", "long"]
#: Letters of a label in the name of a column.
_NAME = 48


def predict_frame(
    model: Predictor,
    dataframe: Any,
    *,
    case: str | None = None,
    event: str | None = None,
    order: str | Sequence[str] | Literal[False] | None = None,
    rows: Rows = "events",
    form: Form = "wide",
    top: int | None = None,
    unknown: Unknown = "error",
) -> Any:
    """Predict the events of a Spark dataframe on its cluster.

    Parameters
    ----------
    model
        A fitted model or graph, or a joint model.
    dataframe, case, event, order
        As for :func:`scan_spark`. Times are read if the model looks back in time.
    rows : {"events", "next", "sequences"}
        What a row of the result is about. "events": one row per event, predicted from those before it.
        "next": one row per sequence, what comes after its last event. "sequences": one row per sequence, how
        likely it was as a whole.
    form : {"wide", "long"}
        "wide": one column of probabilities per label. "long": one row per label, the likeliest first.
    top
        In the long form, at most this many of the likeliest labels for each event or sequence.
    unknown
        As for ``predict_proba``.

    Returns
    -------
    pyspark.sql.DataFrame
        All columns of the dataframe as they are (with ``rows="next"`` those of the last event, with
        "sequences" only the case), and after them:

        - ``position``: the place in the sequence, from 1 on, that the row is about;
        - ``log_likelihood``: of what happened there, null for a label that the model does not know. It is
          there for events, where the model has one distribution of what comes next;
        - wide: ``p_...`` for every label, the numbers of ``predict_proba``. Names have only letters a to z,
          digits and "_", as every table format takes them; the label itself is in the metadata of the
          column ("label"), and in its comment. ``p_other`` is for all labels outside the target together;
        - long: ``rank`` (1 is the likeliest), ``label`` (null: all labels outside the target together), and
          ``probability``;
        - for sequences: ``n_events``, and ``log_likelihood`` as a sum over events of labels that are known.
          A model that was learned from complete cases counts the end of each case, too.

        It is worked out when it is used, such as by ``.write.parquet(path)``.
    """
    if not isinstance(model, Predictor):
        raise SettingError(
            f"this takes a fitted model or graph, not {type(model).__name__}; only these predict events"
        )
    for name, given, allowed in (("rows", rows, get_args(Rows)), ("form", form, get_args(Form))):
        if given not in allowed:
            raise SettingError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {given!r}")
    if top is not None:
        check_whole("top", top, 1)
    if (form == "wide" and top is not None) or (form == "long" and rows == "sequences"):
        raise SettingError("top= goes with form='long', and form='long' with rows='events' or rows='next'")
    check_unknown(unknown)
    if model.layout_.together or model.layout_.attributes:
        raise SettingError(
            "rows of a dataframe are predicted from events one after the other, and this model was learned "
            "from events that happened together, or with attributes; predict from events that were read "
            "with read_events instead"
        )
    if rows == "sequences":
        model._check_predicts()
    times = model.layout_.time is not None
    reading = {"case": case, "event": event, "order": order, "times": times, "ties": "in row order"}
    keep = dataframe.columns if hasattr(dataframe, "columns") and rows != "sequences" else ()
    frame = Frame.of(dataframe, {**reading, "ends": "complete"}, keep)
    fields = dataframe.schema.fields
    if rows == "sequences":
        fields = [field for field in fields if field.name == frame.chosen.case]
    task = PredictRows(model, unknown, rows, form, top, tuple(field.name for field in fields), frame.shards())
    _refuse_taken(task.keep, task.new_columns)
    with job(dataframe.sparkSession, "predictions"):
        n = n_partitions(dataframe.sparkSession, frame.rows.count())
        if unknown == "error":
            labels = frame.rows.select(frame.column(frame.chosen.event[0])).distinct().toArrow().column(0)
            read_events([labels.drop_null().to_pylist()]).recode(model.labels_)
    schema = types.StructType(list(fields))
    for each in task.new_columns:
        schema.add(each.name, each.kind, metadata=dict(each.about))
    return map_partitions(frame.by_case(n), task, schema)


class NewColumn(NamedTuple):
    """A column to make: name, type ("long", "integer", "double" or "string"), and what to know about it."""

    name: str
    kind: str
    about: Mapping[str, str]


def _refuse_taken(names: Sequence[str], new: Sequence[NewColumn]) -> None:
    """Refuse a dataframe with a column that is to be made; Spark takes "A" and "a" for the same."""
    taken = {name.casefold(): name for name in names}
    for each in new:
        if each.name.casefold() in taken:
            raise SettingError(
                f"{FRAME} has a column {taken[each.name.casefold()]!r}, and predictions are to have "
                "one of that name; rename it with withColumnRenamed, or leave it out with drop"
            )


def table_names(outcomes: Sequence[str | Residual]) -> list[str]:
    """Names of columns of probabilities that every table format takes.

    They have the letters a to z without accents, digits and "_"; no two differ only by upper and lower case.

    >>> table_names(["Add to cart", "add-to-cart", "Café", "\N{SNOWMAN}", Residual()])
    ['p_Add_to_cart', 'p_add_to_cart_2', 'p_Cafe', 'p_label_4', 'p_other']
    """
    names: list[str] = []
    taken = {"p_other"}
    next_number: dict[str, int] = {}  # for the next name with the same beginning
    for number, outcome in enumerate(outcomes[: len(column_names(outcomes))], start=1):
        if isinstance(outcome, Residual):
            names.append("p_other")
            continue
        plain = unicodedata.normalize("NFKD", outcome).encode("ascii", "ignore").decode()
        stem = re.sub(r"[^0-9A-Za-z]+", "_", plain).strip("_")[:_NAME] or f"label_{number}"
        name, again = f"p_{stem}", next_number.get(stem.casefold(), 2)
        while name.casefold() in taken:
            name, again = f"p_{stem}_{again}", again + 1
        next_number[stem.casefold()] = again
        taken.add(name.casefold())
        names.append(name)
    return names


@dataclass(frozen=True)
class PredictRows:
    """Predicts the rows of a partition, on a worker; ``keep`` are the columns to keep."""

    model: Predictor
    unknown: Unknown
    rows: Rows
    form: Form
    top: int | None
    keep: tuple[str, ...]
    shards: ReadShard

    @cached_property
    def new_columns(self) -> list[NewColumn]:
        """The columns that are made."""
        if self.rows == "sequences":
            return [
                NewColumn("n_events", "long", {}),
                NewColumn("log_likelihood", "double", {"comment": "log-likelihood of the sequence"}),
            ]
        found = [NewColumn("position", "long", {"comment": "place in the sequence, from 1 on"})]
        if self._measures:
            found.append(NewColumn("log_likelihood", "double", {"comment": "of what happened"}))
        if self.form == "long":
            kinds = {"rank": "integer", "label": "string", "probability": "double"}
            return found + [NewColumn(name, kind, {}) for name, kind in kinds.items()]
        for name, outcome in zip(table_names(self.model.outcomes_), self.model.outcomes_, strict=False):
            about = {"comment": "probability of any other label"}
            if not isinstance(outcome, Residual):
                about = {"comment": f"probability of {outcome}", "label": outcome}
            found.append(NewColumn(name, "double", about))
        return found

    @cached_property
    def _measures(self) -> bool:
        """Whether rows tell how likely it was what happened."""
        if self.rows != "events":
            return False
        try:
            self.model._check_predicts()
        except SummarkovError:  # a graph of some labels only: each of its models stands for itself
            return False
        return True

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that are made of one partition, some sequences at a time."""
        table, event = self.shards.table_of(batches), self.shards.reading["event"][0]
        if table is None:
            return
        needed = list(dict.fromkeys((self.shards.case, event, *(self.shards.reading["order"] or ()))))
        with retold():
            events = self.shards.events(table.select(needed))
            numbers = pa.array(range(table.num_rows)).cast(pa.string())
            numbered = self.shards.events(
                table.select(needed).set_column(needed.index(event), event, numbers)
            )
        row = np.array(numbered.labels, np.int64)[numbered.codes]  # that of every event
        kept = table.select(list(self.keep))
        done = 0
        for part in cut_between_sequences(events, 2 * len(self.model.outcomes_) + 4):
            about, new = self.made(part)
            columns = kept.take(pa.array(row[done + about])).combine_chunks().columns
            each = [column.chunk(0) if column.num_chunks else pa.array([], column.type) for column in columns]
            each += [pa.array(values, from_pandas=True) for values in new.values()]
            yield pa.record_batch(each, [*self.keep, *new])
            done += part.n_events

    def made(self, events: EventSequences) -> tuple[IntArray, dict[str, Any]]:
        """Rows about some sequences: the event that each is about, and the new columns.

        Each sequence gets one more position, after its last event.
        """
        recoded(events.with_ends("cut off"), self.model.labels_, self.unknown)  # may be refused
        ended = events.with_ends("complete").with_end_rows()
        p = predict_each(self.model.fitted, ended, "ignore")
        last = ended.offsets[1:] - 1
        is_event = np.ones(len(p), bool)
        is_event[last] = False
        position = ended.positions
        if self.rows == "sequences":
            logs = np.nan_to_num(self._logs(ended, p))
            sums = np.add.reduceat(logs, ended.offsets[:-1])
            return events.offsets[1:] - 1, {"n_events": events.lengths, "log_likelihood": sums}
        if self.rows == "next":
            return self._told(events.offsets[1:] - 1, {"position": position[last]}, p[last])
        columns: dict[str, Any] = {"position": position[is_event]}
        if self._measures:
            columns["log_likelihood"] = self._logs(ended, p)[is_event]
        return self._told(np.arange(events.n_events), columns, p[is_event])

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

    def _told(
        self, about: IntArray, columns: dict[str, Any], p: FloatArray
    ) -> tuple[IntArray, dict[str, Any]]:
        """Rows with probabilities: one for each, or one for each of the likeliest labels of each."""
        if self.form == "wide":
            names = table_names(self.model.outcomes_)
            return about, columns | {name: np.ascontiguousarray(p[:, x]) for x, name in enumerate(names)}
        labels = pa.array([None if isinstance(x, Residual) else x for x in self.model.outcomes_], pa.string())
        most = len(labels) if self.top is None else min(self.top, len(labels))
        likely = likeliest(p, most)
        found: dict[str, Any] = {name: np.repeat(values, most) for name, values in columns.items()}
        found["rank"] = np.tile(np.arange(1, most + 1, dtype=np.int32), len(likely))
        found["label"] = labels.take(pa.array(likely.ravel()))
        found["probability"] = np.take_along_axis(p, likely, axis=1).ravel()
        return np.repeat(about, most), found
