"""Predictions as rows, some at a time: of events anywhere, and of Spark dataframes on their cluster."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from summarkov.arrow import pa
from summarkov.engines import EventSource, make_source
from summarkov.engines.spark import Made, NewColumn, map_sorted
from summarkov.engines.work import Part, carry_past
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.rows import Block
from summarkov.events.vocabulary import UNKNOWN, Unknown, check_unknown
from summarkov.kernels import Index
from summarkov.models.distribution import Distribution, Residual, column_names, likeliest
from summarkov.scores.estimates import ExactSum
from summarkov.settings import check_whole
from summarkov.typing import CodeArray, FloatArray, IntArray

if TYPE_CHECKING:
    from summarkov.models.predictor import Predictor


def prediction_rows(
    model: Distribution, events: EventSequences | EventSource, unknown: Unknown = "error"
) -> Iterator[dict[str, Any]]:
    """Predict every event, in memory or streamed: some rows at a time, see :func:`predict_part`."""
    source = make_source(events).without_ends()
    return predict_part(model, source.part(), unknown, source.ids)


def predict_part(
    model: Distribution, part: Part, unknown: Unknown = "error", ids: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """Predict every event of a part: columns of some rows at a time.

    A row has the sequence, the position in it (from 1 on), the event, and what ``predict_proba`` says of it.
    A graph of some labels only is not normalised: each of its models stands for itself. ``ids`` are the names
    of the sequences, where the blocks of the part do not have them.
    """
    names, labels = column_names(model.outcomes), pa.array(part.labels, pa.string())
    all_ids = pa.array(ids, pa.string())
    first = 0  # the number of the first sequence of the block
    for block, index, position in _with_positions(blocks_to_predict(model, part, unknown)):
        p, lengths, rows = model.at(index), np.diff(block.offsets), index.begins
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
    model: Distribution, part: Part, unknown: Unknown = "error"
) -> Iterator[tuple[Block, Index]]:
    """Every block of a part, of a size to predict at once, and its events in the codes of the model."""
    translate = translated(model, part.labels, unknown)
    blocks = part.blocks(64 * (2 * len(model.outcomes) + 4))
    attributes = None
    if part.attributes is not None:
        held = set(model.layout.attributes)
        attributes = np.array([*(label in held for label in model.labels), False])
    return carry_past(blocks, len(model.labels), model.memory, attributes, translate)


def translated(model: Distribution, labels: Sequence[str], unknown: Unknown) -> CodeArray:
    """The codes that a model has for labels, -1 for those that it does not know, if these may be ignored.

    One more is for events that have no label already.
    """
    check_unknown(unknown)
    index = {label: code for code, label in enumerate(model.labels)}
    for label in labels:
        if unknown == "error" and label not in index:
            raise UnknownLabelError(label, model.labels)
    return np.array([*(index.get(label, UNKNOWN) for label in labels), UNKNOWN], np.int32)


#: What a row is about.
Rows = Literal["events", "next", "sequences"]
#: One column per label, or one row per label.
Form = Literal["wide", "long"]
#: Rows of the long form to hold at a time.
_LONG_ROWS = 1 << 16
#: Letters of a label in the name of a column.
_NAME = 48


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

        It is worked out when it is used, such as by ``.write.parquet(path)``.
    """
    from summarkov.models.predictor import Predictor

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
    if model.layout_.together or model.layout_.attributes:
        raise SettingError(
            "rows of a dataframe are predicted from events one after the other, and this model was learned "
            "from events that happened together, or with attributes; predict from events that were read "
            "with read_events instead"
        )
    if rows == "sequences":
        model._check_predicts()
    task = PredictRows(model.fitted, unknown, rows, form, top)
    times = model.layout_.time is not None
    reading = {"case": case, "event": event, "order": order, "times": times}

    def check(labels: Sequence[str]) -> None:
        translated(model.fitted, labels, unknown)

    return map_sorted(dataframe, reading, task, task.new_columns, check, only_case=rows == "sequences")


