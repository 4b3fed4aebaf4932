"""What bad input gets: one clear sentence each, in memory and streamed, and nothing lost."""

import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

BOTH = pytest.mark.parametrize("read", [sm.read_events, sm.scan_events], ids=["memory", "stream"])


def csv(folder, text):
    path = folder / "log.csv"
    path.write_text(text)
    return path


def pairs(folder, columns="", values=("",)):
    """Twenty cases in which "b" follows "a", and further columns."""
    rows = (
        f"c{n},{label},{at}{values[n % len(values)]}\n" for n in range(20) for at, label in enumerate("ab")
    )
    return csv(folder, f"case,event,time{columns}\n" + "".join(rows))


@BOTH
@pytest.mark.parametrize(
    ("how", "told"),
    [
        (
            {},
            r"^order column 'time' of \S*log.csv cannot be put .*: row 2 of the data holds '2024-13-45'",
        ),
        (
            {"date_format": "%Y-%m-%d"},
            r"^order column 'time' of \S*log.csv cannot be read: row 2 of the data holds '2024-13-45', which "
            r"is not written as date_format='%Y-%m-%d' says; mend it, or give the format that all of it has$",
        ),
    ],
)
def test_a_date_that_cannot_be_read(read, how, told, tmp_path):
    path = csv(tmp_path, "case,event,time\nx,a,2024-01-01\nx,b,2024-13-45\ny,a,2024-01-03\n")
    with pytest.raises(DataError, match=told):
        read(path, **how)


@BOTH
def test_time_that_runs_backwards_is_sorted_and_nothing_is_lost(read, tmp_path):
    path = csv(tmp_path, "case,event,time\nx,b,3\nx,a,1\ny,a,2\nx,c,2\n")
    found = read(path, times=True)
    assert (found.n_events, found.n_sequences) == (4, 2)
    assert (found.to_lists(), found.times.tolist()) == ([["a", "c", "b"], ["a"]], [1, 2, 3, 2])


def test_time_that_runs_backwards_where_nobody_asked_to_sort_is_told(tmp_path):
    def event(name, day):
        day = f'<date key="time:timestamp" value="2024-01-0{day}T00:00:00Z"/>'
        return f'<event><string key="concept:name" value="{name}"/>{day}</event>'

    path = tmp_path / "log.xes"
    path.write_text(f"<log><trace>{event('b', 3)}{event('a', 1)}{event('c', 2)}</trace></log>")
    found = sm.read_events(path)
    assert (found.to_lists(), found.origin.backwards) == ([["b", "a", "c"]], 1)
    assert "1 event stands after an event of a later time; it keeps the order of the input" in str(
        found.describe()
    )
    assert sm.read_events(path, order="time:timestamp").to_lists() == [["a", "c", "b"]]
    lines = tmp_path / "log.jsonl"
    lines.write_text('{"id": "x", "events": ["a", "b"], "times": [2, 1]}\n')
    with pytest.raises(
        DataError, match=r"'times' of \S* run backwards in sequence 'x'; sort its events by time$"
    ):
        sm.read_events(lines, times=True)


@BOTH
def test_zones(read, tmp_path):
    path = csv(tmp_path, "case,event,time\nx,a,2024-01-02T10:00:00Z\nx,b,2024-01-02 09:00:00\n")
    with pytest.raises(
        DataError,
        match=r"row 1 of the data holds '2024-01-02T10:00:00Z' and row 2 '2024-01-02 09:00:00', one with a "
        r"time zone and one without, so which came first is not known; write all with a zone, or all",
    ):
        read(path)
    path = csv(tmp_path, "case,event,time\nx,a,2024-01-02T10:00:00Z\nx,b,2024-01-02T11:30:00+02:00\n")
    found = read(path, times=True)  # of two zones: half an hour earlier
    assert found.tied_order == 0
    if read is sm.read_events:
        assert found.to_lists() == [["b", "a"]]
        assert (found.times[1] - found.times[0]) * found.moments.unit.size == 30 * 60 * 10**9


@BOTH
@pytest.mark.parametrize(
    ("window", "told"),
    [
        (
            {"lookback": 0},
            r"^lookback must be a whole number from 1 on, None, or a time such as '7d', not 0$",
        ),
        ({"lookback": -2}, r"^lookback must be a whole number from 1 on, .* not -2$"),
        ({"lookback": "0h"}, r"^lookback must be .* a time above 0 such as '30min' .* not '0h'$"),
        ({"lookback": "-3h"}, r"^lookback must be .* a time above 0 .* not '-3h'$"),
        ({"lookback": {"a": "0s", "b": 2}}, r"^lookback must be .* a time above 0 .* not '0s'$"),
        ({"lookback": 3, "delay": -1}, r"^delay must be a whole number from 0 on, not -1$"),
        ({"lookback": "5h", "delay": "5h"}, r"^delay 5h must be less than lookback 5h$"),
    ],
)
def test_a_window_of_nothing(read, window, told, tmp_path):
    found = read(pairs(tmp_path), times=True)
    with pytest.raises(SettingError, match=told):
        sm.BSuMM("b", **window).fit(found)


@BOTH
def test_an_attribute_with_very_many_values(read, tmp_path):
    rows = "".join(f"c{n},a,{n},w{n}\n" for n in range(100_000))
    path = csv(tmp_path, f"case,event,time,who\n{rows}")
    with pytest.raises(
        DataError,
        match=r"^attribute 'who' of \S*log.csv has 100,000 different values, more than 100, and they are not "
        r"all numbers, such as 'w\d+'; leave it out, or make groups of its values first$",
    ):
        read(path, attributes=["who"])
    numbers = csv(tmp_path, f"case,event,time,who\n{rows.replace('w', '')}")
    found = read(numbers, attributes=["who"])  # which are cut into ranges
    names = found.attributes.names
    assert names == ("who=25000 to <50000", "who=50000 to <75000", "who=75000 or more", "who=below 25000")


@BOTH
def test_an_outcome_that_is_known_of_some_cases(read, tmp_path):
    found = read(pairs(tmp_path, ",result", (",won", ",lost", ",", ",lost")), attributes=["result"])
    model = sm.OutcomeModel(outcome="result", value="won").fit(found)
    assert model.n_left_out_ == 5
    assert model.base_rate_ == pytest.approx(5 / 15)


@BOTH
def test_an_outcome_that_is_also_an_event(read, tmp_path):
    found = read(pairs(tmp_path, ",result", (",b", ",lost")), attributes=["result"])
    with pytest.raises(
        DataError,
        match=r"^'b' is the outcome, and also a label of events, which would tell it after the fact; leave "
        r"it out of the model with forbidden=\['b'\], or ask for contains='b' or ends_with='b'$",
    ):
        sm.OutcomeModel(outcome="result", value="b").fit(found)
    without = sm.OutcomeModel(sm.BSuMM(lookback=None, forbidden=["b"]), outcome="result", value="b").fit(
        found
    )
    assert (without.influencers_, without.base_rate_) == ((), 0.5)


def test_an_outcome_that_is_known_of_nobody():
    with pytest.raises(DataError, match=r"^'outcome' is known of no sequence; give the outcome of some$"):
        sm.OutcomeModel(outcome=None, value="won").fit([["a"], ["b"]], [None, None])
