"""Events with the same place: in row order, together, or refused; and times that are kept."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError, SettingError, TiesWarning

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

pd = pytest.importorskip("pandas")

ROWS = st.lists(
    st.tuples(st.sampled_from("xy"), st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=20
)


def table_of(rows):
    return pd.DataFrame(rows, columns=["case", "event", "time"])


@given(ROWS)
def test_ticks_are_the_sets_of_equal_times(rows):
    found = sm.read_events(table_of(rows), ties="together", times=True)
    expected = {}
    for case, label, time in rows:
        expected.setdefault(case, {}).setdefault(time, set()).add(label)
    lists = dict(zip(found.ids, found.to_lists(), strict=True))
    for case, ticks in expected.items():
        sets = [sorted(ticks[time]) for time in sorted(ticks)]
        if found.moments.has_ticks:
            assert lists[case] == sets
        else:  # no two events happened together at all
            assert lists[case] == [label for (label,) in sets]
    assert found.n_ticks == sum(len(ticks) for ticks in expected.values())
    times = [t for ticks in expected.values() for t in sorted(ticks) for _ in ticks[t]]
    assert found.times.tolist() == times
    assert found.tied_order == 0


def test_ties_may_be_refused(tmp_path):
    table = table_of([("x", "a", 1), ("x", "b", 1), ("x", "c", 2)])
    table.to_csv(tmp_path / "log.csv", index=False)
    told = r"1 event of .* with the same 'time' as the one before, for example in case 'x'; say"
    for read in (sm.read_events, sm.scan_events):
        with pytest.raises(DataError, match=told):
            read(tmp_path / "log.csv", ties="error")
    assert sm.read_events(table[1:], ties="error").to_lists() == [["b", "c"]]


@pytest.mark.parametrize(
    ("times", "lookback", "other"),
    [
        (["2024-01-01 00:00", "2024-01-01 05:00", "2024-01-02 00:00"], "6h", "4h"),
        ([1, 6, 25], "6", "4"),
        ([0.5, 5.5, 24.0], "6", "4.5"),
        (pd.to_datetime(["2024-01-01", "2024-01-06", "2024-01-25"]).date, "6 days", "4 days"),
    ],
)
def test_look_backs_in_time(times, lookback, other):
    table = pd.concat([table_of([(n, *row) for row in zip("aba", times, strict=True)]) for n in range(30)])
    events = sm.read_events(table, times=True)
    assert sm.BSuMM("b", lookback=lookback, candidates=["a"]).fit(events).influencers_ == ("a",)
    assert sm.BSuMM("b", lookback=other, candidates=["a"]).fit(events).influencers_ == ()
    with pytest.raises(
        SettingError, match=r"these events have no times; read them with order_by=.* times=True"
    ):
        sm.BSuMM("b", lookback=lookback).fit(sm.read_events(table))


def test_xes_takes_the_time_stamp(tmp_path):
    path = tmp_path / "log.xes"
    path.write_text(xes_of([("a", "b", 1), ("a", "a", 1), ("a", "c", 2), ("b", "a", 1)]))
    assert sm.read_events(path, ties="in row order").to_lists() == [["b", "a", "c"], ["a"]]
    found = sm.read_events(path, ties="together", times=True)
    assert found.to_lists() == [[["a", "b"], ["c"]], [["a"]]]
    assert found.n_ticks == 3
    with pytest.raises(DataError, match=r"1 event of .* with the same 'time:timestamp'"):
        sm.read_events(path, ties="error")


def test_lists_of_lists_and_itemsets_are_ticks(tmp_path):
    lines, spmf = tmp_path / "log.jsonl", tmp_path / "log.spmf"
    found = sm.read_events([[["b", "a"], [], "c"], [], [["a"], ["a", "a"]], [[]]])
    assert found.to_lists() == [[["a", "b"], [], ["c"]], [], [["a"], ["a"]], [[]]]
    assert (found.n_events, found.n_rows, found.n_ticks, found.describe().n_events) == (5, 7, 6, 5)
    lines.write_text("".join(json.dumps(each) + "\n" for each in found.to_lists()))
    assert sm.read_events(lines) == found
    with sm.scan_events(lines) as source:
        assert (source.has_ticks, source.n_ticks, source.n_events) == (True, 6, 5)
        assert source.codes.tolist() == found.codes.tolist()
    ticks = [[["a", "b"], ["c"]], [["b"], ["a", "c"]]]
    spmf.write_text("@ITEM=1=a\n@ITEM=2=b\n@ITEM=3=c\n1 2 -1 3 -1 -2\n2 -1 1 3 -1 -2\n")
    assert sm.read_events(spmf) == sm.read_events(spmf, ties="together") == sm.read_events(ticks)
    assert sm.read_events(spmf, ties="in row order").tied_order == 2
    with pytest.raises(DataError, match=r"2 events of .* with the same 'itemset'"):
        sm.read_events(spmf, ties="error")


@pytest.mark.parametrize(
    ("missing", "expected", "left_out"),
    [
        ("skip", [[["a"], [], ["c"]], [["b"]]], 4),
        ("nobody", [[["a", "nobody"], ["nobody"], [], ["c"]], [["nobody"], ["b"]]], 0),
    ],
)
def test_missing_labels_of_ticks(missing, expected, left_out, tmp_path):
    lists = [[["a", None], [None], [], ["c"]], [[None, None], ["b"]]]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lists))
    for way in (lists, path):
        found = sm.read_events(way, missing=missing)
        assert found.to_lists() == expected
        assert (found.origin.unlabelled if found.origin else 0) == left_out
    with pytest.raises(DataError, match=r"row 1|line 1"):
        sm.read_events(path)


def test_what_has_no_places():
    for settings in ({"ties": "together"}, {"times": True}, {"drop_duplicates": True}):
        with pytest.raises(SettingError, match="session_gap and drop_duplicates are about columns"):
            sm.read_events([["a"]], **settings)
        with pytest.raises(SettingError, match=r"order column.*; name it with order_by="):
            sm.read_events(pd.DataFrame({"case": [1], "event": ["a"]}), **settings)
    with pytest.raises(SettingError, match="ties must be one of 'in row order', 'together', 'error'"):
        sm.read_events([["a"]], ties="apart")


# ---------------------------------------------------------------------- many ties are never silent

#: Case "b" has the only ties, two of them.
TIED = [("a", "x", 1), ("b", "x", 1), ("b", "y", 1), ("a", "y", 2), ("b", "z", 1), ("b", "x", 2)]
TOLD = (
    "2 events of {} with the same {} as the one before, for example in case 'b'; they keep the order of "
    "the input, which may be an accident; say ties='together' if they happened at once, or ties='in row "
    "order' if the rows are in order"
)


def xes_of(rows):
    def trace(case):
        events = "".join(
            f'<event><string key="concept:name" value="{e}"/>'
            f'<date key="time:timestamp" value="2024-01-0{t}T00:00:00Z"/></event>'
            for c, e, t in rows
            if c == case
        )
        return f'<trace><string key="concept:name" value="{case}"/>{events}</trace>'

    return f"<log>{trace('a')}{trace('b')}</log>"


@pytest.mark.parametrize(
    ("name", "read"),
    [
        *((name, sm.read_events) for name in ("log.csv", "log.parquet", "log.xes")),
        *((name, sm.scan_events) for name in ("log.csv", "grouped.csv", "log.parquet")),
    ],
)
def test_many_are_named(name, read, tmp_path):
    path = tmp_path / name
    table = table_of(sorted(TIED, key=str) if name.startswith("grouped") else TIED)
    if name.endswith("xes"):
        path.write_text(xes_of(TIED))
    elif name.endswith("csv"):
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    with pytest.warns(TiesWarning) as caught:
        found = read(path)
    place = "time" if name.endswith("xes") else "'time'"
    assert [str(each.message) for each in caught] == [TOLD.format(path, place)]
    assert caught[0].filename == __file__
    assert (found.tied_order, found.origin.tied_case) == (2, "b")
    for ties, left in (("in row order", 2), ("together", 0)):  # with warnings as errors
        assert read(path, ties=ties).tied_order == left


def test_a_few_are_only_counted():
    n = 200
    columns = {"case": ["a"] * n, "event": ["x", "y"] * (n // 2), "time": [0, 0, *range(1, n - 1)]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sm.read_events(pd.DataFrame(columns)).tied_order == 1
    with pytest.warns(TiesWarning, match=r"^1 event of the table with the same 'time'"):
        sm.read_events(pd.DataFrame(columns)[:99])


def test_command_line(tmp_path):
    path = tmp_path / "log.csv"
    table_of(TIED).to_csv(path, index=False)
    told = TOLD.format(path, "'time'").replace("ties='together'", "--ties together")
    told = told.replace("ties='in row order'", "--ties 'in row order'")
    for engine in ("memory", "stream"):
        done = CliRunner().invoke(app, ["learn", str(path), "--engine", engine, "--json"])
        assert f"Note: {told}\n" in done.stderr
        document = json.loads(done.stdout)
        assert (document["tied_order"], document["tied_case"]) == (2, "b")
    silent = CliRunner().invoke(app, ["describe", str(path), "--json", "--ties", "in row order"])
    assert (silent.stderr, json.loads(silent.stdout)["tied_order"]) == ("", 2)
