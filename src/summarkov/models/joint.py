"""``JointSuMM``: one softmax over all labels, in which each label keeps its own influencers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import repeat
from statistics import NormalDist
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from summarkov.engines import EventSource, Layout, StateCounts, StatesRequest, Target, as_source
from summarkov.engines.followings import Asked, count_followed
from summarkov.errors import DataError, SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import Label, Unknown, label_text
from summarkov.evidence import Influence, effect_of, follow_numbers
from summarkov.evidence.explanation import Share, SharedExplanation, ordered
from summarkov.evidence.words import headline
from summarkov.frames import Sheet
from summarkov.kernels import Index
from summarkov.models.fitted import Edges, one_sequence
from summarkov.models.graph import GraphPredictor
from summarkov.models.joint_parts import (
    N_HABITS,
    N_LAGS,
    PER_LABEL,
    Features,
    JointFeatures,
    LastLabels,
    Profile,
    ProfileSummary,
    Trees,
    Weights,
    base_rates,
    boost,
    dense,
    likelihood,
    maximise,
    softmax,
)
from summarkov.models.learning import check_in_a_row
from summarkov.models.parameters import codes_of, target_codes
from summarkov.models.prediction import OTHER, Distribution, Residual, next_places
from summarkov.settings import (
    OnStep,
    Progress,
    check_level,
    check_positive,
    check_seed,
    check_share,
    check_whole,
    step_counter,
    untold,
)
from summarkov.simulate.draw import draw_sequences
from summarkov.summaries import Reach
from summarkov.typing import BoolArray, CodeArray, FloatArray, IntArray

T = TypeVar("T")
#: The penalties to choose from, each fit beginning where the one before ended.
PENALTIES = (1e4, 1e3, 1e2, 1e1, 1.0, 0.1)
#: A leaf of a tree is one byte.
_MOST_LEAVES = 64
#: A label's own past, its habits and its level have less of the penalty: there is more to learn of them.
OWN_SHARE, LEVEL_PENALTY = 0.1, 1e-3
#: Of a 95% interval, and of as many as there are lags of an influencer, all of which hold at 95%.
_Z, _Z_LAGS = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(1 - 0.025 / N_LAGS)


@dataclass(frozen=True)
class FittedJoint(Distribution):
    """What a :class:`JointSuMM` learned; its trees are those on top of the weights, and those ``alone``."""

    summary: ProfileSummary
    labels: tuple[str, ...]
    features: JointFeatures
    weights: Weights
    chosen: BoolArray  # [z, x]: whether z is an influencer of x
    trees: Trees
    alone: Trees
    last: LastLabels | None
    edges: tuple[Influence, ...]
    gains: FloatArray  # [z, x]
    log_likelihood: float
    n_sequences: int
    label_counts: FloatArray
    settings: Mapping[str, Any]
    penalty: float  # given, or chosen

    @property
    def outcomes(self) -> tuple[str | Residual, ...]:
        target = self.features.target
        names = tuple(self.labels[code] for code in target.codes)
        return (*names, OTHER) if target.has_residual else names

    @property
    def horizon(self) -> int | None:
        return self.summary.horizon

    @property
    def overall(self) -> FloatArray:
        return self.features.outcome_rates

    @property
    def n_events(self) -> float:
        return float(self.label_counts.sum())

    @property
    def contexts(self) -> float:
        return float(self.settings["contexts"])

    def read(self, events: Any, unknown: Unknown = "error") -> EventSequences:
        data = super().read(events, unknown)
        check_in_a_row("JointSuMM", Layout(data.has_ticks))
        return data

    def after(self, histories: CodeArray) -> FloatArray:
        if self.features.target.has_residual:
            raise SettingError("this needs all labels told apart; fit the model without targets=")
        return super().after(histories)

    def at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        return self.predicted(self.summary.of(index, positions))

    def predicted(self, profile: Profile) -> FloatArray:
        """Probabilities at some positions."""
        rows = self.features.of(profile)
        found = rows.logits(self.weights)
        if len(self.trees):
            levels, alone = self.features.levels(profile, rows.own), self.features.usual(len(found))
            self.trees.add_to(found, levels)
            self.alone.add_to(alone, levels)
            found = 0.5 * (found + alone)
        after = None if self.last is None else self.last.at(self.features.context(profile))
        return softmax(_pooled(found, after, self.contexts))

    def explain(self, index: Index, ends: IntArray, outcome: int) -> SharedExplanation:
        """Why an outcome has its probability at one place: a product of factors."""
        profile, rates = self.summary.of(index, ends), self.features.outcome_rates
        rows, share = self.features.of(profile), (1 - self.contexts) * (0.5 if len(self.trees) else 1.0)
        (row,), (lags,) = dense(rows.shared), profile.lag.tolist()
        shares = []
        for z in np.flatnonzero(self.chosen[:, outcome]).tolist():
            if lags[z]:
                columns = self.features.columns(z)
                added = float(row[columns] @ self.weights.shared[columns, outcome])
                shares.append(Share(self.labels[z], lags[z], math.exp(share * added)))
        start, base_rate = PER_LABEL * len(self.labels), float(rates[outcome])
        level = self.weights.level + row[start:] @ self.weights.shared[start:]
        there = np.exp(share * (level - np.log(rates)))
        by_trees = np.zeros((1, len(rates)))
        for trees in (self.trees, self.alone) if len(self.trees) else ():
            trees.add_to(by_trees, self.features.levels(profile, rows.own))
        (probabilities,) = self.predicted(profile)
        after = (
            1.0 if self.last is None else self.last.at(self.features.context(profile))[0, outcome] / base_rate
        )
        rest = {
            "habits": math.exp(share * float(rows.own[:, 0, outcome] @ self.weights.own[:, outcome])),
            "place": float(there[outcome] / (rates @ there)),
            "trees": math.exp(share * float(by_trees[0, outcome])),
            "contexts": float(after**self.contexts),
        }
        told = base_rate * math.prod(one.factor for one in shares) * math.prod(rest.values())
        return SharedExplanation(
            target=self.labels[self.features.target.codes[outcome]],
            probability=float(probabilities[outcome]),
            base_rate=base_rate,
            shares=ordered(shares),
            competition=float(probabilities[outcome]) / told,
            **rest,
        )


def _pooled(both: FloatArray, after: FloatArray | None, contexts: float) -> FloatArray:
    """Logarithms of probabilities with those ``after`` the last labels, which have the share ``contexts``."""
    return both if after is None or not contexts else (1 - contexts) * both + contexts * np.log(after)


# ---------------------------------------------------------------------- how it is learned


@dataclass(frozen=True)
class JointData:
    """What was counted: one row per state."""

    summary: ProfileSummary
    features: JointFeatures
    profile: Profile
    counts: FloatArray  # [row, outcome]

    @classmethod
    def of(cls, source: EventSource, target: Target, summary: ProfileSummary) -> JointData:
        """Count the states of a source, in one pass."""
        (table,) = source.count([StatesRequest(summary, (), target)])
        assert isinstance(table, StateCounts)
        counts = table.counts / source.scale
        if not counts.sum():
            raise DataError("there are no events to learn from; the sequences are all empty or have weight 0")
        features = JointFeatures(base_rates(source.label_counts / source.scale), target)
        return cls(summary, features, summary.read(table.keys, len(source.labels)), counts)

    @cached_property
    def rows(self) -> Features:
        return self.features.of(self.profile)

    @cached_property
    def present(self) -> BoolArray:
        """Whether each label is in the window, ``[row, label]``."""
        return np.asarray(self.profile.lag > 0)

    def penalties(self, penalty: float, chosen: BoolArray) -> Weights:
        """The penalty of every weight; infinite for labels that are no influencer (``chosen[z, x]``)."""
        target = self.features.target
        each = np.where(chosen, float(penalty), np.inf)
        each[list(target.codes), np.arange(len(target.codes))] *= OWN_SHARE
        found = Weights.zero(target.n_outcomes, self.features.n_shared, N_HABITS)
        found.every[:] = penalty
        found.level[:], found.own[:] = LEVEL_PENALTY, penalty * OWN_SHARE
        found.shared[: len(each) * PER_LABEL] = np.repeat(each, PER_LABEL, axis=0)
        return found

    def gains(self, weights: Weights) -> FloatArray:
        r"""What the log-likelihood loses without each influencer of each outcome: ``[z, x]`` in nats.

        With :math:`c_s` what z adds to the logarithm of x, and d that less its mean over the events x, it is

        .. math:: \sum_s N(x; s) d_s + N(s) \log (1 - p(x|s) + p(x|s) e^{-d_s})

        exactly, where its place is taken by its mean and all other weights stay.
        """
        p, n = softmax(self.rows.logits(weights)), self.counts.sum(axis=1)
        hits = np.maximum(self.counts.sum(axis=0), 1e-300)
        found = np.zeros((self.features.n_labels, self.counts.shape[1]))
        for z in range(len(found)):
            columns = self.features.columns(z)
            added = np.asarray(self.rows.shared[:, columns] @ weights.shared[columns])
            rest = added - (self.counts * added).sum(axis=0) / hits
            found[z] = (self.counts * rest).sum(axis=0) + n @ np.log1p(p * np.expm1(-rest))
        return found

    def variance(self, weights: Weights) -> FloatArray:
        p = softmax(self.rows.logits(weights))
        return np.asarray(self.counts.sum(axis=1, keepdims=True) * p * (1 - p))

    def free(self, weights: Weights, penalty: float) -> tuple[FloatArray, float]:
        r"""How many weights the penalty leaves free, of each influencer ``[z, x]`` and of all else.

        The trace of :math:`(H + \Lambda)^{-1} H`, H what the likelihood says of them, :math:`\Lambda` their
        penalties. The rest are those of levels, places and habits.
        """
        variance, (m, n) = self.variance(weights), (self.features.n_labels, self.counts.shape[1])
        held, sizes = self.penalties(penalty, np.ones((m, n), bool)), np.zeros((m, n))
        for z in range(m):
            here, columns = np.flatnonzero(self.present[:, z]), self.features.columns(z)
            seen = dense(self.rows.shared[here][:, columns])
            sizes[z] = _free(repeat(seen), variance[here], held.shared[columns])
        first = self.features.columns(m).start
        shared = np.column_stack([np.ones(len(variance)), dense(self.rows.shared[:, first:])])
        others = (np.column_stack([shared, own.T]) for own in np.moveaxis(self.rows.own, -1, 0))
        rest = np.delete(held.every, slice(1, 1 + first), axis=0)
        return sizes, float(_free(others, variance, rest).sum())

    def select(
        self, penalty: float | None, gamma: float, on_step: OnStep
    ) -> tuple[float, Weights, BoolArray]:
        """The penalty, weights, and the influencers of each outcome that are worth their cost.

        All labels are fitted together. A penalty that is not given is that with the best AIC: the
        log-likelihood less the number of free weights. Then influencers whose gain is not above ``gamma``
        times log(N) / 2 for each free weight, or for one if there are fewer, are left out. The rest is fitted
        again, with that penalty or a smaller one, until all that are left are worth it, ``chosen[z, x]``.
        """
        rates, log_n = self.features.outcome_rates, np.log(max(self.counts.sum(), 2.0))
        chosen = np.repeat(np.asarray(self.present.any(axis=0))[:, None], len(rates), axis=1)
        start = Weights.zero(len(rates), self.features.n_shared, N_HABITS)
        start.level[:] = np.log(rates)
        path: tuple[float, ...] = PENALTIES if penalty is None else (penalty,)
        while True:
            best = -np.inf
            for each in path:
                found = maximise(self.rows, self.counts, self.penalties(each, chosen).every, start, on_step)
                free, rest = self.free(found, each)
                free *= chosen
                aic = likelihood(self.rows.logits(found), self.counts)[0] - free.sum() - rest
                if aic <= best:
                    break
                best, strength, start, sizes = aic, each, found, free
            cost = 0.5 * gamma * log_n * np.maximum(sizes, 1.0)
            worth = chosen & (self.gains(start) > cost) if gamma else chosen
            if (worth == chosen).all():
                return strength, start, chosen
            chosen, path = worth, path[path.index(strength) :]


def _free(seen: Iterable[FloatArray], variance: FloatArray, held: FloatArray) -> FloatArray:
    """The free weights of each outcome x, from the features seen, ``[row, f]``, and penalties, ``[f, x]``."""
    information = np.array(
        [one.T @ (each[:, None] * one) for one, each in zip(seen, variance.T, strict=False)]
    )
    penalised = information + held.T[:, :, None] * np.eye(len(held))
    return np.asarray(np.trace(np.linalg.solve(penalised, information), axis1=1, axis2=2))


def learn_each(
    data: JointData,
    source: EventSource,
    settings: Mapping[str, Any],
    rounds: Sequence[int],
    on_step: OnStep = untold,
) -> Iterator[FittedJoint]:
    """What is learned with each of these numbers of rounds, which grow; the settings are those of a model."""
    most, labels, share = rounds[-1], tuple(source.labels), settings["contexts"]
    with threadpool_limits(limits=1):  # in products as small as these, more threads only wait for each other
        penalty, weights, chosen = data.select(
            settings["penalty"], settings["gamma"], lambda left: on_step(left + 2 * most + 1)
        )
        gains, edges = data.gains(weights), list(joint_edges(data, weights, chosen, penalty, labels))
        starts = data.rows.logits(weights), data.features.usual(len(data.counts))
    levels = data.features.levels(data.profile, data.rows.own) if most else None
    allowed, seed = data.features.tree_features(chosen), settings["random_state"]
    how = settings["leaves"], settings["learning_rate"], rounds, seed, allowed
    on_top = boost(levels, data.counts, starts[0], *how, lambda left: on_step(left + most + 1))
    by_themselves = boost(levels, data.counts, starts[1], *how, lambda left: on_step(left + 1))
    context = data.features.context(data.profile)
    last = LastLabels.of(context, data.counts) if share else None
    after = None if last is None else last.at(context)
    window = Reach(0, settings["lookback"])
    asked = [
        Asked((labels.index(edge.influencer),), (window,), (labels.index(edge.target),)) for edge in edges
    ]
    for at, found in enumerate(count_followed(source, asked)):
        if found is not None:
            edges[at] = replace(edges[at], **follow_numbers(found[0][0]))
    label_counts = np.asarray(source.label_counts / source.scale)
    for n, (trees, said), (alone, said_alone) in zip(rounds, on_top, by_themselves, strict=True):
        both = 0.5 * (said + said_alone) if n else said
        yield FittedJoint(
            summary=data.summary,
            labels=labels,
            features=data.features,
            weights=weights,
            chosen=chosen,
            trees=trees,
            alone=alone,
            last=last,
            edges=tuple(edges),
            gains=gains,
            log_likelihood=likelihood(_pooled(both, after, share), data.counts)[0],
            n_sequences=source.n_sequences,
            label_counts=label_counts,
            settings={**settings, "rounds": n},
            penalty=penalty,
        )


def joint_edges(
    data: JointData, weights: Weights, chosen: BoolArray, penalty: float, labels: Sequence[str]
) -> Iterator[Influence]:
    r"""An edge for each influencer of each target, with the factor of its odds and an interval.

    With a the mean features of z over the positions at which it is in the window, the factor is :math:`e^{a
    \cdot w}`. Its variance is :math:`a^T (H + \Lambda)^{-1} a`, H the information of the likelihood about the
    weights of z (all others held) and :math:`\Lambda` their penalties.
    """
    variance, n = data.variance(weights), data.counts.sum(axis=1)
    penalties, codes = data.penalties(penalty, chosen).shared, data.features.target.codes
    hits = data.counts.sum(axis=0)
    for z, influences in enumerate(chosen[:, : len(codes)]):
        here, columns = np.flatnonzero(data.present[:, z]), data.features.columns(z)
        if not influences.any() or not (n_with := float(n[here].sum())):
            continue
        seen = dense(data.rows.shared[here][:, columns])
        mean = n[here] @ seen / n_with
        for x in np.flatnonzero(influences).tolist():
            information = seen.T @ (variance[here, x, None] * seen) + np.diag(penalties[columns, x])
            log_factor = float(mean @ weights.shared[columns, x])
            width = _Z * math.sqrt(float(mean @ np.linalg.solve(information, mean)))
            low, high = math.exp(log_factor - width), math.exp(log_factor + width)
            effect, depends = effect_of(low, high), ""
            if effect == "unclear" and (depends := _by_lag(data, z, weights.shared[columns, x], information)):
                effect = "mixed"
            hits_with = float(data.counts[here, x].sum())
            yield Influence(
                influencer=labels[z],
                target=labels[codes[x]],
                effect=effect,
                ratio=math.exp(log_factor),
                low=low,
                high=high,
                hits_with=hits_with,
                n_with=n_with,
                hits_without=float(hits[x]) - hits_with,
                n_without=float(n.sum()) - n_with,
                interval="likelihood",
                depends=depends,
            )


def _by_lag(data: JointData, label: int, weights: FloatArray, information: FloatArray) -> str:
    """When an influencer amplifies and when it inhibits, where it surely does both; else nothing.

    Sure is what holds for all lags of ``recency_`` together, by Bonferroni.
    """
    lags, rows = data.features.by_lag(label)
    width = _Z_LAGS * np.sqrt((rows * np.linalg.solve(information, rows.T).T).sum(axis=1))
    more, less = (
        [lag for lag, is_sure in zip(lags, side @ weights > width, strict=True) if is_sure]
        for side in (rows, -rows)
    )
    if not (more and less):
        return ""
    return f"more likely {', '.join(more)} events after it, less likely {', '.join(less)}"


@dataclass(eq=False, repr=False)
class JointSuMM(GraphPredictor):
    r"""One distribution over all labels, log-linear in what each label's own influencers did.

    .. math::

        p(x \mid h) \propto
        \exp \Bigl( w_x + \sum_{z \in U_x} w_{xz} \cdot f_z(h) + v_x \cdot g_x(h) + t_x(h) \Bigr)

    It sums to 1 by construction: that a label takes the room of others is part of the model.

    - :math:`f_z` tells of an influencer z: whether it occurred within the last 1, 2, 3, 5, 10, 20 events and
      at all, whether it stands 2 or 3 events back, and its share of the last 20 events and of the window.
    - :math:`g_x` are the habits of this sequence: the share of x in it so far, and its share after the last
      label, the last two and the last three. Beside them stands the place in the sequence.
    - :math:`t_x` is a sum of small trees, for what no such sum can say; none unless asked for by ``rounds``.
      Then the logarithm is the mean of two: of the sum above, and of as many trees that stand alone, on top
      of base rates. Weights and trees err in different ways, so their mean predicts better than either.
    - With ``contexts``, the logarithm of what followed the last two labels in all sequences (Kneser and Ney's
      estimate) has that share, and the above has the rest. It helps where there are few, short sequences.

    The weights are those of the largest likelihood less ``penalty`` / 2 times their squares (a tenth of it
    for a label's own past and habits). Then influencers that are not worth their cost are left out.

    Parameters
    ----------
    targets : labels, optional
        Tell only these labels apart, and all others as one outcome, ``OTHER``; their influencers may be any.
    penalty : float, optional
        How strongly weights are held to 0. If it is not given, that of 0.1, 1, ..., 10,000 with the best AIC,
        ``penalty_``. To predict as well as possible choose it, ``rounds`` and ``contexts`` on held-out
        sequences: ``joint-boosted`` of :func:`summarkov.compare`.
    gamma : float
        Weight of an influencer's cost, log(N) / 2 for each of its weights that the penalty leaves free; 0
        leaves out none.
    rounds : int
        Trees of every label.
    leaves, learning_rate
        The most leaves of a tree, and the share of the best step that each takes.
    contexts : float
        The share, from 0 to 1, of what followed the last two labels in all sequences.
    lookback : int
        How many events back the model looks at most.
    random_state : int
        Of the rows and features that each tree is grown on.
    n_jobs : int, optional
        Threads that count; None is one, -1 one per core. The result does not depend on it.

    Examples
    --------
    >>> events = [["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5
    >>> model = JointSuMM(penalty=1.0).fit(events)
    >>> model.predict_next([["A"], ["C", "A", "B"]]).most_likely
    ('B', 'C')
    >>> model.predict_proba(events[:1]).sum(axis=1).round(6).tolist() == [1.0] * 12
    True

    It is learned from counts of states, so from files larger than memory and from Spark as well; but the
    states themselves, about one per event of long sequences, must fit into memory.
    """

    _learned: ClassVar[str] = "_fitted"

    _: KW_ONLY
    targets: Iterable[Label] | None = None
    penalty: float | None = None
    gamma: float = 0.5
    rounds: int = 0
    leaves: int = 4
    learning_rate: float = 0.1
    contexts: float = 0.0
    lookback: int = 500
    random_state: int = 0
    n_jobs: int | None = None

    def fit(
        self, events: Any, y: None = None, *, sample_weight: Any = None, progress: Progress = None
    ) -> Self:
        """Learn the weights, the influencers and the trees, all from counts of one pass.

        ``progress(done, total)`` is called after each step of the search for weights and each round of trees;
        True writes it. The search may end before its last step, and then begins again with fewer
        influencers: ``total`` is the most that there may be as far as is known.
        """
        self._check()
        on_step = step_counter(progress)
        source = as_source(events, sample_weight=sample_weight, n_jobs=self.n_jobs)
        data, settings = self._count(source), self.get_params(deep=False)
        (self._fitted,) = learn_each(data, source, settings, (self.rounds,), on_step)
        on_step(0)
        return self

    def _count(self, source: EventSource) -> JointData:
        """What all else follows from, whatever the other settings are."""
        check_in_a_row("JointSuMM", Layout.of(source))
        return JointData.of(source, self._target(source.labels), ProfileSummary(self.lookback))

    def _check(self) -> None:
        if self.penalty is not None:
            check_positive("penalty", self.penalty)
        check_positive("gamma", self.gamma, zero=True)
        check_whole("rounds", self.rounds, 0, 100_000)
        check_whole("leaves", self.leaves, 2, _MOST_LEAVES)
        check_level("learning_rate", self.learning_rate)
        check_share("contexts", self.contexts)
        ProfileSummary(self.lookback)
        check_seed(self.random_state)

    def _target(self, labels: Sequence[str]) -> Target:
        if self.targets is None:
            return Target(tuple(range(len(labels))), len(labels))
        return Target(target_codes(self.targets, labels), len(labels))

    # ------------------------------------------------------------------ what was learned

    @property
    def fitted(self) -> FittedJoint:
        self._check_fitted()
        return self._fitted

    @property
    def label_counts_(self) -> dict[str, float]:
        """How often each label occurred in what was learned from."""
        return dict(zip(self.labels_, self.fitted.label_counts.tolist(), strict=True))

    @property
    def influencers_(self) -> dict[str, tuple[str, ...]]:
        """The influencers of every target."""
        return {x: tuple(each) for x, each in self._by_edge(lambda z, x: None).items()}

    def _by_edge(self, told: Callable[[int, int], T]) -> dict[str, dict[str, T]]:
        """Something about every influencer of every target, from their numbers."""
        labels, chosen = self.fitted.labels, self.fitted.chosen
        return {
            target: {labels[z]: told(z, x) for z in np.flatnonzero(chosen[:, x]).tolist()}
            for x, target in enumerate(self.outcomes_)
            if isinstance(target, str)
        }

    @property
    def gains_(self) -> dict[str, dict[str, float]]:
        """What the log-likelihood of the training data loses without each influencer, the most first.

        For every target, in nats: the ablation of one influencer, the mean of what it adds taking its place.
        """
        found = self._by_edge(lambda z, x: float(self.fitted.gains[z, x]))
        return {
            x: dict(sorted(each.items(), key=lambda item: (-item[1], item[0]))) for x, each in found.items()
        }

    @property
    def edges_(self) -> Edges:
        """Every influence by evidence, the surest first.

        ``ratio`` is an odds ratio: by how much an influencer in the window multiplies the odds of its target
        against any other label, the mean over positions at which it is there, by the weights alone, without
        trees.
        Its interval is that of the penalised likelihood and takes positions for independent given their past.
        """
        return Edges(self.fitted.edges)

    @property
    def penalty_(self) -> float:
        """The penalty, where ``penalty`` leaves it open that with the best AIC."""
        return self.fitted.penalty

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the training data."""
        return self.fitted.log_likelihood

    def _sheet(self) -> Sheet:
        edges = self.edges_
        return edges.sheet(
            f"JointSuMM of {len(self.influencers_)} targets: {headline(edges)}, the surest first; "
            "odds ratios, all else equal"
        )

    @property
    def recency_(self) -> dict[str, dict[str, dict[str, float]]]:
        """The factor of the odds of every target, for each influencer, by how long ago that occurred.

        As if it had occurred once, in a past of at least 20 events; without trees. The key "21+" is for any
        longer time within the window.

        >>> model = JointSuMM(penalty=1.0).fit([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> [round(each) for each in model.recency_["B"]["A"].values()][:2]
        [14, 7]
        """
        features, weights = self.fitted.features, self.fitted.weights.shared

        def factors(z: int, x: int) -> dict[str, float]:
            lags, rows = features.by_lag(z)
            return dict(zip(lags, np.exp(rows @ weights[features.columns(z), x]).tolist(), strict=True))

        return self._by_edge(factors)

    # ------------------------------------------------------------------ use

    def explain(
        self, history: Iterable[object], label: Label, *, unknown: Unknown = "error"
    ) -> SharedExplanation:
        """Say why a label has its probability after a history: a product of factors, one per influencer.

        ``history`` are labels, oldest first, or the events of one sequence, such as ``events[0]``.
        """
        targets, name = list(self.influencers_), label_text(label)
        if name in self.labels_ and name not in targets:
            raise SettingError(f"{name!r} is no target of this model; it has {', '.join(targets[:10])}")
        (place,) = codes_of([name], targets)
        data = self.fitted.read(one_sequence(history), unknown)
        return self.fitted.explain(*next_places(data, self.fitted.horizon), place)

    def simulate(
        self, n_sequences: int, length: int | Sequence[int], random_state: int = 0
    ) -> EventSequences:
        """Draw sequences from exactly this distribution."""
        return draw_sequences(self.fitted.after, self.labels_, n_sequences, length, check_seed(random_state))
