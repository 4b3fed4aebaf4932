"""The parts of a joint model: what it sees of a history, a softmax, boosted trees, and the last labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov import kernels
from summarkov.engines import Target
from summarkov.errors import TooLargeError
from summarkov.kernels import Index, LevelArray, merge_keys
from summarkov.kernels.index import MOST_CELLS
from summarkov.settings import OnStep, check_whole, untold
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
    """The numbers of a :class:`Profile`. Two histories with equal numbers are one state.

    With long sequences nearly all of them differ, so a table of states is then about as long as the data.
    """

    lookback: int = 500

    def __post_init__(self) -> None:
        check_whole("lookback", self.lookback, NEAR[-1], 100_000)

    @property
    def windows(self) -> tuple[int, ...]:
        return *NEAR, self.lookback

    @property
    def horizon(self) -> int | None:
        return self.lookback

    def n_states(self, n_influencers: int, n_labels: int) -> int:
        """A bound: no number is above ``lookback``, and no label above their number."""
        columns = (1 + len(self.windows) + ORDERS) * n_labels + 1
        return int((self.lookback + 1) ** columns * (n_labels + 1) ** LAGS)

    def of(self, index: Index, where: IntArray | slice = slice(None)) -> Profile:
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
                "numbers to hold; learn from a share of the sequences, or pool rare labels (pool_rare)"
            )
        rows = np.zeros((len(at), width), np.int32)
        first = [np.maximum(begin[at], at - w) for w in windows]
        for z in range(m):
            is_z = codes == z
            before = np.append(-1, np.maximum.accumulate(np.where(is_z, here, -1)))[at]
            rows[:, z] = np.where(before >= first[-1], at - before, 0)
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
    """Turns profiles into the features that :class:`JointSuMM` names.

    Those of an influencer are 0 while it is not in the window. Shares are logarithms of shares over base
    rates; habits after the last labels are over what one label less says. A share counts the shorter one
    as some events of its own, so it says nothing where there is nothing to go by.
    """

    base_rates: FloatArray  # of labels
    target: Target

    @property
    def n_labels(self) -> int:
        return len(self.base_rates)

    @property
    def outcome_rates(self) -> FloatArray:
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
        return slice(label * PER_LABEL, (label + 1) * PER_LABEL)

    def of(self, profile: Profile) -> Features:
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
        places, often = [lags == place for place in PLACES], [lags <= NEAR[-1], np.ones(N_LAGS)]
        rows = self._of_influencer(lags, places, often, np.maximum(lags, WITHIN[-1]), [label] * N_LAGS)
        return (*map(str, WITHIN), f"{lags[-1]}+"), rows

    def _of_influencer(
        self, lag: Any, places: Sequence[BoolArray], often: Sequence[Any], seen: Any, label: Any
    ) -> FloatArray:
        """The features of an influencer that occurred, one row each: how recent, where and how often."""
        weight, sizes = BASE_WEIGHT * self.base_rates[label], (np.minimum(seen, NEAR[-1]), seen)
        shares = [
            np.log((counts + weight) / ((size + BASE_WEIGHT) * self.base_rates[label]))
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
        """What trees look at, as levels ``[feature, row]``: the profile, but for recent labels, and habits.

        The highest level of a lag means that the label is not in the window.
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


#: When the search for the best weights stops: steps at most, and the relative gain of one.
MOST_STEPS, LEAST_GAIN = 300, 1e-7
#: How many numbers may say which weights are searched for together.
_MOST_FACTORS = 1 << 21
#: Gradients are added up as whole multiples of this, so that sums do not depend on their order.
_UNIT = 2.0**-30
#: A split must gain more than this, and a leaf have this much to go by (the variance of its hits).
_LEAST_GAIN, _LEAST_VARIANCE = 1e-6, 1e-3
#: The penalty of the square of a leaf's value.
_LEAF_PENALTY = 10.0
#: The share of features that a tree may look at, and of rows that a round does.
_FEATURES, _ROWS = 0.5, 0.8


# ---------------------------------------------------------------------- softmax


@dataclass(frozen=True)
class Weights:
    """The weights of a softmax, ``every[weight, x]``: of the level, of shared features, of a label's own."""

    every: FloatArray
    n_shared: int

    @classmethod
    def zero(cls, n_labels: int, n_shared: int, n_own: int) -> Weights:
        return cls(np.zeros((1 + n_shared + n_own, n_labels)), n_shared)

    @property
    def level(self) -> FloatArray:
        """``level[x]`` is for every row."""
        return np.asarray(self.every[0])

    @property
    def shared(self) -> FloatArray:
        """``shared[f, x]`` is for a feature that all labels look at."""
        return np.asarray(self.every[1 : 1 + self.n_shared])

    @property
    def own(self) -> FloatArray:
        """``own[o, x]`` is for the o-th feature that a label x has for itself."""
        return np.asarray(self.every[1 + self.n_shared :])


