"""Open cases: how those ended that had got as far, counted apart at every moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import Layout, StateCounts
from summarkov.engines.counts import merge_keys
from summarkov.engines.weights import FIXED_POINT
from summarkov.events import EventSequences
from summarkov.frames import Column, Sheet
from summarkov.models.distribution import Predictions, next_places
from summarkov.models.fitted import Fitted
from summarkov.models.learning import check_time
from summarkov.settings import Duration
from summarkov.typing import FloatArray, IntArray, KeyArray
from summarkov.wording import plural

#: A state that fewer cases were in at a moment is also looked up at the moments around it.
ENOUGH = 20


@dataclass(frozen=True, eq=False)
class OpenCases:
    """Cases that were open after each number of positions, by their state then and how they ended.

    At each moment every case counts once, so shares are those of cases, and right at every moment. Where
    fewer than ``ENOUGH`` cases were in a state, its share is that over the nearest moments, as many as it
    takes until at one of them there were enough; it counts as the most cases there were at one of these.
    """

    fitted: Fitted  # of the model: how states are told
    moments: IntArray  # the numbers of positions after which cases were counted
    keys: KeyArray  # of all states
    counts: IntArray  # [moment, state, outcome], in units of 1 / scale

    @classmethod
    def of(cls, fitted: Fitted, table: StateCounts) -> OpenCases:
        """From what :func:`count_open` found; states of the model in which no case was open are there too."""
        moments = np.unique(table.keys[:, 0]).astype(np.int64)
        keys, (rows, _) = merge_keys([table.keys[:, 1:], fitted.table.keys])
        counts = np.zeros((len(moments), len(keys), table.counts.shape[1]), np.int64)
        counts[np.searchsorted(moments, table.keys[:, 0]), rows] = table.counts
        return cls(fitted, moments, keys, counts)

    @cached_property
    def rates(self) -> FloatArray:
        """For each moment the share of each outcome, of all cases that were open then."""
        counts = self.counts.sum(axis=1)
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))

    def nearest(self, positions: IntArray) -> IntArray:
        """The places of the moments nearest to some numbers of positions; of two the earlier."""
        middles = (self.moments[1:] + self.moments[:-1]) / 2
        return np.searchsorted(middles, positions)

    @cached_property
    def _kept(self) -> dict[int | None, Fitted]:
        return {}

    def at(self, place: int | None) -> Fitted:
        """The model with the shares of one moment; None: averaged over all moments."""
        if place not in self._kept:
            self._kept[place] = self._at(place)
        return self._kept[place]

    def _at(self, place: int | None) -> Fitted:
        counts = self.counts / self.fitted.scale
        if place is None:
            shares = _over(counts)
        else:
            shares, width = counts[place], 1
            while (few := shares.sum(axis=1) < ENOUGH).any() and width < 2 * len(counts):
                around = counts[max(0, place - width) : place + width + 1, few]
                shares = shares.copy()
                shares[few] = _over(around)
                width *= 2
        table = StateCounts(self.keys, np.rint(shares * FIXED_POINT).astype(np.int64))
        return replace(self.fitted, table=table, scale=FIXED_POINT)

    def predict(self, data: EventSequences) -> tuple[FloatArray, IntArray]:
        """The probability of each outcome after the last event of each sequence, and the moments taken."""
        index, ends = next_places(data)
        places = self.nearest(n_positions(data))
        found = np.zeros((len(data), self.counts.shape[2]))
        if len(data):
            ids, keys = self.fitted.summary.encode(index, self.fitted.influencers, self.fitted.labels)
            for place in np.unique(places).tolist():
                fitted, mine = self.at(place), places == place
                found[mine] = fitted.theta[fitted.rows(keys)[ids[ends[mine]]]]
        return found, self.moments[places]

    def document(self) -> dict[str, Any]:
        """What was counted, as plain values: for each state the counts at every moment."""
        summary, names, labels = self.fitted.summary, self.fitted.influencer_labels, self.fitted.labels
        states = zip(self.keys.tolist(), self.counts.swapaxes(0, 1).tolist(), strict=True)
        return {
            "after": self.moments.tolist(),
            "states": [
                {"state": summary.state_document(key, names, labels), "counts": n} for key, n in states
            ],
        }


def _over(counts: FloatArray) -> FloatArray:
    """The shares over some moments, of as many cases as there were at most at one of them."""
    total, most = counts.sum(axis=0), counts.sum(axis=2).max(axis=0)
    n = total.sum(axis=1, keepdims=True)
    return np.asarray(total / np.where(n > 0, n, 1) * most[:, None])


def n_positions(data: EventSequences) -> IntArray:
    """How many positions each sequence has."""
    return np.where(data.lengths > 0, np.append(0, data.positions)[data.offsets[1:]], 0)


def up_to(data: EventSequences, after: int | Duration | None) -> EventSequences:
    """What had happened in each sequence by a moment: after some positions, or at an age; None: all."""
    if after is None:
        return data
    keep = data.positions <= after
    if isinstance(after, Duration):
        times, moments = data.times, data.moments
        check_time(
            "after", after, Layout(time=None if times is None or moments is None else moments.unit.kind)
        )
        assert times is not None
        assert moments is not None
        first = np.repeat(np.append(times, 0)[data.offsets[:-1]], data.lengths)
        keep = times - first <= int(after) // moments.unit.size
    offsets = np.append(0, np.cumsum(keep))[data.offsets]
    kept = None if data.moments is None else data.moments[keep]
    return data._with(data.codes[keep], offsets, data.labels, kept)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OpenPredictions(Predictions):
    """The probability of an outcome for each open case, from what has happened in it so far.

    The frame has the columns ``sequence``, ``position``, ``p(outcome)``, ``after`` and ``already_reached``.

    Attributes
    ----------
    after : array of int
        The number of events after which cases were counted: that of the case, or the nearest one.
    already_reached : array of bool
        Whether the case has reached the outcome already; its probability is 1 then.
    """

    after: npt.NDArray[np.int64]
    already_reached: npt.NDArray[np.bool_]

    def _columns(self) -> Mapping[str, Column]:
        return {
            **super()._columns(),
            "after": Column(int, self.after),
            "already_reached": Column(bool, self.already_reached),
        }

    def summary(self) -> Sheet:
        """The first rows; a case that has reached the outcome already has no percentage."""
        sheet = super().summary()
        rows = [
            [*row[:-1], "already reached" if is_there else row[-1]]
            for row, is_there in zip(sheet.rows, self.already_reached, strict=False)
        ]
        n = int(self.already_reached.sum())
        notes = (f"{plural(n, 'case')} already reached it: there is nothing left to predict.",)
        title = f"Probability for {plural(len(self), 'open case')}, from cases that had got as far"
        return replace(sheet, title=title, rows=rows, notes=notes if n else ())
