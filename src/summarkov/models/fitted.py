"""What a model knows once it is fitted: counts, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from summarkov.confidence import exact_intervals
from summarkov.engines import CountSource, StateCounts, StatesRequest, Target
from summarkov.engines.counts import merge_keys
from summarkov.engines.surveys import Followed
from summarkov.engines.weights import refuse_overflow
from summarkov.explain import Contrast, Influence, contrasts_in_table, influence_of
from summarkov.kernels import Index
from summarkov.scores import log_likelihood, probabilities, pseudo_counts
from summarkov.search import Certificate, Step
from summarkov.summaries import Summary
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray


@dataclass(frozen=True)
class Fitted:
    """Counts of the states of the influencers found, and the settings needed to read them."""

    summary: Summary
    labels: tuple[str, ...]
    target: Target
    influencers: tuple[int, ...]
    table: StateCounts
    scale: int
    n_sequences: int
    label_counts: IntArray
    alpha: float
    prior: str
    score: float
    steps: tuple[Step, ...]
    certificate: Certificate | None  # of an exact search, as long as nothing is added
    settings: Mapping[str, Any]  # the model's parameters when it was fitted
    followed: Followed | None = None  # sequences in which influencers occurred and the target followed
    margins: tuple[float, ...] | None = None  # by how much the score exceeds that without each influencer

    @property
    def n_events(self) -> float:
        """N, weighted."""
        return float(self.label_counts.sum() / self.scale)

    @cached_property
    def counts(self) -> FloatArray:
        """N(x; s), weighted."""
        return np.asarray(self.table.counts / self.scale)

    @cached_property
    def pseudo(self) -> FloatArray:
        """The prior's pseudo-counts."""
        return pseudo_counts(self.counts.sum(axis=0), self.alpha, self.prior)

    @cached_property
    def theta(self) -> FloatArray:
        """Probability of each outcome in each state; one more row for states never seen."""
        unseen = np.zeros((1, self.counts.shape[1]))
        return probabilities(np.concatenate([self.counts, unseen]), self.pseudo)

    @property
    def observed(self) -> IntArray:
        """The counts that each state's estimate rests on, in units of ``1 / scale``: N(x; s)."""
        return self.table.counts

    def intervals(self, rows: IntArray | slice = slice(None), level: float = 0.95) -> FloatArray:
        """Exact intervals ``[row, x, (low, high)]`` for rows of ``theta``, from what was counted there."""
        unseen = np.zeros((1, self.counts.shape[1]))
        counts = np.concatenate([self.observed / self.scale, unseen])[rows]
        if counts.shape[1] == 1:  # nothing else can come
            return np.ones((*counts.shape, 2))
        return exact_intervals(counts, counts.sum(axis=-1, keepdims=True), level)

    def met(self, label: str) -> BoolArray | None:
        """For each state, whether it tells that an influencer is there; None: its window alone does."""
        return None

    @property
    def nodes(self) -> tuple[FloatArray, FloatArray] | None:
        """Counts N(x; s) and estimates of the nodes of a tree whose leaves are the states; None: no tree."""
        return None

    def contrasts(self) -> Iterator[tuple[int, int, Contrast]]:
        """Column, outcome and contrast of each influencer for each label of the target."""
        if self.summary.by_level:
            yield from contrasts_in_table(self.table, self.scale, len(self.target.codes))

    @cached_property
    def influences(self) -> tuple[Influence, ...]:
        """How each influencer changes the probability of each label of the target."""
        names = self.influencer_labels
        return tuple(
            influence_of(
                names[column],
                self.labels[self.target.codes[outcome]],
                found,
                [*names[:column], *names[column + 1 :]] if self.summary.by_level else (),
                None if self.followed is None else self.followed.of(column, outcome),
                None if self.margins is None else self.margins[column],
            )
            for column, outcome, found in self.contrasts()
        )

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the data it was fitted to."""
        return float(log_likelihood(self.counts, self.pseudo))

    @property
    def influencer_labels(self) -> tuple[str, ...]:
        """The influencers' labels."""
        return tuple(self.labels[z] for z in self.influencers)

    def reach(self, label: str) -> tuple[int, int | None]:
        """How far back an influencer is looked for: from lag d + 1 to lag k of ``(d, k)``, None: no end."""
        return self.summary.reach(label)

    @property
    def request(self) -> StatesRequest:
        """What to have counted on other data to evaluate or update this model."""
        return StatesRequest(self.summary, self.influencers, self.target)

    def rows(self, keys: KeyArray) -> IntArray:
        """The row of ``theta`` for each key."""
        _, (mine, given) = merge_keys([self.table.keys, keys])
        row_of = np.full(len(mine) + len(given), len(mine))
        row_of[mine] = np.arange(len(mine))
        return np.asarray(row_of[given])

    def predict(self, index: Index) -> IntArray:
        """The row of ``theta`` that holds at every position."""
        ids, keys = self.summary.encode(index, self.influencers, self.labels)
        return np.asarray(self.rows(keys)[ids]) if len(keys) else ids

    def plus(self, table: StateCounts, source: CountSource, followed: Followed | None) -> Fitted:
        """Add the counts of further data; the influencers stay."""
        scale = max(self.scale, source.scale)  # 1 or the fixed point, so one divides the other
        old, new = scale // self.scale, scale // source.scale
        refuse_overflow(float(self.label_counts.sum()) * old + float(source.label_counts.sum()) * new, scale)
        return replace(
            self,
            table=StateCounts.total(
                [StateCounts(t.keys, t.counts * by) for t, by in ((self.table, old), (table, new))]
            ),
            scale=scale,
            n_sequences=self.n_sequences + source.n_sequences,
            label_counts=self.label_counts * old + source.label_counts * new,
            certificate=None,
            followed=None if self.followed is None or followed is None else self.followed + followed,
        )
