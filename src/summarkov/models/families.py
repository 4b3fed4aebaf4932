"""The families of models: what each looks at in the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from summarkov.durations import span_of
from summarkov.errors import SettingError
from summarkov.models.model import SummaryModel
from summarkov.models.searched import SearchedModel, WindowedModel
from summarkov.summaries import (
    BinarySummary,
    ChainSummary,
    CountSummary,
    CustomSummary,
    OrdinalSummary,
    Summary,
    WindowSummary,
)


@dataclass(eq=False, repr=False)
class BSuMM(WindowedModel):
    """Binary summary Markov model: did each influencer occur in its window?

    Parameters
    ----------
    target : str or labels, optional
        The label of interest; or several, which makes a variable with one outcome each and a residual one;
        or all. Without a target the model is a template for :class:`InfluenceGraph`.
    lookback : int, time, None, mapping, "auto" or tuple
        How many events back to look; or a time, such as "7d", for events that have times; None for the whole
        past. A mapping gives labels a look-back each (``{"dose": "6h", "meal": 3}``); a
        label that it does not name is looked for in the whole past. With "auto" the search chooses a
        look-back for each influencer out of 1, 2, 3, 5, 10, 20 and None, with a tuple such as
        ``(1, 4, None)`` or ``("1h", "1d")`` out of those; ``lookbacks_`` tells which.
    delay : int or time
        Leave out that many of the most recent events, or what is that recent; less than the look-back.
    alpha : float
        Pseudo-count of the prior for each outcome in each state, from 1e-15 to 1e15.
    prior : {"uniform", "base-rate"}
        What the estimates are drawn towards: even odds, as in the paper, or the target's base rate, which is
        far better for rare labels where ``alpha`` is large, say 5 or 10.
    gamma : float
        Weight of the penalty for parameters; larger means fewer influencers. Only for the two kinds of BIC.
    criterion : {"bic", "aic", "extended-bic", "marginal"}
        What the search maximises, see :class:`summarkov.scores.Scorer`.
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
    max_sets : int, optional
        Exact search stops after this number of sets has been scored, and says how much better than the best
        so far any other could be; None: it goes on to the end.
    n_jobs : int, optional
        Threads; None is one, -1 one per core. The result does not depend on it.

    Attributes
    ----------
    influencers_ : tuple of labels
        The labels that the target's probability depends on, sorted.
    influences_ : Edges
        How each influencer changes the probability of each label of the target, the surest first; each is an
        :class:`Influence` with direction, factor, interval and counts.
    table_ : StateTable
        What was counted: one row per state that was seen, with the estimates and their intervals.
    patterns_ : tuple of Pattern
        How influencers work together ("and", "or", ...), where that has a simple name.
    trace_ : Trace
        The moves of the search: why each label entered or left, with the score.
    lookbacks_ : dict
        The look-back of each influencer; None is the whole past.
    score_, log_likelihood_ : float
        The value of ``criterion``, and the log-likelihood of the training data, with these influencers.
    labels_ : tuple of labels
        The vocabulary.
    target_, outcomes_, classes_
        The labels of the target; the same, then ``OTHER`` unless the target is the whole vocabulary, which
        are the columns of probabilities; the same as an array, as scikit-learn has it.
    base_rates_ : array
        How often each outcome occurred, as a share of all events.

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
    target : str or labels, optional
        The label of interest, several, or None for a template; as of :class:`BSuMM`.
    lookback : int, time or None
        How many events back to look, or a time such as "7d"; None for the whole past. One for all labels.
    delay : int or time
        Leave out that many of the most recent events, or what is that recent; less than the look-back.
    mask : {"last", "first"}
        Which occurrence of a label in the window gives its place in the order.
    alpha, prior
        What estimates are drawn towards, and how strongly; as of :class:`BSuMM`.
    gamma, criterion, xi, false_edges, parameters
        What an influencer must be worth; as of :class:`BSuMM`.
    search, required, forbidden, candidates, given, max_influencers, max_sets
        Which sets of influencers are looked at; as of :class:`BSuMM`.
    n_jobs : int, optional
        Threads; as of :class:`BSuMM`.

    Attributes
    ----------
    influencers_, influences_, table_, patterns_, trace_, score_, log_likelihood_
        What was learned; as of :class:`BSuMM`.
    labels_, target_, outcomes_, classes_, base_rates_
        What it is about; as of :class:`BSuMM`.

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
    target : str or labels, optional
        The label of interest, several, or None for a template; as of :class:`BSuMM`.
    lookback, delay
        How far back to look, and what to leave out; as of :class:`BSuMM`.
    cap : int
        Count up to this number; more are as many as this.
    alpha, prior
        What estimates are drawn towards, and how strongly; as of :class:`BSuMM`.
    gamma, criterion, xi, false_edges, parameters
        What an influencer must be worth; as of :class:`BSuMM`.
    search, required, forbidden, candidates, given, max_influencers, max_sets
        Which sets of influencers are looked at; as of :class:`BSuMM`.
    n_jobs : int, optional
        Threads; as of :class:`BSuMM`.

    Attributes
    ----------
    influencers_, influences_, table_, patterns_, trace_, score_, log_likelihood_
        What was learned; as of :class:`BSuMM`.
    lookbacks_ : dict
        The look-back of each influencer; None is the whole past.
    labels_, target_, outcomes_, classes_, base_rates_
        What it is about; as of :class:`BSuMM`.

    Examples
    --------
    >>> CSuMM("B", lookback=3, cap=2).fit([["A", "A", "B"], ["A", "C", "C"]] * 20).influencers_
    ('A',)
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
    target : str or labels, optional
        The label of interest, several, or None for a template; as of :class:`BSuMM`.
    summary : object
        It has two methods, ``state(history, influencers)`` and ``n_states(n_influencers)``, and if it likes
        an attribute ``lookback``. See :func:`register_summary` for saving such a model. ``model.summary`` is
        this object: the table of what was learned, which other models give by that name, is
        ``model.table_``.
    alpha, prior
        What estimates are drawn towards, and how strongly; as of :class:`BSuMM`.
    gamma, criterion, xi, false_edges, parameters
        What an influencer must be worth; as of :class:`BSuMM`.
    search, required, forbidden, candidates, given, max_influencers, max_sets
        Which sets of influencers are looked at; as of :class:`BSuMM`.
    n_jobs : int, optional
        Threads; as of :class:`BSuMM`.

    Attributes
    ----------
    influencers_, influences_, table_, patterns_, trace_, score_, log_likelihood_
        What was learned; as of :class:`BSuMM`.
    labels_, target_, outcomes_, classes_, base_rates_
        What it is about; as of :class:`BSuMM`.

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


