"""What lies beside our files and is not ours: it stays, it is not waited for, and it is not read twice."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import summarkov as sm
from summarkov.read.files import write_atomically


def lines(path: Path, n: int = 10) -> Path:
    path.write_text('["a", "b"]\n' * n)
    return path


# ---------------------------------------------------------------------- temporary folders


def test_pipes_called_like_ours_are_not_waited_for(tmp_path):
    pipe = tmp_path / ".model.json.0123456789ab.tmp"
    os.mkfifo(pipe)
    write_atomically(tmp_path / "model.json", "x")
    assert pipe.is_fifo()
    assert (tmp_path / "model.json").read_text() == "x"


def test_the_exit_of_a_fork_leaves_the_folder_of_its_parent(tmp_path):
    script = """
import os, sys
import summarkov as sm
with sm.scan_events(sys.argv[1], scratch=sys.argv[2]) as source:
    if os.fork() == 0:
        source.close()
        sys.exit()
    os.wait()
    print(sm.BSuMM("b", lookback=1).fit(source).influencers_, len(os.listdir(sys.argv[2])))
print(len(os.listdir(sys.argv[2])))
"""
    (tmp_path / "scratch").mkdir()
    arguments = [lines(tmp_path / "log.jsonl"), tmp_path / "scratch"]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments], capture_output=True, text=True
    )
    assert run.stdout == "('a',) 1\n0\n"


# ---------------------------------------------------------------------- who may read a file


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_its_mode_and_owner(tmp_path, mode):
    path = tmp_path / "model.json"
    path.write_text("before")
    path.chmod(mode)
    if os.geteuid() == 0:  # who alone can give a file away
        os.chown(path, 12345, 23456)
    before = path.stat()
    write_atomically(path, "after")
    after = path.stat()
    assert path.read_text() == "after"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o022, 0o644)])
def test_new_files_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        events = sm.EventSequences.from_lists([["a", "b"]] * 5)
        sm.InfluenceGraph(sm.BSuMM()).fit(events).save(tmp_path / "model.json")
        for name in ("log.csv", "log.jsonl", "log.parquet"):
            sm.write_events(events, tmp_path / name)
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {mode}


# ---------------------------------------------------------------------- files by several names


def counted(path: Path) -> int:
    with sm.scan_events(path, scratch=path.parent if path.is_dir() else None) as source:
        return source.n_sequences


def test_a_link_counts_nothing_twice(tmp_path):
    log = tmp_path / "log"
    (log / "2024-05").mkdir(parents=True)
    lines(tmp_path / "elsewhere.jsonl", 3)
    lines(log / "2024-05" / "b.jsonl")
    assert counted(log) == 10
    (log / "latest").symlink_to("2024-05")
    assert counted(log) == counted(log / "*" / "*.jsonl") == 10
    (log / "self").symlink_to(".")
    (log / "a.jsonl").symlink_to("2024-05/b.jsonl")
    assert counted(log) == 10
    (log / "linked.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    (log / "broken.jsonl").symlink_to("nowhere")
    with pytest.warns(
        UserWarning, match=r"broken\.jsonl is skipped: it is a pipe, a device or a link to nothing"
    ):
        assert counted(log) == 13
