"""``Bag``: several models of one target, each learned from a resample of the sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from summarkov.confidence import Strata
from summarkov.engines import CountSource, EventSource, Layout, StateCounts, joint_memory
from summarkov.engines.followings import Asked, count_followed
from summarkov.errors import NotFittedError, SettingError
from summarkov.events.draws import Bootstrap
from summarkov.explain import Contrast, Influence, influence_of, ranked
from summarkov.explain.comparable import NOT_NAMED
from summarkov.explain.contrasts import Totals
from summarkov.frames import MOST, Sheet
from summarkov.kernels import Index
from summarkov.models.edges import Edges, HasPage
from summarkov.models.fitted import Fitted
from summarkov.models.learning import progress_counter
from summarkov.models.model import SummaryModel
from summarkov.models.predictor import Predictor, Residual
from summarkov.models.saving import COUNTS, document_of, is_mixed, read_influence, read_size
from summarkov.models.stored_followings import read_follow_fields
from summarkov.settings import MOST_REPLICATES, Progress, check_whole, seed_of
from summarkov.store import Node, finite
from summarkov.summaries import Memory, Reach
from summarkov.typing import FloatArray, IntArray


@dataclass(eq=False, repr=False)
class Bag(HasPage, Predictor):
    """The mean prediction of models that were each learned from a bootstrap resample of the sequences.

    A tree predicts in steps, and a little other data moves its splits; the mean over a bag of trees is
    smoother and predicts better. It is no longer one model to read: ``influences_`` tells what each label
    does on average, ``usage_`` how often it was an influencer, and ``models_`` holds the models.

    Parameters
    ----------
    model : SummaryModel
        The model with its target, such as ``TreeSuMM("riot", gamma=0.3)``.
    n_models : int
        How many resamples: as many sequences as there are, drawn with replacement.
    seed : int
        Of the resamples. Equal seeds give equal bags.
    random_state : int, optional
        Another name for ``seed``; give one of them.

    Examples
    --------
    >>> from summarkov import TreeSuMM
    >>> events = [["A", "B", "C", "D", "A", "D", "C", "B"], ["D", "C", "A", "C", "D", "B"]] * 20
    >>> bag = Bag(TreeSuMM("B"), n_models=5).fit(events)
    >>> bag.usage_
    {'A': 1.0, 'B': 1.0, 'C': 1.0}
    >>> bag.predict_proba([["A", "D", "C", "B"]])[:, 0].round(2)
    array([0.01, 0.75, 0.75, 0.88])

    References: Breiman, "Bagging predictors", Machine Learning 24 (1996).
    """

    model: SummaryModel
    n_models: int = 40
    seed: int = 0
    random_state: int | None = None

    def fit(
        self, events: Any, y: None = None, *, sample_weight: Any = None, progress: Progress = None
    ) -> Self:
        """Learn a model from each resample; a sequence that is drawn brings its weight, if it has one.

        ``progress(done, total)`` is called as models are finished; True writes it.
        """
        if not isinstance(self.model, SummaryModel):
            raise SettingError(f"model must be a model such as TreeSuMM('X'), not {self.model!r}")
        check_whole("n_models", self.n_models, 1, MOST_REPLICATES)
        draws = Bootstrap(self.n_models, seed_of(self.seed, self.random_state))
        source = self.model._learned_from(events, sample_weight=sample_weight, n_jobs=self.model.n_jobs)
        if not isinstance(source, EventSource):
            raise SettingError(f"a {type(source).__name__} cannot be resampled; give the events themselves")
        models, on_done = [], progress_counter(progress, self.n_models)
        for drawn in source.resamples(draws):
            model = self.model.copy().fit(drawn)
            model._fitted = replace(model.fitted, followed=None, clusters=None)  # sequences are copies
            models.append(model)
            on_done(1)
        self._models = tuple(models)
        self._influences = bag_influences([model.fitted for model in models], source)
        return self

    # ------------------------------------------------------------------ what was learned

    @property
    def models_(self) -> tuple[SummaryModel, ...]:
        """The fitted models."""
        self._check_fitted()
        return self._models

    @property
    def labels_(self) -> tuple[str, ...]:
        """The vocabulary."""
        return self.models_[0].labels_

    @property
    def target_(self) -> tuple[str, ...]:
        """The labels of the target."""
        return self.models_[0].target_

    @property
    def outcomes_(self) -> tuple[str | Residual, ...]:
        """The target's labels, then ``OTHER`` unless the target is the whole vocabulary."""
        return self.models_[0].outcomes_

    @property
    def usage_(self) -> dict[str, float]:
        """In which share of the models each influencer is one, the most used first."""
        used = Counter(z for model in self.models_ for z in model.influencers_)
        return {
            z: n / len(self.models_) for z, n in sorted(used.items(), key=lambda item: (-item[1], item[0]))
        }

    @property
    def influencers_(self) -> tuple[str, ...]:
        """The labels that are an influencer in any of the models, sorted."""
        return tuple(sorted(self.usage_))

    @property
    def influences_(self) -> Edges:
        """How each influencer changes the probability of each label of the target, the surest first.

        Counted on the data themselves, not on resamples: each model that has the influencer compares
        positions with it and without, its other influencers equal; all their comparisons together, each
        model's counts divided by the number of these models, make one ratio and one interval. ``frequency``
        is the share of the models that have it.
        """
        try:
            return Edges(self._influences)
        except AttributeError:
            self._check_fitted()
            raise NotFittedError(
                "this bag was saved when influences were not counted yet; fit it again to have them"
            ) from None

    def _sheet(self) -> Sheet:
        title = f"Bag of {len(self.models_)} models of {', '.join(self.target_)}; influencers on average"
        if hasattr(self, "_influences"):
            return self.influences_.sheet(title)
        rows = [(z, f"{share:.0%}") for z, share in self.usage_.items()]  # all that older files tell
        return Sheet(title, ("influencer", "in models"), rows[:MOST], len(rows))

    @property
    def layout_(self) -> Layout:
        return self.models_[0].layout_

    # ------------------------------------------------------------------ use

    def _memory(self) -> Memory:
        return joint_memory(model.fitted.summary for model in self.models_)

    def _at(self, index: Index, positions: IntArray | slice = slice(None)) -> FloatArray:
        """The mean of the models."""
        total = self.models_[0]._at(index, positions)
        for model in self.models_[1:]:
            total = total + model._at(index, positions)
        return total / len(self.models_)

    def _outcomes_at(self, index: Index) -> npt.NDArray[np.integer]:
        return self.models_[0]._outcomes_at(index)

    def to_document(self) -> dict[str, Any]:
        """The fitted bag as plain values: what ``save`` writes."""
        counted = hasattr(self, "_influences")
        return {
            **document_of("Bag"),
            "settings": {"n_models": len(self.models_), "seed": seed_of(self.seed, self.random_state)},
            "usage": self.usage_,
            **({"influences": influence_documents(self.influences_)} if counted else {}),
            "models": [model.to_document() for model in self.models_],
        }


