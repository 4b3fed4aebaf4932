"""Broken and awkward files of events: one clear sentence, exit code 2, nothing written; or read as it is."""

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import DataError
from summarkov.read import files

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = [pytest.mark.cut_off, pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")]


def parquet(**columns):
    file = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def xes(*events):
    inside = "".join(f'<event><string key="concept:name" value="{label}"/></event>' for label in events)
    return f'<log><trace><string key="concept:name" value="1"/>{inside}</trace></log>'


ROWS = b"case,event\n" + b"1,a\n" * 1_000_000
UNPACK = "if it is meant so, unpack it first"
DOCTYPE = "a document type (<!DOCTYPE>) may hide a bomb or name other files, and XES has none; remove it"
NO_EVENTS = "there are no events to learn from; the sequences are all empty or have weight 0"
NO_ORDER = (
    "; write all of it as numbers, or all as dates like 2024-01-31 18:30:00, or say how dates are "
    "written, as in --date-format '%d/%m/%Y %H:%M' (or use --in-order if the rows are in order)"
)

ONE_EVENT = (
    "is longer than one event, so none comes after another; does --case name the column that the events of a "
    "sequence share?"
)
ONE_LABEL = "so nothing tells one from another; does --event name the column of the labels?"

#: Name of the file, its content, further arguments, and the sentence.
REFUSED = [
    ("no.csv", None, [], "there is no file no.csv; check the path"),
    *(
        (f"log.{end}", "", [], f"log.{end} is empty; expected events in it")
        for end in ("spmf", "xes", "csv.gz")
    ),
    ("log.csv.gz", gzip.compress(b""), [], "log.csv.gz holds nothing; expected events in it"),
    ("log.csv", "\n\n", [], "log.csv holds no lines"),
    ("log.csv", "case,event\n", [], NO_EVENTS),
    ("log.jsonl", "\n", [], NO_EVENTS),
    ("log.spmf", "-2\n", [], NO_EVENTS),
    ("log.xes", "<log/>", [], NO_EVENTS),
    ("log.parquet", parquet(case=pa.array([], "string"), event=pa.array([], "string")), [], NO_EVENTS),
    ("log.csv", "case,event\n1,a\n1,\n2,\n", [], "column 'event' of log.csv has no value in 2 ro"),
    ("log.csv", "case,event\na,a\n ,a\na,b\n\t,b\n", [], "column 'case' of log.csv has no "),
    (
        "log.csv",
        "case,event,time\n1,a,1\n1,b,soon\n",
        [],
        f"order column 'time' of log.csv cannot be put in order: row 2 of the data holds 'soon'{NO_ORDER}",
    ),
    ("log.csv", "case,event\n1,a\n", ["--session-gap", "5min"], "for --session-gap the place of"),
    ("log.csv", "case,event\n1,a\n", ["--in-order", "--order-by", "x"], "--in-order and --order-by exclude"),
    ("log.csv", b"case,event\n1,\xff\n", [], "log.csv, row 2 (the header is row 1): the text "),
    ("log.csv", b"\x89PNG\r\n", [], "log.csv, line 1: the text is not UTF-8"),
    ("log.csv", "case,event\n1,a\n".encode("utf-16-le"), [], "log.csv begins like UTF-16 with"),
    ("log.csv", "case,event\n1,a\n".encode("utf-16")[:-1], [], "log.csv begins as UTF-16 and is not UTF-16"),
    ("log.csv", "case,event\n1,a\n1,b,c\n", [], "log.csv, row 3 (the header is row 1): 3 cel"),
    ("log.csv", "case,event\n1," + "a" * 10_000_000 + "\n", [], "log.csv: a row is longer than 4 MiB"),
    ("log.csv", "x" * (5 << 20), [], "log.csv: the header is longer than 4 MiB; check that this is a"),
    ("log.csv", "\ufeffcase;event\r\n1;a\r\n1;b;c\r\n", [], "log.csv, row 3 (the header is row 1)"),
    ("log.csv", "case,event\r1,a\r1,b\r", [], "log.csv, line 1: the header cannot be"),
    ("log.txt", "1 -1 2 -1 -2\n", [], "log.txt looks like SPMF text, where -1 and -2 end ite"),
    ("log.xes", "<html/>", [], "log.xes, line 1: expected an XES <log>, found <html>"),
    *(
        ("log.xes", text, [], f"log.xes, line 1: {DOCTYPE}")
        for text in (
            '<!DOCTYPE log [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;">]><log>&b;</log>',
            '<!DOCTYPE log [<!ENTITY a SYSTEM "file:///etc/passwd">]><log>&a;</log>',
            '<!DOCTYPE log SYSTEM "http://127.0.0.1:9/log.dtd"><log/>',
            '<!DOCTYPE log [<!ENTITY % a SYSTEM "http://127.0.0.1:9/"> %a;]><log/>',
        )
    ),
    *(
        (
            name,
            data,
            [],
            f"{name} holds more than 200 times its own size, as files made to do harm do; {UNPACK}",
        )
        for name, data in (
            ("log.csv", gzip.compress(ROWS, 9)),
            ("log.csv.zst", pa.compress(ROWS, "zstd", asbytes=True)),
            ("log.jsonl.gz", gzip.compress(b'["' + b"a" * 4_000_000 + b'"]')),
            ("log.xes.gz", gzip.compress(xes("a" * 4_000_000).encode())),
        )
    ),
    ("log.csv.gz", gzip.compress(b"case,event\n1,a\n")[:-3], [], "log.csv.gz is damaged: it begin"),
    ("log.csv", "case,event\n1,a\n2,b\n", [], f"no sequence of log.csv {ONE_EVENT}"),
    (
        "log.parquet",
        parquet(case=[1, 2], event=["a", "b"]),
        ["--engine", "stream"],
        f"no sequence of log.parquet {ONE_EVENT}",
    ),
    ("log.txt", "a a a\na\n", [], f"all events of log.txt are 'a', {ONE_LABEL}"),
    ("log.txt", "b c\nc\n", ["--min-count", "9"], f"all events of log.txt are '(rare)', {ONE_LABEL}"),
]

MILLION = "x" * 1_000_000
#: Name of the file, its content, and how many sequences, events, labels and ties there are in it.
READ = [
    ("log.csv", "case,event\n1,a\n", (1, 1, 1, 0)),
    ("log.jsonl", '["a"]\n', (1, 1, 1, 0)),
    ("log.txt", "a\n", (1, 1, 1, 0)),
    ("log.xes", xes("a"), (1, 1, 1, 0)),
    ("log.parquet", parquet(case=[1], event=["a"]), (1, 1, 1, 0)),
    ("log.csv", "case,event,time\n1,a,1\n1,b,1\n1,c,0\n", (1, 3, 3, 1)),
    ("log.spmf", "1 2 3 -1 4 -1 -2\n", (1, 4, 4, 0)),
    ("log.jsonl", json.dumps([str(n) for n in range(20_000)]), (1, 20_000, 20_000, 0)),
    ("log.csv", f"case,event\n1,{MILLION}\n1,b\n", (1, 2, 2, 0)),
    ("log.xes", xes(MILLION, "b"), (1, 2, 2, 0)),
    ("log.jsonl", '["Pay", "pay", "caf\\u00e9", "cafe\\u0301", "caf\\u00c9"]', (1, 5, 5, 0)),
    ("log.csv", "case|event\n1|a\n".encode("utf-16"), (1, 1, 1, 0)),
    ("log.csv", "\ufeffcase;event\r\n1;a\r\n1;b,c\r\n", (1, 2, 2, 0)),
    ("log.csv", 'case,event\r\n1,"a\r\nb"\r\n1,"c ""d"""\r\n', (1, 2, 2, 0)),
    ("log.csv", "case,event\n1,\x1b[31mred\x07\n1,\u202egnp.exe\n", (1, 2, 2, 0)),
    ("log.csv", 'case,event\n1,""\n1," "\n', (1, 2, 2, 0)),
    ("log.jsonl", '["\\u0000", ""]\n', (1, 2, 2, 0)),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)  # so that bombs need not be large
    return tmp_path


def write(name, content):
    if content is not None:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def ids(cases):
    return [f"{case[0]}-{number}" for number, case in enumerate(cases)]


@pytest.mark.parametrize(("name", "content", "arguments", "sentence"), REFUSED, ids=ids(REFUSED))
def test_refused(here, name, content, arguments, sentence):
    write(name, content)
    before = sorted(here.iterdir())
    result = CliRunner().invoke(app, ["learn", name, *arguments, "-o", "model.json"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"Error: {sentence}")
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(("name", "content", "sizes"), READ, ids=ids(READ))
def test_read(here, name, content, sizes):
    """What can be read is described, written as JSON lines, and learned from, if events come after others."""
    write(name, content)

    def run(*arguments):
        return CliRunner().invoke(app, arguments)

    described = run("describe", name, "--json")
    assert described.exit_code == 0, described.stderr
    found = json.loads(described.stdout)
    assert tuple(found[n] for n in ("n_sequences", "n_events", "n_labels", "tied_order")) == sizes
    shown = run("describe", name)
    assert shown.exit_code == 0
    assert len(shown.stdout) < 10_000
    assert not any(letter in shown.stdout for letter in "\x1b\x07\u202e\x00")
    assert ("as the one before, " in shown.stdout) == (sizes[3] > 0)
    events = sm.read_events(name)
    learned = run("learn", name, "-t", min(events.labels, key=len), "-o", "model.json")
    assert len(learned.stdout) < 20_000
    assert learned.exit_code == (0 if sizes[1] > 1 else 2), learned.stderr
    assert Path("model.json").exists() == (sizes[1] > 1)
    assert run("convert", name, "again.jsonl").exit_code == 0
    assert sm.read_events("again.jsonl") == events


def test_labels_alike_are_named(here):
    write("log.jsonl", '["Pay", "pay", "x", "Pay", "pay", "x"]\n')
    for command in (["describe"], ["learn"]):
        shown = " ".join(CliRunner().invoke(app, [*command, "log.jsonl"]).stdout.split())
        assert "Hint: 'Pay' and 'pay' differ only in capitals, blanks or how characters are written." in shown


def test_an_order_of_mixed_types_in_a_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"case": [1, 1], "event": ["a", "b"], "time": [1, "x"]}, dtype=object)
    with pytest.raises(DataError) as error:
        sm.read_events(frame)
    assert "\n" not in str(error.value)
