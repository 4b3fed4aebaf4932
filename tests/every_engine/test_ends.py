"""The end of a case on every engine: as if it had been written down, and only where a case is complete."""

import itertools
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.engines import make_source
from summarkov.errors import DataError

LABELS = ("A", "B", "C", "D")


def made_cases(seed, n=40):
    """Cases that end sooner after C, and of which each third is open."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(n):
        events = []
        while len(events) < 25:
            events.append(str(rng.choice(LABELS)))
            if rng.random() < (0.5 if "C" in events[-2:] else 0.1):
                break
        cases.append(events)
    return cases


def rows_of(cases, **columns):
    """A table of one row per event, in any order, with columns that have one value per case."""
    table = {
        "case": [f"case {k:03}" for k, case in enumerate(cases) for _ in case],
        "event": list(itertools.chain(*cases)),
        "order": [i for case in cases for i, _ in enumerate(case)],
    }
    for name, values in columns.items():
        table[name] = [value for value, case in zip(values, cases, strict=True) for _ in case]
    return pa.table(table).take(pa.array(np.random.default_rng(1).permutation(sum(map(len, cases)))))


def written_down(cases, complete):
    """The same cases with the end of those that are complete as an event, and nothing after it."""
    written = [[*case, sm.END] if ended else case for case, ended in zip(cases, complete, strict=True)]
    return sm.EventSequences.from_lists(written, ends="cut off")


def counted(graph):
    """Everything that was counted, by target; attributes and ids do not matter."""
    return {
        target: [(row.words, row.n, tuple(row.counts)) for row in model.table_]
        for target, model in graph.models_.items()
    }


def learned(source, candidates=LABELS):
    return sm.InfluenceGraph(sm.BSuMM(lookback=3, candidates=list(candidates))).fit(source)


#: Which cases are complete, and how that is told.
TOLD = {
    "nothing": (lambda k, case: True, {}),
    "cut off": (lambda k, case: False, {"ends": "cut off"}),
    "labels": (lambda k, case: case[-1] in ("A", "C"), {"closed_by": ["A", "C"]}),
    "a column": (lambda k, case: k % 3 > 0, {"ends_column": "done"}),
}


@pytest.mark.parametrize("how", TOLD)
def test_the_end_of_complete_cases_is_counted_as_if_it_had_been_written_down(engine, how):
    is_complete, settings = TOLD[how]
    cases = made_cases(3)
    complete = [is_complete(k, case) for k, case in enumerate(cases)]
    columns = {"done": ["Yes" if each else "no" for each in complete]} if how == "a column" else {}
    expected = learned(written_down(cases, complete))
    with engine(rows_of(cases, **columns), order_by="order", pieces=12, **settings) as source:
        assert (sm.END in source.labels) == (how != "cut off")
        assert source.n_events == sum(map(len, cases))
        assert not source.attributes
        graph = learned(source)
        assert graph.influencers_ == expected.influencers_
        assert counted(graph) == counted(expected)
        if how == "nothing":
            whole = sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(source)
            assert whole.influencers_ == expected.influencers_
            paper = sm.InfluenceGraph(sm.BSuMM(lookback=3, paper=True)).fit(source)
            plain = sm.InfluenceGraph(sm.BSuMM(lookback=3, false_edges=None))
            plain.fit(sm.read_events(cases, ends="cut off"))
            assert counted(paper) == counted(plain)
            assert paper.influencers_ == plain.influencers_


def test_cases_with_late_events_are_open(engine):
    cases, begin = made_cases(5), datetime(2024, 1, 1)
    starts = [begin + timedelta(days=k) for k in range(len(cases))]
    table = rows_of(cases, start=starts)
    times = [
        start.as_py() + timedelta(hours=order.as_py())
        for start, order in zip(table["start"], table["order"], strict=True)
    ]
    table = table.drop(["start", "order"]).append_column("order", pa.array(times, pa.timestamp("us")))
    last = [start + timedelta(hours=len(case) - 1) for start, case in zip(starts, cases, strict=True)]
    expected = learned(written_down(cases, [each < datetime(2024, 2, 1) for each in last]))
    with engine(table, order_by="order", open_since="2024-02-01", pieces=12) as source:
        assert counted(learned(source)) == counted(expected)


def test_weights_and_ticks(engine):
    cases = [["A", "B", "C"], ["B", "A"], ["C", "C", "A", "B"]] * 8
    weights = [1.0, 2.0, 0.5] * 8
    table = rows_of(cases, weight=weights)
    ticks = table.set_column(2, "order", pa.array([n // 2 for n in table["order"].to_pylist()]))
    twin = [_in_twos(case) for case in cases]
    expected = learned(
        sm.EventSequences.from_lists([[*case, sm.END] for case in twin], ends="cut off").with_weights(
            weights
        ),
        candidates="ABC",
    )
    with engine(ticks, order_by="order", weight="weight", ties="together", pieces=6) as source:
        assert counted(learned(source, candidates="ABC")) == counted(expected)


def _in_twos(case):
    """Ticks of two events each, one that is there twice once."""
    return [sorted(set(case[at : at + 2])) for at in range(0, len(case), 2)]


def test_new_data_are_read_as_the_model_was_learned(engine):
    cases = made_cases(6)
    with_ends, without = learned(cases), learned(sm.read_events(cases, ends="cut off"))
    with engine(rows_of(cases), order_by="order", pieces=12) as source:
        assert np.isclose(with_ends.log_likelihood(source), with_ends.log_likelihood(cases))
        assert np.isclose(without.log_likelihood(source), without.log_likelihood(cases))
    assert with_ends.log_likelihood(cases) != without.log_likelihood(cases)


def test_a_label_called_like_the_end_is_refused(engine):
    table = rows_of([["A", sm.END], ["B"]] * 20)
    refused = pytest.raises(DataError, match="means the end of a case")
    with refused, engine(table, order_by="order", pieces=1) as source:
        learned(make_source(source), candidates=["A", "B"])
