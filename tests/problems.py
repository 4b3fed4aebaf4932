"""Random searches for hypothesis, and the oracle's score of every set in them."""

from hypothesis import strategies as st

import oracle
from strategies import WINDOWS, data, expected, specs, subsets, targets, weights_of
from summarkov.engines import MemorySource


class Recorder(MemorySource):
    """A source that writes down what it is asked, pass by pass."""

    def __init__(self, events, weights=None):
        super().__init__(events.events, sample_weight=weights)
        self.passes = []

    def count(self, requests):
        self.passes.append(list(requests))
        return super().count(requests)


@st.composite
def search_problems(draw, kinds=(*WINDOWS, "custom")):
    """Data that has some events, a summary, a target, settings of the score and limits of the search."""
    events = draw(data(nonempty=True))
    labels = events.labels
    weights = draw(weights_of(events, least=0))
    if weights is not None and not any(w and s for w, s in zip(weights, events.sequences, strict=True)):
        weights = None
    required = draw(subsets(labels, max_size=2))
    forbidden = draw(subsets([z for z in labels if z not in required], max_size=2))
    limits = {
        "required": required,
        "forbidden": forbidden,
        "candidates": draw(st.none() | subsets(labels)),
        "max_influencers": draw(st.none() | st.integers(len(required), 5)),
    }
    score = {
        "alpha": draw(st.sampled_from([0.1, 1.0, 5.0])),
        "gamma": draw(st.sampled_from([0.0, 0.1, 1.0])),
        "xi": draw(st.sampled_from([0.0, 1.0])),
        "prior": draw(st.sampled_from(["uniform", "base-rate"])),
        "false_edges": draw(st.sampled_from([None, 0.2, 3.0])),
    }
    spec = draw(specs(labels, kinds=kinds, longest=4))
    return events, weights, spec, draw(targets(labels)), limits, score


def naive_score(events, weights, spec, target, kind, limits, score, n_states=None):
    """The oracle's function from a tuple of influencers to their score."""
    n_events = sum(sum(row) for row in expected(events, target, lambda past: (), weights).values())
    allowed = oracle.allowed_labels(
        events.labels, limits["required"], limits["forbidden"], limits["candidates"]
    )

    def score_of(influencers):
        return oracle.score(
            kind.replace("-", "_"),
            expected(events, target, spec.state(influencers), weights),
            n_states=(n_states or (lambda u: spec.n_states(len(u), len(events.labels))))(influencers),
            n_events=n_events,
            n_candidates=len(allowed) + len(limits["required"]),
            n_influencers=len(influencers),
            **score,
        )

    return score_of


def reachable(spec):
    """The oracle's function from a tuple of influencers to the number of their states that can be reached."""

    def n_reachable(influencers):
        lookback = spec.lookback
        each = [lookback.get(z) if isinstance(lookback, dict) else lookback for z in influencers]
        return oracle.n_reachable(spec.kind, each, spec.delay, spec.cap)

    return n_reachable