@dataclass(eq=False, repr=False)
class MarkovChain(SummaryModel):
    """Markov chain of order k: the summary is the last k labels themselves (Remark 3 of the paper).

    Contexts cut short by the start of a sequence are contexts of their own. Nothing is searched for.

    Parameters
    ----------
    target : str or labels, optional
        The label of interest, several, or None for a template; as of :class:`BSuMM`.
    order : int
        k, how many of the last labels to look at.
    alpha, prior
        What estimates are drawn towards, and how strongly; as of :class:`BSuMM`.
    n_jobs : int, optional
        Threads; as of :class:`BSuMM`.

    Attributes
    ----------
    influencers_ : tuple of labels
        All labels: a chain looks at whatever came just before.
    influences_, patterns_, trace_
        Empty: nothing is searched for.
    table_, score_, log_likelihood_
        What was learned; as of :class:`BSuMM`.
    labels_, target_, outcomes_, classes_, base_rates_
        What it is about; as of :class:`BSuMM`.

    Examples
    --------
    >>> chain = MarkovChain("B", order=1).fit([["A", "B", "A", "B"]] * 5)
    >>> [(row.words, row.n) for row in chain.table_]
    [('start', 5.0), ('A', 10.0), ('B', 5.0)]
    """

    command_name: ClassVar[str | None] = "chain"

    _: KW_ONLY
    order: int = 1

    def make_summary(self) -> Summary:
        return ChainSummary(self.order)

    @property
    def influencers_(self) -> tuple[str, ...]:
        """All labels: a chain looks at whatever came just before."""
        return self.labels_ if self.fitted.summary.memory().recent else ()
