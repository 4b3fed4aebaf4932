"""What comes next: ``Predictor``, what models and graphs have in common, and what it says of places."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import Layout
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.rows import Rows, recoded
from summarkov.events.vocabulary import Unknown
from summarkov.frames import MOST, Column, Sheet, Tabular
from summarkov.kernels import Index
from summarkov.models.files import Saved
from summarkov.models.parameters import Parameters
from summarkov.read import read_events
from summarkov.read.case_attributes import cuts_of
from summarkov.settings import check_whole
from summarkov.simulate.draw import after_histories
from summarkov.summaries import Summary
from summarkov.typing import FloatArray, IntArray
from summarkov.wording import percent, plural

if TYPE_CHECKING:
    from summarkov.models.measures import Measured


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
        head = ["sequence", "position", *([] if self.events is None else ["event"]), asked or "most likely"]
        rows = []
        few = self.probabilities[:MOST]
        for row, (p, likely) in enumerate(zip(few, likeliest(few, _LIKELIEST).tolist(), strict=True)):
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


class Predictor(Saved, Parameters):
    """Something fitted that tells the probabilities of what comes next, at any place of a sequence."""

    @property
    @abstractmethod
    def labels_(self) -> tuple[str, ...]:
        """The vocabulary."""

    @property
    @abstractmethod
    def outcomes_(self) -> tuple[str | Residual, ...]:
        """What the columns of probabilities stand for."""

    @property
    def classes_(self) -> npt.NDArray[np.object_]:
        """``outcomes_`` as an array, as scikit-learn has it."""
        found = np.empty(len(self.outcomes_), object)
        found[:] = self.outcomes_
        return found

    @property
    @abstractmethod
    def _horizon(self) -> int | None:
        """How many of the last positions can matter, see ``Summary.horizon``."""

    @abstractmethod
    def _at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """Probability of each outcome at some positions, one row per position."""

    @abstractmethod
    def _outcomes_at(self, index: Index) -> npt.NDArray[np.integer]:
        """The column of the probabilities that came true at every event; -1 for none."""

    @property
    def layout_(self) -> Layout:
        """What the data it was learned from had beside events in a row: ticks, times, attributes."""
        return Layout()

    def _check_predicts(self) -> None:
        """Refuse to predict where that is not possible."""

    # ------------------------------------------------------------------ how well it predicts

    def _measured(self, events: Any, unknown: Unknown, sample_weight: Any) -> Measured:
        from summarkov.models.measures import measure

        self._check_predicts()
        return measure(self, events, unknown, sample_weight)

    def log_likelihood(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Log-likelihood of new events, summed over all positions.

        Of a graph it is that of the next event, one of all labels; with ``unknown="ignore"`` events of a
        label that it does not know are left out.
        """
        return self._measured(events, unknown, sample_weight).log_likelihood

    def score(
        self, events: Any, y: None = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood per event; larger is better, as scikit-learn expects."""
        return self._measured(events, unknown, sample_weight).score

    def brier_score(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Mean squared error of the probabilities; smaller is better.

        For one label it is the mean of (p - [it occurred])^2, for several labels, and for the next event of a
        graph, the sum over the outcomes of that.
        """
        return self._measured(events, unknown, sample_weight).brier / self._error_counted

    @property
    def _error_counted(self) -> int:
        """How often the squared errors of all outcomes count that of one label: twice for it and the rest."""
        return 2 if len(self.outcomes_) == 2 else 1

    # ------------------------------------------------------------------ predict

    def predict_proba(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """Probability of each outcome at every position, from what came before it: one row per position.

        Columns are as in ``outcomes_``. For rows with the name of their sequence and their position, see
        :meth:`predictions`; for what comes after the last event, :meth:`predict_next`. With
        ``unknown="ignore"`` a label that the model does not know keeps its place and says nothing.
        """
        self._check_predicts()
        return self._everywhere(read_events(events), unknown)

    def predict(self, events: Any, *, unknown: Unknown = "error") -> npt.NDArray[np.object_]:
        """The most likely outcome at every position. For a rare target that is mostly ``OTHER``."""
        return np.asarray(self.classes_[self.predict_proba(events, unknown=unknown).argmax(axis=1)])

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> Predictions:
        """``predict_proba`` with the sequence, position and event of every row, for ``to_frame()``."""
        self._check_predicts()
        data = read_events(events)
        begins = slice(None) if data.moments is None else data.moments.starts
        happened = (event for sequence in data for event in sequence)
        return Predictions(
            outcomes=self.outcomes_,
            probabilities=self._everywhere(data, unknown),
            ids=data.ids,
            sequences=np.repeat(np.arange(len(data)), data.lengths)[begins],
            positions=data.positions[begins],
            events=tuple(each if isinstance(each, str) else " + ".join(each) for each in happened),
        )

    def predict_next(self, histories: Any, *, unknown: Unknown = "error") -> Predictions:
        """What comes next after each history? One row per history, in their order.

        ``histories`` are sequences of labels, oldest first: lists, or whatever ``read_events`` takes. The
        numbers are those of ``follow``, all at once.

        >>> import numpy as np
        >>> from summarkov import BSuMM, InfluenceGraph
        >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> after = graph.predict_next([["A"], ["C", "A", "B"], []])
        >>> after.most_likely
        ('B', 'C', '(end of case)')
        >>> after.probabilities.shape
        (3, 4)
        """
        self._check_predicts()
        data = self._read(histories, unknown)
        rows = Rows.of(data)
        if rows.moments is not None:
            rows = rows.with_next()
            index, ends = rows.index(), rows.offsets[1:] - 1
        else:
            codes, offsets, ends = after_histories(data.codes, data.offsets, self._horizon)
            index = Index(codes, offsets, len(self.labels_))
        last = np.append(0, data.positions)[data.offsets[1:]]
        return Predictions(
            outcomes=self.outcomes_,
            probabilities=self._at(index, ends),
            ids=data.ids,
            sequences=np.arange(len(data)),
            positions=np.where(data.lengths > 0, last, 0) + 1,
        )

    def _everywhere(self, events: EventSequences, unknown: Unknown = "error") -> FloatArray:
        """``predict_proba`` also for a graph of some labels only, whose models stand each for itself."""
        index = Rows.of(self._read(events, unknown)).index()
        return self._at(index)[index.begins]

    def _read(self, events: Any, unknown: Unknown = "error") -> EventSequences:
        """New events in the vocabulary of the model."""
        return read_new_events(events, self.labels_, self.layout_, unknown)


def read_new_events(events: Any, labels: tuple[str, ...], layout: Layout, unknown: Unknown) -> EventSequences:
    """New events in the vocabulary of a model; such as lack what it was learned from are refused."""
    data = read_events(events)
    moments = data.moments
    time = None if moments is None or moments.times is None else moments.unit.kind
    check_new_data(layout, data.attributes is not None, time)
    return recoded(data, labels, unknown)


def check_drawable(layout: Layout, summaries: Iterable[Summary]) -> None:
    """Refuse to simulate from a model that asks for what simulated sequences do not have."""
    told = "is drawn with simulated sequences; learn a graph from the events alone"
    if layout.attributes:
        raise SettingError(f"the graph asks for attributes of sequences, and none {told}, without attributes")
    if any(summary.durations for summary in summaries):
        raise SettingError(
            f"the graph looks back in time, and no time {told}, with look-backs that are numbers"
        )


def check_new_data(layout: Layout, has_attributes: bool, time: str | None) -> None:
    """Refuse data that lack what a model was learned from; ``time`` is as in :class:`Layout`."""
    if layout.attributes and not has_attributes:
        cuts = cuts_of(layout.attributes)
        where = {column: numbers for column, numbers in cuts.items() if numbers is not None}
        raise DataError(
            f"the model was learned with attributes of sequences, and these events have none; read them with "
            f"attributes={list(cuts)}{f', cuts={where}' if where else ''}"
        )
    if layout.time is not None and time is None:
        raise DataError(
            "the model looks back in time, and these events have no times; read them with order= and "
            "times=True"
        )
    if layout.time is not None and layout.time != time:
        learned, given = ("dates and times" if each == "clock" else "numbers" for each in (layout.time, time))
        raise DataError(
            f"the model was learned from times that are {learned}, and these are {given}; read the same kind"
        )
