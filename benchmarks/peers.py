"""Scores of all candidates for one target, against other people's tools."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

import summarkov as sm
from benchmarks.data import planted, presence
from benchmarks.timing import Row, best_of, seconds
from summarkov.engines import CandidatesRequest, MemorySource, Target
from summarkov.scores import Scorer
from summarkov.search import Problem
from summarkov.summaries import BinarySummary


def all_scores(events: sm.EventSequences, target: int, lookback: int) -> np.ndarray:
    """BIC of every label as the only influencer, at the maximum-likelihood estimates (alpha to 0)."""
    n_labels = len(events.labels)
    problem = Problem(
        summary=BinarySummary(lookback),
        target=Target((target,), n_labels),
        scorer=Scorer(alpha=1e-12),
        labels=events.labels,
        n_events=events.n_events,
        scale=1,
        required=(),
        optional=tuple(range(n_labels)),
    )
    request = CandidatesRequest(problem.summary, (), problem.target, problem.optional)
    (counts,) = MemorySource(events).count([request])
    return problem.joined_scores(counts, (), problem.optional)


def rows() -> Iterator[Row]:
    """Time and check each peer. Their tables are built beforehand; ours starts from the events."""
    import pandas as pd
    import pyagrum
    from pgmpy.structure_score import BIC
    from sklearn.linear_model import LogisticRegression

    n_events, n_labels, lookback, target = 20_000, 300, 10, 20
    events = planted(n_events, n_labels)
    table = presence(events, lookback)
    occurred = events.codes == target
    names = [f"before_{label}" for label in events.labels]
    frame = pd.DataFrame(table.astype(np.int8), columns=names)
    frame.insert(0, "target", occurred.astype(np.int8))
    varying = [name for name in names if frame[name].nunique() == 2]

    (ours,) = best_of(20, lambda: all_scores(events, target, lookback))
    scores = dict(zip(names, all_scores(events, target, lookback), strict=True))
    size = f"N={n_events:.0e}, M={n_labels}, look-back {lookback}"

    learner = pyagrum.BNLearner(frame)
    learner.useScoreBIC()
    learner.useNoPrior()
    theirs = {name: learner.score("target", [name]) * math.log(2) for name in varying}
    worst = max(abs(theirs[name] - scores[name]) / abs(scores[name]) for name in varying)
    assert worst < 1e-6, f"pyAgrum's BIC differs from ours by {worst}"
    (gum,) = best_of(3, lambda: [learner.score("target", [name]) for name in names])
    yield Row(f"all candidates, {size}: pyAgrum / ours", f"{gum / ours:.0f}x ({seconds(ours)})", "100x")

    scorer = BIC(frame.astype("category"))
    theirs = {name: scorer.local_score("target", (name,)) for name in varying[:40]}
    worst = max(abs(theirs[name] - scores[name]) / abs(scores[name]) for name in theirs)
    assert worst < 1e-6, f"pgmpy's BIC differs from ours by {worst}"
    (pgm,) = best_of(1, lambda: [scorer.local_score("target", (name,)) for name in names])
    yield Row(f"all candidates, {size}: pgmpy / ours", f"{pgm / ours:.0f}x", "1000x")

    (fit,) = best_of(1, lambda: LogisticRegression(max_iter=1000).fit(table, occurred))
    yield Row(f"all candidates, {size}: one LogisticRegression fit / ours", f"{fit / ours:.0f}x", "500x")
