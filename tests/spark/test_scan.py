"""``scan_spark``: what it makes of rows is what ``read_events`` makes of them, and so are results."""

import datetime
import re
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from strategies import assert_same
from summarkov.engines import StatesRequest, Target
from summarkov.engines.source import make_source
from summarkov.errors import DataError, SettingError, TiesWarning, UnknownLabelError
from summarkov.events import draws

quiet = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")


def rows(n=60, n_cases=7, seed=0):
    """Rows in any order, with ties."""
    rng = np.random.default_rng(seed)
    columns = {"case": rng.integers(n_cases, size=n), "event": rng.choice(["A", "B", "C"], size=n)}
    return pa.table({**columns, "time": rng.integers(20, size=n)})


def same(source, events, how=()):
    """The counts of an order-dependent summary, and what else a source knows."""
    memory = make_source(events)
    assert (source.labels, source.attributes) == (memory.labels, memory.attributes)
    assert source.label_counts.tolist() == memory.label_counts.tolist()
    assert (source.n_sequences, source.tied_order) == (len(events), events.tied_order)
    assert (source.n_events, source.n_positions) == (memory.n_events, memory.n_positions)
    assert (source.has_ticks, source.time_unit, source.scale) == (
        memory.has_ticks,
        memory.time_unit,
        memory.scale,
    )
    mine, theirs = source.origin.to_dict(), events.origin.to_dict()
    assert {**mine, "tied_case": None} == {**theirs, "tied_case": None}
    summary = sm.OSuMM(lookback="5h" if "times" in how else None).make_summary()
    request = StatesRequest(summary, (0, 1), Target((len(memory.labels) - 1,), len(memory.labels)))
    assert_same(source.count([request])[0], memory.count([request])[0])


# ------------------------------------------------------------------ rows and columns


@quiet
@pytest.mark.parametrize("kind", ["grouped", "shuffled", "single", "many partitions"])
def test_rows_in_any_order(spark, kind):
    table = rows(400, n_cases=1 if kind == "single" else 30)
    if kind == "grouped":
        table = table.sort_by([("case", "ascending"), ("time", "ascending")])
    frame, cached = spark.createDataFrame(table), spark.sparkContext._jsc.getPersistentRDDs
    before = cached().size()
    with sm.scan_spark(frame, partitions=20 if kind == "many partitions" else 3) as source:
        same(source, sm.read_events(table))
        assert cached().size() == before + 1
    assert cached().size() == before
    with pytest.raises(DataError, match="this source is closed"):
        sm.BSuMM("A").fit(source)


@quiet
@pytest.mark.parametrize("kind", ["text", "date", "decimal", "moment", "none"])
def test_columns_of_any_type_and_name(spark, kind):
    table, order = rows(), False if kind == "none" else "e f"
    step = table.column("time").to_pylist()
    columns = {
        "text": pa.array([f" {i}" for i in step]),
        "date": pa.array([f"2024-01-{i + 1:02}T02:00+0{i % 3}:00" for i in step]),
        "decimal": pa.array(step).cast(pa.decimal128(20, 0)),
        "moment": pa.array(step).cast(pa.timestamp("us", "UTC")),
        "none": pa.array(step),
    }
    case = {"text": pa.string(), "decimal": pa.float64(), "date": pa.date32()}.get(kind, pa.int64())
    labels = pa.array([ord(x) / 2 for x in table.column("event").to_pylist()])
    cases = table.column("case").cast(pa.int32()).cast(case)
    table = pa.table({"a.b": cases, "c`d": labels, "e f": columns[kind]})
    how = {"case": "a.b", "event": "c`d", "order_by": order}
    with sm.scan_spark(spark.createDataFrame(table), partitions=2, **how) as source:
        same(source, sm.read_events(table, **how))
        assert source.labels[1:] == ("32.5", "33.0", "33.5")


@quiet
def test_rows_of_files_are_in_the_order_of_the_files(spark, tmp_path):
    """Spark reads the largest file first, and so its rows came first; rows with one time keep the order."""
    table = rows(n=3000, n_cases=5).drop_columns("time").append_column("day", pa.array([1, 2, 3] * 1000))
    for name, start, stop in (("a", 0, 100), ("b", 100, 2900), ("c", 2900, 3000)):
        parquet.write_table(table.slice(start, stop - start), tmp_path / f"{name}.parquet")
    frame = spark.read.parquet(str(tmp_path))
    with pytest.raises(
        SettingError, match="Spark keeps no order of rows; name one with order_by=, or say ord"
    ):
        sm.scan_spark(frame)
    for order in (False, "day"):
        with sm.scan_spark(frame, order_by=order) as source:
            same(source, sm.read_events(table, order_by=order))


# ------------------------------------------------------------------ settings of reading

