"""``SummaryModel``: what every model of one target can do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

from summarkov.engines import CountSource, EventSource, StateCounts, Target, as_source
from summarkov.engines.followings import Followed
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.rows import Rows
from summarkov.events.vocabulary import Label, Unknown, label_text
from summarkov.evidence import Confidence, Explanation, Pattern, pattern_of
from summarkov.frames import Records, Sheet
from summarkov.models.bootstrap import bootstrap
from summarkov.models.edges import Edges
from summarkov.models.explaining import explain, read_history
from summarkov.models.fitted import Fitted, StateTable
from summarkov.models.learning import learn, update
from summarkov.models.measures import new_source
from summarkov.models.predictor import Predictor
from summarkov.search import Problem, Search, Trace, fixed
from summarkov.search.criteria import Scorer
from summarkov.settings import Duration, Progress, check_seed
from summarkov.summaries import Summary


@dataclass(eq=False, repr=False)
class SummaryModel(Predictor):
    """A target whose probability depends on a summary of the history of its influencers.

    Fitted attributes end in an underscore; asking an unfitted model for one raises ``NotFittedError``.

    Parameters
    ----------
    target : str or labels, optional
        The label of interest; or several, which makes a variable with one outcome each and a residual one;
        or all. Without a target the model is a template for :class:`InfluenceGraph`.
    alpha : float
        Pseudo-count of the prior for each outcome in each state, from 1e-15 to 1e15.
    prior : {"uniform", "base-rate"}
        What the estimates are drawn towards: even odds, as in the paper, or the target's base rate, which is
        far better for rare labels where ``alpha`` is large, say 5 or 10.
    n_jobs : int, optional
        Threads; None is one, -1 one per core. The result does not depend on it.
    """

    target: Label | Iterable[Label] | None = None
    _: KW_ONLY
    alpha: float = 0.1
    prior: Literal["uniform", "base-rate"] = "uniform"
    n_jobs: int | None = None

    # ------------------------------------------------------------------ what a family decides

    _learned: ClassVar[str] = "_fitted"

    #: Every family that was loaded, by the name of its class, as files have it.
    families: ClassVar[dict[str, type[SummaryModel]]] = {}
    #: The name of the family on the command line, if it has one there.
    command_name: ClassVar[str | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        hooks = (getattr(cls, name, None) for name in ("make_summary", "summary_at"))
        if not any(getattr(hook, "__isabstractmethod__", False) for hook in hooks):
            cls.families[cls.__name__] = cls

    #: Whether labels are chosen as influencers, so that edges can be looked for again in other data.
    has_edges: ClassVar[bool] = False
    #: How the family reads its counts.
    fitted_type: ClassVar[type[Fitted]] = Fitted

    @abstractmethod
    def make_summary(self) -> Summary:
        """Make the summary from the parameters."""

    def durations(self, summary: Summary) -> tuple[Duration, ...]:
        """The look-backs and delays that are times, of its summary and of what a search may choose."""
        return summary.durations

    def make_problem(
        self, labels: Sequence[str], target: Target, summary: Summary, n_events: float, scale: int
    ) -> Problem:
        """State the search for this target; without a search, BIC of the one model there is."""
        scorer = Scorer(alpha=self.alpha, prior=self.prior)
        return Problem(summary, target, scorer, labels, n_events, scale, (), ())

    def make_search(self, problem: Problem) -> Search:
        """The search that solves the problem; settings with which there is none are refused."""
        return fixed

    # ------------------------------------------------------------------ fit

    def fit(self, events: Any, y: None = None, *, sample_weight: Any = None) -> Self:
        """Learn the influencers and the table.

        Parameters
        ----------
        events : EventSequences, CountSource, or whatever ``read_events`` takes
        y : ignored
            There for scikit-learn.
        sample_weight : K numbers, optional
            A weight for every sequence: how many such sequences it stands for. N, which the penalty of a
            score grows with, is what all events weigh together, and must be 2 at least.
        """
        source = self._learned_from(events, sample_weight=sample_weight, n_jobs=self.n_jobs)
        learn([self], source, [self.make_summary()])
        return self

    def _learned_from(
        self, events: Any, *, sample_weight: Any = None, n_jobs: int | None = None
    ) -> CountSource:
        """What a model of these settings is learned from: all of the data, or as the paper has it."""
        source = as_source(events, sample_weight=sample_weight, n_jobs=n_jobs)
        if getattr(self, "paper", False) and isinstance(source, EventSource):
            return source.without_ends()
        return source

    def partial_fit(self, events: Any, y: None = None, *, sample_weight: Any = None) -> Self:
        """Add the counts of further events; the influencers stay. Fits if the model is not fitted yet."""
        if not self.is_fitted:
            return self.fit(events, sample_weight=sample_weight)
        update([self], self._source(events, sample_weight=sample_weight))
        return self

    @property
    def fitted(self) -> Fitted:
        """The counts behind the model."""
        self._check_fitted()
        return self._fitted

    # ------------------------------------------------------------------ what was learned

    @property
    def target_(self) -> tuple[str, ...]:
        """The labels of the target."""
        return tuple(self.labels_[code] for code in self.fitted.target.codes)

    @property
    def influencers_(self) -> tuple[str, ...]:
        """The labels that the target's probability depends on, sorted."""
        return self.fitted.influencer_labels

    @property
    def score_(self) -> float:
        """The value of ``criterion`` for the influencers found (``score(events)`` is another thing)."""
        return self.fitted.score

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the training data at the estimates."""
        return self.fitted.log_likelihood

    @property
    def table_(self) -> StateTable:
        """State, N(s), N(x; s), estimate and exact 95% interval, one row per state that was seen."""
        return StateTable.of(self.fitted)

    @property
    def trace_(self) -> Trace:
        """The moves of the search: why each label entered or left, with the score.

        ``trace_.certificate`` is what an exact search proves, None of any other.
        """
        return Trace(self.fitted.steps, certificate=self.fitted.certificate)

    @property
    def base_rates_(self) -> tuple[float, ...]:
        """How often each outcome occurred, as a share of all events."""
        totals = self.fitted.counts.sum(axis=0)
        return tuple((totals / max(totals.sum(), 1e-300)).tolist())

    @property
    def influences_(self) -> Edges:
        """How each influencer changes the probability of each label of the target, the surest first."""
        return Edges(self.fitted.influences)

    @property
    def patterns_(self) -> Records[Pattern]:
        """How the influencers work together on each label of the target, where that has a simple name."""
        fitted = self.fitted
        if not fitted.summary.by_level:
            return Records((), Pattern)
        asked = fitted.table, fitted.pseudo, fitted.scale
        found = (pattern_of(*asked, i, x, fitted.influencer_labels) for i, x in enumerate(self.target_))
        return Records((pattern for pattern in found if pattern is not None), Pattern)

    # ------------------------------------------------------------------ use

    def explain(
        self,
        history: Iterable[object] | EventSequences,
        *,
        label: Label | None = None,
        unknown: Unknown = "error",
    ) -> Explanation:
        """Say why a label of the target has its probability after a history.

        ``history`` is a list of labels, oldest first, or of ticks (lists of labels that happened together);
        or events of one sequence, such as ``events[0]``, which may have times and attributes too.

        Which influencers occurred and where, the state, how often it was seen, the probability with its
        interval, beside the base rate; and the counterfactuals: the same had one of them not occurred, or
        another one just now.
        """
        if label is None:
            if len(self.target_) > 1:
                raise SettingError(f"say which label to explain: label= one of {', '.join(self.target_)}")
            label = self.target_[0]
        label = label_text(label)
        if label not in self.target_:
            raise SettingError(f"{label!r} is not in the target; its labels are {', '.join(self.target_)}")
        return self._explained(read_history(history, self.labels_, self.layout_, unknown), label)

    def _explained(self, history: Rows, label: str) -> Explanation:
        outcome = self.target_.index(label)
        return explain(self.fitted, history, outcome, self.influencers_, self.base_rates_[outcome])

    def confidence(
        self,
        events: Any,
        *,
        n: int = 100,
        random_state: int = 0,
        blocks: Any = None,
        level: float = 0.95,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Confidence:
        """How sure each influence is, from ``n`` models of resampled data: ``InfluenceGraph.confidence``."""
        source = self._source(events, sample_weight=sample_weight)
        return bootstrap(
            [self],
            source,
            n=n,
            seed=check_seed(random_state),
            blocks=blocks,
            level=level,
            progress=progress,
        )

    def _sheet(self) -> Sheet:
        influencers = ", ".join(self.influencers_) or "none"
        title = f"{type(self).__name__} of {', '.join(self.target_)}; influencers: {influencers}"
        table = self.table_
        return table.of_rows(title, sorted(table, key=lambda row: -row.n))

    # ------------------------------------------------------------------ private

    def _add(self, table: StateCounts, source: CountSource, followed: Followed | None) -> None:
        """Add counts and score anew, with the settings of the fit."""
        new = self.fitted.plus(table, source, followed)
        problem = self._problem(new)
        score = problem.score(new.table, new.influencers)
        self._fitted = replace(new, score=score, margins=problem.margins(new.influencers, new.table, score))

    def _problem(self, fitted: Fitted, summary: Summary | None = None) -> Problem:
        """The search with the settings of a fit; with the summary that was learned, unless one is given."""
        template, summary = self.copy(**fitted.settings), fitted.summary if summary is None else summary
        n_events, scale = fitted.n_events, fitted.scale
        problem = template.make_problem(fitted.labels, fitted.target, summary, n_events, scale)
        return replace(problem, n_targets=fitted.n_targets)

    def _source(
        self, data: Any, unknown: Unknown = "error", sample_weight: Any = None, n_jobs: int | None = None
    ) -> CountSource:
        """New data in the vocabulary of the model."""
        return new_source(
            self.fitted, data, unknown, sample_weight, self.n_jobs if n_jobs is None else n_jobs
        )


def all_families() -> dict[str, type[SummaryModel]]:
    """Every family by the name of its class, those of others that were registered included."""
    from summarkov.models import chains, families, tree  # noqa: F401  # they register themselves

    return SummaryModel.families
