"""Every count equals the oracle's: all summaries, targets, look-backs, delays, masks, caps and weights."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from strategies import (
    FAMILIES,
    KINDS,
    UNKNOWN,
    WINDOWS,
    Data,
    Spec,
    assert_counted,
    assert_same,
    codes,
    data,
    examples,
    expected,
    found,
    found_with,
    long_data,
    requests,
    specs,
    subsets,
    target_of,
    targets,
    weights_of,
)
from summarkov import kernels
from summarkov.engines import CandidatesRequest, MemorySource, StateCounts, StatesRequest, Target
from summarkov.engines import source as sources
from summarkov.engines.counts import JointCounts, join, joined_tables
from summarkov.errors import SettingError, TooLargeError
from summarkov.events import EventSequences
from summarkov.kernels import index as window_rows
from summarkov.kernels import numpy_kernels

pytestmark = pytest.mark.cut_off


@st.composite
def questions(draw, kinds):
    """Data, a summary, a target, influencers (the target itself allowed) and weights."""
    events = draw(data(unknown=None))
    spec = draw(specs(events.labels, kinds))
    chosen = () if spec.kind == "chain" else draw(subsets(events.labels, max_size=4))
    return events, spec, draw(targets(events.labels)), chosen, draw(weights_of(events))


def ask(events, request, weights=None, **settings):
    (answer,) = MemorySource(events.events, sample_weight=weights, **settings).count([request])
    return answer


@pytest.mark.parametrize("is_long", [False, True], ids=["", "long"])
@pytest.mark.parametrize("kind", KINDS)
@examples(50)
@given(st.data())
def test_counts_equal_the_oracle(kind, is_long, draw):
    """Kernels may go another way through long sequences and windows than through short ones."""
    events = draw.draw(long_data() if is_long else data(unknown=None))
    weights = draw.draw(weights_of(events))
    spec = draw.draw(specs(events.labels, (kind,), longest=60 if is_long else 6))
    request, target = draw.draw(requests(events, spec, most=2 if is_long else 4, joining=st.just(True)))
    answer = ask(events, request, weights)
    assert_counted(answer, request, spec, events, target, weights)
    if isinstance(request, CandidatesRequest):
        plain = StatesRequest(request.summary, request.influencers, request.target)
        assert_same(ask(events, plain, weights), StateCounts(answer.keys, answer.counts))
        levels = {"binary": 1, "count": spec.cap}.get(spec.kind, len(request.influencers) + 1)
        shape = (len(request.candidates), len(answer.keys), levels, answer.counts.shape[1])
        assert answer.present.shape == shape
        (tables,) = joined_tables([answer])  # what a score sees
        for table, code in zip(tables, request.candidates, strict=True):
            joined = [events.labels[z] for z in sorted((*request.influencers, code))]
            naive = expected(events, target, spec.state(joined), weights)
            assert sorted(row for row in table.tolist() if any(row)) == sorted(naive.values())


@examples(70)
@given(questions(WINDOWS))
def test_leaving_an_influencer_out_equals_counting_without_it(question):
    events, spec, target, influencers, weights = question
    summary, source = spec.summary(), MemorySource(events.events, sample_weight=weights)
    every = codes(events.labels, influencers)
    fewer = [tuple(u for u in every if u != z) for z in every]
    table, *direct = source.count(
        [StatesRequest(summary, u, target_of(events, target)) for u in (every, *fewer)]
    )
    for column, without in enumerate(direct):
        rest = [other for other in range(len(every)) if other != column]
        assert_same(table.regroup(summary.restricted(table.keys, rest)), without)


@examples(80)
@given(questions(KINDS))
def test_every_position_has_its_state(question):
    events, spec, _, influencers, _ = question
    given_ = events.events
    index = kernels.Index(given_.codes, given_.offsets, len(events.labels))
    ids, keys = spec.summary().encode(index, codes(events.labels, influencers), events.labels)
    state = spec.state(influencers)
    assert ids.dtype == np.int64
    assert len(ids) == events.n_events
    if spec.kind != "custom":
        assert keys.shape[1] == (spec.order if spec.kind == "chain" else len(influencers))
    assert sorted(set(ids.tolist())) == list(range(len(keys)))
    assert [spec.read_key(keys[i].tolist(), events.labels) for i in ids] == [
        state(oracle.history(sequence, position))
        for sequence in events.sequences
        for position in range(len(sequence))
    ]


@pytest.mark.parametrize(("width", "most"), [(1, 1), (3, 5), (31, 2), (32, 5), (32, 20), (40, 1), (70, 3)])
def test_keys_of_shards_are_merged_however_many_there_could_be(width, most):
    """Also where one number per key would overflow, or NumPy has fewer axes."""
    rng = np.random.default_rng(width)
    parts = [np.unique(rng.integers(0, most + 1, (size, width), np.int32), axis=0) for size in (9, 1, 30)]
    parts.append(parts[0][:4])
    merged, where = kernels.merge_keys(parts)
    every = sorted({tuple(key) for part in parts for key in part.tolist()})
    assert merged.dtype == np.int32
    assert [tuple(key) for key in merged.tolist()] == every
    for part, rows in zip(parts, where, strict=True):
        assert [every[row] for row in rows] == [tuple(key) for key in part.tolist()]


@examples(70)
@given(st.data())
def test_requests_answered_together_equal_the_oracle(draw):
    """One pass serves several summaries, influencers and targets; targets share their tables."""
    events = draw.draw(data(unknown=None))
    weights = draw.draw(weights_of(events))
    two = [draw.draw(specs(events.labels)) for _ in range(2)]
    summaries = [spec.summary() for spec in two]
    asked = []
    for _ in range(draw.draw(st.integers(0, 8))):
        which = draw.draw(st.integers(0, 1))
        request, target = draw.draw(requests(events, two[which], most=2))
        asked.append((two[which], replace(request, summary=summaries[which]), target))
    answers = MemorySource(events.events, sample_weight=weights).count([request for _, request, _ in asked])
    for (spec, request, target), answer in zip(asked, answers, strict=True):
        assert_counted(answer, request, spec, events, target, weights)


@examples(70)
@given(st.data(), st.integers(1, 6))
def test_a_joint_table_has_no_more_labels_than_it_may(draw, most):
    labels = ("A", "B", "C", "D")
    asked = draw.draw(st.lists(targets(labels), max_size=8))
    summary = Spec("binary", 1).summary()
    requests = [StatesRequest(summary, (), Target(codes(labels, target), 4)) for target in asked]
    joint, answered_by = join(requests, most)
    assert len(answered_by) == len(requests)
    for request, at in zip(requests, answered_by, strict=True):
        assert set(request.target.codes) <= set(joint[at].target.codes)
    for at, together in enumerate(joint):
        served = [r.target.codes for r, by in zip(requests, answered_by, strict=True) if by == at]
        assert set(together.target.codes) == {code for target in served for code in target}
        assert len(together.target.codes) <= max(most, *(len(target) for target in served))


@pytest.mark.parametrize("kind", [*FAMILIES, "chain", "custom"])
@pytest.mark.parametrize("sequences", [[], [[]], [[], []], [["A"]], [[], ["A"], []], [[UNKNOWN]]])
def test_hardly_any_data(kind, sequences):
    events, spec = Data(("A", "B"), sequences), Spec(kind, 2)
    for target in (("A",), ("A", "B")):
        request = StatesRequest(spec.summary(), (0, 1), target_of(events, target))
        naive = expected(events, target, spec.state(("A", "B")))
        assert found(ask(events, request), spec, events.labels) == naive
        if kind in FAMILIES:
            answer = ask(events, CandidatesRequest(spec.summary(), (1,), request.target, (0,)))
            assert found_with(answer, spec, 0, 0) == naive


@examples(60)
@given(st.integers(1, 7), questions(WINDOWS))
def test_pairs_listed_in_small_parts_give_the_same(backend, at_once, question):
    if backend is not numpy_kernels:
        pytest.skip("the parts are NumPy's own")
    events, spec, target, influencers, weights = question
    rest = codes(events.labels, [z for z in events.labels if z not in influencers])
    common = (spec.summary(), codes(events.labels, influencers), target_of(events, target))
    for request in (StatesRequest(*common), CandidatesRequest(*common, rest)):
        whole = ask(events, request, weights)
        with mock.patch.object(window_rows, "_PAIRS_AT_ONCE", at_once):
            assert_same(ask(events, request, weights), whole)


@examples(60)
@given(questions(WINDOWS))
def test_tables_that_would_not_fit_are_refused(backend, question):
    """Within the limit they are made; one cell less than needed, and the error says what to do."""
    events, spec, target, influencers, _ = question
    rest = codes(events.labels, [z for z in events.labels if z not in influencers])
    common = (spec.summary(), codes(events.labels, influencers), target_of(events, target))
    request = CandidatesRequest(*common, rest)
    answer = ask(events, request)
    candidates, states, levels, outcomes = answer.present.shape
    enough = candidates * (states + 1) * levels * outcomes  # a kernel may keep a state that is left empty
    with mock.patch.object(backend, "MOST_CELLS", enough):
        assert_same(ask(events, request), answer)
    if answer.present.size:
        with (
            mock.patch.object(backend, "MOST_CELLS", answer.present.size - 1),
            pytest.raises(TooLargeError, match="max_influencers"),
        ):
            ask(events, request)


@pytest.mark.parametrize("setting", [{"lookback": 2**30 + 1}, {"lookback": None, "delay": 2**30 + 1}])
def test_windows_that_reach_too_far_are_refused(setting):
    with pytest.raises(SettingError, match="too large"):
        Spec("binary", **setting).summary()


@pytest.mark.parametrize("kind", FAMILIES)
@pytest.mark.parametrize("lookback", [1, 5, None])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_rare_targets_are_counted_as_in_the_table_of_all(kind, lookback, n_jobs):
    """Few events are counted label by label, many in their order."""
    rng = np.random.default_rng(7)
    codes_ = rng.choice(12, 3000, p=1 / np.arange(1, 13) / (1 / np.arange(1, 13)).sum()).astype(np.int32)
    events = EventSequences(codes_, np.append(np.arange(0, 3000, 45), 3000), [f"{z:02d}" for z in range(12)])
    source = MemorySource(events, sample_weight=rng.integers(0, 4, len(events)), n_jobs=n_jobs)
    summary, joint = (
        Spec(kind, lookback, delay=0, cap=2).summary(),
        Target(tuple(range(12)), 12, keeps_rest=True),
    )
    for influencers in ((), (0, 9)):
        others = tuple(z for z in range(12) if z not in influencers)
        rare = [Target((z,), 12) for z in (8, 9, 10, 11)]
        assert (events.label_counts[8:] * 8 < 3000).all()
        (whole,) = source.count([CandidatesRequest(summary, influencers, joint, others)])
        for target in rare:
            (alone,) = source.count([CandidatesRequest(summary, influencers, target, others)])
            assert_same(alone, JointCounts(whole, joint).narrow(target))


def test_a_sequence_of_too_many_rows_is_refused():
    with (
        mock.patch.object(sources, "MOST_ROWS", 3),
        pytest.raises(TooLargeError, match="a sequence has 4 rows"),
    ):
        MemorySource(EventSequences.from_lists([["A", "B", "A", "B"]])).count(
            [StatesRequest(Spec("binary", 2).summary(), (), Target((0,), 2))]
        )
