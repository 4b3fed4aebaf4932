"""Searches: ask for counts, return influencers. One file per strategy."""

from summarkov.search.batch import Batch, each_alone, fixed, run_searches
from summarkov.search.exact import exact
from summarkov.search.greedy import greedy, greedy_together, sweep
from summarkov.search.lookbacks import LookbackProblem, greedy_lookbacks
from summarkov.search.problem import Certificate, Problem, SearchResult, Step, Trace

#: The strategies by the name that users give.
SEARCHES = {"greedy": greedy, "sweep": sweep, "exact": exact}