N = 80


def log(seed=3):
    """Rows in any order, each with all kinds of columns."""
    draw = np.random.default_rng(seed)
    case = draw.integers(6, size=N)
    day = draw.integers(1, 10, size=N)
    start = datetime.datetime(2024, 1, 1)
    activity = draw.choice(["ask", "pay", "walk"], size=N).tolist()
    activity[5] = activity[17] = None
    return pa.table(
        {
            "case": case,
            "activity": pa.array(activity, pa.string()),
            "lifecycle:transition": draw.choice(["start", "COMPLETE", "complete"], size=N).tolist(),
            "day": [f"{d}/1/2024" for d in day.tolist()],
            "hour": draw.integers(3, size=N),
            "row": draw.permutation(N),
            "at": [start + datetime.timedelta(hours=int(h)) for h in draw.integers(30, size=N)],
            "region": [f"r{c % 3}" for c in case.tolist()],
            "age": pa.array([None if c == 2 else 20 + 10 * c for c in case.tolist()], pa.int64()),
            "weight": [1.5 + c for c in case.tolist()],
        }
    )


READ = {
    "ties together": {
        "order_by": ["hour", "day"],
        "date_format": "%d/%m/%Y",
        "ties": "together",
        "event": "lifecycle:transition",
    },
    "lifecycle, weights, closed by labels": {
        "order_by": "row",
        "lifecycle": "complete",
        "weight": "weight",
        "closed_by": ["pay"],
    },
    "a label for missing ones, without duplicates": {
        "order_by": "day",
        "date_format": "%d/%m/%Y",
        "ties": "in row order",
        "drop_duplicates": True,
        "missing": "nobody",
    },
    "times, open since a time": {"order_by": ["at", "row"], "times": True, "open_since": "2024-01-02"},
    "attributes, cut where asked": {
        "order_by": "row",
        "attributes": ["region", "age"],
        "cuts": {"age": [30, 50]},
    },
    "sessions, quartiles and weights": {
        "order_by": ["at", "row"],
        "session_gap": "3h",
        "attributes": ["region", "age"],
        "weight": "weight",
    },
}


@quiet
@pytest.mark.parametrize("kind", READ)
def test_settings_equal_to_memory(spark, kind):
    how = {"case": "case", "event": "activity", "missing": "skip"} | READ[kind]
    with sm.scan_spark(spark.createDataFrame(log()), partitions=2, **how) as source:
        same(source, sm.read_events(log(), **how), how)


def test_rows_without_a_case(spark):
    """Also a label that only such rows have."""
    blanks = ["", " ", "\t", "\u00a0", "\u3000", "\x1c", None]
    cases = [*blanks, "x", "y", "x ", *blanks]
    time = [None if not (case or "").strip() else at for at, case in enumerate(cases)]
    events = ["never", *("ab"[at % 2] for at in range(1, len(cases)))]
    table = pa.table({"case": cases, "event": events, "time": pa.array(time, pa.int64())})
    frame = spark.createDataFrame(table)
    with sm.scan_spark(frame, partitions=2, missing="skip") as source:
        same(source, sm.read_events(table, missing="skip"))
        assert source.origin.caseless == 14
    with pytest.raises(DataError, match=r"or only blanks, in some rows.*missing="):
        sm.scan_spark(frame)


def test_many_ties(spark):
    table = log().select(["case", "region", "hour"])
    frame, names = spark.createDataFrame(table), {"case": "case", "event": "region", "order_by": "hour"}
    with pytest.warns(TiesWarning) as caught, sm.scan_spark(frame, **names) as source:
        n = source.tied_order
    (mine,) = (each for each in caught if each.category is TiesWarning)  # pyspark may warn of others
    words = (
        f"{n} events of the dataframe with the same 'hour' as the one before, for example in case "
        r"'\d'; they keep the order of the input, which may be an accident; say ties='together' if "
        "they happened at once, or ties='in row order' if the rows are in order"
    )
    assert re.fullmatch(words, str(mine.message))
    with pytest.raises(DataError, match=rf"{n} events of the dataframe with the same 'hour' .*; say ties="):
        sm.scan_spark(frame, **names, ties="error")


