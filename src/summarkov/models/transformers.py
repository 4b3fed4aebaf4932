"""Steps that prepare events, as scikit-learn has them: for a ``Pipeline`` that ends in a model or graph.

>>> from sklearn.pipeline import make_pipeline
>>> from summarkov import BSuMM, CollapseRepeats, InfluenceGraph, PoolRare
>>> steps = make_pipeline(PoolRare(min_count=5), CollapseRepeats(), InfluenceGraph(BSuMM(lookback=1)))
>>> steps.fit([["a", "a", "b", "c"], ["b", "a", "d", "b"]] * 4)[-1].labels_
('(end of case)', '(rare)', 'a', 'b')
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Literal, Self

from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.prepare import RARE, pool_each
from summarkov.events.vocabulary import Label
from summarkov.frames import Sheet
from summarkov.models.parameters import Parameters
from summarkov.read import read_events


class Transformer(Parameters):
    """A step of a pipeline: ``fit`` learns what it must know, ``transform`` prepares events."""

    _learned: ClassVar[str] = "_labels"
    _labels: tuple[str, ...]

    def fit(self, events: Any, y: None = None) -> Self:
        """Look at the events that a model is learned from."""
        self._labels = self._learn(self._read(events))
        return self

    def transform(self, events: Any) -> EventSequences:
        """Prepare events as those were that it was fitted to."""
        self._check_fitted()
        return self._prepare(self._read(events))

    def fit_transform(self, events: Any, y: None = None) -> EventSequences:
        """Fit, and prepare the same events."""
        data = self._read(events)
        self._labels = self._learn(data)
        return self._prepare(data)

    def _read(self, events: Any) -> EventSequences:
        return read_events(events)

    def _learn(self, events: EventSequences) -> tuple[str, ...]:
        return tuple(events.labels)

    @abstractmethod
    def _prepare(self, events: EventSequences) -> EventSequences:
        """What the step does."""

    def _sheet(self) -> Sheet:
        return Sheet(repr(self))


@dataclass(eq=False, repr=False)
class PoolRare(Transformer):
    """Make one label of all that occur fewer than ``min_count`` times in the events it is fitted to.

    In other events, too, whatever is not one of the labels that were kept becomes ``into``.

    Parameters
    ----------
    min_count : int
        A label stays if it occurs at least this often.
    into : str
        What the others become.

    Examples
    --------
    >>> step = PoolRare(min_count=2).fit([["a", "b", "a", "c"]])
    >>> step.kept_, step.transform([["c", "a", "z"]]).to_lists()
    (('a',), [['(rare)', 'a', '(rare)']])
    """

    min_count: int = 5
    into: Label = RARE

    @property
    def kept_(self) -> tuple[str, ...]:
        """The labels that are frequent enough."""
        self._check_fitted()
        return self._labels

    def _learn(self, events: EventSequences) -> tuple[str, ...]:
        becomes = pool_each(events.labels, events.label_counts, self.min_count, self.into)
        return tuple(label for label in becomes if label != self.into)

    def _prepare(self, events: EventSequences) -> EventSequences:
        kept = set(self._labels)
        return events.map_labels(lambda label: label if label in kept else self.into)


@dataclass(eq=False, repr=False)
class MapLabels(Transformer):
    """Replace labels by others, as :meth:`EventSequences.map_labels` does.

    Labels of a dict that do not occur in some of the events, such as in one part of a cross-validation, do no
    harm there; one of them at least must occur in those it is fitted to.

    Parameters
    ----------
    mapping : dict or function
        What each label becomes. Labels that a dict does not name stay.

    Examples
    --------
    >>> MapLabels({"add shirt": "add", "add hat": "add"}).fit_transform([["add hat", "pay"]]).to_lists()
    [['add', 'pay']]
    """

    mapping: Mapping[Any, str] | Callable[[str], str] | None = None

    def _learn(self, events: EventSequences) -> tuple[str, ...]:
        if self.mapping is None:
            raise SettingError("MapLabels needs mapping=, a dict from labels to labels or a function")
        return tuple(events.map_labels(self.mapping).labels)

    def _prepare(self, events: EventSequences) -> EventSequences:
        assert self.mapping is not None
        if not isinstance(self.mapping, Mapping):
            return events.map_labels(self.mapping)
        there = {old: new for old, new in self.mapping.items() if old in set(events.labels)}
        return events.map_labels(there)


@dataclass(eq=False, repr=False)
class CollapseRepeats(Transformer):
    """Keep only the first of equal labels in a row.

    Examples
    --------
    >>> CollapseRepeats().fit_transform([["a", "a", "b", "a"]]).to_lists()
    [['a', 'b', 'a']]
    """

    def _prepare(self, events: EventSequences) -> EventSequences:
        return events.collapse_repeats()


@dataclass(eq=False, repr=False)
class ReadEvents(Transformer):
    """Read tables as :func:`read_events` does, such as with ``session_gap="30min"``; the first of the steps.

    To choose settings by cross-validation, read the table before: scikit-learn splits a table by row, in the
    middle of sequences, and events by sequence.

    Parameters
    ----------
    case, event, order, session_gap
        As of :func:`read_events`.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"user": [1, 1, 1], "page": ["a", "b", "a"], "at": [0, 5, 90]})
    >>> step = ReadEvents(case="user", event="page", order="at", session_gap=60)
    >>> step.fit_transform(table).to_lists()
    [['a', 'b'], ['a']]
    """

    case: str | None = None
    event: str | None = None
    order: str | Literal[False] | None = None
    session_gap: str | float | timedelta | None = None

    def transform(self, events: Any) -> EventSequences:
        """Read a table; nothing needs to be fitted for that."""
        return self.read(events)

    def read(self, events: Any) -> EventSequences:
        """Read a table; it need not be fitted."""
        return read_events(
            events, case=self.case, event=self.event, order=self.order, session_gap=self.session_gap
        )

    def _read(self, events: Any) -> EventSequences:
        return self.read(events)

    def _prepare(self, events: EventSequences) -> EventSequences:
        return events
