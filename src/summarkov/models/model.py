"""Models of one target: what all can do, those whose influencers are searched for, and what each looks at."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar, Literal, Self

from summarkov.engines import EventSource, as_source
from summarkov.errors import SettingError, nearest
from summarkov.events import EventSequences
from summarkov.events.vocabulary import END, Label, Unknown, label_text
from summarkov.evidence import Explanation
from summarkov.frames import Sheet
from summarkov.models.fitted import Edges, Fitted, History, StateTable, explain
from summarkov.models.learning import learn
from summarkov.models.parameters import Predictor, candidate_codes, codes_of, given_codes, label_list
from summarkov.search import SEARCHES, Problem, Search, Trace, fixed
from summarkov.search.criteria import Scorer
from summarkov.search.exact import check_exact
from summarkov.settings import Duration, check_whole, span_of
from summarkov.summaries import (
    BinarySummary,
    CountSummary,
    CustomSummary,
    OrdinalSummary,
    Summary,
    WindowSummary,
)
from summarkov.summaries.window import plain_span


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

    def make_problem(self, problem: Problem) -> Problem:
        """State the search for this target; without a search, BIC of the one model there is."""
        return replace(problem, scorer=Scorer(alpha=self.alpha, prior=self.prior))

    def make_search(self, problem: Problem) -> Search:
        """The search that solves the problem; settings with which there is none are refused."""
        return fixed

    # ------------------------------------------------------------------ fit

    def fit(self, events: Any, y: None = None, *, sample_weight: Any = None) -> Self:
        """Learn the influencers and the table.

        Parameters
        ----------
        events : EventSequences, or whatever ``read_events`` takes
        y : ignored
            There for scikit-learn.
        sample_weight : K numbers, optional
            A weight for every sequence: how many such sequences it stands for. N, which the penalty of a
            score grows with, is what all events weigh together, and must be 2 at least.
        """
        source = self._learned_from(events, sample_weight=sample_weight, n_jobs=self.n_jobs)
        self._fitted: Fitted
        learn([self], source)
        return self

    def _learned_from(
        self, events: Any, *, sample_weight: Any = None, n_jobs: int | None = None
    ) -> EventSource:
        """What a model of these settings is learned from: all of the data, or as the paper has it."""
        source = as_source(events, sample_weight=sample_weight, n_jobs=n_jobs)
        return source.without_ends() if getattr(self, "paper", False) else source

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
        if label is None and len(self.target_) > 1:
            raise SettingError(f"say which label to explain: label= one of {', '.join(self.target_)}")
        label = self.target_[0] if label is None else label_text(label)
        if label not in self.target_:
            raise SettingError(f"{label!r} is not in the target; its labels are {', '.join(self.target_)}")
        outcome, past = self.target_.index(label), History.read(history, self.fitted, unknown)
        return explain(self.fitted, past, outcome, self.influencers_, self.base_rates_[outcome])

    def _sheet(self) -> Sheet:
        influencers = ", ".join(self.influencers_) or "none"
        title = f"{type(self).__name__} of {', '.join(self.target_)}; influencers: {influencers}"
        table = self.table_
        return table.of_rows(title, sorted(table, key=lambda row: -row.n))


def all_families() -> dict[str, type[SummaryModel]]:
    """Every family by the name of its class, those of others that were registered included."""
    from summarkov.models import trees  # noqa: F401  # they register themselves

    return SummaryModel.families


@dataclass(eq=False, repr=False)
class SearchedModel(SummaryModel):
    """A model whose influencers are searched for.

    Parameters
    ----------
    gamma : float
        Weight of the penalty for parameters; larger means fewer influencers. Only for the two kinds of BIC.
    criterion : {"bic", "aic", "extended-bic", "marginal"}
        What the search maximises, see :class:`summarkov.search.Scorer`.
    xi : float
        Weight of the extended part of "extended-bic".
    false_edges : float, optional
        How many influencers in all that is learned together may be there by chance alone, on average, if
        nothing influences anything: 0.2 is one in five graphs. The more targets, candidates and look-backs
        there are to choose from, the more an influencer must then gain. None asks for no more than the
        criterion does: that is the paper's search.
    parameters : {"all", "reachable"}
        Which states the penalty counts: all of the closed formula, as in the paper, or those that a history
        can reach at this look-back.
    search : {"greedy", "sweep", "exact"}
        How influencers are searched for: the best label in each round, then the best to leave out; or
        Algorithm 1 of the paper as it is printed, one sweep over the labels in sorted order; or the best of
        all sets, with a proof that it is (``trace_.certificate``).
    required, forbidden, candidates : labels
        Influencers that must be there, that may not, and the only ones to consider beside the required.
    given : names, optional
        Columns of attributes of sequences, such as ``["region"]``, that every model tells apart: influences
        are then those within each of their values, and their own effects are not told.
    max_influencers : int, optional
        The most influencers, required ones included.
    paper : bool
        All settings of the paper at once: sequences are taken for cut off, whatever they are, and
        ``false_edges`` for None. The other settings have the paper's values unless they are given.
    max_sets : int, optional
        Exact search stops after this number of sets has been scored, and says how much better than the best
        so far any other could be; None: it goes on to the end.
    """

    has_edges: ClassVar[bool] = True

    _: KW_ONLY
    gamma: float = 1.0
    criterion: Literal["bic", "aic", "extended-bic", "marginal"] = "bic"
    xi: float = 1.0
    false_edges: float | None = 0.2
    parameters: Literal["all", "reachable"] = "all"
    search: Literal["greedy", "sweep", "exact"] = "greedy"
    required: Iterable[object] = ()
    forbidden: Iterable[object] = ()
    candidates: Iterable[object] | None = None
    given: Iterable[str] = ()
    max_influencers: int | None = None
    max_sets: int | None = 100_000
    paper: bool = False

    def make_problem(self, problem: Problem) -> Problem:
        labels, most = problem.labels, self.max_influencers
        if self.parameters not in ("all", "reachable"):
            raise SettingError(f"parameters must be 'all' or 'reachable', not {self.parameters!r}")
        given = given_codes(self.given, labels)
        required = {*codes_of(label_list("required", self.required), labels), *itertools.chain(*given)}
        forbidden = {
            *codes_of(label_list("forbidden", self.forbidden), labels),
            *problem.target.never_influence,
        }
        if END in {labels[z] for z in required}:
            raise SettingError(f"{END!r} comes after all events of a sequence and influences none")
        if both := required & forbidden:
            raise SettingError(f"{labels[min(both)]!r} is both required and forbidden")
        if most is not None:
            limits = f"from {len(required)} (the required ones) on"
            check_whole("max_influencers", most, len(required), limits=limits)
        if self.max_sets is not None:
            check_whole("max_sets", self.max_sets, 1, limits="from 1 on or None")
        false_edges = None if self.paper else self.false_edges
        return replace(
            problem,
            scorer=Scorer(self.criterion, self.alpha, self.gamma, self.xi, self.prior, false_edges),
            required=tuple(sorted(required)),
            optional=candidate_codes(labels, self.candidates, required | forbidden),
            max_influencers=most,
            reachable_only=self.parameters == "reachable",
            max_sets=self.max_sets,
            given=tuple(sorted(itertools.chain(*given))),
            n_strata=math.prod(map(len, given)),
        )

    def make_search(self, problem: Problem) -> Search:
        if not isinstance(self.search, str) or self.search not in SEARCHES:
            hint = nearest(str(self.search), SEARCHES)
            raise SettingError(f"search must be one of {', '.join(SEARCHES)}, not {self.search!r}{hint}")
        if self.search == "exact":
            check_exact(problem)
        return SEARCHES[self.search]


#: What ``lookback="auto"`` chooses from.
LOOKBACKS = (1, 2, 3, 5, 10, 20, None)
#: A number of positions, a time such as "7d", or None for the whole past.
OneLookback = int | str | timedelta | None
Lookback = OneLookback | tuple[OneLookback, ...] | Mapping[Any, OneLookback]


@dataclass(eq=False, repr=False)
class WindowedModel(SearchedModel):
    """A model whose influencers are looked for in a window each, the size of which may be learned.

    Parameters
    ----------
    lookback : int, time, None, mapping, "auto" or tuple
        How many events back to look; or a time, such as "7d", for events that have times; None for the whole
        past. A mapping gives labels a look-back each (``{"dose": "6h", "meal": 3}``); a
        label that it does not name is looked for in the whole past. With "auto" the search chooses a
        look-back for each influencer out of 1, 2, 3, 5, 10, 20 and None, with a tuple such as
        ``(1, 4, None)`` or ``("1h", "1d")`` out of those; ``lookbacks_`` tells which.
    delay : int or time
        Leave out that many of the most recent events, or what is that recent; less than the look-back.
    """

    _: KW_ONLY
    lookback: Lookback = 5
    delay: int | str = 0

    @abstractmethod
    def summary_at(self, lookback: int | Mapping[str, int | None] | None) -> WindowSummary:
        """Make the summary for one look-back, or for one per label."""

    @property
    def lookbacks_(self) -> dict[str, int | str | None]:
        """The look-back of each influencer, text where it is a time; None is the whole past."""
        return {z: plain_span(self.fitted.reach(z).lookback) for z in self.influencers_}

    def _choices(self) -> tuple[int | None, ...] | None:
        """The look-backs to choose from, the shortest first; None where they are given."""
        given = self.lookback
        if isinstance(given, str) and given == "auto":
            delay = span_of(self.delay, "delay")
            return tuple(k for k in LOOKBACKS if k is None or isinstance(delay, Duration) or k > delay)
        if not isinstance(given, tuple):
            return None
        once = SettingError(f"lookback must name each look-back to choose from once, not {given!r}")
        if not given or any(isinstance(k, Mapping) for k in given):
            raise once
        each = [span_of(k, "lookback") for k in given]
        for k in each:
            self.summary_at(k)  # refuses what is no look-back
        if len(set(each)) < len(each):
            raise once
        return tuple(sorted(each, key=lambda k: (k is None, isinstance(k, Duration), k or 0)))

    def make_summary(self) -> Summary:
        choices = self._choices()
        given: Any = self.lookback
        if choices is not None:
            return self.summary_at(choices[-1])  # each search turns it into what it needs
        if isinstance(given, Mapping):
            return self.summary_at({label_text(label): k for label, k in given.items()})
        return self.summary_at(given)

    def durations(self, summary: Summary) -> tuple[Duration, ...]:
        """The look-backs and delays that are times, of its summary and of what a search may choose."""
        chosen = tuple(k for k in self._choices() or () if isinstance(k, Duration))
        return (*summary.durations, *chosen)

    def make_problem(self, problem: Problem) -> Problem:
        return replace(super().make_problem(problem), lookbacks=self._choices() or ())

    def make_search(self, problem: Problem) -> Search:
        if problem.lookbacks and self.search != "greedy":
            raise SettingError(
                f"look-backs are learned by search='greedy' alone; with search={self.search!r} give one "
                "lookback"
            )
        return super().make_search(problem)


@dataclass(eq=False, repr=False)
class BSuMM(WindowedModel):
    """Binary summary Markov model: did each influencer occur in its window?

    Examples
    --------
    >>> model = BSuMM("B", lookback=1).fit([["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10)
    >>> model.influencers_
    ('A',)
    >>> model.table_[1].words, model.table_[1].n
    ('A', 30.0)
    >>> events = [["A", "C", "D", "B", "C"], ["C", "C", "D", "D", "C"], ["C", "A", "D", "C", "B"]] * 20
    >>> BSuMM("B", lookback="auto", max_influencers=1).fit(events).lookbacks_
    {'A': 3}

    References: Bhattacharjya, Sihag, Hassanzadeh, Bialik, "Summary Markov Models for Event Sequences", IJCAI
    2022, Definition 4.
    """

    command_name: ClassVar[str | None] = "bsumm"

    def summary_at(self, lookback: int | Mapping[str, int | None] | None) -> WindowSummary:
        return BinarySummary(lookback, span_of(self.delay, "delay"))


@dataclass(eq=False, repr=False)
class OSuMM(SearchedModel):
    """Ordinal summary Markov model: which influencers occurred in the window, and in which order?

    Parameters
    ----------
    lookback : int, time or None
        How many events back to look, or a time such as "7d"; None for the whole past. One for all labels.
    delay : int or time
        Leave out that many of the most recent events, or what is that recent; less than the look-back.
    mask : {"last", "first"}
        Which occurrence of a label in the window gives its place in the order.

    Examples
    --------
    >>> model = OSuMM("C", lookback=2).fit([["A", "B", "C"], ["B", "A", "D"]] * 20)
    >>> model.influencers_
    ('A', 'B')

    References: as :class:`BSuMM`, Definition 5.
    """

    command_name: ClassVar[str | None] = "osumm"

    _: KW_ONLY
    lookback: int | str | None = 5
    delay: int | str = 0
    mask: Literal["last", "first"] = "last"

    def make_summary(self) -> Summary:
        if isinstance(self.lookback, tuple) or str(self.lookback) == "auto":
            raise SettingError(
                "an OSuMM has one window for all its influencers, so no look-back is learned for each; "
                "give a number or None, or try several with GridSearchCV"
            )
        return OrdinalSummary(span_of(self.lookback, "lookback"), span_of(self.delay, "delay"), self.mask)


@dataclass(eq=False, repr=False)
class CSuMM(WindowedModel):
    """Count summary Markov model: how often did each influencer occur in its window, at most ``cap``?

    With ``cap=1`` it is a :class:`BSuMM`.

    Parameters
    ----------
    cap : int
        Count up to this number; more are as many as this.

    Examples
    --------
    >>> CSuMM("B", lookback=3, cap=2).fit([["A", "A", "B"], ["A", "C", "C"]] * 20).influencers_
    ('A', 'B')
    """

    command_name: ClassVar[str | None] = "csumm"

    _: KW_ONLY
    cap: int = 2

    def summary_at(self, lookback: int | Mapping[str, int | None] | None) -> WindowSummary:
        return CountSummary(lookback, span_of(self.delay, "delay"), self.cap)


@dataclass(eq=False, repr=False)
class SuMM(SearchedModel):
    """A summary Markov model with your own summary: any function from a history to a hashable state.

    Parameters
    ----------
    summary : object
        It has two methods, ``state(history, influencers)`` and ``n_states(n_influencers)``, and if it likes
        an attribute ``lookback``. Files have no code, so such a model is pickled, not saved.
        ``model.summary`` is this object: the table of what was learned, which other models give by that
        name, is ``model.table_``.

    Examples
    --------
    >>> class JustBefore:
    ...     lookback = 1
    ...     def state(self, history, influencers):
    ...         return history[-1] if history and history[-1] in influencers else None
    ...     def n_states(self, n_influencers):
    ...         return n_influencers + 1
    >>> SuMM("B", summary=JustBefore()).fit([["A", "B", "C", "A", "B"]] * 10).influencers_
    ('A',)
    """

    _: KW_ONLY
    summary: Any = None

    def make_summary(self) -> Summary:
        if self.summary is None:
            raise SettingError(
                "SuMM needs summary=, an object with state(history, influencers) and n_states(n)"
            )
        return CustomSummary(self.summary)
