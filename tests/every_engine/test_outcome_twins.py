"""Outcomes of cases with ticks, times and attributes are those counted by hand, in memory and streamed."""

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import parquet

import summarkov as sm
from oracle_outcomes import open_cases, share_at, states_of_beginnings, told
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
    {"outcome": "result", "value": "bad", "after": "2"},
    {"ends_with": "C"},
    {"ends_with": "C", "after": 1},
    {"contains": "C"},
    {"contains": "C", "after": 1},
    {"contains": "C", "after": 2},
    {"contains": "C", "after": "3"},
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


def rows_of(some, weights):
    """One row per event; the rows of a case stand in order."""
    rows = {"case": [], "event": [], "time": [], "region": [], "result": [], "weight": []}
    for number, (region, result, ticks) in enumerate(some):
        for time, labels in ticks:
            for label in sorted(labels):
                told_of = (f"{number}", label, time, region, result, weights[number])
                for name, value in zip(rows, told_of, strict=True):
                    rows[name].append(value)
    types = {name: pa.int64() if name in ("time", "weight") else pa.string() for name in rows}
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
    itself = asked.get("contains", asked.get("ends_with"))  # never an influencer
    may = [*(label for label in LABELS if label != itself), *sorted(regions)]
    influencers = sorted(data.draw(st.sets(st.sampled_from(may), max_size=2)))
    is_weighted = data.draw(st.booleans())
    weights = [1 + number % 3 if is_weighted else 1 for number in range(len(some))]

    in_table, everywhere, left_out = {}, [], {}
    lookbacks = dict.fromkeys(influencers, reach)
    for (region, result, ticks), weight in zip(some, weights, strict=True):
        held = {"region=(missing)" if region is None else f"region={region}"}
        hit, looked_at, reason = told(ticks, result, asked, "tick" if together else "event")
        if reason is None:
            states = states_of_beginnings((held, looked_at), influencers, lookbacks, delay, kind)
            in_table.setdefault(states[-1], [0, 0])[not hit] += weight
        else:
            left_out[reason] = left_out.get(reason, 0) + 1
        states = states_of_beginnings((held, ticks), influencers, lookbacks, delay, kind)
        reached = [n for n, (_, labels) in enumerate(ticks, 1) if asked.get("contains") in labels]
        everywhere.append((states, hit, weight, min(reached, default=None)))
    assume(all(sum(counts[x] for counts in in_table.values()) for x in (0, 1)))
    counted = open_cases(everywhere)

    columns = ["region", "result"] if "outcome" in asked else ["region"]
    reading = {"order_by": "time", "times": True, "attributes": columns, "labels": LABELS}
    reading["ties"] = "together" if together else "in row order"
    reading |= {"weight": "weight"} if is_weighted else {}
    settings = {"lookback": LOOKBACKS[reach], "delay": DELAYS[delay]}
    template = KINDS[kind](required=influencers, candidates=influencers, **settings)
    rows = rows_of(some, weights)
    events = sm.read_events(rows, **reading)
    assume(not together or events.moments.has_ticks)
    model = sm.OutcomeModel(template, **asked).fit(events)
    assert model.influencers_ == tuple(influencers)
    assert model.left_out_ == left_out
    order = [model.yes, 1 - model.yes]
    fitted = model.model_.fitted
    counts = (fitted.table.counts[:, order] / fitted.scale).tolist()
    assert {
        tuple(k): c for k, c in zip(fitted.table.keys.tolist(), counts, strict=True) if any(c)
    } == in_table
    known = [(hit, weight) for _, hit, weight, _ in everywhere if hit is not None]
    overall = sum(weight for hit, weight in known if hit) / sum(weight for _, weight in known)
    assert model.overall_rate_ == pytest.approx(overall, rel=1e-9)

    opened = model.open_cases
    assert opened.moments.tolist() == list(range(len(counted)))
    for n, by_state in enumerate(counted):
        found = (opened.counts[n][:, order] / fitted.scale).tolist()
        assert {tuple(k): c for k, c in zip(opened.keys.tolist(), found, strict=True) if any(c)} == by_state

    predicted = model.predictions(events)
    for row, (states, _, _, reached) in enumerate(everywhere):
        p = float(predicted.probabilities[row, 0])
        assert bool(predicted.already_reached[row]) == (reached is not None)
        yes, no = share_at(counted, len(states) - 1, states[-1])
        expected = 1.0 if reached is not None else (0.1 + yes) / (0.2 + yes + no)
        assert p == pytest.approx(expected, abs=1e-5)

    with tempfile.TemporaryDirectory() as folder:
        half = len(rows) // 2
        parquet.write_table(rows[:half], Path(folder, "0.parquet"))
        parquet.write_table(rows[half:], Path(folder, "1.parquet"))
        with sm.scan_events(folder, memory=1, **reading) as source:
            streamed = sm.OutcomeModel(template, **asked).fit(source)
            assert streamed.to_document() == model.to_document()
