"""What the page is told of the events: profiles by lag and by time, sequences, and the clock."""

import datetime
import itertools
from typing import Any

import pytest

import summarkov as sm
from summarkov.errors import SettingError
from summarkov.events.attributes import Attributes
from summarkov.show import content as contents
from summarkov.show.lags import lag_profiles

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

START = datetime.datetime(2026, 3, 1)
HOUR = 3600 * 10**6  # in millionths of a second


def timed(*cases: list[tuple[float, str]]) -> sm.EventSequences:
    """Events with times in hours."""
    rows: dict[str, list[Any]] = {"case": [], "event": [], "time": []}
    for number, case in enumerate(cases):
        for hours, event in case:
            rows["case"].append(str(number))
            rows["event"].append(event)
            rows["time"].append(START + datetime.timedelta(hours=hours))
    return sm.read_events(rows, case="case", event="event", order_by="time", times=True, ties="in row order")


@pytest.mark.parametrize(
    "sequences",
    [
        [["A", "B", "A", "C", "B"], ["A", "A"], ["C"], ["B", "A", "B", "B", "C", "A"]] * 2,
        [[["A", "B"], ["B"], ["A", "C"], ["B", "C"]], [["C"], ["A"], ["B"]], [["A"]]],
    ],
    ids=["events in a row", "ticks"],
)
def test_lag_profiles_against_counts_and_shuffles_by_hand(sequences: list[Any]) -> None:
    events = sm.read_events(sequences)
    pairs = [(0, 1), (1, 1), (1, 0), (0, 2)]
    found = lag_profiles(events, pairs)
    for (z, x), profile in zip(pairs, found["edges"], strict=True):
        z_label, x_label = events.labels[z], events.labels[x]
        for k in (1, 2):
            after = [s[i + k] for s in sequences for i in range(len(s) - k) if z_label in s[i]]
            assert profile["hits"][k - 1] == sum(x_label in tick for tick in after)
            assert found["n"][z][k - 1] == len(after)
            both = expected = 0.0
            for s in sequences:
                orders = list(itertools.permutations(s))
                at = [(o[i], o[i + k]) for o in orders for i in range(len(s) - k)]
                both += sum(z_label in before and x_label in then for before, then in at) / len(orders)
                expected += sum(z_label in before for before, _ in at) / len(orders)
            assert profile["shuffled"][k - 1] == pytest.approx(both / expected, rel=1e-2)


def test_profiles_in_time_against_counts_and_shuffles_by_hand() -> None:
    cases = [
        [(0, "A"), (0, "B"), (1, "B"), (3, "A"), (4.5, "B"), (5, "C")],
        [(2, "A"), (2.5, "A"), (3.5, "B"), (13, "B")],
        [(0, "A")],
        [(0, "B"), (4, "A"), (10, "B"), (10.5, "C"), (11, "B")],
    ]
    events = timed(*cases)
    lookback = sm.BSuMM("B", lookback="6h").make_summary().reach("A").lookback
    found = lag_profiles(events, [(0, 1)], [lookback])
    assert found["n"] == {}
    (profile,) = found["edges"]
    assert profile["width"] == HOUR

    def after(case: Any, k: int) -> list[tuple[str, str]]:
        """Pairs of labels more than k - 1 and at most k hours apart."""
        return [(a, b) for (t, a), (u, b) in itertools.combinations(case, 2) if k - 1 < u - t <= k]

    for k in range(1, 11):
        behind = [pair for case in cases for pair in after(case, k) if pair[0] == "A"]
        assert profile["n"][k - 1] == len(behind)
        assert profile["hits"][k - 1] == behind.count(("A", "B"))
        both = expected = 0.0
        for case in cases:
            orders = list(itertools.permutations([label for _, label in case]))
            at = [
                pair
                for order in orders
                for pair in after([(t, label) for (t, _), label in zip(case, order, strict=True)], k)
            ]
            both += at.count(("A", "B")) / len(orders)
            expected += sum(a == "A" for a, _ in at) / len(orders)
        assert profile["shuffled"][k - 1] == pytest.approx(both / expected if expected else 0, rel=1e-2)


def test_the_clock_and_the_gaps() -> None:
    events = timed(*[[(0, "A"), (1.5, "B"), (1.5, "A"), (30, "B")]] * 30)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback="6h")).fit(events)
    found = contents.content(graph, events, sequences=1)
    assert found["clock"] == {"isClock": True, "spans": {"6h": 6 * HOUR}}
    assert found["cases"] == [["0", [0, 1, 0, 1], 0, {"gaps": [0, 3 * HOUR // 2, 0, 57 * HOUR // 2]}]]
    with pytest.raises(SettingError, match="read them with times=True"):
        contents.content(graph, [["A", "B"]], sequences=1)
    plain = sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(events)
    assert contents.content(plain, events, sequences=1)["cases"] == [["0", [0, 1, 0, 1], 0]]
    assert contents.content(plain)["clock"] is None


def test_sequences_with_ticks_and_attributes() -> None:
    regions = Attributes(["a=x", "a=y"], [[True, False], [False, True]] * 20)
    events = sm.read_events([[["q", "r"], ["q"]], [["r"], ["q", "r"]]] * 20).with_attributes(regions)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
    found = contents.content(graph, events, sequences=200)
    labels = found["labels"]
    assert labels == ["a=x", "a=y", "q", "r"]
    assert [case[1:] for case in found["cases"][:2]] == [
        [[2, 3, 2], 0, {"joined": [1], "given": [0]}],
        [[3, 2, 3], 0, {"joined": [2], "given": [1]}],
    ]
    with pytest.raises(SettingError, match=r"attributes=\['a'\] \(--attribute a\)"):
        contents.content(graph, events.with_attributes(None), sequences=1)
    assert found["positions"] == 80
    assert found["n"] == [20, 20, 60, 60]
