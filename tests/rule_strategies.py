"""Trees of history tests for hypothesis, in the package's terms and in those of tests/oracle_rules.py."""

from dataclasses import dataclass

from hypothesis import strategies as st

import oracle_rules as rules
from strategies import codes
from summarkov.summaries import HistoryTest, HistoryTests, TreeSummary

LOOKBACKS = st.sampled_from(
    [(1, 2, 3, 5, None), (2, 4), (None,), (1, 3, 7, None), (), (1, 2, 3, 5, 10, 20, None)]
)
COUNTS = st.sampled_from([(), (2,), (2, 3), (4,)])
STARTS = st.sampled_from([(), (1,), (1, 2, 5), (3, 8)])


@dataclass(frozen=True)
class TestSet:
    """Which tests are tried."""

    __test__ = False

    lookbacks: tuple
    counts: tuple
    starts: tuple
    pairs: bool

    @property
    def settings(self):
        return vars(self)

    def all(self, candidates):
        return rules.all_tests(candidates, self.lookbacks, self.counts, self.starts, self.pairs)


test_sets = st.builds(TestSet, LOOKBACKS, COUNTS, STARTS, st.booleans())
test_sets.__test__ = False


def trees(tests, depth=3):
    """A random tree over some tests of the oracle."""
    if not tests or depth == 0:
        return st.none()
    below = trees(tests, depth - 1)
    return st.none() | st.tuples(st.sampled_from(tests), below, below)


def to_package(test, labels):
    """A test of the oracle as the package has it."""
    if test[0] == "start":
        return HistoryTest.start(test[1])
    named = codes(labels, [z for z in test[1:] if isinstance(z, str)])
    make = HistoryTest.more_recent if test[0] == "more recent" else HistoryTest.occurs
    return make(*named, *(() if test[0] == "more recent" else test[2:]))


def from_package(test, labels):
    """And back."""
    kind, *numbers = test.page_form()
    if kind == "start":
        return (kind, *numbers)
    named = 1 if kind == "occurs" else 2
    return (kind, *(labels[code] for code in numbers[:named]), *numbers[named:])


def summary_of(tree, tests, labels):
    """A tree of the oracle as the package's summary."""
    nodes = []

    def visit(node):
        nodes.append(None if node is None else to_package(node[0], labels))
        if node is not None:
            visit(node[1])
            visit(node[2])

    visit(tree)
    return TreeSummary(tuple(nodes), HistoryTests(**tests.settings))


def tree_of(summary, labels):
    """A summary of the package as the oracle's tree."""
    nodes = iter(summary.nodes)

    def read():
        test = next(nodes)
        return None if test is None else (from_package(test, labels), read(), read())

    return read()
