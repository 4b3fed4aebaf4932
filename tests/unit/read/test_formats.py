"""SPMF text, XES logs, what process-mining tools export, and packed or recoded files."""

import gzip

import pyarrow as pa
import pytest

from refusals import refused
from summarkov.errors import SettingError
from summarkov.read import read_events, scan_events

#: What is said of many ties is the topic of test_ties_warning.
pytestmark = pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")

# ---------------------------------------------------------------------- SPMF


def test_spmf_numbers_are_labels_and_itemsets_are_ticks(write):
    path = write("log.spmf", "1 -1 2 3 -1 -2\n\n-2\n% comment\n007 -1 10 -1 -2\n")
    events = read_events(path)
    assert events.to_lists() == [[["1"], ["2", "3"]], [], [["7"], ["10"]]]
    assert events.ids == ("0", "1", "2")
    assert events.tied_order == 0
    in_row_order = read_events(path, ties="in row order")
    assert in_row_order.to_lists() == [["1", "2", "3"], [], ["7", "10"]]
    assert (in_row_order.tied_order, in_row_order.origin.tied_case) == (1, "0")


def test_spmf_names(write):
    header = "@CONVERTED_FROM_TEXT\n@ITEM=1=apple\n@ITEM=2= green=pear \n@ITEM=-1=|\n"
    events = read_events(write("log.spmf", f"{header}1 -1 2 -1 3 -1 -2\r\n"))
    assert events.to_lists() == [["apple", " green=pear ", "3"]]


SPMF = "a sequence has whole numbers from 0 on, -1 after every itemset and -2 at its end, and this has"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 -1 -2\n1 2 3\n", f"line 2: {SPMF} '3'; mend it"),
        ("1 -1 x -1 -2\n", f"line 1: {SPMF} 'x'; mend it"),
        ("@ITEM=1=a\n@ITEM=01=b\n", "line 2: item 1 or its name 'b' came before; keep one"),
        ("@ITEM=1=a\n@ITEM=2=a\n", "line 2: item 2 or its name 'a' came before; keep one"),
    ],
)
def test_spmf_refused(write, text, message):
    assert refused(write("log.spmf", text)) == f"log.spmf, {message}"


# ---------------------------------------------------------------------- XES

XES = """<?xml version="1.0" encoding="UTF-8" ?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <global scope="event"><string key="concept:name" value="DEFAULT"/></global>
  <classifier name="Activity" keys="concept:name"/>
  <string key="concept:name" value="the log"/>
  <trace>
    <string key="concept:name" value="A7"/>
    <string key="nested" value="x"><string key="concept:name" value="not the trace"/></string>
    <event>
      <string key="concept:name" value="register &lt;1&gt;"><string key="concept:name" value="no"/></string>
      <date key="time:timestamp" value="2024-01-01T10:00:00.000+01:00"/>
      <string key="org:resource" value="Pete"/>
    </event>
    <event>
      <string key="org:resource" value="Sue"/>
      <date key="time:timestamp" value="2024-01-01T08:00:00Z"/>
      <string key="concept:name" value="check"/>
    </event>
    <event>
      <string key="org:resource" value="Sue"/>
      <date key="time:timestamp" value="2024-01-01T12:00:00.000+03:00"/>
      <string key="concept:name" value="pay"/>
    </event>
  </trace>
  <trace/>
</log>
"""


def test_xes_in_the_order_of_the_file_unless_sorted(write):
    events = read_events(write("log.xes", XES))
    assert (events.to_lists(), events.ids) == ([["register <1>", "check", "pay"], []], ("A7", "1"))
    assert events.tied_order == 0
    events = read_events("log.xes", order_by="time:timestamp")
    assert (events.to_lists(), events.ids) == ([["check", "register <1>", "pay"], []], ("A7", "1"))
    assert events.tied_order == 1


def test_xes_other_keys(write):
    name = write("log.xes", XES)
    assert read_events(name, event="org:resource").to_lists() == [["Pete", "Sue", "Sue"], []]
    assert "line 26: the trace that ends here has no 'nested', only no keys; mend it" in refused(
        name, case="nested"
    )


def test_xes_sessions(write):
    name = write("log.xes", XES)
    events = read_events(name, session_gap="59min")
    assert dict(zip(events.ids, events.to_lists(), strict=True)) == {
        "A7/1": ["check"],
        "A7/2": ["register <1>", "pay"],
        "1/1": [],
    }
    assert len(read_events(name, session_gap=3600)) == 2
    assert "for session_gap the place of every event must be known, and log.xes has no order" in refused(
        name, SettingError, session_gap=1, order_by=False
    )