def bag_influences(models: Sequence[Fitted], source: CountSource) -> tuple[Influence, ...]:
    """See :attr:`Bag.influences_`: of models of one target, counted on what they were drawn from."""
    first = models[0]
    found: dict[tuple[int, int], list[Contrast]] = {}
    for model, table in zip(models, source.count([model.request for model in models]), strict=True):
        assert isinstance(table, StateCounts)
        counted = replace(model, table=_filled(model, table), scale=source.scale)
        for column, outcome, contrast in counted.contrasts():
            found.setdefault((model.influencers[column], outcome), []).append(contrast)
    influencers = tuple(sorted({z for z, _ in found}))
    windows = tuple(
        _widest([m.reach(first.labels[z]) for m in models if z in m.influencers]) for z in influencers
    )
    (followed,) = count_followed(source, [Asked(influencers, windows, first.target.codes)])
    edges = []
    for (z, outcome), contrasts in found.items():
        names = first.labels[z], first.labels[first.target.codes[outcome]]
        following = None if followed is None else followed.of(influencers.index(z), outcome)
        edge = influence_of(*names, _together(contrasts), (), following)
        edges.append(replace(edge, frequency=len(contrasts) / len(models)))
    return tuple(ranked(edges))


def _filled(model: Fitted, table: StateCounts) -> StateCounts:
    """A table with a row for every state of the model, seen here or not; a tree has one for every leaf."""
    nothing = StateCounts(model.table.keys, np.zeros_like(model.table.counts))
    return StateCounts.total([nothing, table])


def _together(contrasts: Sequence[Contrast]) -> Contrast:
    """All strata of several models, each model's counts divided by their number."""
    n = len(contrasts)
    columns = zip(*(vars(one.strata).values() for one in contrasts), strict=True)
    strata = Strata(*(np.concatenate(each, axis=-1) / n for each in columns))
    totals = Totals(*(sum(each) / n for each in zip(*(one.totals for one in contrasts), strict=True)))
    keys, nothing = np.zeros((strata.n_with.shape[-1], 0), np.int32), np.zeros(0, np.int64)
    apart = Strata(*(numbers[..., :0] for numbers in vars(strata).values()))
    return Contrast(strata, keys, totals, nothing, nothing > 0, apart, keys[:0])


def _widest(windows: Sequence[Reach]) -> Reach:
    """The window that holds all of several."""
    ends = [k for _, k in windows]
    last = None if None in ends else max(k for k in ends if k is not None)
    return Reach(min(d for d, _ in windows), last)


#: What the order test says, and what allows for selection: a bag has not one margin but many.
_ONLY_OF_GRAPHS = (
    *("order", "order_ratio", "order_low", "order_high", "order_p", "order_q", "order_scale"),
    "competition",
    *("corrected_ratio", "corrected_low", "corrected_high"),
)


def influence_documents(influences: Iterable[Influence]) -> list[dict[str, Any]]:
    """The influences of a bag as plain values: they were counted on data that its models have not."""
    return [
        {name: value for name, value in finite(vars(edge)).items() if name not in _ONLY_OF_GRAPHS}
        for edge in influences
    ]


def read_influences(node: Node, bag: Bag) -> tuple[Influence, ...]:
    """Read the influences of a bag back: at most one for each influencer and label of the target."""
    edges = [_bag_edge(item, bag) for item in node.list()]
    if len({(edge.influencer, edge.target) for edge in edges}) < len(edges):
        node.wrong("each influence once")
    return tuple(ranked(edges))


def _bag_edge(node: Node, bag: Bag) -> Influence:
    names = node["influencer"].one_of(bag.usage_), node["target"].one_of(bag.target_)
    more = {**read_follow_fields(node), **_read_compared(node), "frequency": bag.usage_[names[0]]}
    edge = read_influence(node, *names, is_mixed(node), **more)
    for hits, of in (COUNTS[:2], COUNTS[2:]):
        if getattr(edge, hits) > (n := getattr(edge, of)):
            node[hits].wrong(f"at most {n:g}, as '{of}' has it")
    return edge


def _read_compared(node: Node) -> dict[str, Any]:
    """What the ratio rests on, and whether a comparison is missing; nothing of older files."""
    if "comparable_hits" not in node or node["comparable_hits"].value is None:
        return {}
    missing = node["not_comparable"].one_of(("", NOT_NAMED))
    counts = {name: read_size(node[name], 0.0) for name in ("comparable_hits", "comparable_expected")}
    return {**counts, "not_comparable": missing}
