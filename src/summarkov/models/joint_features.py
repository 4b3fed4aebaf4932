"""What a joint model sees of a history: numbers for each label in the window, and each label's own habits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.engines import Target
from summarkov.kernels import LevelArray
from summarkov.scores.softmax import Features
from summarkov.summaries.profile import Profile
from summarkov.typing import BoolArray, CodeArray, FloatArray

#: An influencer is looked for within each of these numbers of events, and in the whole window.
WITHIN = (1, 2, 3, 5, 10, 20)
#: How many lags of an influencer are told apart: these, and any longer one.
N_LAGS = len(WITHIN) + 1
#: Lags at which an influencer may stand, beside the last event.
PLACES = (2, 3)
#: A position is told from those further in, up to this many events.
STARTS = (1, 2, 3, 5, 10, 20, 50)
#: How many own features an outcome has: its share so far, and after the last one, two and three labels.
N_HABITS = 4
#: Features of one influencer: how recent, at which lag, and how often here and in the whole window.
PER_LABEL = len(WITHIN) + 1 + len(PLACES) + 2
#: A matrix with a larger share of numbers that are not 0 is kept in full, which is faster then.
_SPARSE = 0.1
#: Events that the base rates count for where a sequence's own rates are asked, and those that shorter
#: contexts count for where longer ones are.
BASE_WEIGHT, CONTEXT_WEIGHT = 5.0, 2.0
#: How many of the last labels are a context, whose followers are counted over all sequences.
CONTEXT = 2
#: In how many windows trees ask how often a label occurred.
N_TREE_COUNTS = 4
#: How many levels a feature of trees has at most.
N_LEVELS = 24
#: Where the levels of trees begin: lags, counts, places and habits from each of these on are one level.
_LAGS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 21, 26, 31, 41, 51, 71, 101, 151, 201, 301])
_COUNTS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 21, 26, 31, 41, 51, 71, 101, 151, 201])
_HABITS = (np.arange(-10, 10) + 0.5) * 0.3  # no usual value is one of them, which rounding could move


def base_rates(counts: FloatArray) -> FloatArray:
    """The share of every label, none of them 0.

    >>> base_rates(np.array([3.0, 0.0])).tolist()
    [0.875, 0.125]
    """
    return np.asarray((counts + 0.5) / (counts.sum() + 0.5 * len(counts)))


@dataclass(frozen=True)
class JointFeatures:
    """Turns profiles into features.

    The features of an influencer z are numbers that are 0 while z is not in the window: whether it occurred
    within the last 1, 2, 3, 5, 10, 20 events and at all, whether it stands 2 or 3 events back, and the
    logarithm of its share of the last 20 events, and of the window, over its base rate.

    A label's own features tell its habits in this sequence: the logarithm of its share so far over its base
    rate; and how much larger its share is after the last label, the last two and the last three (as far as
    they occurred before in this sequence), each over what the shorter one says. A share counts the shorter
    one as some events of its own, so it says nothing where there is nothing to go by.
    """

    base_rates: FloatArray  # of labels
    target: Target
    near: int

    @property
    def n_labels(self) -> int:
        """M."""
        return len(self.base_rates)

    @property
    def outcome_rates(self) -> FloatArray:
        """Base rates of the outcomes."""
        return np.asarray(self._outcomes(self.base_rates[None])[0])

    def usual(self, n: int) -> FloatArray:
        """The logarithms of the base rates of outcomes, for each of n rows."""
        return np.tile(np.log(self.outcome_rates), (n, 1))

    def _outcomes(self, each: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers of labels, ``[row, label]``, as those of outcomes; all that is no target is one."""
        chosen = each[:, list(self.target.codes)]
        if not self.target.has_residual:
            return np.asarray(chosen)
        rest = each.sum(axis=1, keepdims=True) - chosen.sum(axis=1, keepdims=True)
        return np.concatenate([chosen, rest], axis=1)

    @property
    def n_shared(self) -> int:
        """How many features all labels look at."""
        return PER_LABEL * self.n_labels + len(STARTS)

    @property
    def per_label(self) -> int:
        """How many of them belong to one influencer."""
        return PER_LABEL

    @property
    def cuts(self) -> dict[str, Any]:
        """Where features, and the levels of trees, begin, and what shares are drawn to."""
        return {
            "base": BASE_WEIGHT,
            "context": CONTEXT_WEIGHT,
            "within": list(WITHIN),
            "places": list(PLACES),
            "starts": list(STARTS),
            "lags": _LAGS.tolist(),
            "counts": _COUNTS.tolist(),
            "habits": _HABITS.tolist(),
        }

    def columns(self, label: int) -> slice:
        """The features of one influencer."""
        return slice(label * PER_LABEL, (label + 1) * PER_LABEL)

    def of(self, profile: Profile) -> Features:
        """The features of some rows."""
        from scipy import sparse

        n, m = len(profile.seen), self.n_labels
        row, label = np.nonzero(profile.lag)
        lag = profile.lag[row, label]
        seen = profile.seen[row].astype(float)
        columns: list[FloatArray | BoolArray] = [*(lag <= k for k in WITHIN), np.ones(len(row), bool)]
        columns += [profile.recent[row, place - 1] == label + 1 for place in PLACES]
        for counts, size in zip(profile.often[-2:], (np.minimum(seen, self.near), seen), strict=True):
            columns.append(self._share(counts[row, label], size, self.base_rates[label]))
        values = np.column_stack(columns).astype(float)
        start = (profile.seen[:, None] < np.array(STARTS)).astype(float)
        at = sparse.csr_array(
            (
                values.ravel(),
                (np.repeat(row, PER_LABEL), (label[:, None] * PER_LABEL + np.arange(PER_LABEL)).ravel()),
            ),
            shape=(n, PER_LABEL * m),
        )
        at.eliminate_zeros()
        shared = sparse.hstack([at, sparse.csr_array(start)], format="csr")
        is_full = shared.nnz > _SPARSE * n * shared.shape[1]
        return Features(shared.toarray() if is_full else shared, self._habits(profile))

    def context(self, profile: Profile) -> CodeArray:
        """The last labels, the last one first: their codes + 1; 0: none; above all: one that is not known."""
        recent = profile.recent[:, :CONTEXT]
        unknown = (recent == 0) & (profile.seen[:, None] > np.arange(CONTEXT))
        return np.where(unknown, np.int32(self.n_labels + 1), recent)

    def by_lag(self, label: int) -> tuple[tuple[str, ...], FloatArray]:
        """The features of an influencer that occurred once in a long past, by how long ago, and these lags.

        The past has at least 20 events; the last lag stands for any longer time.
        """
        lags = np.array([*WITHIN, WITHIN[-1] + 1])
        seen = np.maximum(lags, WITHIN[-1]).astype(float)
        n, rate = np.ones(N_LAGS, np.int32), self.base_rates[[label] * N_LAGS]
        columns = [*(lags <= k for k in WITHIN), n > 0, *(lags == place for place in PLACES)]
        near = (lags <= self.near).astype(np.int32)
        columns += [self._share(near, np.minimum(seen, self.near), rate), self._share(n, seen, rate)]
        return (*map(str, WITHIN), f"{lags[-1]}+"), np.column_stack(columns).astype(float)

    def _share(self, counts: CodeArray, size: FloatArray, rate: FloatArray) -> FloatArray:
        return np.asarray(np.log((counts + BASE_WEIGHT * rate) / ((size + BASE_WEIGHT) * rate)))

    def levels(self, profile: Profile, habits: FloatArray) -> LevelArray:
        """What trees look at, as levels ``[feature, row]``.

        For each label how long ago it occurred (the highest level: not in the window) and how often it is
        among the last 5, 10 and 20 events and in the window; how many events there are to look back at; and
        the habits of each outcome.
        """
        lags = np.where(profile.lag == 0, len(_LAGS) + 1, np.searchsorted(_LAGS, profile.lag, side="right"))
        counts = [np.searchsorted(_COUNTS, each, side="right") for each in profile.often]
        seen = np.searchsorted(_COUNTS, profile.seen, side="right")
        own = [np.searchsorted(_HABITS, each) for each in habits]
        return np.ascontiguousarray(np.column_stack([lags, *counts, seen, *own]).T.astype(np.uint8))

    def tree_features(self, chosen: BoolArray) -> BoolArray:
        """Which features the trees of each outcome look at, if ``chosen[z, x]`` are its influencers."""
        target, n = self.target, self.target.n_outcomes
        of_labels = np.tile(chosen, (N_TREE_COUNTS + 1, 1))
        habits = np.eye(n, dtype=bool)
        habits[: len(target.codes)] |= chosen[list(target.codes)]
        return np.concatenate([of_labels, np.ones((1, n), bool), np.tile(habits, (N_HABITS, 1))])

    @property
    def n_tree_features(self) -> int:
        """How many features trees may look at."""
        return (N_TREE_COUNTS + 1) * self.n_labels + 1 + N_HABITS * self.target.n_outcomes

    def _habits(self, profile: Profile) -> FloatArray:
        """The own features of every outcome, ``[order, row, x]``."""
        seen, rate = profile.seen[:, None].astype(float), self.outcome_rates
        share = (self._outcomes(profile.often[-1]) + BASE_WEIGHT * rate) / (seen + BASE_WEIGHT)
        habits = [np.log(share / rate)]
        for each in profile.followed:
            followed = self._outcomes(each)
            n = followed.sum(axis=1, keepdims=True)
            longer = (followed + CONTEXT_WEIGHT * share) / (n + CONTEXT_WEIGHT)
            habits.append(np.log(longer / share))
            share = longer
        return np.array(habits)
