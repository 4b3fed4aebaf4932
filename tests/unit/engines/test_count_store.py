"""A store of growing data: a month by days is the month at once, whoever adds them, and however they end."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import summarkov as sm
from summarkov.errors import DataError, SettingError, StoreError
from summarkov.simulate.example import web_shop

DAYS = [f"2024-05-{day:02}" for day in range(1, 7)]


@pytest.fixture(scope="module")
def month():
    events = web_shop().simulate(n_sequences=240, length=25, random_state=4)
    ids = [f"visit {k}" for k in range(240)]
    return sm.EventSequences(events.codes, events.offsets, events.labels, ids)


def of_day(month, number):
    return month[np.arange(40 * number, 40 * number + 40)]


@pytest.fixture
def store(tmp_path, month):
    made = sm.CountStore(tmp_path / "store")
    for number, day in enumerate(DAYS):
        made.add(day, of_day(month, number))
    return made


def graph_of(data):
    return sm.InfluenceGraph(sm.BSuMM(lookback=3)).fit(data)


def test_days_are_the_month(store, month, tmp_path):
    expected = graph_of(month)
    again = sm.CountStore(tmp_path / "store")
    assert again.names == tuple(DAYS)
    graph = graph_of(again)
    assert graph.to_document() == expected.to_document()
    assert graph.confidence(again, n=10) == expected.confidence(month, n=10)
    assert graph.order_test(again, n=19) == expected.order_test(month, n=19)
    assert graph.log_likelihood(again) == expected.log_likelihood(month)
    assert store.to_events() == sm.read_events(store) == month
    assert store.to_events([DAYS[1], DAYS[0]]) == month[np.arange(80)]
    with pytest.raises(SettingError, match="has no part 'monday'; it has 2024-05-01"):
        store.to_events(["monday"])


def test_a_day_cannot_be_added_twice_and_can_be_forgotten(store, month):
    with pytest.raises(SettingError, match="there is a part '2024-05-01' already; forget it first"):
        store.add("2024-05-01", of_day(month, 0))
    store.forget("2024-05-01")
    assert store.names == tuple(DAYS[1:])
    assert store.to_events() == month[np.arange(40, 240)]
    with pytest.raises(SettingError, match="has no part 'monday'; it has 2024-05-02"):
        store.forget("monday")
    for wrong in ("", 3):
        with pytest.raises(SettingError, match="a part needs a name"):
            store.add(wrong, month)


def test_labels_that_come_up_later(tmp_path):
    first, later = [["a", "b", "a", "b"]] * 5, [["a", "c", "b"], ["d", "a"]]
    store = sm.CountStore(tmp_path)
    store.add("first", first)
    store.add("later", later)
    assert store.to_events(["first"]).labels == ("a", "b", "c", "d")
    assert sm.BSuMM("b").fit(store).to_document() == sm.BSuMM("b").fit([*first, *later]).to_document()


def ticking(n=900, n_cases=60, seed=1):
    """Rows of cases, some at the same time."""
    rng = np.random.default_rng(seed)
    case = np.sort(rng.integers(n_cases, size=n))
    time = np.cumsum(rng.integers(3, size=n))
    event = rng.choice(["A", "B", "C", "D"], size=n)
    event[1:][(event[:-1] == "A") & (rng.random(n - 1) < 0.5)] = "B"
    return pa.table({"case": [f"visit {k}" for k in case], "event": event, "time": time}), case


@pytest.mark.parametrize(
    "how",
    [
        {"ties": "together"},
        {"times": True},
        {"ties": "together", "times": True, "ends": "cut off"},
        {"times": True, "closed_by": ["A"]},
    ],
)
@pytest.mark.filterwarnings("ignore::summarkov.errors.TiesWarning")
def test_days_of_ticks_times_and_ends_are_the_month(tmp_path, how):
    table, case = ticking()
    days = [table.filter(pa.array(case // 20 == day)) for day in range(3)]
    days[2] = days[2].filter(pc.not_equal(days[2].column("event"), "D"))
    whole = sm.read_events(pa.concat_tables(days), **how)
    store = sm.CountStore(tmp_path / "store")
    for number, day in enumerate(days):
        store.add(f"day {number}", sm.read_events(day, **how))
    assert sm.CountStore(tmp_path / "store").to_events() == whole
    assert store.to_events().tied_order == whole.tied_order


def test_days_of_weighted_sequences_are_the_month(tmp_path):
    """Whole weights, then fractions, then none."""
    table, case = ticking()
    weight = np.where(case < 20, case % 4, np.where(case < 40, 0.25 * (case % 5), 1.0))
    whole = sm.read_events(table.append_column("n", pa.array(weight)), weight="n", order_by=False)
    store = sm.CountStore(tmp_path / "store")
    for day in range(3):
        rows = table.append_column("n", pa.array(weight)).filter(pa.array(case // 20 == day))
        how = {"weight": "n"} if day < 2 else {}
        store.add(f"day {day}", sm.read_events(rows, order_by=False, **how))
    assert store.to_events() == whole
    assert graph_of(store).to_document() == graph_of(whole).to_document()


def test_odd_sequences(tmp_path):
    odd = sm.read_events({"": [], "=1": ["a", ""], "a\n": [" ", "\u2603"]})
    ticks = sm.EventSequences.from_lists([[["a", "b"], [], "c"], []])
    for name, events in (("odd", odd), ("ticks", ticks)):
        store, other = sm.CountStore(tmp_path / name), sm.CountStore(tmp_path / name)
        store.add("day", events)
        assert other.names == ("day",)
        assert store.to_events() == other.to_events() == events
    store.add("half", [["a\ud800"]])
    assert store.to_events(["half"]).to_lists() == [["a\ud800"]]
    with pytest.raises(DataError, match="there are no events to learn from"):
        graph_of(sm.CountStore(tmp_path / "empty"))


def test_what_parts_cannot_hold_is_refused_with_what_to_do(tmp_path):
    rows = pa.table({"case": [1, 1, 1], "event": ["A", "B", "A"], "time": [1, 2, 3], "who": ["x"] * 3})
    store = sm.CountStore(tmp_path / "store")
    with pytest.raises(SettingError, match="named from all of the data at once; read parts without"):
        store.add("monday", sm.read_events(rows, attributes=["who"]))
    assert store.names == ()
    plain, timed = sm.read_events(rows), sm.read_events(rows, times=True)
    store.add("monday", timed)
    with pytest.raises(SettingError, match=r"have times and others have none, .* read all parts alike"):
        store.add("tuesday", plain)


# ---------------------------------------------------------------------- several at a time, and ended


def _add_many(folder, number, n):
    store = sm.CountStore(folder)
    for at in range(n):
        store.add(f"{number}-{at}", [["a", "b", str(number)]] * 2)


def test_eight_processes_keep_every_part(tmp_path):
    """They make the store, too."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add_many, args=(tmp_path / "store", k, 20)) for k in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    store = sm.CountStore(tmp_path / "store")
    assert [process.exitcode for process in processes] == [0] * 8
    assert sorted(store.names) == sorted(f"{k}-{at}" for k in range(8) for at in range(20))
    assert len(store.to_events()) == 320


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_ended_loses_at_most_its_part(tmp_path, number):
    """At whatever moment; what it has left behind is removed by the next one."""
    program = (
        "import sys, summarkov as sm\n"
        "store = sm.CountStore(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "for at in range(10**6):\n"
        "    store.add(f'{len(store.names)}', [['a', 'b'] * 50] * 200)\n"
        "    print(at, flush=True)\n"
    )
    for trial in range(3):
        command = [sys.executable, "-c", program, str(tmp_path / "store")]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert running.stdout.readline() == "ready\n"
        running.stdout.readline()
        time.sleep(0.013 * trial)
        running.send_signal(number)
        said = running.communicate()[0].split()
        store = sm.CountStore(tmp_path / "store")
        assert store.names == tuple(map(str, range(len(store.names))))
        assert len(store.names) > len(said)
        assert len(store.to_events()) == 200 * len(store.names)


