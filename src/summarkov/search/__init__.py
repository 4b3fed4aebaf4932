"""Searches: ask for counts, return influencers. One file a strategy."""

from summarkov.search.driver import run_searches
from summarkov.search.fixed import fixed
from summarkov.search.greedy import greedy
from summarkov.search.problem import Problem, SearchResult, Step
from summarkov.search.sweep import sweep

#: The strategies by the name that users give.
SEARCHES = {"greedy": greedy, "sweep": sweep}

__all__ = ["SEARCHES", "Problem", "SearchResult", "Step", "fixed", "run_searches"]
