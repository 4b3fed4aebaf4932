"""Searches: ask for counts, return influencers. One file a strategy."""

from summarkov.search.driver import run_searches
from summarkov.search.fixed import fixed
from summarkov.search.greedy import greedy
from summarkov.search.lookbacks import LookbackProblem, greedy_lookbacks
from summarkov.search.problem import Problem, SearchResult, Step
from summarkov.search.sweep import sweep

#: The strategies by the name that users give.
SEARCHES = {"greedy": greedy, "sweep": sweep}

__all__ = [
    "SEARCHES",
    "LookbackProblem",
    "Problem",
    "SearchResult",
    "Step",
    "fixed",
    "greedy_lookbacks",
    "run_searches",
]
