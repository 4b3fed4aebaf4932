"""Outcomes of cases with ticks, times and attributes are those counted by hand, in memory and streamed."""

import math
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import parquet

import summarkov as sm
from oracle_outcomes import states_of_beginnings, told
from oracle_worth import worth
from strategies import examples

pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

LABELS = ["A", "B", "C"]
KINDS = {
    "binary": sm.BSuMM,
    "count": sm.CSuMM,
    "last": sm.OSuMM,
    "first": lambda **settings: sm.OSuMM(mask="first", **settings),
}
#: Spans as the twin has them, (size, in time), and as models take them.
LOOKBACKS = {(None, False): None, (1, False): 1, (2, False): 2, (2, True): "2", (5, True): "5"}
DELAYS = {(0, False): 0, (1, False): 1, (0, True): "0", (1, True): "1"}
ASKED = [
    {"outcome": "result", "value": "bad"},
    {"outcome": "result", "value": "bad", "after": 2},
    {"ends_with": "C"},
    {"ends_with": "C", "after": 1},
    {"reaches": "C", "after": 1},
    {"reaches": "C", "after": 2},
]


@st.composite
def cases(draw, together):
    """Cases of (region, result, ticks); a tick holds one label unless they happen ``together``."""
    size = {"min_size": 1, "max_size": 3 if together else 1}
    tick = st.tuples(st.integers(int(together), 3), st.sets(st.sampled_from(LABELS), **size))
    region, result = st.sampled_from(["n", "s", None]), st.sampled_from(["bad", "good", None])
    some = draw(
        st.lists(st.tuples(region, result, st.lists(tick, min_size=1, max_size=5)), min_size=2, max_size=7)
    )
    found = []
    for where, how, steps in some:
        now, ticks = 0, []
        for step, labels in steps:
            now += step
            ticks.append((now, labels))
        found.append((where, how, ticks))
    return found


def rows_of(some):
    """One row per event; the rows of a case stand in order."""
    rows = {"case": [], "event": [], "time": [], "region": [], "result": []}
    for number, (region, result, ticks) in enumerate(some):
        for time, labels in ticks:
            for label in sorted(labels):
                for name, value in zip(rows, (f"{number}", label, time, region, result), strict=True):
                    rows[name].append(value)
    types = {name: pa.int64() if name == "time" else pa.string() for name in rows}
    return pa.table(rows, schema=pa.schema(types))


@examples(40)
@given(st.data())
def test_outcomes_are_those_counted_by_hand(data):
    together = data.draw(st.booleans())
    some, asked = data.draw(cases(together)), data.draw(st.sampled_from(ASKED))
    kind, delay = data.draw(st.sampled_from(list(KINDS))), data.draw(st.sampled_from(list(DELAYS)))
    reach = data.draw(st.sampled_from(list(LOOKBACKS)))
    assume(reach[0] is None or reach[1] != delay[1] or reach[0] > delay[0])
    regions = {"region=(missing)" if region is None else f"region={region}" for region, _, _ in some}
    assume(any(region is not None for region, _, _ in some))
    assume("outcome" not in asked or any(result is not None for _, result, _ in some))
    influencers = sorted(data.draw(st.sets(st.sampled_from([*LABELS, *sorted(regions)]), max_size=2)))

    ended, everywhere, hits = {}, [], []
    lookbacks = dict.fromkeys(influencers, reach)
    for region, result, ticks in some:
        held = {"region=(missing)" if region is None else f"region={region}"}
        hit, before = told(ticks, result, asked)
        states = states_of_beginnings((held, before), influencers, lookbacks, delay, kind)
        hits.append(hit)
        if hit is not None:
            ended.setdefault(states[-1], [0, 0])[not hit] += 1
            everywhere.append((states, hit))
    assume({True, False} <= set(hits))
    beginnings = worth(everywhere)

    columns = ["region", "result"] if "outcome" in asked else ["region"]
    reading = {"order": "time", "times": True, "attributes": columns, "labels": LABELS}
    reading["ties"] = "together" if together else "in row order"
    settings = {"lookback": LOOKBACKS[reach], "delay": DELAYS[delay]}
    template = KINDS[kind](required=influencers, candidates=influencers, **settings)
    rows = rows_of(some)
    events = sm.read_events(rows, **reading)
    model = sm.OutcomeModel(template, **asked).fit(events)
    assert model.influencers_ == tuple(influencers)
    assert model.n_left_out_ == hits.count(None)
    order = [model.yes, 1 - model.yes]
    for fitted, expected in ((model.model_.fitted, ended), (model.open_fitted, beginnings)):
        table = fitted.table
        counts = (table.counts[:, order] / fitted.scale).tolist()
        found = {tuple(key): row for key, row in zip(table.keys.tolist(), counts, strict=True) if any(row)}
        assert found.keys() == expected.keys()
        assert all(found[key] == pytest.approx(expected[key], abs=1e-5) for key in expected)

    open_cases = model.predict_open(events).tolist()
    for (region, _, ticks), p in zip(some, open_cases, strict=True):
        held = {"region=(missing)" if region is None else f"region={region}"}
        if any(asked.get("reaches") in labels for _, labels in ticks):
            assert p == 1
        elif len(ticks) > asked.get("after", math.inf):
            assert math.isnan(p)
        else:
            state = states_of_beginnings((held, ticks), influencers, lookbacks, delay, kind)[-1]
            yes, no = beginnings.get(state, (0, 0))
            assert p == pytest.approx((0.1 + yes) / (0.2 + yes + no), abs=1e-6)

    with tempfile.TemporaryDirectory() as folder:
        half = len(rows) // 2
        parquet.write_table(rows[:half], Path(folder, "0.parquet"))
        parquet.write_table(rows[half:], Path(folder, "1.parquet"))
        with sm.scan_events(folder, memory=1, **reading) as source:
            streamed = sm.OutcomeModel(template, **asked).fit(source)
            assert streamed.to_document() == model.to_document()
