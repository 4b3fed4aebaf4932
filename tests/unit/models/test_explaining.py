"""Explanations of histories with ticks, times and attributes: every number counted by hand."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import summarkov as sm
from strategies import examples
from summarkov.errors import DataError

pytestmark = pytest.mark.cut_off

ALPHA = 0.1


class Case:
    """A sequence of ticks, (labels, hour), and the region that it is in."""

    def __init__(self, ticks, region):
        self.ticks, self.region = ticks, region

    def state(self, upto, lookback, in_time, now=None):
        """The influencers of "c" at a tick: which of a and b were in its window, and whether it is north."""
        now = self.ticks[upto][1] if now is None else now
        found = {"region=n"} if self.region == "n" else set()
        for at, (labels, hour) in enumerate(self.ticks[:upto]):
            near = now - hour <= lookback if in_time else upto - at <= lookback
            found |= labels & {"a", "b"} if near else set()
        return tuple(sorted(found))


def counted(cases, lookback, in_time):
    """How often c was in the tick, and how often not, by state."""
    found = {}
    for case in cases:
        for at, (labels, _) in enumerate(case.ticks):
            counts = found.setdefault(case.state(at, lookback, in_time), [0, 0])
            counts[0 if "c" in labels else 1] += 1
    return found


def read(cases):
    each = [
        (f"{number:03}", label, hour, case.region)
        for number, case in enumerate(cases)
        for labels, hour in case.ticks
        for label in labels
    ]
    rows = dict(zip(("case", "event", "hour", "region"), map(list, zip(*each, strict=True)), strict=True))
    return sm.read_events(
        rows, case="case", event="event", order_by="hour", times=True, ties="together", attributes=["region"]
    )


tick = st.tuples(st.sets(st.sampled_from("abc"), min_size=1), st.integers(1, 5))
case = st.tuples(st.lists(tick, min_size=1, max_size=6), st.sampled_from("nse"))


def made(given):
    cases = []
    for ticks, region in given:
        hour, placed = 0, []
        for labels, step in ticks:
            hour += step
            placed.append((labels, hour))
        cases.append(Case(placed, region))
    # all labels and regions are there
    return [*cases, *(Case([({"a", "b", "c"}, 1), ({"a"}, 2)], region) for region in "nse")]


@examples(30)
@given(
    st.lists(case, min_size=1, max_size=5), st.sampled_from([(1, False), (2, False), (3, True), (6, True)])
)
def test_every_number_is_counted(given_cases, window):
    cases, (lookback, in_time) = made(given_cases), window
    events = read(cases)
    span = str(lookback) if in_time else lookback
    model = sm.BSuMM("c", lookback=span, alpha=ALPHA, required=["a", "b", "region=n"], max_influencers=3).fit(
        events
    )
    expected = counted(cases, lookback, in_time)

    def check(told, state):
        hits, misses = expected.get(state, [0, 0])
        assert told.state == state
        assert told.support == hits + misses
        assert told.probability == pytest.approx((hits + ALPHA) / (hits + misses + 2 * ALPHA), rel=1e-12)

    for number, case in enumerate(cases[:3]):
        why = model.explain(events[number])
        now, end = case.ticks[-1][1], len(case.ticks)
        state = case.state(end, lookback, in_time, now)
        check(why, state)
        for active in why.active:
            where = [
                at
                for at, (labels, hour) in enumerate(case.ticks)
                if active.label in labels and (now - hour <= lookback if in_time else end - at <= lookback)
            ]
            assert active.positions == tuple(at + 1 for at in reversed(where))
            assert active.lags == tuple(end - at for at in reversed(where))
        assert {active.label for active in why.active} == set(state)
        assert {(each.label, each.occurred) for each in why.counterfactuals} == {
            (z, z not in state) for z in ("a", "b", "region=n")
        }
        for each in why.counterfactuals:
            if each.label == "region=n":
                check(
                    each, Case(case.ticks, "n" if each.occurred else "s").state(end, lookback, in_time, now)
                )
                assert each.is_attribute
            elif each.occurred:
                more = Case([*case.ticks, ({each.label}, now)], case.region)
                check(each, more.state(end + 1, lookback, in_time, now))
            else:
                check(each, tuple(z for z in state if z != each.label))


def test_a_graph_over_ticks_explains_lists_of_them():
    events = sm.read_events(
        [[["wind", "rain"], ["sun"], ["rain"]], [["wind"], ["rain", "sun"], ["wind"]]] * 20
    )
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
    why = graph.explain([["sun"], ["wind", "rain"]], "sun")
    assert why.probability == graph.predict_next([[["sun"], ["wind", "rain"]]]).probabilities[0, 1]
    (active,) = (each for each in why.active if each.label == "wind")
    assert (active.lags, active.positions) == ((1,), (2,))
    told = graph.explain_next([["sun"], ["wind", "rain"]])
    after = graph.predict_next([[["sun"], ["wind", "rain"]]])
    assert {one.target: one.probability for one in told} == dict(
        zip(graph.labels_, after.probabilities[0].tolist(), strict=True)
    )


def test_all_values_of_a_given_column_are_told_as_alternatives():
    each = [
        (f"{number:02}", x, "nse"[number % 3]) for number in range(60) for x in ("ab" if number % 3 else "ba")
    ]
    rows = dict(zip(("case", "event", "region"), map(list, zip(*each, strict=True)), strict=True))
    events = sm.read_events(rows, case="case", event="event", order_by=False, attributes=["region"])
    model = sm.BSuMM("b", lookback=1, given=["region"], required=["a"]).fit(events)
    why = model.explain(events[0])
    others = [each for each in why.counterfactuals if each.is_attribute]
    # every value is asked about, so there is no case without one
    assert [(each.label, each.occurred) for each in others] == [("region=e", True), ("region=s", True)]
    assert str(others[0]).startswith("had region=e been so: ")
    assert [str(each) for each in why.active] == ["a just before", "region=n"]


def test_what_cannot_be_explained_says_why():
    start = datetime.datetime(2026, 1, 1)
    rows = {"event": ["a", "b", "b", "a"] * 9}
    rows["case"] = [f"{number // 2:02}" for number in range(36)]
    rows["at"] = [start + datetime.timedelta(hours=number) for number in range(36)]
    events = sm.read_events(rows, case="case", event="event", order_by="at", times=True)
    model = sm.BSuMM("b", lookback="6h", required=["a"], max_influencers=1).fit(events)
    with pytest.raises(DataError, match="these are 18 sequences; give one, such as"):
        model.explain(events)
    with pytest.raises(DataError, match="looks back in time, and these events have no times"):
        model.explain(["a"])
    numbers = sm.read_events(
        {**rows, "at": list(range(36))}, case="case", event="event", order_by="at", times=True
    )
    with pytest.raises(DataError, match="times that are dates and times, and these are numbers"):
        model.explain(numbers[0])
    assert model.explain(events[0]).words == "a"
