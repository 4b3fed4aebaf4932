"""Columns that the names of folders tell, as Hive and Spark write them: ``day=2024-05-01``."""

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import summarkov as sm
from summarkov.errors import DataError

#: Events of one day are tied, which is what folders tell.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]

#: By region and day; "b" goes on from one day to the next.
ROWS = {
    ("north sea", "2024-05-09"): [("a", "X"), ("b", "Y"), ("a", "Y")],
    ("north sea", "2024-05-10"): [("b", "X"), ("b", "Z")],
    ("south", "2024-05-09"): [("c", "Z"), ("c", "X")],
}
WHOLE = pa.table(
    {
        "case": [case for rows in ROWS.values() for case, _ in rows],
        "event": [event for rows in ROWS.values() for _, event in rows],
        "region": [region for (region, _), rows in ROWS.items() for _ in rows],
        "day": [day for (_, day), rows in ROWS.items() for _ in rows],
    }
)


def lake(folder, kind, *, reverse=False):
    """Files in folders; ``reverse`` gives later days names that come first."""
    for number, ((region, day), rows) in enumerate(ROWS.items()):
        inside = folder / f"region={region.replace(' ', '%20')}" / f"day={day}"
        inside = folder / f"z{9 - number}" / inside.relative_to(folder) if reverse else inside
        inside.mkdir(parents=True)
        table = pa.table({"case": [case for case, _ in rows], "event": [event for _, event in rows]})
        if kind == "parquet":
            parquet.write_table(table, inside / "part.parquet")
        else:
            csv.write_csv(table, inside / "part.csv")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_column_of_folders_is_the_order(tmp_path, kind):
    lake(tmp_path, kind, reverse=True)
    expected = sm.read_events(WHOLE, order="day")
    with sm.scan_events(tmp_path, order="day") as source:
        chain = sm.MarkovChain("X", order=1).fit(source)
        assert (source.n_events, source.n_sequences) == (7, 3)
        assert source.tied_order == expected.tied_order == 3
    assert str(chain.table_) == str(sm.MarkovChain("X", order=1).fit(expected).table_)
    with sm.scan_events(tmp_path, order=False) as source:  # by the names of files: another order
        assert str(sm.MarkovChain("X", order=1).fit(source).table_) != str(chain.table_)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_column_of_folders_is_an_attribute(tmp_path, kind):
    lake(tmp_path, kind)
    expected = sm.read_events(WHOLE, order="day", attributes=["region"])
    with sm.scan_events(tmp_path, order="day", attributes=["region"]) as source:
        assert source.attributes.names == expected.attributes.names == ("region=north sea", "region=south")
        counts = dict(zip(source.labels, source.label_counts.tolist(), strict=True))
        assert source.attributes.counts == {"region=north sea": 2, "region=south": 1}
    assert counts["X"] == 3


def test_times_in_the_names_of_folders_are_not_passed_over(tmp_path):
    lake(tmp_path, "parquet")
    with pytest.raises(DataError, match=r"column 'day' of .* looks like the time .* say order='day', or"):
        sm.scan_events(tmp_path)


def test_the_column_of_a_file_comes_first(tmp_path):
    inside = tmp_path / "day=2024-05-01"
    inside.mkdir()
    table = {"case": [1, 1], "event": ["late", "early"], "day": ["2024-05-03", "2024-05-02"]}
    parquet.write_table(pa.table(table), inside / "part.parquet")
    with sm.scan_events(tmp_path, order="day") as source:
        table = sm.MarkovChain("late", order=1).fit(source).table_
    assert [(row.state, row.counts[0]) for row in table if row.n] == [((), 0), (("early",), 1)]


def test_folders_that_lack_the_column(tmp_path):
    lake(tmp_path, "parquet")
    parquet.write_table(pa.table({"case": ["d"], "event": ["X"]}), tmp_path / "zero.parquet")
    with pytest.raises(DataError, match=r"zero\.parquet has no column 'day'"):
        sm.scan_events(tmp_path, order="day")


def test_folders_without_a_value(tmp_path):
    inside = tmp_path / "day=__HIVE_DEFAULT_PARTITION__"
    inside.mkdir()
    parquet.write_table(pa.table({"case": ["d"], "event": ["X"]}), inside / "part.parquet")
    with pytest.raises(DataError, match=r"column 'day' of .* has no value in 1 row, the first is row 1 "):
        sm.scan_events(tmp_path, order="day")
