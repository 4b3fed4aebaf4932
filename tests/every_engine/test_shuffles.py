"""The order test's counts: those of the oracle, and the same wherever the events are."""

import json
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_order as oracle
import summarkov as sm
from strategies import examples
from summarkov import kernels
from summarkov.engines import MemorySource
from summarkov.engines.shuffles import Moved, OrderQuestion, Shuffles, count_moved, position_strata
from summarkov.events.vocabulary import END
from summarkov.summaries import Reach

pytestmark = pytest.mark.cut_off

LABELS = ("a", "b", "c", "d")


@st.composite
def problems(draw):
    """Sequences of ticks, which of them are complete, weights, an edge and shuffles."""
    label = st.sampled_from(LABELS)
    tick = label if draw(st.booleans()) else st.sets(label, min_size=1, max_size=2).map(sorted)
    sequences = draw(st.lists(st.lists(tick, max_size=14), min_size=1, max_size=6))
    n = len(sequences)
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    complete = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    delay = draw(st.integers(0, 2))
    reach = st.none() | st.integers(delay + 1, delay + 4)
    target = draw(label | (st.just(END) if any(complete) else label))
    strata = draw(st.lists(label, unique=True, max_size=3))
    edge = {
        "influencer": draw(label),
        "target": target,
        "lookback": (draw(reach), False),
        "delay": (delay, False),
        "strata": [(u, (draw(reach), False)) for u in strata],
        "left_out": draw(st.lists(label.filter(lambda x: x != target), unique=True, max_size=2)),
        "only": False,
    }
    edge["strata"] = [each for each in edge["strata"] if each[0] != edge["influencer"]]
    within, kept = draw(st.none() | st.integers(2, 6)), draw(st.integers(0, 2))
    seed, done = draw(st.integers(0, 9)), draw(st.sampled_from([0, 5]))
    return sequences, weights, complete, edge, Shuffles(3, seed, within, kept, done=done)


def moved(sequences, weights, complete, edge, shuffles, n_jobs=1):
    """What is counted, as cells by stratum in each replicate."""
    events = sm.EventSequences.from_lists(sequences, labels=LABELS, ends=np.array(complete))
    source = MemorySource(events, sample_weight=weights, n_jobs=n_jobs)
    code = {label: at for at, label in enumerate(source.labels)}
    delay = edge["delay"][0]
    question = OrderQuestion(
        code[edge["influencer"]],
        code[edge["target"]],
        Reach(delay, edge["lookback"][0]),
        tuple(code[u] for u, _ in edge["strata"]),
        tuple(Reach(delay, k) for _, (k, _) in edge["strata"]),
        tuple(code[x] for x in edge["left_out"]),
    )
    found = count_moved(source, [question] * 2, shuffles)
    assert found[0].counts.tolist() == found[1].counts.tolist()
    return found[0]


def as_cells(one, replicate, width):
    numbers = one.positions, one.with_[replicate], one.hits_with[replicate], one.hits[replicate]
    return {
        (key >> width + 1, key >> width & 1, *(key >> bit & 1 for bit in range(width))): tuple(
            int(each[row]) for each in numbers
        )
        for row, key in enumerate(one.keys.tolist())
        if one.positions[row]
    }


@given(problems(), st.integers(1, 2))
@examples(100)
def test_counts_are_those_of_the_oracle(problem, n_jobs):
    sequences, weights, complete, edge, shuffles = problem
    found = moved(*problem, n_jobs)
    ticks = [
        [(at, {each} if isinstance(each, str) else set(each)) for at, each in enumerate(sequence)]
        for sequence in sequences
    ]
    for sequence, is_complete in zip(ticks, complete, strict=True):
        if is_complete:
            sequence.append((len(sequence), {END}))
    cuts = [oracle.blocks(len(sequence), shuffles.within, shuffles.kept) for sequence in ticks]
    seeds = [
        [oracle.block_seed(shuffles.seed, number, place) for place in places]
        for number, places in enumerate(cuts)
    ]
    k = edge["lookback"][0]
    ends = position_strata(k)
    each = weights or [1] * len(ticks)
    together = any(len(labels) != 1 for sequence in ticks for _, labels in sequence)
    for at, replicate in enumerate([0, *(shuffles.done + number for number in (1, 2, 3))]):
        asked = (ticks, cuts, seeds, each, edge, ends, replicate)
        cells = oracle.counts(*asked, stays={END}, together=together)
        assert as_cells(found, at, len(edge["strata"])) == cells


