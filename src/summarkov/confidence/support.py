"""Was a state seen often enough to believe its probabilities?"""

from __future__ import annotations

#: A label that never followed a state seen n times may still have a probability of 3 / n there (the upper end
#: of a 95% interval, the "rule of three"). Below ten observations that is more than 0.3: next to nothing is
#: known.
FEW = 10


def seen(n: float, prior_weight: float = 0.0) -> str:
    """Whether a state was seen "never", "hardly" or "often".

    "hardly" is fewer than ten times (``FEW``), or less than the prior counts for: ``prior_weight`` is its
    total of pseudo-counts, :math:`\\alpha |X|`, so that the estimate is more prior than data.

    >>> [seen(n) for n in (0, 9, 10)], seen(15, prior_weight=40)
    (['never', 'hardly', 'often'], 'hardly')
    """
    if n <= 0:
        return "never"
    return "hardly" if n < max(FEW, prior_weight) else "often"
