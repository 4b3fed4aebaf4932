"""Textbook truths: where two models are the same model, they give the same numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from strategies import WINDOWS, Data, Spec, data, examples, specs, subsets, targets

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

SETTINGS = st.fixed_dictionaries(
    {"alpha": st.sampled_from([0.1, 1.0]), "prior": st.sampled_from(["uniform", "base-rate"])}
)
SEARCHES = st.fixed_dictionaries(
    {
        "search": st.sampled_from(["greedy", "sweep"]),
        "criterion": st.sampled_from(["bic", "aic", "extended-bic", "marginal"]),
        "gamma": st.sampled_from([0.1, 1.0]),
    }
)
LOOKBACKS = st.none() | st.integers(1, 5)


def windows(draw):
    """A look-back and a delay that it allows."""
    lookback = draw.draw(LOOKBACKS)
    return {"lookback": lookback, "delay": draw.draw(st.integers(0, min(lookback or 3, 3) - 1))}


def assert_same_model(a, b, events, same_table=True):
    """Equal influencers, scores, steps, counts and predictions."""
    assert a.influencers_ == b.influencers_
    assert a.score_ == pytest.approx(b.score_, rel=1e-12, abs=1e-12)
    assert [(s.action, s.label) for s in a.trace_] == [(s.action, s.label) for s in b.trace_]
    assert [s.score for s in a.trace_] == pytest.approx([s.score for s in b.trace_], rel=1e-12, abs=1e-12)
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, rel=1e-12, abs=1e-12)
    assert (a.predict_proba(events.events) == b.predict_proba(events.events)).all()
    if same_table:
        assert np.array_equal(a.fitted.table.keys, b.fitted.table.keys)
        assert np.array_equal(a.fitted.table.counts, b.fitted.table.counts)


@examples(40)
@given(data(nonempty=True), SETTINGS, st.data())
def test_a_chain_of_order_1_is_every_label_at_look_back_1(events, settings, draw):
    target = draw.draw(targets(events.labels))
    test = draw.draw(data(labels=events.labels))
    chain = sm.MarkovChain(target, order=1, **settings).fit(events.events)
    for family in (sm.OSuMM, sm.BSuMM, sm.CSuMM):
        model = family(target, lookback=1, required=events.labels, **settings).fit(events.events)
        assert model.influencers_ == chain.influencers_ == events.labels
        assert (model.predict_proba(test.events) == chain.predict_proba(test.events)).all()
        assert model.log_likelihood(test.events) == pytest.approx(
            chain.log_likelihood(test.events), rel=1e-12
        )
        assert model.log_likelihood_ == pytest.approx(chain.log_likelihood_, rel=1e-12)
        assert sorted(row.counts for row in model.table_) == sorted(row.counts for row in chain.table_)


@examples(40)
@given(data(nonempty=True), SETTINGS, st.data())
def test_a_chain_of_order_0_is_no_influencer(events, settings, draw):
    target = draw.draw(targets(events.labels))
    chain = sm.MarkovChain(target, order=0, **settings).fit(events.events)
    for family in (sm.OSuMM, sm.BSuMM, sm.CSuMM):
        model = family(target, candidates=(), **settings).fit(events.events)
        assert_same_model(model, chain, events)


@examples(40)
@given(data(nonempty=True), st.integers(0, 3), SETTINGS, st.data())
def test_a_longer_chain_never_fits_worse(events, order, settings, draw):
    """Its states refine those of the shorter one, so the largest likelihood can only grow."""
    target = draw.draw(targets(events.labels))

    def largest(order):
        table = sm.MarkovChain(target, order=order).fit(events.events).fitted.table.counts
        share = table / table.sum(axis=1, keepdims=True)
        return float((table * np.log(np.where(table > 0, share, 1))).sum())

    assert largest(order + 1) >= largest(order) - 1e-9


#: Pairs of models that are the same: of a look-back and a delay, and of all labels at this look-back.
ONE = {"max_influencers": 1}
TWINS = {
    "counting up to 1": lambda window, each: (sm.CSuMM(cap=1, **window), sm.BSuMM(**window)),
    "the last order of one": lambda window, each: (sm.OSuMM(**window, **ONE), sm.BSuMM(**window, **ONE)),
    "the first order of one": lambda window, each: (
        sm.OSuMM(mask="first", **window, **ONE),
        sm.BSuMM(**window, **ONE),
    ),
    "equal look-backs": lambda window, each: (sm.BSuMM(**window | each), sm.BSuMM(**window)),
    "equal look-backs, counts": lambda window, each: (sm.CSuMM(**window | each), sm.CSuMM(**window)),
}


@pytest.mark.parametrize("name", TWINS)
@examples(40)
@given(data(nonempty=True), SETTINGS, SEARCHES, st.data())
def test_twins(name, events, settings, search, draw):
    target, window = draw.draw(targets(events.labels)), windows(draw)
    pair = TWINS[name](window, {"lookback": dict.fromkeys(events.labels, window["lookback"])})
    a, b = (each.copy(target=target, **settings, **search).fit(events.events) for each in pair)
    assert_same_model(a, b, events)
    if pair[0].max_influencers == 1:
        fixed = {"required": (draw.draw(st.sampled_from(events.labels)),), "candidates": ()}
        a, b = (each.copy(target=target, **fixed, **settings).fit(events.events) for each in pair)
        assert_same_model(a, b, events)


@examples(40)
@given(data(nonempty=True), SETTINGS, SEARCHES, st.data())
def test_the_whole_past_is_a_look_back_as_long_as_the_longest_sequence(events, settings, search, draw):
    target = draw.draw(targets(events.labels))
    longest = max(len(sequence) for sequence in events.sequences) + draw.draw(st.integers(0, 3))
    spec = draw.draw(specs(events.labels, kinds=WINDOWS))
    whole = Spec(spec.kind, None, min(spec.delay, longest - 1), spec.mask, spec.cap)
    limited = Spec(spec.kind, longest, whole.delay, spec.mask, spec.cap)
    a, b = (s.model(target, **settings, **search).fit(events.events) for s in (whole, limited))
    assert_same_model(a, b, events)


@examples(40)
@given(data(nonempty=True), SETTINGS, st.data())
def test_the_order_of_sequences_changes_nothing(events, settings, draw):
    target, spec = draw.draw(targets(events.labels)), draw.draw(specs(events.labels))
    shuffled = Data(events.labels, draw.draw(st.permutations(events.sequences)))
    a, b = (spec.model(target, **settings).fit(each.events) for each in (events, shuffled))
    assert_same_model(a, b, events)
    assert a.score_ == b.score_  # to the last bit
    assert a.trace_ == b.trace_


@examples(40)
@given(data(nonempty=True), SETTINGS, st.data())
def test_names_of_labels_change_nothing_if_their_order_stays(events, settings, draw):
    target, spec = draw.draw(targets(events.labels)), draw.draw(specs(events.labels))
    words = draw.draw(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"])),
            unique=True,
            min_size=len(events.labels),
            max_size=len(events.labels),
        )
    )
    name = dict(zip(events.labels, sorted(words), strict=True))
    renamed = Data(
        tuple(name[label] for label in events.labels), [[name[z] for z in s] for s in events.sequences]
    )
    lookback = spec.lookback
    if isinstance(lookback, dict):
        lookback = {name[z]: k for z, k in lookback.items()}
    other = Spec(spec.kind, lookback, spec.delay, spec.mask, spec.cap, spec.order)
    a = spec.model(target, **settings).fit(events.events)
    everything = sm.EventSequences.from_lists(renamed.sequences, labels=renamed.labels)
    b = other.model(tuple(name[x] for x in target), **settings).fit(everything)
    assert b.influencers_ == tuple(name[z] for z in a.influencers_)
    assert b.score_ == a.score_
    assert [(s.action, s.label, s.score) for s in b.trace_] == [
        (s.action, name[s.label], s.score) for s in a.trace_
    ]
    assert (b.predict_proba(everything) == a.predict_proba(events.events)).all()


@examples(40)
@given(data(nonempty=True), st.data())
def test_a_target_of_one_label_is_part_of_a_target_of_all(events, draw):
    """Given the same influencers, the counts of one label are a column of those of all labels."""
    spec = draw.draw(specs(events.labels))
    fixed = {}
    if spec.kind != "chain":
        fixed = {"required": draw.draw(subsets(events.labels, max_size=2)), "candidates": ()}
    every = spec.model(events.labels, **fixed).fit(events.events).fitted.table.counts
    for column, label in enumerate(events.labels):
        alone = spec.model(label, **fixed).fit(events.events).fitted.table.counts
        assert np.array_equal(alone[:, 0], every[:, column])
        assert np.array_equal(alone.sum(axis=1), every.sum(axis=1))
