"""``PoolRare``: a step of a pipeline that must remember what it was fitted to. Other steps are functions.

>>> from sklearn.preprocessing import FunctionTransformer
>>> from summarkov import BSuMM, EventSequences, InfluenceGraph
>>> from summarkov.models import Pipeline, PoolRare
>>> collapse = FunctionTransformer(EventSequences.collapse_repeats)
>>> steps = [("pool", PoolRare(min_count=5)), ("collapse", collapse), ("graph", InfluenceGraph(BSuMM()))]
>>> pipeline = Pipeline(steps).fit([["a", "a", "b", "c"], ["b", "a", "d", "b"]] * 4)
>>> pipeline[-1].labels_
('(end of case)', '(rare)', 'a', 'b')
>>> pipeline.predict_next([["a", "z"]]).ids
('0',)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from summarkov.events import EventSequences
from summarkov.events.vocabulary import RARE, Label, frequent_labels
from summarkov.frames import Sheet
from summarkov.models.parameters import Parameters
from summarkov.read import read_events


@dataclass(eq=False, repr=False)
class PoolRare(Parameters):
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

    _learned: ClassVar[str] = "_kept"

    min_count: int = 5
    into: Label = RARE

    def fit(self, events: Any, y: None = None) -> Self:
        """Look at the events that a model is learned from."""
        data = read_events(events)
        self._kept = tuple(sorted(frequent_labels([data], self.min_count, self.into)))
        return self

    def transform(self, events: Any) -> EventSequences:
        """Prepare events as those were that it was fitted to."""
        return read_events(events).pool_others(self.kept_, into=self.into)

    def fit_transform(self, events: Any, y: None = None) -> EventSequences:
        """Fit, and prepare the same events."""
        data = read_events(events)
        return self.fit(data).transform(data)

    @property
    def kept_(self) -> tuple[str, ...]:
        """The labels that are frequent enough."""
        self._check_fitted()
        return self._kept

    def _sheet(self) -> Sheet:
        return Sheet(repr(self))