@dataclass(frozen=True)
class PredictRows:
    """Predicts a part of a dataframe, on a worker."""

    model: Distribution
    unknown: Unknown
    rows: Rows
    form: Form
    top: int | None

    @property
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
        for name, outcome in zip(self._names, self.model.outcomes, strict=False):
            about = {"comment": "probability of any other label"}
            if not isinstance(outcome, Residual):
                about = {"comment": f"probability of {outcome}", "label": outcome}
            found.append(NewColumn(name, "double", about))
        return found

    @cached_property
    def _names(self) -> list[str]:
        return table_names(self.model.outcomes)

    @cached_property
    def _measures(self) -> bool:
        """Whether rows tell how likely it was what happened."""
        if self.rows != "events":
            return False
        try:
            self.model.check_complete()
        except SettingError:  # a graph of some labels only: each of its models stands for itself
            return False
        return True

    def __call__(self, part: Part) -> Iterator[Made]:
        """Some rows at a time."""
        given = part.seen(lambda most: map(_with_next, part.read(most))) if self.rows == "next" else part
        so_far = ExactSum()  # the log-likelihood of the sequence that goes on from the block before
        for block, index, position in _with_positions(blocks_to_predict(self.model, given, self.unknown)):
            n, ends = len(block.codes), block.offsets[1 : len(block.offsets) - block.goes_on]
            if self.rows == "sequences":
                sums, so_far = _sums(self._logs(index, self.model.at(index)), ends, so_far)
                yield Made(n, ends - 1, {"n_events": position[ends - 1], "log_likelihood": sums})
            elif self.rows == "next":
                last = ends - np.arange(2, len(ends) + 2)  # the last event of each, among those read
                p = self.model.at(index, ends - 1)
                yield from self._told(n - len(ends), last, {"position": position[ends - 1]}, p)
            else:
                p = self.model.at(index)
                logs = {"log_likelihood": self._logs(index, p)} if self._measures else {}
                yield from self._told(n, np.arange(n), {"position": position, **logs}, p)

    def _logs(self, index: Index, p: FloatArray) -> FloatArray:
        """The logarithm of the probability of what happened; nan where the model does not know that."""
        outcome = self.model.outcome_of[index.codes]
        with np.errstate(divide="ignore"):
            logs = np.log(p[np.arange(len(p)), outcome])
        return np.where(outcome < 0, np.nan, logs)

    def _told(
        self, n_events: int, about: IntArray, columns: dict[str, FloatArray | IntArray], p: FloatArray
    ) -> Iterator[Made]:
        """Rows about some of the next ``n_events`` events, with the probabilities there."""
        if self.form == "wide":
            each = {name: np.ascontiguousarray(p[:, x]) for x, name in enumerate(self._names)}
            yield Made(n_events, about, columns | each)
            return
        labels = [None if isinstance(x, Residual) else x for x in self.model.outcomes]
        most = len(labels) if self.top is None else min(self.top, len(labels))
        step, done = max(1, _LONG_ROWS // most), 0
        for start in range(0, max(1, len(p)), step):
            some = slice(start, start + step)
            likely = likeliest(p[some], most)
            upto = n_events if start + step >= len(p) else int(about[some][-1]) + 1
            told = {name: np.repeat(values[some], most) for name, values in columns.items()}
            told["rank"] = np.tile(np.arange(1, most + 1, dtype=np.int32), len(likely))
            found = {
                "label": [labels[x] for x in likely.ravel().tolist()],
                "probability": np.take_along_axis(p[some], likely, axis=1).ravel(),
            }
            yield Made(upto - done, np.repeat(about[some] - done, most), told | found)
            done = upto


def _with_next(block: Block) -> Block:
    """With one more place at the end of each sequence, of no label and at the time of the last event."""
    ends = block.offsets[1 : len(block.offsets) - block.goes_on]
    moments = block.moments
    if moments is not None and moments.times is not None:
        times = np.insert(moments.times, ends, moments.times[ends - 1])
        moments = replace(moments, starts=np.ones(len(times), bool), times=times)
    codes = np.insert(block.codes, ends, np.int32(UNKNOWN))
    return block.with_events(codes, ends + np.arange(1, len(ends) + 1), moments=moments)


def _sums(logs: FloatArray, ends: IntArray, so_far: ExactSum) -> tuple[list[float], ExactSum]:
    """The sum for each sequence that ends, and that of the last one, which goes on.

    Sums are exact until they are made floats, so they do not depend on where sequences are cut.
    """
    known = np.where(np.isnan(logs), 0.0, logs)
    starts = np.append(0, ends).tolist()
    sums = [math.fsum(known[start:stop].tolist()) for start, stop in pairwise(starts)]
    if sums:
        sums[0] = float(so_far + ExactSum.of(known[: starts[1]]))
        so_far = ExactSum()
    return sums, so_far + ExactSum.of(known[starts[-1] :])
