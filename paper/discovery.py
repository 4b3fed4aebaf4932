"""Does the search find the influencers of known dynamics?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from paper.published import published
from paper.section import Section
from summarkov.models import BSuMM
from summarkov.simulate import Dynamics


def appendix_dynamics() -> Dynamics:
    """The dynamics of the paper's appendix: A and B depend on B and C within the last 3 events."""
    states = [(0, 0), (0, 1), (1, 0), (1, 1)]  # of B and C
    return Dynamics(
        {
            "A": (("B", "C"), dict(zip(states, (0.3, 0.1, 0.35, 0.2), strict=True))),
            "B": (("B", "C"), dict(zip(states, (0.1, 0.3, 0.05, 0.2), strict=True))),
            "C": 0.3,
            "D": 0.2,
            "E": 0.1,
        },
        lookback=3,
    )


def f1(found: Iterable[str], truth: Iterable[str]) -> float:
    """F1 of a set of influencers; 0 for an empty one."""
    found, truth = set(found), set(truth)
    return 2 * len(found & truth) / (len(found) + len(truth)) if found else 0.0


def discovery(seeds: int = 40, on_done: Callable[[], None] | None = None) -> Section:
    """F1 of the influencers of A learned from K sequences of 10 events, mean over seeds."""
    dynamics = appendix_dynamics()
    figures = published()["discovery"]
    rows = []
    for n_sequences, theirs in zip(figures["sequences"], figures["f1"], strict=True):
        data = [dynamics.simulate(n_sequences, 10, seed) for seed in range(seeds)]
        row = [str(n_sequences), f"{theirs:.2f}"]
        for search in ("greedy", "sweep"):
            model = BSuMM("A", lookback=3, alpha=0.1, gamma=1.0, search=search, false_edges=None)
            scores = [f1(model.fit(events).influencers_, ("B", "C")) for events in data]
            error = np.std(scores, ddof=1) / np.sqrt(seeds)
            row += [f"{np.mean(scores):.3f} ({error:.3f})", f"{np.mean(scores) - theirs:+.3f}"]
        rows.append(row)
        if on_done is not None:
            on_done()
    return Section(
        "Influencing-set discovery",
        "F1 of the influencers of A against {B, C}, from K sequences of 10 events of the appendix dynamics; "
        f"look-back 3, alpha 0.1, gamma 1; mean (standard error) over {seeds} simulated data sets.",
        ["K", "published", "ours, greedy", "difference", "ours, sweep", "difference (sweep)"],
        rows,
        [
            "The greedy search, with which the prediction tables come out, finds more than was published. "
            "Algorithm 1 as it is printed, one sweep over the labels, agrees with the published figures "
            "within the noise up to K = 100 and lies above them at 500. The paper does not say over how many "
            "data sets it averages.",
        ],
    )
