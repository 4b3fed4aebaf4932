"""Labels that are numbers, lengths of time, types, completion, progress: what people type and expect."""

import datetime
import pydoc
import typing

import numpy as np
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.read.files import FORMATS
from summarkov.read.ordering import Gap
from summarkov.search import SEARCHES
from summarkov.search.criteria import SCORES

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

NUMBERS = [[1, 2, 3, 1, 2], [3, 1, 2, 2]] * 10
TEXTS = [[str(x) for x in sequence] for sequence in NUMBERS]


# ---------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("as_given", [int, float, np.int64], ids=["int", "float", "numpy"])
def test_a_number_means_its_text_everywhere(as_given, tmp_path):
    one, two, three = (as_given(x) for x in (1, 2, 3))
    data = [[as_given(x) for x in sequence] for sequence in NUMBERS]
    texts = [[str(x) for x in sequence] for sequence in data]
    given = sm.BSuMM(three, lookback={one: 2}, required=[one], forbidden=[two]).fit(data)
    same = sm.BSuMM(str(three), lookback={str(one): 2}, required=[str(one)], forbidden=[str(two)]).fit(texts)
    assert str(given.table_) == str(same.table_)
    assert given.explain([two], label=three) == same.explain([str(two)], label=str(three))
    assert sm.BSuMM([one, three], candidates=[two]).fit(data).target_ == (str(one), str(three))
    graph = sm.InfluenceGraph(sm.BSuMM(), targets=[one]).fit(data)
    assert graph.explain([three], one).target == str(one)
    events = sm.read_events(data)
    assert events.restrict([one, two]).labels == (str(one), str(two))
    assert events.map_labels({one: "x", two: three}).labels == (str(three), "x")
    assert events.code(two) == events.code(str(two))
    assert events.pool_rare(99, into=one * 7).labels == (str(one * 7),)
    assert events.add_start(one * 9).to_lists()[0][0] == str(one * 9)
    rules = sm.Dynamics({one: ((two,), {(0,): 0.2, (1,): 0.4}), two: ((two,), {(0,): 0.8, (1,): 0.6})})
    assert rules.minimal_influencers(str(one)) == (str(two),)
    given.save(tmp_path / "model.json")
    assert np.array_equal(sm.load(tmp_path / "model.json").predict_proba(data), given.predict_proba(data))


def test_what_is_no_label():
    with pytest.raises(UnknownLabelError, match="unknown label '8'; the labels are '1', '2', '3'"):
        sm.BSuMM(8).fit(NUMBERS)
    with pytest.raises(SettingError, match=r"labels are text, or numbers that mean their text, not \{\}"):
        sm.BSuMM(required=[{}], target=1).fit(NUMBERS)
    with pytest.raises(SettingError, match=r"required must be a list of labels; write \[1\]"):
        sm.BSuMM("1", required=1).fit(NUMBERS)
    with pytest.raises(SettingError, match="labels must become labels, and '1' becomes None; give it a name"):
        sm.read_events(NUMBERS).map_labels({1: None})


# ---------------------------------------------------------------------------------- lengths of time


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("90 days", 90 * 86400),
        ("1 Hour", 3600),
        ("2 mins", 120),
        ("10ms", 0.01),
        ("3 seconds", 3),
        ("1 week", 604800),
        (datetime.timedelta(hours=1), 3600),
        (np.timedelta64(2, "h"), 7200),
        (np.timedelta64(1, "D"), 86400),
    ],
)
def test_lengths_of_time(given, seconds):
    assert float(Gap.of(given).length) == seconds
    assert Gap.of(given).timed


@pytest.mark.parametrize(
    "given", ["3 months", "ten days", np.timedelta64(-1, "s"), np.timedelta64("NaT"), True]
)
def test_what_is_no_length_of_time(given):
    with pytest.raises(SettingError, match="session_gap must be a time such as '30min' or '90 days'"):
        Gap.of(given)
    with pytest.raises(SettingError, match="has no fixed length; give it in days"):
        Gap.of(np.timedelta64(1, "M"))


# ---------------------------------------------------------------------------------- tables


@pytest.mark.needs("polars")
def test_a_lazy_frame_is_to_be_collected():
    import polars

    with pytest.raises(
        DataError, match=r"cannot read events from a LazyFrame; .* of a lazy one \.collect\(\)"
    ):
        sm.BSuMM("x").fit(polars.LazyFrame({"case": [1], "event": ["x"]}))


