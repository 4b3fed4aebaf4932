"""Scores, estimates and numbers of states equal the oracle's."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from strategies import WINDOWS, Spec, examples, specs
from summarkov.engines.counts import state_tables
from summarkov.search.criteria import SCORES, Scorer, log_likelihood, probabilities, pseudo_counts

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

PRIORS = ("uniform", "base-rate")


@st.composite
def tables(draw, n_tables=1):
    """Counts of some states of a target, several times over with the same totals N(x)."""
    n_states, n_outcomes = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    count = st.integers(0, 9) | st.integers(0, 10**6)
    row = st.lists(count, min_size=n_outcomes, max_size=n_outcomes)
    first = draw(st.lists(row, min_size=n_states, max_size=n_states))
    columns = [list(column) for column in zip(*first, strict=True)]
    again = [[draw(st.permutations(column)) for column in columns] for _ in range(n_tables - 1)]
    return np.array([first, *(np.array(table).T.tolist() for table in again)], dtype=np.int64)


def as_dict(table):
    return dict(enumerate(table.tolist()))


settings_of_scores = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.1, 1, 5, 10]) | st.floats(1e-3, 50),
        "gamma": st.sampled_from([0, 0.1, 0.5, 1]) | st.floats(0, 5),
        "xi": st.sampled_from([0, 1]) | st.floats(0, 5),
    }
)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", SCORES)
@examples(40)
@given(
    tables(3),
    settings_of_scores,
    st.integers(0, 6),
    st.integers(0, 6),
    st.integers(1, 10**6) | st.sampled_from([2**40, 3**60]),
    st.integers(1, 10**7) | st.floats(0.25, 1e6),
)
def test_scores_equal_the_oracle(kind, prior, many, given_, n_influencers, spare, n_states, n_events):
    scorer = Scorer(kind, prior=prior, **given_)
    n_candidates = n_influencers + spare
    together = scorer(many, n_influencers, float(n_states), n_candidates, n_events)
    assert together.shape == (3,)
    for table, of_many in zip(many, together, strict=True):
        naive = oracle.score(
            kind.replace("-", "_"),
            as_dict(table),
            n_states=n_states,
            n_events=n_events,
            n_candidates=n_candidates,
            n_influencers=n_influencers,
            prior=prior,
            **given_,
        )
        alone = float(scorer(table, n_influencers, float(n_states), n_candidates, n_events))
        rounding = 1e-9 + 1e-14 * table.sum()  # of log-gammas of N that cancel
        assert alone == pytest.approx(naive, rel=1e-9, abs=rounding)
        assert float(of_many) == pytest.approx(naive, rel=1e-9, abs=rounding)


@pytest.mark.parametrize("prior", PRIORS)
@examples(60)
@given(tables(), st.floats(1e-3, 50))
def test_estimates_equal_the_oracle(prior, one, alpha):
    (table,) = one
    pseudo = pseudo_counts(table.sum(axis=0), alpha, prior)
    naive = as_dict(table)
    assert pseudo.tolist() == pytest.approx(oracle.pseudo_counts(naive, alpha, prior), rel=1e-12)
    theta = probabilities(table, pseudo)
    for row, expected in zip(theta.tolist(), oracle.theta(naive, alpha, prior).values(), strict=True):
        assert row == pytest.approx(expected, rel=1e-12)
        assert sum(row) == pytest.approx(1, rel=1e-12)
    unseen = probabilities(np.zeros_like(table), pseudo)[0]
    assert unseen.tolist() == pytest.approx(oracle.prior_mean(naive, prior), rel=1e-12)
    value = float(log_likelihood(table, pseudo))
    assert value == pytest.approx(oracle.log_likelihood(naive, alpha, prior), rel=1e-9, abs=1e-9)


@examples(80)
@given(tables(), st.floats(1e-3, 50), st.sampled_from(PRIORS), st.sampled_from(SCORES), st.data())
def test_the_order_of_states_and_empty_states_change_no_score(one, alpha, prior, kind, draw):
    (table,) = one
    scorer = Scorer(kind, alpha=alpha, prior=prior)
    order = draw.draw(st.permutations(range(len(table))))
    padded = np.concatenate([table[order], np.zeros_like(table)])
    a, b = (float(scorer(t, 1, 4, 3, 1000)) for t in (table, padded))
    assert a == pytest.approx(b, rel=1e-9, abs=1e-9 + 1e-14 * table.sum())


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", SCORES)
@examples(40)
@given(
    tables(1),
    settings_of_scores,
    st.integers(0, 6),
    st.integers(1, 300),
    st.integers(1, 10**7),
    st.sampled_from([0.2, 1.0, 50.0]) | st.floats(1e-9, 1e3),
    st.integers(1, 300),
    st.sampled_from([1, 7]),
)
def test_the_bound_of_chance_equals_the_oracle(
    kind, prior, one, given_, n_influencers, n_states, n_events, false_edges, n_targets, n_lookbacks
):
    scorer = Scorer(kind, prior=prior, false_edges=false_edges, **given_)
    n_candidates = n_influencers + 2
    found = scorer(one[0], n_influencers, float(n_states), n_candidates, n_events, n_targets, n_lookbacks)
    naive = oracle.score(
        kind.replace("-", "_"),
        as_dict(one[0]),
        n_states=n_states,
        n_events=n_events,
        n_candidates=n_candidates,
        n_influencers=n_influencers,
        prior=prior,
        false_edges=false_edges,
        n_targets=n_targets,
        n_lookbacks=n_lookbacks,
        **given_,
    )
    assert float(found) == pytest.approx(naive, rel=1e-9, abs=1e-9 + 1e-14 * one.sum())
    free = Scorer(kind, prior=prior, **given_)
    assert found <= free(one[0], n_influencers, float(n_states), n_candidates, n_events, 1, n_lookbacks)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", SCORES)
@examples(40)
@given(st.data())
def test_a_table_scores_the_same_bits_alone_and_among_others(kind, prior, draw):
    """Greedy search scores all targets and replicates of a round at once, and finds what each finds alone."""
    n_outcomes, alpha = draw.draw(st.sampled_from([1, 2, 3, 9, 20])), draw.draw(st.floats(1e-3, 50))
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32)))
    sizes = draw.draw(st.lists(st.integers(1, 40), min_size=1, max_size=6))
    many, n = [rng.integers(0, 10 ** rng.integers(1, 7), (s, n_outcomes)) for s in sizes], len(sizes)
    n_influencers, n_states, n_events = rng.integers(0, 6, n), rng.integers(1, 99, n), rng.random(n) * 1e5
    false_edges = draw.draw(st.sampled_from([None, 0.2]))
    scorer = Scorer(kind, alpha, gamma=0.7, xi=0.3, prior=prior, false_edges=false_edges)
    together = scorer(state_tables(many), n_influencers, n_states, 9, n_events)
    arguments = zip(many, n_influencers.tolist(), n_states.tolist(), n_events.tolist(), strict=True)
    alone = [scorer(table, u, s, 9, e) for table, u, s, e in arguments]
    assert together.tolist() == [float(score) for score in alone]


@examples(80)
@given(st.data())
def test_numbers_of_states_equal_the_oracle(draw):
    labels = ("A", "B", "C", "D")
    spec = draw.draw(specs(labels))
    n = draw.draw(st.integers(0, 12))
    m = draw.draw(st.integers(1, 30))
    assert spec.summary().n_states(n, m) == spec.n_states(n, m)


@examples(80)
@given(st.data())
def test_reachable_states_equal_the_oracle(draw):
    labels = ("A", "B", "C")
    spec = draw.draw(specs(labels, kinds=WINDOWS, longest=4))
    influencers = labels[: draw.draw(st.integers(0, 2 if spec.kind == "count" and spec.cap > 1 else 3))]
    lookback = spec.lookback
    each = [lookback.get(z) if isinstance(lookback, dict) else lookback for z in influencers]
    naive = oracle.n_reachable(spec.kind, each, spec.delay, spec.cap)
    summary = spec.summary()
    assert summary.n_reachable(influencers, len(labels)) == naive
    levels = range(max(spec.cap, len(influencers)) + 1)
    every = itertools.product(levels, repeat=len(influencers))
    assert sum(summary.fits(key, influencers) for key in every) == naive


def test_reachable_states_by_hand():
    """At look-back 1 no two labels can both have occurred; three labels have 1 + 3 states."""
    labels = ("A", "B", "C")
    assert Spec("binary", 1).summary().n_reachable(labels, 9) == 4
    assert Spec("ordinal", 2).summary().n_reachable(labels, 9) == 1 + 3 + 6
    assert Spec("count", 3, delay=1, cap=2).summary().n_reachable(labels[:2], 9) == 6  # 00 01 02 10 11 20
    assert Spec("chain", order=1).summary().n_reachable((), 9) == 10
