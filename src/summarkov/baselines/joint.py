"""The joint model as a contender: fitted once for each setting, its trees stopped after some rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from summarkov.baselines.contenders import Data, Predictor
from summarkov.engines import as_source
from summarkov.events import EventSequences
from summarkov.kernels import Index
from summarkov.models import JointSuMM
from summarkov.models.joint_learning import FittedJoint
from summarkov.summaries import Memory
from summarkov.typing import FloatArray


@dataclass(frozen=True)
class JointPredictor:
    """A fitted joint model, asked for one label after the other."""

    fitted: FittedJoint

    def probability(self, events: EventSequences, target: str) -> FloatArray:
        """What the one distribution says of the target."""
        data = events.recode(self.fitted.labels)
        return self.at(Index(data.codes, data.offsets, len(data.labels)), target)

    def influencers(self, target: str) -> tuple[str, ...] | None:
        """As learned."""
        chosen = self.fitted.chosen[:, self._outcome(target)]
        return tuple(label for label, use in zip(self.fitted.labels, chosen, strict=True) if use)

    def memory(self) -> Memory:
        """What the model looks back at."""
        return self.fitted.memory

    def at(self, index: Index, target: str) -> FloatArray:
        """The same on a piece; the probabilities of all labels are kept for the next question."""
        kept = index.kept.get(JointPredictor)
        if kept is None or kept[0] is not self.fitted:
            kept = index.kept[JointPredictor] = self.fitted, self.fitted.at(index)
        return np.asarray(kept[1][:, self._outcome(target)])

    def only(self, target: str) -> JointPredictor:
        """All of it: one label's probability depends on what all others have."""
        return self

    def _outcome(self, target: str) -> int:
        return self.fitted.features.target.codes.index(self.fitted.labels.index(target))


@dataclass(frozen=True)
class JointContender:
    """Joint models (:class:`summarkov.JointSuMM`) with several settings and numbers of rounds.

    Where only some labels are targets, all others are one outcome.

    Parameters
    ----------
    name : str
        What tables call it.
    template : JointSuMM
        The other settings.
    grid : sequence of settings
        One fit each.
    rounds : sequence of int
        After how many rounds the trees of a fit may be stopped.
    """

    name: str
    template: JointSuMM
    grid: Sequence[Mapping[str, Any]]
    rounds: Sequence[int] = (0,)
    n_jobs: int | None = field(default=None, repr=False)  # changes nothing but the time
    takes_sources: ClassVar[bool] = True
    one_for_all: ClassVar[bool] = True  # with settings of their own, labels would not sum to 1

    def fit_each(self, train: Data, targets: Sequence[str]) -> Iterator[tuple[dict[str, Any], Predictor]]:
        """Every setting with every number of rounds."""
        some = None if len(targets) == len(train.labels) else tuple(targets)
        source = as_source(train, n_jobs=self.n_jobs)
        model = self.template.copy(rounds=max(self.rounds), targets=some, n_jobs=self.n_jobs)
        data = model._count(source)
        for settings in self.grid:
            fitted = model.copy(**settings)._learn(data, source).fitted
            for rounds in self.rounds:
                yield {**settings, "rounds": rounds}, JointPredictor(fitted.stopped(rounds))
