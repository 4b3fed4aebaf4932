"""``memory=`` is kept, or refused with a size that would do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.memory import FEW, MEMORY, SHAPES, measure

import summarkov as sm
from summarkov.cli.sizes import is_streamed
from summarkov.errors import DataError, TooLargeError
from summarkov.io.encoding import Vocabulary
from summarkov.io.files import TextBudget

KEPT = [
    "3e6 rows in any order",
    "3,000 lists of 1e4 events",
    "1e6 cases of 2 rows in any order",
    "2e5 lines of 10 events",
]
REFUSED = ["one list of 2e7 events", "cases of 50 kB names in any order", "776,536 labels"]


@pytest.fixture(scope="module")
def few(tmp_path_factory) -> list[Path]:
    """Small files to be streamed first, so that what is loaded once is not counted."""
    folder = tmp_path_factory.mktemp("few")
    return [make(folder / "few") for make in FEW]


@pytest.mark.parametrize("shape", KEPT)
def test_kept(tmp_path, few, shape):
    found = measure(SHAPES[shape](tmp_path / "shape"), MEMORY, few)
    assert found["said"] == ""
    assert found["peak"] < MEMORY


@pytest.mark.parametrize("shape", REFUSED)
def test_refused_and_what_would_do(tmp_path, few, shape):
    path = SHAPES[shape](tmp_path / "shape")
    found = measure(path, MEMORY, few)
    assert found["peak"] < MEMORY
    enough = int(re.search(r"set memory= to at least \d+M \((\d+) bytes\)", found["said"])[1])
    again = measure(path, enough, few)
    assert again["said"] == ""
    assert again["peak"] < 1.1 * enough


def test_long_times_of_lines(tmp_path, few):
    """Blanks around times are nothing, but take room."""
    path, blanks = tmp_path / "log.jsonl", " " * 200_000
    line = json.dumps({"events": ["a", "b"], "times": [f"{blanks}1", f"{blanks}2"]})
    path.write_text(f"{line}\n" * 400)
    found = measure(path, MEMORY, few, times=True)
    assert found["said"] == ""
    assert found["peak"] < MEMORY


def test_one_long_list_among_many(tmp_path):
    lists = [["a", "b"]] * 100 + [["a", "b"] * 2_000_000]
    pq.write_table(pa.table({"events": lists}), tmp_path / "log.parquet")
    with pytest.raises(
        TooLargeError, match=r"lists of .*log.parquet that are very long need about 144 MB; set memory="
    ):
        sm.scan_events(tmp_path / "log.parquet", memory=MEMORY)
    with sm.scan_events(tmp_path / "log.parquet", memory=3 * MEMORY) as source:
        assert source.n_events == 4_000_200


def test_a_long_line(tmp_path):
    (tmp_path / "log.jsonl").write_text('["a"]\n[' + '"a", ' * 500_000 + '"b"]\n')
    with pytest.raises(
        TooLargeError, match=r"log.jsonl, line 2: a line of more than 2,097,152 bytes .* set memory="
    ):
        sm.scan_events(tmp_path / "log.jsonl", memory=MEMORY)
    with sm.scan_events(tmp_path / "log.jsonl", memory=2 * MEMORY) as source:
        assert source.n_events == 500_002


def test_a_long_row(tmp_path):
    (tmp_path / "log.csv").write_text("case,event,note\n" + f"a,b,{'x' * 2_000_000}\n" * 3)
    with pytest.raises(DataError, match=r"a row is longer than 0.5 MiB; .*, or set memory= to at least 512M"):
        sm.scan_events(tmp_path / "log.csv", memory=MEMORY)
    with sm.scan_events(tmp_path / "log.csv", memory=8 * MEMORY) as source:
        assert source.n_events == 3


def test_auto_counts_events_and_not_rows(tmp_path):
    path = SHAPES["3,000 lists of 1e4 events"](tmp_path / "shape")
    assert path.stat().st_size < 400_000
    assert is_streamed(path, "auto", "64M", None)
    assert not is_streamed(path, "auto", "2G", None)


def test_labels_that_are_declared_are_not_refused():
    labels = [f"label {number}" for number in range(300_000)]
    budget = TextBudget(MEMORY)
    vocabulary = Vocabulary(labels, budget)
    assert vocabulary[labels[-1]] == 299_999
    found = Vocabulary(None, budget)
    budget.share = 0.5
    with pytest.raises(TooLargeError, match=r"more than 1\d\d,\d{3} different labels need about"):
        list(map(found.__getitem__, labels))


def test_values_of_columns_share_one_budget_with_labels(tmp_path):
    """Each of ten columns alone would be within it."""
    path, names = tmp_path / "log.csv", [f"column {number}" for number in range(10)]
    lines = (",".join([str(case), "a", *[f"{case:0900}"] * 10]) for case in range(4_000))
    path.write_text("\n".join([",".join(["case", "event", *names]), *lines]))
    asked = {"case": "case", "event": "event", "order": False}
    with sm.scan_events(path, memory=MEMORY, attributes=names[:5], **asked) as source:
        assert source.n_sequences == 4_000
    with pytest.raises(TooLargeError, match=r"more than \d,\d{3} different values of 'column \d' need about"):
        sm.scan_events(path, memory=MEMORY, attributes=names, **asked)