@given(problems(), st.integers(1, 5))
@examples(30)
def test_blocks_of_any_size_give_the_same(problem, most):
    whole = moved(*problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("summarkov.engines.source.SHARD_EVENTS", most)
        cut = moved(*problem)
    kept = whole.positions > 0
    assert whole.keys[kept].tolist() == cut.keys[cut.positions > 0].tolist()
    assert whole.counts[kept].tolist() == cut.counts[cut.positions > 0].tolist()
    assert (whole.influencers, whole.in_one_block) == (cut.influencers, cut.in_one_block)


@st.composite
def timed(draw):
    """Ticks with times, and an edge with look-backs in time, as the kernel takes them."""
    n = draw(st.integers(1, 4))
    label = st.integers(0, 3)
    tick = st.sets(label, min_size=1, max_size=draw(st.integers(1, 2)))
    sequences = []
    for _ in range(n):
        steps = draw(st.lists(st.tuples(st.integers(0, 3), tick), max_size=9))
        time, ticks = 0, []
        for step, labels in steps:
            time += step
            ticks.append((time, labels))
        sequences.append(ticks)
    span = st.tuples(st.integers(1, 5), st.booleans())
    z, x = draw(label), draw(label)
    strata = [(u, draw(span)) for u in sorted(draw(st.sets(label, max_size=2))) if u != z]
    edge = {"influencer": z, "target": x, "lookback": draw(span), "strata": strata}
    edge |= {"delay": draw(st.tuples(st.integers(0, 1), st.booleans())), "left_out": [], "only": False}
    return sequences, edge, draw(st.lists(st.sets(st.just(4), max_size=1), min_size=n, max_size=n))


@given(timed(), st.integers(2, 5))
@examples(100)
def test_windows_in_time_and_attributes(problem, within):
    sequences, edge, held = problem
    edge["strata"] = [*edge["strata"], (4, (1, False))]
    bounds = np.cumsum([0, *map(len, sequences)])
    cuts = [oracle.blocks(len(ticks), within, 1) for ticks in sequences]
    seeds = [[oracle.block_seed(7, s, place) for place in places] for s, places in enumerate(cuts)]
    ticks = chain.from_iterable(sequences)
    rows = [(tick, code) for tick, (_, some) in enumerate(ticks) for code in sorted(some)]
    stratum = [min(place, 2) for ticks in sequences for place in range(len(ticks))]
    events = kernels.OrderEvents(
        np.array([code for _, code in rows], np.int32),
        np.array([tick for tick, _ in rows], np.int64),
        bounds,
        np.array([time for ticks in sequences for time, _ in ticks], np.int64),
        np.array(stratum, np.uint8),
        np.array([*(bounds[s] + p for s, some in enumerate(cuts) for p in some), bounds[-1]], np.int64),
        np.array([each for some in seeds for each in some], np.uint64),
        None,
        np.array([4 for some in held for _ in some], np.int32),
        np.array([s for s, some in enumerate(held) for _ in some], np.int64),
        np.zeros(6, bool),
        5,
        together := any(len(labels) > 1 for ticks in sequences for _, labels in ticks),
    )
    size, in_time = edge["lookback"]
    one = [
        [
            edge["influencer"],
            edge["target"],
            size,
            int(in_time),
            0,
            0,
            len(edge["strata"]),
            0,
            0,
            2**32,
            2**32,
        ]
    ]
    edges = kernels.OrderEdges(
        np.array(one, np.int64),
        np.array([u for u, _ in edge["strata"]], np.int32),
        np.array([(k, int(timed)) for _, (k, timed) in edge["strata"]], np.int64).reshape(-1, 2),
        np.empty(0, np.int32),
        *edge["delay"],
    )
    (counted,) = kernels.order_counts(events, edges, np.arange(3))
    whole = Moved(*counted).completed(1.0)
    keys, counts = whole.keys, whole.counts
    width = len(edge["strata"])
    for replicate in range(3):
        found = {
            (key >> width + 1, key >> width & 1, *(key >> bit & 1 for bit in range(width))): (
                row[0],
                *row[1 + 3 * replicate : 4 + 3 * replicate],
            )
            for key, row in zip(keys.tolist(), counts.tolist(), strict=True)
            if row[0]
        }
        ends = (1, 2)
        assert found == oracle.counts(
            sequences, cuts, seeds, [1] * len(held), edge, ends, replicate, held=held, together=together
        )


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
