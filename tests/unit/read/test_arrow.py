"""read_events from tables: kinds of columns, missing values, and what cannot be read."""

import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow
import pytest

from summarkov.errors import DataError
from summarkov.read import read_events

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")


def test_categories_that_never_occur_are_no_labels():
    kept = polars.Enum(["never", "b", "a"])
    for frame in (
        pandas.DataFrame({"case": [1, 1, 2], "event": pandas.Categorical(list("bab"), ["never", "b", "a"])}),
        polars.DataFrame({"case": [1, 1, 2], "event": list("bab")}, schema_overrides={"event": kept}),
    ):
        assert read_events(frame).to_lists() == [["b", "a"], ["b"]]
        assert read_events(frame).labels == ("a", "b")


def test_duckdb_enum_and_large_numbers():
    source = duckdb.sql(
        "select 1::hugeint as case, 'b'::enum('a', 'b', 'never') as event, t.range::hugeint as time "
        "from range(3, 0, -1) t"
    )
    events = read_events(source)
    assert events.to_lists() == [["b", "b", "b"]]
    assert events.labels == ("b",)
    assert events.ids == ("1",)


ARROW_KINDS = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.binary(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.dictionary(pyarrow.uint32(), pyarrow.large_string()),
]


@pytest.mark.parametrize("kind", ARROW_KINDS, ids=str)
def test_arrow_texts_in_chunks(kind):
    chunks = [pyarrow.array(list("bab")).cast(kind), pyarrow.array(list("ccb")).cast(kind)]
    if pyarrow.types.is_dictionary(kind):
        chunks = [pyarrow.array(list(text)).dictionary_encode().cast(kind) for text in ("bab", "ccb")]
    column = pyarrow.chunked_array(chunks)
    events = read_events(pyarrow.table({"case": column, "event": column}))
    assert events.ids == ("b", "a", "c")
    assert events.to_lists() == [["b", "b", "b"], ["a"], ["c", "c"]]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pyarrow.array([datetime.date(2024, 1, 31)]), ["2024-01-31"]),
        (pyarrow.array([Decimal("1.50")]), ["1.50"]),
        (pyarrow.array([0.1, 16.0], pyarrow.float32()), ["0.1", "16.0"]),
        (pyarrow.array([255], pyarrow.uint8()), ["255"]),
        (pyarrow.array([2**63], pyarrow.uint64()), [str(2**63)]),
    ],
    ids=str,
)
def test_arrow_values_that_become_text(values, texts):
    table = pyarrow.table({"case": ["x"] * len(values), "event": values})
    assert read_events(table).to_lists() == [texts]


def test_dictionaries():
    twice = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), ["x", "y", "x"])
    events = read_events(pyarrow.table({"case": twice, "event": twice}))
    assert (events.ids, events.to_lists()) == (("x", "y"), [["x", "x"], ["y"]])
    hole = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 1]), pyarrow.array(["x", None]))
    with pytest.raises(DataError, match="has no value in 2 rows, the first is row 2"):
        read_events(pyarrow.table({"case": ["x"] * 3, "event": hole}))


@pytest.mark.parametrize("role", ["case", "event", "order"])
def test_nan_is_missing(role):
    blank, skip = {"case": (", or only blanks,", "rows"), "event": ("", "events")}.get(role, ("", None))
    help = f"fill them, or leave these {skip} out with missing='skip'" if skip else "fill or drop them"
    values = pyarrow.array([1.0, float("nan")])
    for column in (values, values.dictionary_encode()):
        columns = {"case": ["x", "x"], "event": ["a", "b"], "order": [1, 2]}
        with pytest.raises(DataError) as error:
            read_events(pyarrow.table({**columns, role: column}))
        assert str(error.value) == (
            f"column '{role}' of the table has no value{blank} in 1 row, the first is row 2 "
            f"(the first row of data is 1); {help}"
        )


@pytest.mark.parametrize("role", ["case", "event"])
def test_values_that_cannot_be_labels(role):
    columns = {"case": ["x"], "event": ["a"], role: pyarrow.array([{"a": 1}])}
    with pytest.raises(DataError) as error:
        read_events(pyarrow.table(columns))
    assert str(error.value) == (
        f"column '{role}' of the table holds struct<a: int64>, which cannot be read as labels; "
        "turn it into text first"
    )


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pyarrow.array([True]), "order column 'time' of the table holds bool; it must hold numbers"),
        (pyarrow.array([[1]]), "order column 'time' of the table holds list<"),
        (pyarrow.array(["1", "x" * 99]), f"row 2 of the data holds '{'x' * 40}'; write all of it as numbers"),
        (pyarrow.nulls(1), "column 'time' of the table has no value in 1 row"),
    ],
    ids=str,
)
def test_order_that_is_none(column, message):
    table = {"case": ["x"] * len(column), "event": ["a"] * len(column), "time": column}
    with pytest.raises(DataError) as error:
        read_events(pyarrow.table(table))
    assert message in str(error.value)


# ------------------------------------------------------------------ pandas' own ways


def test_pandas_columns_of_mixed_types_that_are_not_needed():
    frame = pandas.DataFrame({"case": [1, 1], "event": ["a", "b"], "resource": [1, "Pete"], 5: [b"", 1]})
    assert read_events(frame).to_lists() == [["a", "b"]]
    with pytest.raises(DataError, match=r"'case', 'event', 'resource', '5'; did you mean 'resource'\?"):
        read_events(frame, case="resourc")