def test_a_process_that_was_killed_while_it_made_the_store(tmp_path):
    (tmp_path / "store.sqlite").touch()
    store = sm.CountStore(tmp_path)
    store.add("first", [["a"]])
    assert sm.CountStore(tmp_path).names == ("first",)


def test_a_store_that_cannot_be_written_can_be_fitted(store, month):
    before = {path.name: path.stat().st_mtime_ns for path in store.folder.iterdir()}
    for path in (*store.folder.iterdir(), store.folder):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        assert graph_of(sm.CountStore(store.folder)).to_document() == graph_of(month).to_document()
        if os.geteuid():
            with pytest.raises((StoreError, OSError)):
                store.add("more", [["a"]])
    finally:
        for path in (store.folder, *store.folder.iterdir()):
            path.chmod(path.stat().st_mode | 0o200)
    assert {path.name: path.stat().st_mtime_ns for path in store.folder.iterdir()} == before


# ---------------------------------------------------------------------- what somebody has changed


def set_(store, sql, *values):
    with sqlite3.connect(store.folder / "store.sqlite") as database:
        database.execute(sql, values)
    database.close()


def test_a_link_another_version_and_a_table_that_is_gone(store, tmp_path):
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "store.sqlite").symlink_to(store.folder / "store.sqlite")
    with pytest.raises(StoreError, match="is a link, which a store does not follow"):
        sm.CountStore(tmp_path / "linked")
    set_(store, "DROP TABLE parts")
    with pytest.raises(StoreError, match="make the store anew"):
        store.to_events()
    set_(store, "PRAGMA user_version = 9")
    with pytest.raises(StoreError, match=r"was written by another version .*; name a new folder, and add"):
        sm.CountStore(store.folder)


def test_damaged_parts(store):
    with sqlite3.connect(store.folder / "store.sqlite") as database:
        ((whole,),) = database.execute("SELECT events FROM parts WHERE number = 1")
    database.close()
    for content in (None, 3, b"", b"abcd", whole[:500], whole[:-9] + b"123456789", whole[:300] + whole[400:]):
        set_(store, "UPDATE parts SET events = ? WHERE number = 1", content)
        with pytest.raises(StoreError, match=r"part '2024-05-01' .* is damaged .*; forget it, and add"):
            store.to_events()
    set_(store, "UPDATE parts SET labels = ?, events = ? WHERE number = 1", "[", whole)
    with pytest.raises(StoreError, match="is damaged"):
        store.to_events()
    (store.folder / "store.sqlite").write_bytes(b"\x00" * 999)
    with pytest.raises(StoreError, match="make the store anew"):
        sm.CountStore(store.folder)


def test_other_folders(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="holds something else"):
        sm.CountStore(tmp_path)
    old = Path(tmp_path, "old")
    old.mkdir()
    (old / "store.json").write_text('{"format": "summarkov-count-store"}')
    with pytest.raises(StoreError, match=r"written by an earlier version .* add every part from its files"):
        sm.CountStore(old)
