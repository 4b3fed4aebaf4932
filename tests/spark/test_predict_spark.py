"""``predict_spark``: the numbers of memory, a row for each event or for each sequence."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import summarkov as sm
from summarkov.errors import SettingError, UnknownLabelError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

LABELS = ["Buy", "buy", "café ☃", "a,b;{c}(d)\n=\t"]
COLUMNS = {"case": "visit no", "event": "what", "order_by": "at"}


def table(n=90, n_cases=9, seed=0, times=None):
    """Rows in any order, with a column that is not read."""
    rng = np.random.default_rng(seed)
    at = rng.permutation(n) if times is None else times
    return pa.table(
        {
            "visit no": pa.array([f"visit {case}" for case in rng.integers(n_cases, size=n)]),
            "what": rng.choice(LABELS, size=n),
            "at": pa.array([f"{number:04}" for number in at.tolist()]),
            "paid": pa.array([None if each % 5 else each / 4 for each in at.tolist()]),
        }
    )


@pytest.fixture(scope="module")
def events():
    return sm.read_events(table(), **COLUMNS)


@pytest.fixture(scope="module")
def graph(events):
    return sm.InfluenceGraph(sm.BSuMM(lookback=2, criterion="aic")).fit(events)


def keyed(found, *names):
    """Rows by their values in some columns."""
    rows = {tuple(row[name] for name in names): row for row in found.to_pylist()}
    assert len(rows) == found.num_rows
    return rows


MODELS = {
    "a graph": sm.InfluenceGraph(sm.BSuMM(lookback=2, criterion="aic")),
    "a tree": sm.TreeSuMM("Buy"),
    "complete cases": sm.InfluenceGraph(sm.BSuMM(lookback=2, criterion="aic")),
    "look-backs in time": sm.BSuMM("Buy", lookback="90s", criterion="aic", required=("buy",)),
}


@pytest.mark.parametrize("kind", MODELS)
def test_the_numbers_of_memory(spark, tmp_path, kind):
    given, reading = table(), {**COLUMNS, "ends": "complete" if kind == "complete cases" else "cut off"}
    if kind == "look-backs in time":
        times = np.random.default_rng(4).integers(1, 60, size=90).cumsum()
        given = table(times=times)
        given = given.set_column(2, "at", pa.array(times * 10**6).cast(pa.timestamp("us", "UTC")))
        reading["times"] = True
    events = sm.read_events(given, **reading)
    model, frame = MODELS[kind].copy().fit(events), spark.createDataFrame(given)
    columns = ["p_Buy", "p_a_b_c_d", "p_buy_2", "p_cafe"] if len(model.outcomes_) > 2 else ["p_Buy"]
    columns = ["p_end_of_case"] * (kind == "complete cases") + columns
    predicted = sm.predict_spark(model, frame, **COLUMNS)
    assert [field.metadata["label"] for field in predicted.schema.fields if "p_" in field.name] == [
        x for x in model.outcomes_ if x is not sm.OTHER
    ]
    # Names are such that every format takes them: ORC refuses others, and names that come twice.
    predicted.write.orc(str(tmp_path / "out"))
    written, p = spark.read.orc(str(tmp_path / "out")).toArrow(), model.predict_proba(events)
    assert written.column_names == ["sequence", "position", "event", "log_likelihood", *columns]
    rows = keyed(written, "sequence", "position")
    assert len(rows) == len(p) == 90
    places = [
        (name, at) for name, n in zip(events.ids, events.lengths, strict=True) for at in range(1, n + 1)
    ]
    for at, (key, event) in enumerate(zip(places, itertools.chain(*events.to_lists()), strict=True)):
        row = rows[key]
        assert row["event"] == event
        assert [row[name] for name in columns] == p[at, : len(columns)].tolist()
        happened = event if event in model.outcomes_ else sm.OTHER
        assert row["log_likelihood"] == math.log(p[at, model.outcomes_.index(happened)])
    after = keyed(sm.predict_spark(model, frame, **COLUMNS, rows="next").toArrow(), "sequence")
    assert len(after) == len(events)
    expected = model.predict_next(events).probabilities
    for at, name in enumerate(events.ids):
        numbers = expected[at, : len(columns)].tolist()
        assert [*after[name,].values()] == [name, events.lengths[at] + 1, *numbers]


def test_unknown_labels(spark, events):
    frame = spark.createDataFrame(table())
    known = sm.InfluenceGraph(sm.BSuMM()).fit(events.restrict(LABELS[1:]))
    with pytest.raises(UnknownLabelError, match="unknown label 'Buy'"):
        sm.predict_spark(known, frame, **COLUMNS)
    found = sm.predict_spark(known, frame, **COLUMNS, unknown="ignore").toArrow()
    missing = [row["event"] for row in found.to_pylist() if row["log_likelihood"] is None]
    assert set(missing) == {"Buy"}
    assert len(missing) == table().column("what").to_pylist().count("Buy")
    some = sm.InfluenceGraph(sm.BSuMM(), targets=LABELS[:2]).fit(events)  # each model stands for itself
    assert sm.predict_spark(some, frame, **COLUMNS).columns[2:] == ["event", "p_Buy", "p_buy_2"]


def test_what_is_refused(spark, events, graph):
    frame = spark.createDataFrame(table())
    ticks = sm.BSuMM("Buy").fit(sm.read_events([[["Buy", "buy"], ["Buy"]]] * 20))
    streaming = spark.readStream.format("rate").load()
    for words, ask in (
        ("rows must be one of 'events', ", lambda: sm.predict_spark(graph, frame, rows="cases")),
        ("happened together, or with attr", lambda: sm.predict_spark(ticks, frame, **COLUMNS)),
        ("not dict; only these predict", lambda: sm.predict_spark({}, frame, **COLUMNS)),
        ("batches of its writeStream.foreach", lambda: sm.predict_spark(graph, streaming, **COLUMNS)),
    ):
        with pytest.raises(SettingError, match=words):
            ask()


def test_a_stream_is_predicted_batch_by_batch(spark, tmp_path, events, graph):
    """The recipe of the guide: what comes next in every case that a batch has touched."""
    log, out = tmp_path / "log", tmp_path / "out"
    log.mkdir()
    given = table()
    frame = spark.createDataFrame(given.slice(0, 0))

    def score(batch, number):
        cases = batch.select("visit no").distinct()
        so_far = batch.sparkSession.read.schema(frame.schema).parquet(str(log))
        so_far = so_far.join(cases, "visit no", "left_semi")
        predicted = sm.predict_spark(graph, so_far, **COLUMNS, rows="next")
        predicted.write.mode("overwrite").parquet(str(out / f"batch={number}"))

    by_time = given.sort_by("at")
    for part in range(3):  # every case goes on from file to file
        parquet.write_table(by_time.slice(30 * part, 30), log / f"{part}.parquet")
        stream = spark.readStream.schema(frame.schema).parquet(str(log))
        writer = stream.writeStream.foreachBatch(score).option("checkpointLocation", str(tmp_path / "state"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        assert query.exception() is None
        sofar = sm.read_events(by_time.slice(0, 30 * (part + 1)), **COLUMNS, labels=LABELS)
        touched = set(by_time.slice(30 * part, 30).column("visit no").to_pylist())
        found = keyed(parquet.read_table(out / f"batch={part}"), "sequence")
        assert {name for (name,) in found} == touched
        after = dict(zip(sofar.ids, graph.predict_next(sofar).probabilities[:, 0].tolist(), strict=True))
        assert {name: row["p_Buy"] for (name,), row in found.items()} == {
            name: after[name] for name in touched
        }