def test_pandas_columns_of_mixed_types_that_are_needed():
    frame = pandas.DataFrame({"case": [1, "x"], "event": [1, True]})
    assert read_events(frame).to_lists() == [["1"], ["True"]]
    assert read_events(frame).ids == ("1", "x")
    with pytest.raises(DataError) as error:
        read_events(pandas.DataFrame({"case": [1, 1], "event": ["a", ["b"]]}))
    assert str(error.value).startswith("the table cannot be read by Arrow: column event: ")
    assert "\n" not in str(error.value)


def test_a_series_holds_lists():
    for column in (pandas.Series(["a"]), polars.Series(["a"])):
        with pytest.raises(DataError, match=r"a sequence must be a list of labels, not 'a'; wrap it in"):
            read_events(column)


def test_stream_that_breaks():
    def batches():
        yield pyarrow.record_batch({"case": ["x"], "event": ["a"]})
        raise OSError("the connection is gone")

    schema = pyarrow.schema({"case": pyarrow.string(), "event": pyarrow.string()})
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(DataError) as error:
        read_events(reader)
    assert str(error.value) == "the table cannot be read by Arrow: IOError: the connection is gone"


def test_stream_is_closed_on_error():
    with duckdb.connect() as connection:
        source = connection.sql("select 1 as user, 'a' as page")
        with pytest.raises(DataError, match="no column of the table is recognised as the event") as error:
            read_events(source)
        assert connection.sql("select 42").fetchall() == [(42,)], error
        assert read_events(source, case="user", event="page").to_lists() == [["a"]]


# ---------------------------------------------------------------------- columns of Python objects

ZONED = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
PLAIN = datetime.datetime(2024, 1, 2)
HUGE = 2**70


def of_objects(**columns):
    """The same columns as a dict, as pandas has Python objects, and as categories of them."""
    columns = {"case": [1] * len(next(iter(columns.values()))), **columns}
    objects = {name: pandas.Series(values, dtype=object) for name, values in columns.items()}
    categories = {name: values.astype("category") for name, values in objects.items() if name != "time"}
    return columns, pandas.DataFrame(objects), pandas.DataFrame({**objects, **categories})


@pytest.mark.parametrize(
    ("times", "words"),
    [
        *(
            (times, "one with a time zone and one without")
            for times in ([ZONED, PLAIN], [PLAIN.date(), ZONED], [ZONED, np.datetime64("2024-01-02T00:00")])
        ),
        ([pandas.Timestamp(ZONED), pandas.NaT, pandas.Timestamp(PLAIN)], "has no value in 1 row"),
        ([PLAIN, 5], "row 1 of the data holds '2024-01-02 00:00:00' and row 2 '5'"),
        ([datetime.time(9), datetime.time(8, tzinfo=datetime.UTC)], r"row 2 of the data holds '08:00:00\+"),
    ],
)
def test_times_that_are_refused_as_text_are_refused_as_objects(times, words):
    for table in of_objects(event=["a", "b", "c"][: len(times)], time=times):
        with pytest.raises(DataError, match=words):
            read_events(table, case="case")
    odd = polars.Series(times, dtype=polars.Object)
    with pytest.raises(DataError):
        read_events(polars.DataFrame({"case": 1, "event": "a", "time": odd}))


def test_times_that_fit_as_text_fit_as_objects():
    day = datetime.date(2024, 1, 1)
    later = [datetime.datetime(2024, 1, 1, hour) for hour in (5, 3)]
    precise = [pandas.Timestamp(f"2024-01-01T00:00:00.00000000{n}") for n in (3, 1, 2)]
    zones = [ZONED, ZONED.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=5)))]
    zones.append(PLAIN.replace(tzinfo=datetime.UTC))
    for times, expected in (
        ([*later, day], "cba"),
        ([day, *later], "acb"),
        (precise, "bca"),
        (zones, "bac"),
        ([HUGE, 1, 2], "bca"),
        ([2**63, -HUGE, 1], "bca"),
    ):
        for table in of_objects(event=["a", "b", "c"], time=times):
            assert "".join(read_events(table, case="case").to_lists()[0]) == expected


def test_whole_numbers_of_any_size_are_labels():
    same = [HUGE, HUGE]
    for table in of_objects(case=same, event=[-HUGE, 7], age=same, weight=same, x=[HUGE, 1]):
        events = read_events(table, case="case", order_by=False, attributes=["age"], weight="weight")
        assert (events.ids, events.to_lists()) == ((str(HUGE),), [[str(-HUGE), "7"]])
        assert events.attributes.names == (f"age={HUGE}",)
        assert events.weights.tolist() == [float(HUGE)]
    for odd, texts in (([HUGE, "a"], [str(HUGE), "a"]), ([HUGE, True], [str(HUGE), "True"])):
        for table in of_objects(event=odd):
            assert read_events(table, case="case", order_by=False).to_lists() == [texts]
    for table in of_objects(event=[10**5000, 1]):
        with pytest.raises(DataError, match="the table cannot be read by Arrow: column event: Exceeds the"):
            read_events(table, case="case", order_by=False)


def test_mixed_times_that_are_not_used_still_look_like_times():
    columns = {"case": [1, 1], "event": ["a", "b"], "noticed": [ZONED, PLAIN]}
    with pytest.raises(DataError, match="'noticed' of the table looks like the time of an event"):
        read_events(columns, case="case")
