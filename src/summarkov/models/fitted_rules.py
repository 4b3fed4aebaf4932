"""What a tree of tests knows once it is fitted: counts at its leaves, and all that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from summarkov.explain import Contrast, contrast_in_tree
from summarkov.models.fitted import Fitted
from summarkov.models.labels import candidate_codes, codes_of, label_list
from summarkov.scores import Tree, shrunken
from summarkov.search.tree import node_counts, weigh
from summarkov.settings import check_share
from summarkov.summaries import HistoryTests, Occurs, TreeSummary
from summarkov.typing import BoolArray, FloatArray, IntArray, KeyArray


@dataclass(frozen=True)
class FittedRules(Fitted):
    """Counts at the leaves of a tree of tests; those of inner nodes are their sums."""

    @property
    def rules(self) -> TreeSummary:
        """The tree that was learned."""
        assert isinstance(self.summary, TreeSummary)
        return self.summary

    @cached_property
    def tree(self) -> Tree:
        """All nodes, depth first."""
        return Tree(self.rules.parent)

    def reach(self, label: str) -> tuple[int, int | None]:
        """As far back as the tests of the tree that was learned look for a label."""
        code = self.labels.index(label)
        tests = [test for test in self.rules.nodes if test is not None and code in test.labels]
        ends = [test.within if isinstance(test, Occurs) else None for test in tests]
        return 0, None if None in ends else max((k for k in ends if k is not None), default=0)

    def met(self, label: str) -> BoolArray:
        """For each leaf, whether a test on the way says that a label occurred, or is the more recent one."""
        code = self.labels.index(label)
        about = [
            [
                answer == (test.labels[0] == code)
                for test, answer in self.rules.path(row)
                if code in test.labels
            ]
            for row in self.rules.leaves.tolist()
        ]
        return np.array([any(answers) for answers in about])

    @cached_property
    def at_nodes(self) -> FloatArray:
        """N(x; s) of all nodes, weighted."""
        return np.asarray(node_counts(self.rules, self.table.counts) / self.scale)

    @cached_property
    def plain(self) -> FloatArray:
        """The estimate of each node, shrunk towards that of its parent."""
        return shrunken(self.tree, self.at_nodes, self.pseudo)

    @cached_property
    def splits(self) -> FloatArray | None:
        """The posterior probability that a node is split if the tree reaches it; None unless averaged."""
        if not self.settings["average"]:
            return None
        tested = tested_codes(self.labels, self.settings["candidates"], self.settings["forbidden"])
        split = prior_split(self.settings["split"], self.rules.tests, len(tested))
        return weigh(self.tree, self.at_nodes, self.pseudo, split)[1]

    @cached_property
    def theta(self) -> FloatArray:
        """The estimate of each leaf, averaged over prunings if asked for; one more row, of the prior."""
        each = self.plain if self.splits is None else self.tree.mix(self.plain, self.splits)
        return np.concatenate([each[self.rules.leaves], (self.pseudo / self.pseudo.sum())[None]])

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of the data it was fitted to."""
        return float((self.counts * np.log(self.theta[:-1])).sum())

    def rows(self, keys: KeyArray) -> IntArray:
        """The row of ``theta`` for each key: every leaf is there."""
        return keys[:, 0].astype(np.int64)

    def contrasts(self) -> Iterator[tuple[int, int, Contrast]]:
        """Column, outcome and contrast of each influencer: see :func:`contrast_in_tree`."""
        for column, z in enumerate(self.influencers):
            for outcome in range(len(self.target.codes)):
                yield column, outcome, contrast_in_tree(self.rules, self.at_nodes, z, outcome)


def tested_codes(
    labels: Sequence[str], candidates: Iterable[str] | None, forbidden: Iterable[str]
) -> tuple[int, ...]:
    """The codes of the labels that may be tested, sorted."""
    return candidate_codes(labels, candidates, codes_of(label_list("forbidden", forbidden), labels))


def prior_split(split: float | str, tests: HistoryTests, n_tested: int) -> float:
    """The prior probability that a node is split by the test that was found for it."""
    if isinstance(split, str) and split == "auto":
        return 0.5 / max(1, tests.size(n_tested))
    return check_share("split", split)
