"""The joint model is the same to the last bit wherever its states are counted, and by both kernels."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import summarkov as sm
from strategies import EVENT_BYTES, examples
from summarkov import kernels
from summarkov.kernels import trees
from summarkov.simulate.example import web_shop

pytestmark = pytest.mark.cut_off


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
    return web_shop().simulate(n_sequences=12, length=60, random_state=3)


def test_streamed_and_in_memory(events, tmp_path):
    parquet.write_table(table_of(events), tmp_path / "events.parquet")
    settings = {"lookback": 20, "gamma": 0.01, "rounds": 2, "contexts": 0.3}
    here = sm.JointSuMM(**settings).fit(events)
    with sm.scan_events(tmp_path / "events.parquet", memory=100 * EVENT_BYTES) as source:
        streamed = sm.JointSuMM(**settings).fit(source)
        assert streamed.to_document() == here.to_document()
        assert streamed.log_likelihood(source) == here.log_likelihood(events)
    assert sm.JointSuMM(n_jobs=3, **settings).fit(events).to_document() == here.to_document()


def naive_tree(levels, features, rows, values, how):
    """Splits and sums of one tree, by trying every split of every leaf."""

    def worth(some):
        gradient, variance = (int(values[some, side].sum()) * how.unit for side in range(2))
        return gradient, variance, gradient * gradient / (variance + how.penalty)

    leaves, splits = [rows], []
    while len(leaves) < how.leaves:
        best = (how.least_gain, None)
        for leaf, some in enumerate(leaves):
            for feature in features:
                for level in range(how.n_levels - 1):
                    above = levels[feature, some] > level
                    low, high = worth(some[~above]), worth(some[above])
                    gain = low[2] + high[2] - worth(some)[2]
                    if low[1] > how.least and high[1] > how.least and gain > best[0] + 1e-9:
                        best = gain, (leaf, feature, level)
        if best[1] is None:
            break
        leaf, feature, level = best[1]
        above = levels[feature, leaves[leaf]] > level
        splits.append(best[1])
        leaves[leaf], rest = leaves[leaf][~above], leaves[leaf][above]
        leaves.append(rest)
    return splits, [values[some].sum(axis=0).tolist() for some in leaves]


@examples(30)
@given(st.integers(1, 60), st.integers(2, 6), st.integers(0, 2**16))
def test_trees_are_the_same_by_both_kernels_and_by_trying_every_split(n_rows, n_levels, seed):
    rng = np.random.default_rng(seed)
    levels = rng.integers(n_levels, size=(5, n_rows)).astype(np.uint8)
    levels[:2, rng.random(n_rows) < 0.7] = n_levels - 1  # mostly the same
    allowed = rng.random((2, 5)) < 0.7
    rows = np.flatnonzero(rng.random(n_rows) < 0.8).astype(np.int32)
    values = rng.integers([-(2**32), 0], [2**32, 2**28], size=(2, n_rows, 2))
    how = kernels.Growth(n_levels, 4, 10.0, 2.0**-30, 1e-6, 1e-3)
    found = kernels.tree_grower(levels)(allowed, rows, values, how)
    for here, numpy in zip(found, trees.tree_grower(levels)(allowed, rows, values, how), strict=True):
        assert (here == numpy).all()
    numbers = np.tile(np.arange(4.0), (2, 1))
    ends = kernels.said_by_trees(levels, *found[:3], numbers, 2)
    assert (ends == trees.said_by_trees(levels, *found[:3], numbers, 2)).all()
    shares = rng.random((2, 4))
    both = [kind.said_by_trees(levels, *found[:3], shares, 1).tolist() for kind in (kernels, trees)]
    assert both[0] == both[1] == [(shares[0][ends[0].astype(int)] + shares[1][ends[1].astype(int)]).tolist()]
    for t in range(2):
        splits, sums = naive_tree(levels, np.flatnonzero(allowed[t]).tolist(), rows, values[t], how)
        said = np.array(found[:3])[:, t].T.tolist()
        assert [tuple(split) for split in said if split[0] >= 0] == splits
        assert found.sums[t, : len(sums)].tolist() == sums
        read = [values[t][rows[ends[t, rows] == leaf]].sum(axis=0).tolist() for leaf in range(len(sums))]
        assert read == sums