@pytest.mark.needs("pandas", "polars")
def test_a_series_of_lists_is_sequences():
    import pandas
    import polars

    table = pandas.DataFrame({"user": ["u", "v", "u"], "page": ["a", "b", "c"]})
    events = sm.read_events(table.groupby("user")["page"].apply(list))
    assert dict(zip(events.ids, events.to_lists(), strict=True)) == {"u": ["a", "c"], "v": ["b"]}
    assert sm.read_events(polars.Series([["a", "c"], ["b"]])).to_lists() == [["a", "c"], ["b"]]
    with pytest.raises(DataError, match="a sequence must be a list of labels, not 'a'"):
        sm.read_events(table["page"])


def test_a_table_with_strange_columns_says_what_to_call():
    import pyarrow as pa

    words = r"name it with event= in summarkov.read_events\(table, event=...\); the columns are 'a', 'b'"
    with pytest.raises(DataError, match=words):
        sm.BSuMM("x").fit(pa.table({"a": [1], "b": ["x"]}))


# ---------------------------------------------------------------------------------- models to compare


def test_models_as_they_are_can_be_compared():
    events = sm.read_events([["A", "B", "C"] * 5, ["B", "C", "A"] * 4, ["C", "A", "B"] * 3] * 9)
    found = sm.compare(events, models=[sm.BSuMM(lookback=1), sm.MarkovChain(order=0), "chain-0"])
    assert [line.name for line in found.lines] == ["BSuMM(lookback=1)", "MarkovChain(order=0)", "chain-0"]
    with pytest.raises(SettingError, match=r"BSuMM\(target='A'\) has a target; compare models without one"):
        sm.compare(events, models=[sm.BSuMM("A")])


# ---------------------------------------------------------------------------------- types and completion


def test_settings_that_are_words_have_literal_types():
    hints = typing.get_type_hints(sm.BSuMM)
    assert set(typing.get_args(hints["criterion"])) == set(SCORES)
    assert set(typing.get_args(hints["search"])) == set(SEARCHES)
    assert set(typing.get_args(hints["prior"])) == {"uniform", "base-rate"}
    assert set(typing.get_args(hints["parameters"])) == {"all", "reachable"}
    assert set(typing.get_args(typing.get_type_hints(sm.OSuMM)["mask"])) == {"first", "last"}
    for read in (sm.read_events, sm.scan_events):
        given, _ = typing.get_args(typing.get_type_hints(read)["format"])
        assert set(typing.get_args(given)) == set(FORMATS)
    for ask in (sm.EventSequences.recode, sm.BSuMM.predict_proba):
        assert typing.get_args(typing.get_type_hints(ask)["unknown"]) == ("error", "ignore")


def test_completion_shows_what_people_need():
    assert {"BSuMM", "read_events", "plot", "errors"} <= set(dir(sm))
    assert {"importlib", "annotations", "TYPE_CHECKING", "Any"}.isdisjoint(dir(sm))
    assert sm.errors.DataError is DataError
    graph = sm.InfluenceGraph(sm.BSuMM()).fit(NUMBERS)
    shown = {name for name in dir(graph) if not name.startswith("_")}
    assert {"fit", "edges_", "predict_next", "summary"} <= shown
    model = {name for name in dir(graph.models_["1"]) if not name.startswith("_")}
    assert {"make_summary", "make_models", "fitted", "shared_search", "layout_"}.isdisjoint(shown | model)
    assert {"open_cases", "yes"}.isdisjoint(dir(sm.OutcomeModel()))
    assert "make_problem" not in pydoc.render_doc(sm.BSuMM)
    events = set(dir(sm.read_events(NUMBERS)))
    assert {"labels", "split", "map_labels", "describe"} <= events
    assert {"moments", "only_rows", "sequence_keys", "with_end_rows"}.isdisjoint(events)


# ---------------------------------------------------------------------------------- progress


def test_progress_is_written_where_it_is_asked_for(capsys, tmp_path):
    graph = sm.InfluenceGraph(sm.BSuMM()).fit(NUMBERS, progress=True)
    written = capsys.readouterr().err
    assert written.split("\r")[-1].strip() == "3 of 3 done"
    assert written.endswith("\n")
    graph.confidence(NUMBERS, n=2, progress=True)
    assert "6 of 6 done" in capsys.readouterr().err
    sm.compare_groups(sm.BSuMM(), NUMBERS, NUMBERS, progress=True)
    assert "4 of 4 done" in capsys.readouterr().err
    sm.compare(sm.read_events(NUMBERS), models=["chain-0"], progress=True)
    assert "1 of 1 done chain-0" in capsys.readouterr().err
    sm.write_events(sm.read_events(NUMBERS), tmp_path / "events.csv")
    sm.scan_events(tmp_path / "events.csv", progress=True).close()
    assert "done reading" in capsys.readouterr().err
    graph.fit(NUMBERS, progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(SettingError, match="progress must be True or a function"):
        graph.fit(NUMBERS, progress="bar")
