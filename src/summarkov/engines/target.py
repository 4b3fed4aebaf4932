"""The variable whose probability is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from summarkov.typing import CodeArray


@dataclass(frozen=True)
class Target:
    """Labels of the target X as sorted codes; one outcome each, plus a residual one unless X is all labels.

    >>> Target((0, 2), n_labels=4).n_outcomes
    3
    """

    codes: tuple[int, ...]
    n_labels: int
    keeps_rest: bool = False  # a residual outcome for events of no known label, though X is all labels

    @property
    def has_residual(self) -> bool:
        """Whether there is an outcome for what is not in the target."""
        return self.keeps_rest or len(self.codes) < self.n_labels

    @property
    def n_outcomes(self) -> int:
        """|X|, the number of states of the target's variable."""
        return len(self.codes) + self.has_residual

    def outcome_of(self) -> CodeArray:
        """Outcome of every code; the last entry is for events of no known label (-1: not counted)."""
        outcomes = np.full(self.n_labels + 1, len(self.codes) if self.has_residual else -1, np.int32)
        outcomes[list(self.codes)] = np.arange(len(self.codes))
        return outcomes