@pytest.mark.parametrize(
    ("how", "error", "told"),
    [
        ({"weight": "region"}, DataError, r"weight column 'region' of the dataframe holds 'r\d' in case '"),
        ({"session_gap": "1h"}, SettingError, r"'row' of the dataframe holds numbers, not times"),
        ({"session_gap": 1, "order_by": False}, SettingError, r"^for session_gap the place of every event"),
        ({"missing": "error"}, DataError, r"column 'activity' of the dataframe has no value in some rows"),
        ({"lifecycle": "done"}, DataError, r"no event of the dataframe has lifecycle='done'; there are"),
        ({"order_by": "day"}, DataError, r"order column 'day' of the dataframe .*'\d/1/2024'"),
        ({"closed_by": ["x"]}, SettingError, r"closed_by names 'x', which is no label of the data"),
        ({"attributes": ["hour2"]}, DataError, r"the dataframe has no column 'hour2'"),
        ({"attributes": ["hour"]}, DataError, r"column 'hour' of the dataframe changes during case '\d'"),
        ({"labels": ["ask", "pay"]}, UnknownLabelError, "unknown label 'walk'"),
        ({"order_by": "rw"}, DataError, r"no column 'rw'; .*did you mean 'row'"),
        ({"partitions": 0}, SettingError, "partitions must be a whole number"),
    ],
)  # fmt: skip
def test_refused(spark, how, error, told):
    given = {"case": "case", "event": "activity", "order_by": "row", "missing": "skip"} | how
    with pytest.raises(error, match=told):
        sm.scan_spark(spark.createDataFrame(log()), **given)


def test_frames_that_are_refused(spark):
    frame, schema = spark.createDataFrame(rows()), "case string, event string, time string"
    mixed = spark.createDataFrame([("a", "p", "1"), ("a", "q", "soon"), ("a", "r", "2")], schema)
    apart = spark.createDataFrame([("a", "p", "1"), ("b", "p", "2024-01-31")], schema)
    timed = partial(sm.scan_spark, partitions=40, times=True)
    lists = spark.createDataFrame(pa.table({"events": [["A"]]}))
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    stays = "stays on its cluster: learn from scan_spark"
    other = "takes a Spark DataFrame, not Table; give other tables to read_events"
    for error, words, ask, given in (
        (DataError, "cannot be put in order: a row holds 'soon'", sm.scan_spark, mixed),
        (DataError, "times of some cases are numbers and those of others dates", timed, apart),
        (DataError, "holds lists, .* make a row of each first", sm.scan_spark, lists),
        (SettingError, other, sm.scan_spark, rows()),
        (SettingError, "join a table of attributes", partial(sm.scan_spark, attributes=frame), frame),
        (SettingError, rf"{stays}\(frame", sm.read_events, frame),
        (SettingError, stays, sm.compare, frame),
    ):
        with pytest.raises(error, match=words):
            ask(given)
    with (
        sm.scan_spark(frame.limit(0), labels=["A"]) as nothing,
        pytest.raises(DataError, match="no events to learn from"),
    ):
        sm.BSuMM("A").fit(nothing)
    with (
        pytest.warns(TiesWarning),
        sm.scan_spark(frame, partitions=1) as source,
        pytest.raises(SettingError, match="on events of this machine, and train is a SparkSource; read them"),
    ):
        sm.compare(source, models=["chain-0"])
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


# ------------------------------------------------------------------ results


@quiet
@pytest.mark.cut_off
def test_shuffles_and_draws_do_not_depend_on_the_layout(spark, monkeypatch):
    """Sequences are drawn by their names: the same in memory, and in partitions and files of any number."""
    table = rows(1500, n_cases=50, seed=6)
    names = pa.array([f"visit {case}" for case in table.column("case").to_pylist()])
    table = table.set_column(0, "case", names).set_column(2, "time", pa.array(range(1500)))
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(1500)))
    events = sm.read_events(table)
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=3, gamma=0.1, false_edges=None)).fit(events)
    tested = graph.order_test(events, n=19)
    assert len(tested.edges) > 1
    for few, some, partitions in ((draws.FEW, table, 1), (4, mixed, 3)):
        monkeypatch.setattr(draws, "FEW", few)
        with sm.scan_spark(spark.createDataFrame(some), partitions=partitions) as source:
            assert graph.confidence(source, n=10) == graph.confidence(events, n=10)
            assert graph.order_test(source, n=19) == tested


@quiet
@pytest.mark.cut_off
def test_the_joint_model_is_that_of_memory(spark):
    table = rows(n=400, n_cases=20, seed=4)
    settings = {"lookback": 20, "gamma": 0.01, "rounds": 2}
    events = sm.read_events(table)
    with sm.scan_spark(spark.createDataFrame(table.to_pandas())) as source:
        found = sm.JointSuMM(**settings).fit(source)
        mine, others = found.evaluate(source), found.evaluate(events)
    assert (mine.n_sequences, mine.n_events, mine.top_1) == (
        others.n_sequences,
        others.n_events,
        others.top_1,
    )
    for name, figures in mine.targets.items():  # sums over shards, in another order
        assert vars(figures) == pytest.approx(vars(others.targets[name]), rel=1e-12)
    # rows at the same time stand in the order of the dataframe in both
    assert found.to_document() == sm.JointSuMM(**settings).fit(events).to_document()
