"""The families of models: what each looks at in the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

from summarkov.errors import SettingError
from summarkov.models.model import SummaryModel
from summarkov.models.searched import SearchedModel, WindowedModel
from summarkov.settings import span_of
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
    summary : object
        It has two methods, ``state(history, influencers)`` and ``n_states(n_influencers)``, and if it likes
        an attribute ``lookback``. See :func:`register_summary` for saving such a model. ``model.summary`` is
        this object: the table of what was learned, which other models give by that name, is
        ``model.table_``.

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
    order : int
        k, how many of the last labels to look at.

    Attributes
    ----------
    influences_, patterns_, trace_
        Empty: nothing is searched for.

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