class Features(NamedTuple):
    """One row per state: features for all labels (a matrix, sparse or not), and those of each label."""

    shared: Any  # [row, feature]
    own: FloatArray  # [o, row, x]

    def logits(self, weights: Weights) -> FloatArray:
        """The logarithm of each label's probability, up to a number per row."""
        z = np.asarray(self.shared @ weights.shared)
        z += weights.level
        z += np.einsum("orx,ox->rx", self.own, weights.own)
        return z

    def sums(self, values: FloatArray, power: int = 1) -> FloatArray:
        """The sums over rows of ``values[row, x]`` times each feature, or times a power of it."""
        shared, own = (self.shared, self.own) if power == 1 else (self.shared**power, self.own**power)
        return np.vstack([values.sum(axis=0), shared.T @ values, np.einsum("orx,rx->ox", own, values)])


def dense(matrix: Any) -> FloatArray:
    """A matrix in full, whether or not it is a sparse one."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def softmax(logits: FloatArray) -> FloatArray:
    """Probabilities from their logarithms, which may all be off by one number per row.

    >>> softmax(np.log([[1.0, 3.0]])).round(3)
    array([[0.25, 0.75]])
    """
    p = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def likelihood(logits: FloatArray, counts: FloatArray) -> tuple[float, FloatArray]:
    """Log-likelihood of ``counts[row, x]``, and how often each label is expected.

    >>> value, expected = likelihood(np.log([[1.0, 3.0]]), np.array([[2.0, 1.0]]))
    >>> round(value, 3), expected.tolist()
    (-3.06, [[0.75, 2.25]])
    """
    n = counts.sum(axis=1, keepdims=True)
    top = logits.max(axis=1, keepdims=True, initial=-np.inf)
    expected = np.exp(logits - top)
    total = expected.sum(axis=1, keepdims=True)
    value = float((counts * logits).sum() - n[:, 0] @ (top + np.log(total))[:, 0])
    return value, np.asarray(expected / total * n)


def penalised(
    features: Features, counts: FloatArray, weights: Weights, penalty: FloatArray
) -> tuple[float, FloatArray]:
    r"""The penalised log-likelihood, and its gradient.

    .. math:: \sum_{s,x} N(x; s) \log p(x \mid s) - \frac12 \sum_j \lambda_j w_j^2

    with p the softmax of :math:`w_x + \sum_f w_{fx} f(s) + \sum_o w_{ox} o_x(s)`.
    """
    value, expected = likelihood(features.logits(weights), counts)
    squares = Weights(penalty * weights.every**2, weights.n_shared)
    for part in (squares.level, squares.shared, squares.own):
        value -= float(0.5 * part.sum())
    return value, features.sums(counts - expected) - penalty * weights.every


def maximise(
    features: Features, counts: FloatArray, penalty: FloatArray, start: Weights, on_step: OnStep = untold
) -> Weights:
    """The weights of the largest penalised likelihood, by L-BFGS on weights that hardly depend on each other.

    A weight whose penalty is infinite stays at 0. ``on_step`` is called after each step with the most that
    may follow.
    """
    from scipy.optimize import minimize

    n, free = max(counts.sum(), 1.0), np.isfinite(penalty)
    inner, begin, factors = (
        np.where(free, penalty, 0.0),
        start.every * free,
        list(_factors(features, counts, penalty, start)),
    )

    def at(steps: FloatArray) -> Weights:
        every, steps = begin.copy(), steps.reshape(penalty.shape)
        for some, factor in factors:
            every[some] += np.einsum("xji,jx->ix", factor, steps[some])
        return Weights(every, start.n_shared)

    def value(steps: FloatArray) -> tuple[float, FloatArray]:
        found, gradient = penalised(features, counts, at(steps), inner)
        slopes = [np.einsum("xij,jx->ix", factor, gradient[some]) for some, factor in factors]
        return -found / n, -np.concatenate(slopes).ravel() / n

    left = count(MOST_STEPS - 1, -1)
    best = minimize(
        value,
        np.zeros(penalty.size),
        jac=True,
        method="L-BFGS-B",
        callback=lambda _: on_step(next(left)),
        options={"maxiter": MOST_STEPS, "maxcor": 20, "ftol": LEAST_GAIN, "gtol": 1e-7},
    )
    return at(best.x)


def _factors(
    features: Features, counts: FloatArray, penalty: FloatArray, start: Weights
) -> Iterator[tuple[slice, FloatArray]]:
    r"""Groups of weights, and for each outcome the inverse of the Cholesky factor of about their curvature.

    At some weights, and as if rows were as uncertain for one outcome as for all of them: then outcomes share
    the sums of products of shared features. Rows of weights with an infinite penalty are 0.
    """
    p = softmax(features.logits(start))
    variance = counts.sum(axis=1, keepdims=True) * p * (1 - p)
    rows, shares = variance.sum(axis=1), variance.sum(axis=0) / max(variance.sum(), 1e-300)
    n_shared, n_outcomes = 1 + features.shared.shape[1], counts.shape[1]

    def inverse(sums: FloatArray, some: slice) -> tuple[slice, FloatArray]:
        held = penalty[some].T
        free, places = np.isfinite(held), np.arange(held.shape[1])
        curvature = np.where(free[:, :, None] & free[:, None, :], shares[:, None, None] * sums, 0.0)
        curvature[:, places, places] += np.where(free, held, 1.0)
        return some, np.asarray(np.linalg.inv(np.linalg.cholesky(curvature)) * free[:, :, None])

    size = max(1, _MOST_FACTORS // (n_shared * n_outcomes))
    for begin in range(0, n_shared, size):
        some = slice(begin, min(begin + size, n_shared))
        part = dense(features.shared[:, max(begin - 1, 0) : some.stop - 1])
        part = part if begin else np.column_stack([np.ones(len(part)), part])
        yield inverse(part.T @ (rows[:, None] * part), some)
    own = np.einsum("orx,prx,r->xop", features.own, features.own, rows, optimize=True)
    yield inverse(own, slice(n_shared, n_shared + len(features.own)))


# ---------------------------------------------------------------------- boosted trees


@dataclass(frozen=True)
class Trees:
    """Trees of all outcomes, round by round: tree t is for outcome ``t % n_outcomes``.

    Split k of tree t sends the rows of leaf ``leaf[t, k]`` whose level of ``feature[t, k]`` is above
    ``level[t, k]`` to leaf k + 1; where there are fewer splits the leaf is -1. ``value[t, l]`` is added to
    the logarithm of the outcome's probability.
    """

    leaf: CodeArray
    feature: CodeArray
    level: CodeArray
    value: FloatArray
    n_outcomes: int

    @classmethod
    def none(cls, n_outcomes: int, leaves: int) -> Trees:
        empty = np.zeros((0, leaves - 1), np.int32)
        return cls(empty, empty, empty, np.zeros((0, leaves)), n_outcomes)

    def __len__(self) -> int:
        return len(self.value)

    def add_to(self, logits: FloatArray, levels: LevelArray) -> None:
        """Add what the trees say of rows with these ``levels[feature, row]``."""
        logits += kernels.said_by_trees(
            levels, self.leaf, self.feature, self.level, self.value, self.n_outcomes
        ).T


def boost(
    levels: LevelArray | None,
    counts: FloatArray,
    logits: FloatArray,
    leaves: int,
    learning_rate: float,
    rounds: Sequence[int],
    seed: int,
    allowed: BoolArray,
    on_step: OnStep = untold,
) -> Iterator[tuple[Trees, FloatArray]]:
    r"""Grow one tree per outcome in each round; yield the trees, and ``logits`` with what they add.

    Both after each of the numbers of ``rounds``, which grow; so trees are grown only as far as is asked for.

    With p the softmax so far, a leaf l of a tree for x has

    .. math:: v = \eta \frac{G_l}{H_l + \lambda}, \quad
              G_l = \sum_{s \in l} N(x; s) - N(s) p(x|s), \quad H_l = \sum_{s \in l} N(s) p(x|s) (1 - p(x|s))

    a Newton step of the log-likelihood, of which ``learning_rate`` is the share that is taken. Splits are
    those with the largest gain in :math:`G^2 / (H + \lambda)`. ``counts[row, x]`` and ``logits[row, x]``
    belong to ``levels[feature, row]``, which may be None where no tree grows; ``allowed[feature, x]`` says
    what the trees of an outcome may look at; ``on_step`` is called after each round with the rounds left.

    Reference: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29
    (2001), with Newton steps as in Friedman, Hastie, Tibshirani, "Additive logistic regression" (2000).
    """
    rng, n_outcomes = np.random.default_rng(seed), counts.shape[1]
    grown, logits, n = [Trees.none(n_outcomes, leaves)], logits.copy(), counts.sum(axis=1, keepdims=True)
    whole = np.empty((*counts.T.shape, 2), np.int64)
    if levels is not None:
        grow, n_levels = kernels.tree_grower(levels), int(levels.max(initial=0)) + 1
        growth = kernels.Growth(n_levels, leaves, _LEAF_PENALTY, _UNIT, _LEAST_GAIN, _LEAST_VARIANCE)
    for done in range(rounds[-1] + 1):
        if done in rounds:
            leaf, feature, level, value = (
                np.concatenate([getattr(one, part) for one in grown])
                for part in ("leaf", "feature", "level", "value")
            )
            grown = [Trees(leaf, feature, level, value, n_outcomes)]
            yield grown[0], logits.copy()
        if levels is None or done == rounds[-1]:
            return
        p = softmax(logits)
        expected = n * p
        whole[..., 0] = np.round((counts - expected) / _UNIT).T
        whole[..., 1] = np.round(expected * (1 - p) / _UNIT).T
        rows = np.flatnonzero(rng.random(len(n)) < _ROWS).astype(np.int32)
        features = allowed.T & (rng.random(allowed.T.shape) < _FEATURES)
        leaf, feature, level, sums = grow(features, rows, whole, growth)
        gradient, variance = np.moveaxis(sums * _UNIT, -1, 0)
        value = learning_rate * gradient / (variance + _LEAF_PENALTY)
        grown.append(Trees(leaf, feature, level, value, n_outcomes))
        grown[-1].add_to(logits, levels)
        on_step(rounds[-1] - done - 1)


# ---------------------------------------------------------------------- what followed the last labels


class Followers(NamedTuple):
    """What contexts of one length give every outcome, and what each leaves to the shorter one."""

    rows: dict[tuple[int, ...], int]  # the row of each context
    own: FloatArray  # [context, outcome]
    left: FloatArray  # [context]


@dataclass(frozen=True, eq=False)
class LastLabels:
    """Interpolated Kneser-Ney smoothing: the distribution after the last labels.

    The probability after k labels is what their counts say, less a discount, and the rest goes to what is
    said after the last k - 1. There an outcome does not count as often as it occurred, but once for each
    different label before. What stands under all is that outcomes are equally likely.

    ``keys[c]`` are the codes of a context, the last label first; ``counts[c, x]`` is how often x followed;
    ``levels`` tells of contexts by their length, from 0 on.

    >>> after = LastLabels.of(np.array([[1], [2]], np.int32), np.array([[3.0, 1.0], [0.0, 2.0]]))
    >>> after.at(np.array([[1], [2], [3]], np.int32)).round(3).tolist()
    [[0.722, 0.278], [0.056, 0.944], [0.333, 0.667]]

    Reference: Kneser and Ney, "Improved backing-off for m-gram language modeling", ICASSP 1995.
    """

    keys: CodeArray
    counts: FloatArray
    levels: tuple[Followers, ...]

    @classmethod
    def of(cls, keys: CodeArray, counts: FloatArray) -> LastLabels:
        """From rows that may have equal contexts; those without any count are left out.

        The discount is the one that Ney, Essen and Kneser estimate from the counts of 1 and of 2.
        """
        seen, levels, first = counts.sum(axis=1) > 0, list[Followers](), None
        keys, counts = keys[seen], counts[seen]
        for length in range(keys.shape[1], -1, -1):
            keys, where = np.unique(keys[:, :length], axis=0, return_inverse=True)
            sums = np.zeros((len(keys), counts.shape[1]))
            np.add.at(sums, where.reshape(-1), counts)
            first, counts = first or (keys, sums), (sums > 0).astype(float)
            once, twice = int(((sums > 0) & (sums <= 1)).sum()), int(((sums > 1) & (sums <= 2)).sum())
            taken = np.minimum(sums, once / (once + 2 * twice) if once else 0.5)
            rows = {tuple(key): row for row, key in enumerate(keys.tolist())}
            total = sums.sum(axis=1)
            levels.insert(0, Followers(rows, (sums - taken) / total[:, None], taken.sum(axis=1) / total))
        assert first is not None  # there is a context of no labels
        return cls(*first, tuple(levels))

    def at(self, keys: CodeArray) -> FloatArray:
        """The distribution after each context."""
        n = self.counts.shape[1]
        p, every = np.full((len(keys), n), 1 / n), list(map(tuple, keys.tolist()))
        for length, level in enumerate(self.levels):
            found = np.array([level.rows.get(key[:length], -1) for key in every], np.int64)
            known = np.flatnonzero(found >= 0)
            p[known] = level.own[found[known]] + level.left[found[known], None] * p[known]
        return p
