"""Shuffled sequences: the same order and the same counts wherever the events are, and those of the oracle."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_order as oracle
import summarkov as sm
from strategies import examples
from summarkov import kernels
from summarkov.confidence import Sums
from summarkov.engines import MemorySource
from summarkov.engines.followings import Asked
from summarkov.engines.shuffles import Shuffles, count_shuffled, cut_for_shuffling, position_strata
from summarkov.errors import TooLargeError
from summarkov.events.rows import cut_events, with_keys
from summarkov.explain import contrast
from summarkov.kernels import resampling
from summarkov.summaries import Reach

LABELS = ("a", "b", "c", "d")


@st.composite
def problems(draw):
    """Sequences, weights, questions and shuffles."""
    sequences = draw(st.lists(st.lists(st.sampled_from(LABELS), max_size=14), min_size=1, max_size=6))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=len(sequences), max_size=len(sequences)))
    delay = draw(st.integers(0, 2))
    asked = []
    for _ in range(draw(st.integers(1, 3))):
        influencers = tuple(sorted(draw(st.sets(st.integers(0, 3), min_size=1, max_size=3))))
        reach = st.none() | st.integers(delay + 1, delay + 4)
        windows = tuple(Reach(delay, draw(reach)) for _ in influencers)
        labels = tuple(sorted(draw(st.sets(st.integers(0, 3), min_size=1, max_size=4))))
        asked.append(Asked(influencers, windows, labels))
    within, kept = draw(st.none() | st.integers(2, 6)), draw(st.integers(0, 2))
    return sequences, weights, asked, Shuffles(3, draw(st.integers(0, 9)), within, kept)


def expected(sequences, weights, one, shuffles, replicate, ends):
    """The table of one question in one replicate, by the oracle."""
    if replicate:
        seeds = [oracle.sequence_seed(shuffles.seed, replicate, number) for number in range(len(sequences))]
        sequences = [
            oracle.shuffled(sequence, seed, shuffles.within, shuffles.kept)
            for sequence, seed in zip(sequences, seeds, strict=True)
        ]
    windows = [(LABELS[z], d, k) for z, (d, k) in zip(one.influencers, one.windows, strict=True)]
    return oracle.counts(sequences, weights, [LABELS[x] for x in one.labels], windows, ends)


def as_cells(table, replicate, one):
    names = [*(LABELS[x] for x in one.labels), None]
    return {
        (tuple(key), name): int(n)
        for key, row in zip(table.keys.tolist(), table.counts[replicate], strict=True)
        for name, n in zip(names, row, strict=True)
        if n
    }


@given(problems(), st.integers(1, 2))
@examples(60)
def test_counts_are_those_of_the_oracle(problem, n_jobs):
    sequences, weights, asked, shuffles = problem
    events = sm.read_events(sequences, labels=LABELS)
    source = MemorySource(events, sample_weight=weights, n_jobs=n_jobs)
    told = []
    tables = count_shuffled(source, asked, shuffles, lambda *done: told.append(done))
    assert told == [(3, 3)]
    lookbacks = [k for one in asked for _, k in one.windows]
    ends = position_strata(None if None in lookbacks else max(lookbacks))
    for one, table in zip(asked, tables, strict=True):
        for replicate in range(shuffles.n + 1):
            found = expected(sequences, weights or [1] * len(sequences), one, shuffles, replicate, ends)
            assert as_cells(table, replicate, one) == {
                cell: n * (source.scale if weights else 1) for cell, n in found.items()
            }


@given(problems(), st.integers(1, 5))
@examples(60)
def test_blocks_of_any_size_give_the_same(problem, most):
    sequences, _, asked, shuffles = problem
    events = sm.read_events(sequences, labels=LABELS)
    whole = count_shuffled(MemorySource(events), asked, shuffles)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("summarkov.engines.work.SHARD_EVENTS", most)
        cut = count_shuffled(MemorySource(events), asked, shuffles)
    for a, b in zip(whole, cut, strict=True):
        assert a.keys.tolist() == b.keys.tolist()
        assert a.counts.tolist() == b.counts.tolist()


@given(problems())
@examples(40)
def test_the_sums_of_mantel_and_haenszel_are_those_of_the_oracle(problem):
    sequences, _, asked, shuffles = problem
    events = sm.read_events(sequences, labels=LABELS)
    one = asked[0]
    (table,) = count_shuffled(MemorySource(events), [one], shuffles)
    lookbacks = [k for _, k in one.windows]
    ends = position_strata(None if None in lookbacks else max(lookbacks))
    for column in range(len(one.influencers)):
        found = Sums.of(contrast(table, 1, column, 0).strata)
        for replicate in range(shuffles.n + 1):
            cells = expected(sequences, [1] * len(sequences), one, shuffles, replicate, ends)
            above, below = oracle.sums(cells, column, LABELS[one.labels[0]])
            assert found.above[replicate] == pytest.approx(above, rel=1e-12)
            assert found.below[replicate] == pytest.approx(below, rel=1e-12)


def test_shuffled_sequences_keep_what_must_be_kept():
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 30, 40)
    offsets = np.append(0, np.cumsum(lengths))
    codes = rng.integers(0, 5, offsets[-1]).astype(np.int32)
    seeds = kernels.sequence_seeds(1, 2, np.arange(40))
    made = kernels.shuffled(codes, offsets, seeds, 0, 2, 6)
    moved = 0
    for start, stop in pairwise(offsets.tolist()):
        first = slice(start, min(start + 2, stop))
        assert made[first].tolist() == codes[first].tolist()
        for block in range(start + 2, stop, 6):
            inside = slice(block, min(block + 6, stop))
            assert sorted(made[inside].tolist()) == sorted(codes[inside].tolist())
            moved += made[inside].tolist() != codes[inside].tolist()
    assert moved > 50


def test_one_number_decides_and_not_the_kernel(backend):
    """So many events that some are told apart by the last bits alone, and a block that begins elsewhere."""
    codes, seeds = np.arange(300_000, dtype=np.int32), kernels.sequence_seeds(5, 7, np.arange(1))
    for begun, kept, within in ((0, 0, 2**62), (3, 0, 2**62), (3, 1, 5), (1, 4, 7)):
        given = (codes, np.array([0, len(codes)]), seeds, begun, kept, within)
        assert np.array_equal(kernels.shuffled(*given), resampling.shuffled(*given))


def test_every_order_is_as_likely():
    offsets = np.arange(0, 6001, 3)
    codes = np.tile(np.arange(3, dtype=np.int32), 2000)
    made = kernels.shuffled(codes, offsets, kernels.sequence_seeds(0, 1, np.arange(2000)), 0, 0, 2**62)
    _, counts = np.unique(made.reshape(-1, 3), axis=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 333 - 4 * 17  # four standard deviations
    assert counts.max() < 333 + 4 * 17


def test_a_sequence_that_is_too_long_for_memory_is_refused_unless_cut():
    events = sm.read_events([["a", "b"] * 50, ["b"]], labels=LABELS)
    blocks = list(with_keys(cut_events(events, 10), events.sequence_keys()))
    with pytest.raises(TooLargeError, match="give within, a number of positions such as 1000"):
        list(cut_for_shuffling(blocks, Shuffles(), 60))
    cut = [block for block, _ in cut_for_shuffling(blocks, Shuffles(within=4), 60)]
    assert [len(block.codes) % 4 for block in cut[:-1]] == [0] * (len(cut) - 1)
    assert sum(len(block.codes) for block in cut) == events.n_events


def test_many_influencers_are_counted_one_by_one():
    """So many patterns of presence that the native kernel keeps only those that were met."""
    labels = tuple(f"l{i:02}" for i in range(14))
    rng = np.random.default_rng(0)
    events = sm.read_events([[labels[i] for i in rng.integers(0, 14, 50)] for _ in range(8)], labels=labels)
    one = Asked(tuple(range(13)), (Reach(0, 4),) * 13, (0, 13))
    (table,) = count_shuffled(MemorySource(events), [one], Shuffles(1, 0))
    ends = position_strata(4)
    windows = [(label, 0, 4) for label in labels[:13]]
    found = oracle.counts(events.to_lists(), [1] * 8, ["l00", "l13"], windows, ends)
    cells = {
        (tuple(key), name): int(n)
        for key, row in zip(table.keys.tolist(), table.counts[0], strict=True)
        for name, n in zip(("l00", "l13", None), row, strict=True)
        if n
    }
    assert cells == found


@pytest.mark.parametrize("within", [None, 6])
def test_streams_give_the_test_of_memory(tmp_path, within):
    rng = np.random.default_rng(5)
    sequences = [[LABELS[c] for c in rng.integers(0, 4, n)] for n in rng.integers(0, 40, 30)]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(sequence) + "\n" for sequence in sequences))
    events = sm.read_events(sequences)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
    in_ram = graph.order_test(events, n=19, within=within)
    assert len(in_ram.edges) > 3
    with sm.scan_events(path, memory=5000) as source:
        assert graph.order_test(source, n=19, within=within) == in_ram


def named_sequences():
    rng = np.random.default_rng(8)
    return {f"visit {k}": [LABELS[c] for c in rng.integers(0, 4, 20)] for k in range(40)}


def test_shuffles_go_by_names_so_that_the_order_of_sequences_and_files_does_not_matter(tmp_path):
    sequences = named_sequences()
    events = sm.read_events(sequences)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
    expected = graph.order_test(events, n=19)
    assert len(expected.edges) > 3
    turned = dict(reversed(sequences.items()))
    assert graph.order_test(sm.read_events(turned), n=19) == expected
    assert graph.order_test(sm.EventSequences(events.codes, events.offsets, events.labels), n=19) != expected
    for part, names in (("b", list(sequences)[:15]), ("a", list(sequences)[15:])):
        rows = [f"{name},{event}" for name in names for event in sequences[name]]
        (tmp_path / f"{part}.csv").write_text("\n".join(["case,event", *rows]) + "\n")
    with sm.scan_events(tmp_path, memory=1 << 20) as source:
        assert graph.order_test(source, n=19) == expected
    cut = [f"{name},{sequences[name][at]}" for at in range(20) for name in sequences]  # to be grouped
    (tmp_path / "a.csv").write_text("\n".join(["case,event", *cut]) + "\n")
    (tmp_path / "b.csv").unlink()
    with sm.scan_events(tmp_path / "a.csv") as source:
        assert graph.order_test(source, n=19) == expected


def test_names_that_come_twice_give_way_to_numbers(tmp_path):
    sequences = list(named_sequences().values())
    plain = sm.read_events(sequences)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(plain)
    expected = graph.order_test(plain, n=19)
    twice = ["same", "same", *(f"visit {k}" for k in range(38))]
    in_memory = sm.EventSequences(plain.codes, plain.offsets, plain.labels, twice)
    assert graph.order_test(in_memory, n=19) == expected
    lines = [json.dumps({"id": name, "events": some}) for name, some in zip(twice, sequences, strict=True)]
    (tmp_path / "events.jsonl").write_text("\n".join(lines) + "\n")
    with sm.scan_events(tmp_path / "events.jsonl", case="id", event="events") as source:
        assert graph.order_test(source, n=19) == expected