@pytest.mark.parametrize(
    "content",
    [XES.replace("UTF-8", "UTF-16").encode("utf-16"), XES.encode("utf-8-sig"), gzip.compress(XES.encode())],
)
def test_xes_encodings(write, content):
    assert read_events(write("log.xes.gz", content)).labels == ("check", "pay", "register <1>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<log><trace></log>", "log.xes, line 1: not XML (mismatched tag); expected an XES log"),
        (
            "<log><event/></log>",
            "log.xes, line 1: this event belongs to no trace; put it into one, or remove it",
        ),
        (
            "<log>\n<trace><event><string key='Concept:name' value='a'/></event></trace></log>",
            "log.xes, line 2: the event that ends here has no 'concept:name', only 'Concept:name'; mend it, "
            "or name another key with event=; did you mean 'Concept:name'?",
        ),
        (
            '<?xml version="1.0" encoding="klingon"?><log/>',
            "log.xes: the encoding that it says it has is not known; save it as UTF-8",
        ),
    ],
)
def test_xes_refused(write, text, message):
    assert refused(write("log.xes", text)) == message


# ---------------------------------------------------------------------- what tools export

DISCO = (
    "Case ID,Activity,Resource,Start Timestamp,Complete Timestamp,Variant\n"
    "2,a,x,2011/10/16 14:00:00.000,2011/10/16 14:44:00.000,V\n"
    "2,b,x,2011/10/16 13:00:00.000,2011/10/16 14:43:59.999,V\n"
)
CELONIS = (
    '_CASE_KEY;ACTIVITY_EN;EVENTTIME;_SORTING\n2;"a";2011-10-16 14:44:00;9\n2;"b";2011-10-16 14:43:59;1\n'
)
PROM = "case,event,startTime,completeTime\n2,a,,2011/10/16 14:44:00\n2,b,,2011/10/16 14:43:59\n"
PM4PY = (
    ",concept:name,time:timestamp,case:concept:name\n"
    "0,a,2011-10-16 14:44:00+02:00,2\n1,b,2011-10-16 12:43:00+00:00,2\n"
)
APROMORE = "case_id,activity,start_time,end_time\n2,a,2,4\n2,b,1,3\n"
EXCEL = "Case ID;Activity;Timestamp\r\n2;a;16.10.2011 14:44\r\n2;b;16.10.2011 14:43\r\n"
POWER = "CaseId|ActivityName|StartTimestamp\n2|a|2011-10-16T14:44:00\n2|b|2011-10-16T14:43:00\n"


@pytest.mark.parametrize("text", [DISCO, CELONIS, PROM, PM4PY, APROMORE, EXCEL, POWER])
def test_exports_of_tools_need_no_options(write, text):
    events = read_events(write("log.csv", text))
    assert events.ids == ("2",)
    assert events.to_lists() == [["b", "a"]]
    with scan_events("log.csv") as source:
        assert source.labels == ("a", "b")
        assert source.n_events == 2


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(write, separator):
    rows = [["case", "event", "note"], ["1", '"a,b;c\td|e"', "x"], ["1", "f", "y"]]
    name = write("log.csv", "".join(separator.join(row) + "\n" for row in rows))
    assert read_events(name).to_lists() == [["a,b;c\td|e", "f"]]
    assert read_events(name, event="note").to_lists() == [["x", "y"]]


def test_a_separator_inside_of_names_is_no_separator(write):
    assert read_events(write("log.csv", "case,event,a;b;c;d\n1,x,\n")).to_lists() == [["x"]]
    assert refused("log.csv", event="label").startswith(
        "log.csv has no column 'label'; the columns are 'case,event,a'"
    )


# ---------------------------------------------------------------------- packed and recoded

CSV = 'case,event\r\n1,\xe9\r\n1,"a\nb"\r\n2,\U0001f600\r\n'
PACKINGS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "two gzips": lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:]),
    "zstd": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("packing", "ending"), [*((name, "") for name in PACKINGS), ("gzip", ".gz"), ("zstd", ".zstd")]
)
def test_packed_and_recoded(write, encoding, packing, ending):
    for format, content, expected in (
        ("csv", CSV, [["\xe9", "a\nb"], ["\U0001f600"]]),
        ("jsonl", '["\xe9", "b"]\r\n[]\n', [["\xe9", "b"], []]),
        ("txt", "\xe9 b\r\n", [["\xe9", "b"]]),
    ):
        name = write(f"log.{format}{ending}", PACKINGS[packing](content.encode(encoding)))
        assert read_events(name).to_lists() == expected
        if format != "txt":
            with scan_events(name) as source:
                assert "\xe9" in source.labels


def test_a_folder_of_packed_files(write):
    write("a.csv.gz", gzip.compress(b"case,event\n1,a\n"))
    write("b.csv", "case;event\n1;b\n")
    with scan_events(".") as source:
        assert source.labels == ("a", "b")
