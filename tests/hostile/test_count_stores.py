"""Stores of counts that somebody has changed: refused, and nothing outside of them is read or removed."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pytest

import summarkov as sm
from summarkov.errors import StoreError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

EVENTS = [list("abcab"), list("bca"), list("cc")] * 4
KINDS = {
    "codes": np.int32, "ends": np.int64, "keys": np.uint64, "times": np.int64, "weights": np.float64,
}  # fmt: skip


@pytest.fixture
def store(tmp_path):
    """The folder of a store with two parts, of 12 sequences and 40 events each."""
    made = sm.CountStore(tmp_path / "store")
    for name in ("monday", "tuesday"):
        made.add(name, EVENTS)
    return made.folder


def graph_of(folder):
    return sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(sm.CountStore(folder)).to_document()


def part_of(folder):
    """The folder of the first part."""
    return folder / json.loads((folder / "store.json").read_text())["parts"][0]["folder"]


def change(path, **new):
    """Change a JSON file, and leave out its checksum, as who means it would."""
    said = json.loads(path.read_text())
    said.pop("checksum")
    path.write_text(json.dumps({**said, **new}))


def change_array(folder, name, changed):
    path = part_of(folder) / name
    np.asarray(changed(np.fromfile(path, KINDS[name])), KINDS[name]).tofile(path)


@pytest.mark.parametrize("way", ["..", "../thesis", "/tmp", ".", "", "part-0123456789ab/../../thesis"])
def test_a_part_never_leads_out_of_its_store(tmp_path, store, way):
    shutil.copytree(part_of(store), tmp_path / "thesis")
    parts = json.loads((store / "store.json").read_text())["parts"]
    change(store / "store.json", parts=[{"name": "monday", "folder": way}, parts[1]])
    with pytest.raises(
        StoreError, match=r"is damaged \(.*expected the names of folders that a store has made"
    ):
        sm.CountStore(store).forget("monday")
    assert sorted(os.listdir(tmp_path / "thesis")) == ["answers", "codes", "ends", "keys", "part.json"]


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ({"parts": {}}, "expected a list"),
        ({"parts": [{"name": "monday"}]}, "the names of folders"),
        ({"parts": [{"name": 1, "folder": "part-0123456789ab"}]}, "expected a text"),
        ({"parts": [{"name": "x", "folder": "part-0123456789ab"}] * 2}, "a name of its own for each part"),
        ({"parts": [{"name": "x", "folder": "part-0123456789ab"}]}, "there is no such file"),
        ({"labels": "abc"}, "expected a list"),
        ({"labels": [1]}, "expected a text"),
        ({"new_labels": "drop"}, "unknown value 'drop'"),
        ({"waiting": []}, "expected an object"),
        ({"waiting": {"case": "abc"}}, "expected a list"),
        ({"version": 3}, "1 or 2, the versions of stores"),
    ],
)
def test_what_a_store_says_of_itself(store, new, why):
    change(store / "store.json", **new)
    with pytest.raises(StoreError, match=f"is damaged .*{why}.*make the store anew"):
        sm.CountStore(store)


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ({"n_events": 41}, "codes has not its 164 bytes"),
        ({"n_events": -1}, "numbers from 0 on"),
        ({"n_sequences": 10**12}, "ends has not its 8000000000000 bytes"),
        ({"n_held": 3}, "not those of its 40 events"),
        ({"labels": ["a", "a", "b"]}, "sorted labels"),
        ({"labels": [1, 2, 3]}, "expected a text"),
        ({"label_counts": [40]}, "a count of each"),
        ({"label_counts": [41, 0, -1]}, "numbers from 0 on"),
        ({"label_counts": [1, 1, 1]}, "not those of its 40 events"),
        ({"tied_order": "many"}, "a whole number"),
    ],
)
def test_what_a_part_says_of_itself(store, new, why):
    change(part_of(store) / "part.json", **new)
    with pytest.raises(StoreError, match=f"is damaged .*{why}.*make the store anew"):
        sm.CountStore(store)


@pytest.mark.parametrize("name", ["store.json", "part.json"])
def test_a_change_that_makes_sense_is_told_by_the_checksum(store, name):
    path = store / name if name == "store.json" else part_of(store) / name
    path.write_text(
        path.read_text().replace("tuesday", "Tuesday").replace('"tied_order": 0', '"tied_order": 1')
    )
    with pytest.raises(StoreError, match="its checksum does not fit"):
        sm.CountStore(store)


@pytest.mark.parametrize("content", ["[" * 10**5, "", "null", '{"format": NaN}', '{"a": 1, "a": 1}', "\x00"])
@pytest.mark.parametrize("name", ["store.json", "part.json"])
def test_other_text_than_a_store_has(store, name, content):
    (store / name if name == "store.json" else part_of(store) / name).write_text(content)
    with pytest.raises(StoreError, match="is damaged"):
        sm.CountStore(store)


@pytest.mark.parametrize("name", ["store.json", "part.json", "ends"])
def test_a_pipe_is_not_waited_for(store, name):
    path = store / name if name == "store.json" else part_of(store) / name
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(StoreError, match=r"is a pipe or a device|has not its 96 bytes"):
        sm.CountStore(store)


@pytest.mark.parametrize(
    "changed",
    [
        lambda ends: ends[::-1],
        lambda ends: [*ends[:-1], ends[-1] - 1],
        lambda ends: [-5, *ends[1:]],
        lambda ends: [*ends[:2], 2**60, *ends[3:]],
        lambda ends: ends[:3],
        lambda ends: [*ends, ends[-1]],
    ],
    ids=["backwards", "too few events", "below 0", "far beyond", "cut short", "one more"],
)
def test_sequences_that_end_elsewhere(store, changed):
    change_array(store, "ends", changed)
    with pytest.raises(StoreError, match=r"not those of its 40 events|ends has not its 96 bytes"):
        sm.CountStore(store)


@pytest.mark.parametrize("code", [3, 10**9, -1, -(2**31)])
def test_codes_of_no_label(store, code):
    change_array(store, "codes", lambda codes: [*codes[:-1], code])
    with pytest.raises(StoreError, match="codes is damaged: it holds a code of no label; make it anew"):
        graph_of(store)


@pytest.mark.parametrize(
    ("name", "changed", "why"),
    [
        ("times", lambda times: times[::-1], "times run backwards within a sequence"),
        ("times", lambda times: [*times[:-1], 2**62], "times are too far from 0"),
        ("times", lambda times: times[:-1], "times has not its 48 bytes"),
        (
            "codes",
            lambda codes: [codes[0] | 1 << 30, *codes[1:]],
            "the first event of a sequence begins a tick",
        ),
        ("codes", lambda codes: [*codes[:-1], codes[-1] | 1 << 30], "events of one tick must have one time"),
        ("codes", lambda codes: [4, *codes[1:]], "a code of no label"),
    ],
)
def test_ticks_and_times_that_do_not_fit(tmp_path, name, changed, why):
    rows = {"case": list("xxxyyy"), "event": list("abcabc"), "time": [1, 1, 2, 5, 7, 9]}
    store = sm.CountStore(tmp_path / "store")
    store.add("monday", sm.read_events(pa.table(rows), order="time", ties="together", times=True))
    assert sm.BSuMM("b", lookback="3").fit(store).table_[0].n > 0
    shutil.rmtree(part_of(store.folder) / "answers")
    (part_of(store.folder) / "answers").mkdir()
    change_array(store.folder, name, changed)
    with pytest.raises(StoreError, match=f"is damaged.*({why})"):
        sm.BSuMM("b", lookback="3").fit(sm.CountStore(store.folder))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (lambda weights: weights[:-1], "weights has not its 96 bytes"),
        (lambda weights: -weights, "weights: sample_weight must be finite numbers from 0 on"),
        (lambda weights: weights * np.nan, "must be finite numbers"),
        (lambda weights: weights * 2.0**50, "is too large"),
    ],
)
def test_weights_that_are_none(tmp_path, changed, why):
    made = sm.CountStore(tmp_path / "store")
    made.add("monday", sm.read_events(EVENTS).with_weights(np.arange(12) + 0.5))
    graph_of(made.folder)
    change_array(made.folder, "weights", changed)
    with pytest.raises(StoreError, match=f"is damaged .*{why}.*make the store anew"):
        sm.CountStore(made.folder)


@pytest.mark.parametrize(
    "changed",
    [
        lambda kept: b"",
        lambda kept: kept[:50],
        lambda kept: b"\xff" * 99,
        lambda kept: kept[:-9] + b"123456789",
    ],
    ids=["empty", "cut", "other", "other numbers"],
)
def test_answers_that_were_changed_are_worked_out_again(store, changed):
    expected = graph_of(store)
    answers = list((part_of(store) / "answers").iterdir())
    for path in answers:
        path.write_bytes(changed(path.read_bytes()))
    assert len(answers) > 3
    assert graph_of(store) == expected
    assert all(len(path.read_bytes()) > 99 for path in answers)
