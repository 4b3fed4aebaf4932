"""Many ties are never taken in row order silently, whatever they are read from."""

import json
import warnings

import pyarrow
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import TiesWarning

#: Case "b" has the only ties, two of them.
ROWS = [("a", "x", 1), ("b", "x", 1), ("b", "y", 1), ("a", "y", 2), ("b", "z", 1), ("b", "x", 2)]
COLUMNS = {
    "case": [row[0] for row in ROWS],
    "event": [row[1] for row in ROWS],
    "time": [row[2] for row in ROWS],
}
TOLD = (
    "2 events of {} with the same {!r} as the one before, for example in case 'b'; they keep the order of "
    "the input, which may be an accident; say ties='together' if they happened at once, or ties='in row "
    "order' if the rows are in order"
)


def csv(folder):
    path = folder / "log.csv"
    path.write_text("case,event,time\n" + "".join(f"{c},{e},{t}\n" for c, e, t in ROWS))
    return path


def grouped_csv(folder):
    path = folder / "log.csv"
    path.write_text("case,event,time\n" + "".join(f"{c},{e},{t}\n" for c, e, t in sorted(ROWS, key=str)))
    return path


def table_file(folder):
    path = folder / "log.parquet"
    parquet.write_table(pyarrow.table(COLUMNS), path)
    return path


def xes(folder):
    def trace(case):
        events = "".join(
            f'<event><string key="concept:name" value="{e}"/>'
            f'<date key="time:timestamp" value="2024-01-0{t}T00:00:00Z"/></event>'
            for c, e, t in ROWS
            if c == case
        )
        return f'<trace><string key="concept:name" value="{case}"/>{events}</trace>'

    path = folder / "log.xes"
    path.write_text(f"<log>{trace('a')}{trace('b')}</log>")
    return path


READ = {
    "csv": (csv, sm.read_events),
    "parquet": (table_file, sm.read_events),
    "xes": (xes, sm.read_events),
    "grouped csv, streamed": (grouped_csv, sm.scan_events),
    "csv, streamed": (csv, sm.scan_events),
    "parquet, streamed": (table_file, sm.scan_events),
}


@pytest.mark.parametrize("kind", READ)
def test_files(kind, tmp_path):
    write, read = READ[kind]
    path = write(tmp_path)
    with pytest.warns(TiesWarning) as caught:
        found = read(path)
    assert [str(each.message) for each in caught] == [
        TOLD.format(path, "time:timestamp").replace("'time:timestamp'", "time" if kind == "xes" else "'time'")
    ]
    assert caught[0].filename == __file__
    assert (found.tied_order, found.origin.tied_case) == (2, "b")
    for ties, left in (("in row order", 2), ("together", 0)):  # with warnings as errors
        assert read(path, ties=ties).tied_order == left


def test_a_few_are_only_counted():
    n = 200
    table = pyarrow.table(
        {"case": ["a"] * n, "event": ["x", "y"] * (n // 2), "time": [0, 0, *range(1, n - 1)]}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sm.read_events(table).tied_order == 1
    with pytest.warns(TiesWarning, match=r"^1 event of the table with the same 'time'"):
        sm.read_events(table.slice(0, 99))


def test_command_line(tmp_path):
    path = csv(tmp_path)
    for engine in ("memory", "stream"):
        done = CliRunner().invoke(app, ["learn", str(path), "--engine", engine, "--json"])
        assert done.exit_code == 0
        told = TOLD.format(path, "time").replace("ties='together'", "--ties together")
        told = told.replace("ties='in row order'", "--ties 'in row order'")
        assert f"Note: {told}\n" in done.stderr
        document = json.loads(done.stdout)
        assert (document["tied_order"], document["tied_case"]) == (2, "b")
    silent = CliRunner().invoke(app, ["describe", str(path), "--json", "--ties", "in row order"])
    assert (silent.stderr, json.loads(silent.stdout)["tied_order"]) == ("", 2)
    together = json.loads(
        CliRunner().invoke(app, ["describe", str(path), "--json", "--ties", "together"]).stdout
    )
    assert (together["tied_order"], together["tied_case"]) == (0, None)
