"""What a joint model sees of a history: the window in numbers, label by label, and features made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.engines import Target
from summarkov.errors import TooLargeError
from summarkov.kernels import Index, LevelArray, merge_keys
from summarkov.kernels.index import MOST_CELLS
from summarkov.models.joint_parts import Features
from summarkov.settings import check_whole
from summarkov.summaries import Summary
from summarkov.summaries.base import Encoded
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

#: The lookback of a profile, the last events among which it counts labels beside that, the longest context
#: whose followers it counts, and the last labels that it tells.
NEAR, ORDERS, LAGS = (5, 10, 20), 3, 3
#: An influencer is looked for within each of these numbers of events, and in the whole window.
WITHIN = (1, 2, 3, 5, 10, 20)
#: How many lags of an influencer are told apart: these, and any longer one.
N_LAGS = len(WITHIN) + 1
#: Lags at which an influencer may stand, beside the last event.
PLACES = (2, 3)
#: A position is told from those further in, up to this many events.
STARTS = (1, 2, 3, 5, 10, 20, 50)
#: How many own features an outcome has: its share so far, and after the last one, two and three labels.
N_HABITS = 1 + ORDERS
#: Features of one influencer: how recent, at which lag, and how often here and in the whole window.
PER_LABEL = len(WITHIN) + 1 + len(PLACES) + 2
#: A matrix with a larger share of numbers that are not 0 is kept in full, which is faster then.
_SPARSE = 0.1
#: Events that the base rates count for where a sequence's own rates are asked, and those that shorter
#: contexts count for where longer ones are.
BASE_WEIGHT, CONTEXT_WEIGHT = 5.0, 2.0
#: How many of the last labels are a context, whose followers are counted over all sequences.
CONTEXT = 2
#: How many levels a feature of trees has at most.
N_LEVELS = 24
#: Where the levels of trees begin: lags, counts, places and habits from each of these on are one level.
_LAGS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 21, 26, 31, 41, 51, 71, 101, 151, 201, 301])
_COUNTS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 21, 26, 31, 41, 51, 71, 101, 151, 201])
_HABITS = (np.arange(-10, 10) + 0.5) * 0.3  # no usual value is one of them, which rounding could move


class Profile(NamedTuple):
    """The columns of a profile, one row per position.

    ``lag[i, z]`` is how many events ago label z occurred last (0: not in the window), ``often[w][i, z]`` how
    often it is among the last ``windows[w]`` events, ``followed[o][i, x]`` how often x followed the last
    o + 1 labels before, ``recent[i, l]`` the label at lag l + 1 (its code + 1; 0: none) and ``seen[i]`` how
    many events there are to look back at. All of it within the last ``lookback`` events.
    """

    lag: CodeArray
    often: tuple[CodeArray, ...]
    followed: tuple[CodeArray, ...]
    recent: CodeArray
    seen: CodeArray


@dataclass(frozen=True)
class ProfileSummary(Summary):
    r"""For each label how long ago it occurred, how often, and how often it followed the labels just before.

    All of it within the last ``lookback`` events: the lag of the last occurrence; the number of occurrences
    among the last 5, 10 and 20 events, and in the whole window; how often the label came after the same 1, 2
    and 3 labels that stand just before the position. Beside that, the labels at lags 1 to 3, and the number
    of events in the window.

    Two histories with equal numbers are one state. With long sequences nearly all of them differ, so a table
    of states is then about as long as the data.
    """

    lookback: int = 500

    def __post_init__(self) -> None:
        check_whole("lookback", self.lookback, NEAR[-1], 100_000)

    @property
    def windows(self) -> tuple[int, ...]:
        """The windows in which occurrences are counted."""
        return *NEAR, self.lookback

    @property
    def horizon(self) -> int | None:
        return self.lookback

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        """A bound: no number is above ``lookback``, and no label above their number."""
        columns = (1 + len(self.windows) + ORDERS) * n_labels + 1
        return int((self.lookback + 1) ** columns * (n_labels + 1) ** LAGS)

    def of(self, index: Index, where: IntArray | slice = slice(None)) -> Profile:
        """The profile of some positions."""
        return self.read(self.rows(index, where), index.n_labels)

    def rows(self, index: Index, where: IntArray | slice = slice(None)) -> CodeArray:
        """The numbers of some positions, one row per position, as :meth:`read` reads them."""
        codes, m, windows = index.codes, index.n_labels, self.windows
        begin = np.repeat(index.offsets[:-1], np.diff(index.offsets))  # where each event's sequence begins
        here = np.arange(len(codes))
        at = here[where]
        width = (1 + len(windows) + ORDERS) * m + LAGS + 1
        if len(at) * width > MOST_CELLS or len(codes) * m > MOST_CELLS:
            raise TooLargeError(
                f"the windows of {len(index.codes):,} events of {index.n_labels:,} labels are too many "
                "numbers to hold; learn from a share of the sequences, or pool rare labels (PoolRare)"
            )
        rows = np.zeros((len(at), width), np.int32)
        first = [np.maximum(begin[at], at - w) for w in windows]
        for z in range(m):
            is_z = codes == z
            last = np.maximum.accumulate(np.where(is_z, here, -1))
            before = np.append(-1, last)[at]
            inside = (before >= begin[at]) & (at - before <= self.lookback)
            rows[:, z] = np.where(inside, at - before, 0)
            total = np.append(0, np.cumsum(is_z))
            for w, left in enumerate(first):
                rows[:, (1 + w) * m + z] = total[at] - total[left]
        recent = np.zeros((len(codes), LAGS), np.int32)
        for lag in range(1, LAGS + 1):
            has = np.flatnonzero(here - lag >= begin)
            recent[has, lag - 1] = codes[has - lag] + 1
        for order in range(1, ORDERS + 1):
            column, reach = (len(windows) + order) * m, self.lookback - order
            rows[:, column : column + m] = _followed(codes, begin, recent[:, :order], m, reach)[at]
        rows[:, width - 1 - LAGS : width - 1] = recent[at]
        rows[:, -1] = np.minimum(at - begin[at], self.lookback)
        return rows

    def read(self, rows: CodeArray, n_labels: int) -> Profile:
        """The columns of rows by what they mean."""
        n_windows = len(self.windows)
        blocks = [rows[:, i * n_labels : (i + 1) * n_labels] for i in range(1 + n_windows + ORDERS)]
        often, followed = tuple(blocks[1 : 1 + n_windows]), tuple(blocks[1 + n_windows :])
        return Profile(blocks[0], often, followed, rows[:, -1 - LAGS : -1], rows[:, -1])

    def encode(self, index: Index, influencers: Sequence[int], labels: Sequence[str]) -> Encoded:
        keys, (ids,) = merge_keys([self.rows(index)])
        return ids, keys

    def state(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> tuple[int, ...]:
        """The numbers themselves."""
        return tuple(key)

    def words(self, key: Sequence[int], influencers: Sequence[str], labels: Sequence[str]) -> str:
        """The labels in the window, each with its lag, the nearest first."""
        there = sorted((lag, labels[z]) for z, lag in enumerate(key[: len(labels)]) if lag)
        return ", ".join(f"{label} {lag} before" for lag, label in there) or "an empty window"


def _followed(codes: CodeArray, begin: IntArray, context: CodeArray, m: int, reach: int) -> CodeArray:
    """How often each label stood after the same context, at most ``reach`` positions ago.

    Positions of one context in one sequence are laid side by side in order; then the counts are differences
    of running sums.
    """
    counts = np.zeros((len(codes), m), np.int32)
    known = np.flatnonzero((context > 0).all(axis=1))
    group = begin[known]
    for column in context[known].T:
        group = np.unique(group * (m + 1) + column, return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    place, group = known[order], group[order]
    span = len(codes) + 1
    # The first position of the same context that is near enough.
    left = np.searchsorted(group * span + place, group * span + np.maximum(place - reach, 0))
    one_hot = np.zeros((len(place) + 1, m), np.int32)
    labelled = np.flatnonzero(codes[place] >= 0)
    one_hot[labelled + 1, codes[place[labelled]]] = 1
    running = np.cumsum(one_hot, axis=0, dtype=np.int32)
    counts[place] = running[np.arange(len(place))] - running[left]
    return counts


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

    @property
    def n_tree_features(self) -> int:
        """How many features trees may look at."""
        return (len(NEAR) + 2) * self.n_labels + 1 + N_HABITS * self.target.n_outcomes

    def columns(self, label: int) -> slice:
        """The features of one influencer."""
        return slice(label * PER_LABEL, (label + 1) * PER_LABEL)

    def of(self, profile: Profile) -> Features:
        """The features of some rows."""
        from scipy import sparse

        n, m = len(profile.seen), self.n_labels
        row, label = np.nonzero(profile.lag)
        places = [profile.recent[row, place - 1] == label + 1 for place in PLACES]
        often = [counts[row, label] for counts in profile.often[-2:]]
        values = self._of_influencer(profile.lag[row, label], places, often, profile.seen[row], label)
        start = (profile.seen[:, None] < np.array(STARTS)).astype(float)
        column = (label[:, None] * PER_LABEL + np.arange(PER_LABEL)).ravel()
        at = sparse.csr_array((values.ravel(), (np.repeat(row, PER_LABEL), column)), shape=(n, PER_LABEL * m))
        at.eliminate_zeros()
        shared = sparse.hstack([at, sparse.csr_array(start)], format="csr")
        is_full = shared.nnz > _SPARSE * n * shared.shape[1]
        return Features(shared.toarray() if is_full else shared, self._habits(profile))

    def by_lag(self, label: int) -> tuple[tuple[str, ...], FloatArray]:
        """The features of an influencer that occurred once in a long past, by how long ago, and these lags.

        The past has at least 20 events; the last lag stands for any longer time.
        """
        lags = np.array([*WITHIN, WITHIN[-1] + 1])
        places, often = [lags == place for place in PLACES], [(lags <= NEAR[-1]) * 1, np.ones(N_LAGS)]
        rows = self._of_influencer(lags, places, often, np.maximum(lags, WITHIN[-1]), [label] * N_LAGS)
        return (*map(str, WITHIN), f"{lags[-1]}+"), rows

    def _of_influencer(
        self, lag: Any, places: Sequence[BoolArray], often: Sequence[Any], seen: Any, label: Any
    ) -> FloatArray:
        """The features of an influencer that occurred, one row each: how recent, where and how often."""
        rate, sizes = self.base_rates[label], (np.minimum(seen, NEAR[-1]), seen)
        shares = [
            np.log((counts + BASE_WEIGHT * rate) / ((size + BASE_WEIGHT) * rate))
            for counts, size in zip(often, sizes, strict=True)
        ]
        return np.column_stack([*(lag <= k for k in WITHIN), lag > 0, *places, *shares]).astype(float)

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

    def context(self, profile: Profile) -> CodeArray:
        """The last labels, the last one first: their codes + 1; 0: none; above all: one that is not known."""
        recent = profile.recent[:, :CONTEXT]
        unknown = (recent == 0) & (profile.seen[:, None] > np.arange(CONTEXT))
        return np.where(unknown, np.int32(self.n_labels + 1), recent)

    # ------------------------------------------------------------------ for trees

    def levels(self, profile: Profile, habits: FloatArray) -> LevelArray:
        """What trees look at, as levels ``[feature, row]``.

        For each label how long ago it occurred (the highest level: not in the window) and how often it is
        among the last 5, 10 and 20 events and in the window; how many events there are to look back at; and
        the habits of each outcome.
        """
        lags = np.where(profile.lag == 0, len(_LAGS) + 1, np.searchsorted(_LAGS, profile.lag, side="right"))
        counts = [np.searchsorted(_COUNTS, each, side="right") for each in (*profile.often, profile.seen)]
        own = [np.searchsorted(_HABITS, each) for each in habits]
        return np.ascontiguousarray(np.column_stack([lags, *counts, *own]).T.astype(np.uint8))

    def tree_features(self, chosen: BoolArray) -> BoolArray:
        """Which features the trees of each outcome look at, if ``chosen[z, x]`` are its influencers."""
        target, n = self.target, self.target.n_outcomes
        habits = np.eye(n, dtype=bool)
        habits[: len(target.codes)] |= chosen[list(target.codes)]
        of_labels = np.tile(chosen, (1 + len(NEAR) + 1, 1))
        return np.concatenate([of_labels, np.ones((1, n), bool), np.tile(habits, (N_HABITS, 1))])
