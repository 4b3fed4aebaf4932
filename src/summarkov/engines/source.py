"""``CountSource``: what every ``fit`` takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from summarkov.engines.counts import Counts
from summarkov.engines.requests import Request
from summarkov.engines.weights import Draws
from summarkov.errors import SettingError
from summarkov.typing import IntArray


@runtime_checkable
class CountSource(Protocol):
    """Anything that can answer count requests: events in memory, files, a cluster.

    All counts are integers; with weights that are not whole they are multiples of ``1 / scale``.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """The vocabulary in sorted order."""

    @property
    def label_counts(self) -> IntArray:
        """N(x) of every label, weighted, in units of ``1 / scale``."""

    @property
    def n_sequences(self) -> int:
        """K."""

    @property
    def scale(self) -> int:
        """What counts must be divided by."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""


@runtime_checkable
class Replicates(Protocol):
    """The data of a source under each of many weights.

    Counts have the replicates asked for (``request.replicates``; None: all) as their first axis.
    """

    units: str
    n_units: int

    @property
    def labels(self) -> tuple[str, ...]:
        """The vocabulary in sorted order."""

    @property
    def label_counts(self) -> IntArray:
        """N(x), ``[replicate, x]``, in units of ``1 / scale``."""

    @property
    def scale(self) -> int:
        """What counts must be divided by."""

    def count(self, requests: Sequence[Request]) -> list[Counts]:
        """Answer all requests in one pass over the data."""


@runtime_checkable
class Replicable(CountSource, Protocol):
    """A source whose sequences, or blocks of whose events, can be weighed anew."""

    def replicated(self, draws: Draws, blocks: Any = None) -> Replicates:
        """The same data under each of many weights; see :func:`summarkov.engines.units_of` for blocks."""


def refuse_weights(source: object, sample_weight: Any) -> None:
    """Say that a source cannot be weighed, if it is asked to be."""
    if sample_weight is not None:
        raise SettingError(
            f"sample_weight needs events in memory, and this is a {type(source).__name__}; give events that "
            "were read with read_events"
        )


def as_source(data: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> CountSource:
    """Turn what ``fit`` was given into a source: one already, events, or whatever ``read_events`` takes."""
    from summarkov.engines.local import LocalSource
    from summarkov.io import read_events

    if isinstance(data, CountSource):
        refuse_weights(data, sample_weight)
        return data
    events = read_events(data)
    events.refuse_unknown()
    return LocalSource(events, sample_weight=sample_weight, n_jobs=n_jobs)
