"""What comes next, from what was learned: probabilities at any place of a sequence, as arrays and as rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.arrow import pa
from summarkov.engines import IN_A_ROW, Layout
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.rows import Rows, cuts, recoded
from summarkov.events.vocabulary import Unknown, translation
from summarkov.frames import MOST, Column, Sheet, Tabular
from summarkov.kernels import Index
from summarkov.settings import check_whole
from summarkov.simulate.draw import after_histories, flat
from summarkov.summaries import Summary
from summarkov.typing import CodeArray, FloatArray, IntArray
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.models.fitted import Fitted


class Residual(Enum):
    """The outcome that stands for every label outside the target: no label, not even "other", is it."""

    OTHER = "OTHER"

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__


OTHER = Residual.OTHER
#: Bytes of what is predicted at once.
_AT_ONCE = 1 << 28
#: A printed row names at most this many outcomes.
_LIKELIEST = 3


class Distribution(ABC):
    """What was learned, as far as it predicts: the probability of every outcome at any place of a sequence.

    ``labels`` is the vocabulary, ``layout`` what the data had beside events in a row.
    """

    labels: tuple[str, ...]
    layout: Layout = IN_A_ROW

    @property
    @abstractmethod
    def outcomes(self) -> tuple[str | Residual, ...]:
        """What the columns of probabilities stand for."""

    @property
    def outcome_of(self) -> CodeArray:
        """The column of every label, and last that of events of no known label; -1 for none."""
        found = translation(self.labels, [x for x in self.outcomes if isinstance(x, str)])
        return np.where(found < 0, len(self.outcomes) - 1, found) if OTHER in self.outcomes else found

    @property
    @abstractmethod
    def horizon(self) -> int | None:
        """How many of the last positions can matter; None: the whole history."""

    @abstractmethod
    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """Probability of every outcome at some positions, one row per position."""

    @property
    @abstractmethod
    def overall(self) -> FloatArray:
        """Probability of every outcome if the past is never looked at."""

    @property
    def parts(self) -> Sequence[Fitted]:
        """The models of one target each that it is made of; none where all targets are told at once."""
        return ()

    @property
    def is_apart(self) -> bool:
        """Whether each of the parts tells its target for itself, and nothing tells which label comes next."""
        return False

    @property
    def is_complete(self) -> bool:
        """Whether one of the outcomes comes at every position."""
        return True

    def check_complete(self) -> None:
        """Refuse models of some labels only, which give no distribution of what comes next."""
        if not self.is_complete:
            raise SettingError(
                "the next-event distribution needs a model for every label; fit the graph without targets="
            )

    def after(self, histories: CodeArray) -> FloatArray:
        """Probability of every label after each of some histories of equal length, ``codes[k, t]``."""
        self.check_complete()
        codes, offsets, ends = after_histories(*flat(histories), self.horizon)
        return self.at(Index(codes, offsets, len(self.labels)), ends)

    def read(self, events: Any, unknown: Unknown = "error") -> EventSequences:
        """New events in the vocabulary of the model."""
        return read_new_events(events, self.labels, self.layout, unknown)


# ---------------------------------------------------------------------- new data


def read_new_events(events: Any, labels: tuple[str, ...], layout: Layout, unknown: Unknown) -> EventSequences:
    """New events in the vocabulary of a model; such as lack what it was learned from are refused."""
    from summarkov.read import read_events

    data = read_events(events)
    moments = data.moments
    time = None if moments is None or moments.times is None else moments.unit.kind
    check_new_data(layout, data.attributes is not None, time)
    return recoded(data, labels, unknown)


def check_new_data(layout: Layout, has_attributes: bool, time: str | None) -> None:
    """Refuse data that lack what a model was learned from; ``time`` is as in :class:`Layout`."""
    if layout.attributes and not has_attributes:
        from summarkov.read.case_attributes import cuts_of

        cuts = cuts_of(layout.attributes)
        where = {column: numbers for column, numbers in cuts.items() if numbers is not None}
        raise DataError(
            f"the model was learned with attributes of sequences, and these events have none; read them with "
            f"attributes={list(cuts)}{f', cuts={where}' if where else ''}"
        )
    if layout.time is not None and time is None:
        raise DataError(
            "the model looks back in time, and these events have no times; read them with order_by= and "
            "times=True"
        )
    if layout.time is not None and layout.time != time:
        learned, given = ("dates and times" if each == "clock" else "numbers" for each in (layout.time, time))
        raise DataError(
            f"the model was learned from times that are {learned}, and these are {given}; read the same kind"
        )


def check_drawable(layout: Layout, summaries: Iterable[Summary]) -> None:
    """Refuse to simulate from a model that asks for what simulated sequences do not have."""
    told = "is drawn with simulated sequences; learn a graph from the events alone"
    if layout.attributes:
        raise SettingError(f"the graph asks for attributes of sequences, and none {told}, without attributes")
    if any(summary.durations for summary in summaries):
        raise SettingError(
            f"the graph looks back in time, and no time {told}, with look-backs that are numbers"
        )


# ---------------------------------------------------------------------- predictions


def column_names(outcomes: Sequence[str | Residual]) -> list[str]:
    """The names of columns of probabilities; no label can be taken for that of all the others.

    Of one label and all the others the first says it all.

    >>> column_names(["A", "B"]), column_names(["A", OTHER]), column_names(["A", "B", OTHER])
    (['p(A)', 'p(B)'], ['p(A)'], ['p(A)', 'p(B)', 'p_other'])
    """
    names = ["p_other" if isinstance(x, Residual) else f"p({x})" for x in outcomes]
    return names[:1] if len(names) == 2 and names[1] == "p_other" else names


def likeliest(p: FloatArray, most: int | None = None) -> IntArray:
    """The columns of the ``most`` likeliest outcomes of every row, the likeliest first; ties in order."""
    return np.argsort(-p, axis=1, kind="stable")[:, :most]


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

    def top(self, k: int) -> tuple[tuple[tuple[str | Residual, float], ...], ...]:
        """The ``k`` most likely outcomes of every row with their probabilities, the most likely first.

        Equally likely ones are in the order of the alphabet; ``k`` above their number gives all.
        """
        likely = likeliest(self.probabilities, check_whole("k", k, 1))
        return tuple(
            tuple((self.outcomes[x], float(p[x])) for x in each.tolist())
            for p, each in zip(self.probabilities, likely, strict=True)
        )

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
        known = [] if self.events is None else ["event", "probability"]
        head = ["sequence", "position", *known, asked or "most likely"]
        column = {str(outcome): x for x, outcome in enumerate(self.outcomes)}

        def own(row: int) -> str:
            """The probability of what happened."""
            at = column.get((self.events or ())[row], column.get(str(OTHER)))
            return "" if at is None else percent(self.probabilities[row, at])

        few = self.probabilities[:MOST]
        rows = [
            [
                self.ids[self.sequences[row]],
                str(self.positions[row]),
                *([] if self.events is None else [self.events[row], own(row)]),
                percent(p[0]) if asked else ", ".join(f"{self.outcomes[x]} {percent(p[x])}" for x in likely),
            ]
            for row, (p, likely) in enumerate(zip(few, likeliest(few, _LIKELIEST).tolist(), strict=True))
        ]
        title = f"Probabilities of {plural(len(self.outcomes), 'outcome')} at {plural(len(self), 'place')}"
        return Sheet(title, head, rows, len(self))


def predict_each(model: Distribution, events: EventSequences, unknown: Unknown) -> FloatArray:
    """Probability of each outcome at every position; models of some labels only stand each for itself."""
    index = Rows.of(model.read(events, unknown)).index()
    return model.at(index)[index.begins]


def predict_rows(model: Distribution, events: EventSequences, unknown: Unknown) -> Predictions:
    """The same with the sequence, position and event of every row."""
    begins = slice(None) if events.moments is None else events.moments.starts
    happened = (event for sequence in events for event in sequence)
    return Predictions(
        outcomes=model.outcomes,
        probabilities=predict_each(model, events, unknown),
        ids=events.ids,
        sequences=np.repeat(np.arange(len(events)), events.lengths)[begins],
        positions=events.positions[begins],
        events=tuple(each if isinstance(each, str) else " + ".join(each) for each in happened),
    )


def prediction_rows(
    model: Distribution, events: EventSequences, unknown: Unknown = "error"
) -> Iterator[dict[str, Any]]:
    """The same as columns, of some sequences at a time: what is predicted at once stays small."""
    for first, last in cuts(events.offsets, most_rows(model)):
        rows = predict_rows(model, events[first:last], unknown)
        yield {
            name: pa.array(column.values, pa.string()) if column.kind is str else column.values
            for name, column in rows._columns().items()
        }


def most_rows(model: Distribution) -> int:
    """How many rows to predict at once."""
    return max(1, _AT_ONCE // (64 * (2 * len(model.outcomes) + 4)))


def predict_next(model: Distribution, histories: Any, unknown: Unknown) -> Predictions:
    """Probability of each outcome after the last event of each sequence."""
    data = model.read(histories, unknown)
    index, ends = next_places(data, model.horizon)
    last = np.append(0, data.positions)[data.offsets[1:]]
    return Predictions(
        outcomes=model.outcomes,
        probabilities=model.at(index, ends),
        ids=data.ids,
        sequences=np.arange(len(data)),
        positions=np.where(data.lengths > 0, last, 0) + 1,
    )


def next_places(data: EventSequences, horizon: int | None = None) -> tuple[Index, IntArray]:
    """The place where the next event of each sequence will stand, as kernels take it, and the rows of these.

    No more than the last positions are there, as many as ``horizon`` says; None: all.
    """
    rows = Rows.of(data)
    if rows.moments is None:
        codes, offsets, ends = after_histories(data.codes, data.offsets, horizon)
        return Index(codes, offsets, len(data.labels)), ends
    rows = rows.with_next()
    return rows.index(), rows.offsets[1:] - 1
