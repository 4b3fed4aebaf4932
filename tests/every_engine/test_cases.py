"""What sequences have beside their events: weights, attributes, and session gaps."""

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.engines.source import make_source
from summarkov.errors import DataError, SettingError

pytestmark = pytest.mark.cut_off

SETTINGS = {"case": "case", "event": "event", "order_by": "at"}
WEIGHTS = {"whole": [0, 1, 2, 5], "fractions": [0, 0.25, 1.5, 3]}


def rows(n=20, seed=5):
    """Cases in which "A" makes "B" likely, rows in any order, with gaps between some; numbers and regions."""
    rng = np.random.default_rng(seed)
    found = []
    for case in range(n):
        at, before = 0, ""
        for _ in range(int(rng.integers(3, 25))):
            before = "B" if before == "A" and rng.random() < 0.7 else "ABCD"[rng.integers(4)]
            at += int(rng.choice([1, 2, 30]))
            found.append({"case": f"case {case}", "event": before, "at": at, "number": case})
    return pa.Table.from_pylist([found[row] for row in rng.permutation(len(found))])


def with_attributes(table):
    """The rows with two attributes of their case; of some the region is not known."""
    numbers = table.column("number").to_pylist()
    region = pa.array([("north", "south", None)[number % 3] for number in numbers])
    age = pa.array([20 + 3 * number % 50 for number in numbers])
    return table.append_column("region", region).append_column("age", age)


def results(data):
    """All that is learned, resampled and shuffled."""
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=2, false_edges=None)).fit(data)
    return (
        graph.edges_,
        graph.confidence(data, n=4),
        graph.order_test(data, n=19),
        [str(model.table_) for model in graph.models_.values()],
    )


def assert_equal(source, events):
    held = make_source(events)
    assert (source.labels, source.attributes, source.scale) == (held.labels, held.attributes, held.scale)
    assert (source.n_sequences, source.n_events) == (held.n_sequences, held.n_events)
    assert source.label_counts.tolist() == held.label_counts.tolist()
    assert results(source) == results(events)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights(kind, engine):
    table = rows()
    weights = [WEIGHTS[kind][number % 4] for number in table.column("number").to_pylist()]
    table = table.append_column("weight", pa.array(weights))
    events = sm.read_events(table, **SETTINGS, weight="weight")
    assert {*events.weights.tolist()} == {*WEIGHTS[kind]}
    pieces = 1 if kind == "whole" else 40  # workers sort, or Spark does
    with engine(table, pieces=pieces, **SETTINGS, weight="weight") as source:
        assert source.scale == (1 if kind == "whole" else 2**20)
        assert_equal(source, events)
        ended = [sm.OutcomeModel(contains="D", after=2).fit(data) for data in (source, events)]
        assert ended[0].model_.fitted.influences == ended[1].model_.fitted.influences


def weighed(*weights):
    """One case of many events; the last ones have these weights."""
    column = pa.array([*weights[:1] * (12 - len(weights)), *weights])
    return pa.table({"case": ["a"] * 12, "event": ["A", "B"] * 6, "at": range(12), "weight": column})


WEIGHT = "weight column 'weight' of .* "


@pytest.mark.parametrize(
    ("weights", "error", "told"),
    [
        (
            (1.0, None),
            DataError,
            r"(?s)'1.0' in one row and no value|'weight' of .* holds no value.*; a weight",
        ),
        (("x",), DataError, WEIGHT + "holds 'x'.*; a weight is a number from 0 on: correct"),
        ((-1.0,), DataError, WEIGHT + "holds '-1.0'"),
        ((float("inf"),), DataError, WEIGHT + "holds 'inf'"),
        ((1.0, 2.0), DataError, "'weight' of .* changes during case 'a': '1.0' in one row and '2.0' in"),
        ((2.0**43,), SettingError, r"sample_weight 8.79609e\+12 is too large; scale the weights down"),
        ((1e-9,), SettingError, r"sample_weight 1e-09 is too small: weights are rounded to multiples"),
    ],
)
def test_weights_that_are_refused(weights, error, told, engine):
    refused = pytest.raises(error, match=told)
    with refused, engine(weighed(*weights), pieces=1, **SETTINGS, weight="weight"):
        pass


def test_the_heaviest_events_that_can_be_counted(engine):
    with engine(weighed(2.0**41), pieces=1, **SETTINGS, weight="weight") as source:
        assert source.label_counts.tolist() == [6 * 2**41] * 2


@pytest.mark.parametrize(
    "more", [{}, {"cuts": {"age": [25, 40]}, "session_gap": 10}], ids=["cases", "sessions"]
)
def test_attributes_and_sessions(more, engine):
    asked, table = {**SETTINGS, "attributes": ["region", "age"], **more}, with_attributes(rows())
    events = sm.read_events(table, **asked)
    assert "region=(missing)" in events.attributes.names
    assert (len(events) > 50) == ("session_gap" in more)
    with engine(table, pieces=40, **asked) as source:  # a case is cut, and its sessions go on
        assert_equal(source, events)
