"""The joint model is the same to the last bit wherever its states are counted, and by both kernels."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import summarkov as sm
from strategies import assert_same, data, examples
from summarkov import kernels
from summarkov.engines import MemorySource, StatesRequest, Target
from summarkov.engines.work import EVENT_BYTES
from summarkov.kernels import levels
from summarkov.simulate.example import web_shop
from summarkov.summaries.profile import ProfileSummary


def table_of(events):
    """One row per event."""
    sequences = events.to_lists()
    return pa.table(
        {
            "case": [k for k, sequence in enumerate(sequences) for _ in sequence],
            "event": [label for sequence in sequences for label in sequence],
            "order": [i for sequence in sequences for i, _ in enumerate(sequence)],
        }
    )


@pytest.fixture(scope="module")
def events():
    return web_shop().simulate(n_sequences=12, length=60, seed=3)


def test_streamed_and_in_memory(events, tmp_path):
    parquet.write_table(table_of(events), tmp_path / "events.parquet")
    settings = {"lookback": 20, "gamma": 0.01, "rounds": 2}
    here = sm.JointSuMM(**settings).fit(events)
    with sm.scan_events(tmp_path / "events.parquet", memory=100 * EVENT_BYTES) as source:
        streamed = sm.JointSuMM(**settings).fit(source)
        assert streamed.to_document() == here.to_document()
        assert streamed.log_likelihood(source) == here.log_likelihood(events)
    assert sm.JointSuMM(n_jobs=3, **settings).fit(events).to_document() == here.to_document()


@examples(30)
@given(data(nonempty=True), st.integers(1, 3))
def test_states_do_not_depend_on_where_sequences_are_cut(drawn, n_jobs):
    events = drawn.events
    request = StatesRequest(ProfileSummary(20), (), Target((0,), len(events.labels)))
    (whole,) = MemorySource(events).count([request])
    (cut,) = MemorySource(events, n_jobs=n_jobs).count([request])
    assert_same(cut, whole)


@examples(30)
@given(st.integers(0, 60), st.integers(1, 9), st.integers(0, 2**16))
def test_both_kernels_add_up_the_same(n_rows, n_levels, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(n_levels, size=(5, n_rows)).astype(np.uint8)
    features = np.array([4, 0, 2], np.int32)
    rows = np.flatnonzero(rng.random(n_rows) < 0.6).astype(np.int32)
    values = rng.integers(-(2**45), 2**45, size=(n_rows, 2))
    found = kernels.level_sums(drawn, features, rows, values, n_levels)
    assert (found == levels.level_sums(drawn, features, rows, values, n_levels)).all()
    naive = np.zeros((3, n_levels, 2), np.int64)
    for f, feature in enumerate(features):
        np.add.at(naive[f], drawn[feature, rows], values[rows])
    assert (found == naive).all()
