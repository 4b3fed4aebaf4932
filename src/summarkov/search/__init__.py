"""Searches: ask for counts, return influencers. One file per strategy."""

from summarkov.search.criteria import SCORES, Scorer
from summarkov.search.exact import exact
from summarkov.search.greedy import greedy, sweep
from summarkov.search.problem import (
    Certificate,
    LookbackStep,
    Problem,
    Search,
    SearchResult,
    Step,
    Trace,
    fixed,
)

#: The strategies by the name that users give.
SEARCHES: dict[str, Search] = {"greedy": greedy, "sweep": sweep, "exact": exact}
