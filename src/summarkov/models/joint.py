"""``JointSuMM``: one softmax over all labels, in which each label keeps its own influencers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

from summarkov.engines import CountSource, Layout, Target, as_source
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import Label, Unknown, label_text
from summarkov.explain.explanation import SharedExplanation
from summarkov.explain.sentences import headline
from summarkov.frames import Records, Sheet
from summarkov.models.distribution import next_places
from summarkov.models.edges import Edges
from summarkov.models.explaining import one_sequence
from summarkov.models.files import joint_document
from summarkov.models.joint_fitted import FittedJoint
from summarkov.models.joint_learning import JointData, learn_each
from summarkov.models.learning import check_in_a_row
from summarkov.models.parameters import codes_of, label_list
from summarkov.models.predictor import GraphPredictor, Residual
from summarkov.settings import (
    OnStep,
    Progress,
    check_level,
    check_positive,
    check_share,
    check_whole,
    seed_of,
    step_counter,
    untold,
)
from summarkov.simulate.draw import draw_sequences
from summarkov.summaries.profile import ProfileSummary

#: A leaf of a tree is one byte.
_MOST_LEAVES = 64


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
    penalty : float
        How strongly weights are held to 0. Choose it by :func:`compare`; long sequences need more of it.
    gamma : float
        Weight of an influencer's cost, log(N) / 2 for each of its weights; 0 leaves out none.
    rounds : int
        Trees of every label.
    leaves, learning_rate
        The most leaves of a tree, and the share of the best step that each takes.
    contexts : float
        The share, from 0 to 1, of what followed the last two labels in all sequences.
    lookback : int
        How many events back the model looks at most.
    seed : int
        Of the rows and features that each tree is grown on.
    random_state : int, optional
        Another name for ``seed``; give one of them.
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
    penalty: float = 30.0
    gamma: float = 0.5
    rounds: int = 0
    leaves: int = 4
    learning_rate: float = 0.1
    contexts: float = 0.0
    lookback: int = 500
    seed: int = 0
    random_state: int | None = None
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
        ((self._fitted,),) = self._learn(
            self._count(source), source, (self.rounds,), (self.contexts,), on_step
        )
        on_step(0)
        return self

    def _count(self, source: CountSource) -> JointData:
        """What all else follows from, whatever the other settings are."""
        check_in_a_row("JointSuMM", Layout.of(source))
        return JointData.of(source, self._target(source.labels), ProfileSummary(self.lookback))

    def _learn(
        self,
        data: JointData,
        source: CountSource,
        rounds: Sequence[int],
        shares: Sequence[float],
        on_step: OnStep = untold,
    ) -> Iterator[tuple[FittedJoint, ...]]:
        """What is learned with each of these numbers of rounds, for each of some ``contexts``."""
        return learn_each(data, source, self.get_params(deep=False), rounds, shares, on_step)

    def _check(self) -> None:
        check_positive("penalty", self.penalty)
        check_positive("gamma", self.gamma, zero=True)
        check_whole("rounds", self.rounds, 0, 100_000)
        check_whole("leaves", self.leaves, 2, _MOST_LEAVES)
        check_level("learning_rate", self.learning_rate)
        check_share("contexts", self.contexts)
        ProfileSummary(self.lookback)
        check_whole("seed", seed_of(self.seed, self.random_state), 0)

    def _target(self, labels: Sequence[str]) -> Target:
        if self.targets is None:
            return Target(tuple(range(len(labels))), len(labels))
        names = label_list("targets", self.targets)
        if not names:
            raise SettingError("targets is an empty list; name at least one label, or leave it out for all")
        return Target(tuple(sorted(set(codes_of(names, labels)))), len(labels))

    # ------------------------------------------------------------------ what was learned

    @property
    def fitted(self) -> FittedJoint:
        """All that was learned."""
        self._check_fitted()
        return self._fitted

    @property
    def label_counts_(self) -> dict[str, float]:
        """How often each label occurred in what was learned from."""
        return dict(zip(self.labels_, self.fitted.label_counts.tolist(), strict=True))

    @property
    def influencers_(self) -> dict[str, tuple[str, ...]]:
        """The influencers of every target."""
        fitted = self.fitted
        return {
            str(x): tuple(
                label for label, use in zip(fitted.labels, fitted.chosen[:, at], strict=True) if use
            )
            for at, x in enumerate(self.outcomes_)
            if not isinstance(x, Residual)
        }

    @property
    def gains_(self) -> dict[str, dict[str, float]]:
        """What the log-likelihood of the training data loses without each influencer, the most first.

        For every target, in nats: the ablation of one influencer, the mean of what it adds taking its place.
        """
        fitted = self.fitted
        found = {}
        for at, (target, influencers) in enumerate(self.influencers_.items()):
            each = {z: float(fitted.gains[fitted.labels.index(z), at]) for z in influencers}
            found[target] = dict(sorted(each.items(), key=lambda item: (-item[1], item[0])))
        return found

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
        [36, 14]
        """
        return {
            x: {z: self.fitted.by_recency(z, at) for z in self.influencers_[x]}
            for at, x in enumerate(self.influencers_)
        }

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

    def explain_next(
        self, history: Iterable[object], *, most: int | None = None, unknown: Unknown = "error"
    ) -> Records[SharedExplanation]:
        """Say which labels may come next after a history, the most likely first, and why.

        ``most`` is the largest number of labels to explain; without it, all of them.
        """
        most = None if most is None else check_whole("most", most, 1)
        past = one_sequence(history)
        p = self.predict_next(past, unknown=unknown).probabilities[0]
        order = sorted(range(len(self.influencers_)), key=lambda at: (-p[at], at))[:most]
        names = list(self.influencers_)
        return Records((self.explain(past, names[at], unknown=unknown) for at in order), SharedExplanation)

    def simulate(
        self, n_sequences: int, length: int | Sequence[int], seed: int = 0, *, random_state: int | None = None
    ) -> EventSequences:
        """Draw sequences from exactly this distribution."""
        return draw_sequences(
            self.fitted.after, self.labels_, n_sequences, length, seed_of(seed, random_state)
        )

    def to_document(self) -> dict[str, Any]:
        return joint_document(self.fitted)
