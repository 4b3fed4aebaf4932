"""Small files that would take much memory or time are refused first, or read in proportion to their size."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app
from summarkov.errors import StoreError, nearest

#: What a process may take beside what it takes once it has begun.
ROOM = 300 << 20


def within_memory(script: str, *arguments: object, room: int = ROOM) -> str:
    """What a script prints in a process that may take little memory more than it does after its imports."""
    before = (
        "import pathlib, resource, sys\nimport pyarrow, pyarrow.csv, pyarrow.compute, pyarrow.parquet\n"
        "import summarkov as sm\nimport summarkov.models, summarkov.simulate, summarkov.text\n"
        "from summarkov.errors import SummarkovError\nsm.read_events([['a']])\n"
        "pages = int(pathlib.Path('/proc/self/statm').read_text().split()[0])\n"
        f"most = pages * resource.getpagesize() + {room}\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
    )
    inside = "try:\n" + "".join(f"    {line}\n" for line in script.splitlines())
    after = "except SummarkovError as refused:\n    print(type(refused).__name__, refused)\n"
    command = [sys.executable, "-c", before + inside + after, *map(str, arguments)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


# ---------------------------------------------------------------------- memory


def test_dynamics_of_many_influencers(tmp_path):
    labels = [f"l{i:04}" for i in range(1000)]
    all_of_them = [{"state": dict.fromkeys(labels, 0), "probability": 0.001}]
    rules = {label: [{"state": {}, "probability": 0.1}] for label in labels}
    rules |= dict.fromkeys(labels[:3], all_of_them)
    path = tmp_path / "dynamics.json"
    path.write_text(json.dumps({"kind": "dynamics", "version": 1, "lookback": 1, "rules": rules}))
    script = "from summarkov.store import read_document\nsm.Dynamics.from_dict(read_document(sys.argv[1])[1])"
    refusal = within_memory(script, path)
    assert refusal.startswith("SettingError 1000 labels influence others; ")
    assert refusal.endswith("sums can be checked for 16 labels at most\n")


def test_packed_files_of_many_parts(tmp_path):
    """One after the other; those of a lower limit come last."""
    parts = [
        ("words.txt", b"a " * 6_000_000),
        ("rows.csv", b"case,event\n" + b"a,b\n" * 6_000_000),
        ("nesting.xes", b"<log><trace>" + b"<x>" * 6_000_000),
        ("small lines.txt", b"\n" * 400_000),
        ("small numbers.jsonl", b"[" + b"1," * 400_000 + b"1]\n"),
        ("small lists.jsonl", b"[]\n" * 400_000),
        ("small items.spmf", b"1 -1 -2\n" * 400_000),
        ("small attributes.xes", b"<log><trace>" + b'<string key="k" value="v"/>' * 400_000),
    ]
    paths = [tmp_path / f"{name}.gz" for name, _ in parts]
    for path, (_, content) in zip(paths, parts, strict=True):
        path.write_bytes(gzip.compress(content, 6))
        assert path.stat().st_size < 400_000
    script = """import os
from summarkov.read import files
for path in sys.argv[1:]:
    if "small" in path:  # a limit that is met soon: these take a second a million
        files.MOST_PARTS = 1 << 18
    if os.fork() == 0:  # what one has taken is not missed by the next
        try:
            print(len(sm.read_events(path)), flush=True)
        except SummarkovError as refused:
            print(type(refused).__name__, refused, flush=True)
        os._exit(0)
    os.wait()"""
    refusals = within_memory(script, *paths).splitlines()
    told = ("holds more lines or words than files of its size have, as files", "stand in each other")
    for refused in refusals:
        assert refused.startswith("DataError ")
        assert any(words in refused for words in told)
    assert len(refusals) == len(parts)


def test_shuffles_of_many_targets_among_many_labels():
    """Memory in proportion to the targets, not to targets times labels, which would be 390 MB here."""
    script = """
from summarkov.engines import MemorySource
from summarkov.engines.shuffles import OrderQuestion, Shuffles, count_moved
from summarkov.summaries import Reach
n = 7_000
events = sm.EventSequences.from_lists([[f"{label:05}" for label in range(n)]], ends="cut off")
asked = [OrderQuestion(label, (label + 1) % n, Reach(0, 1)) for label in range(n)]
source = MemorySource(events, n_jobs=1)
found = [int(each.hits[0].sum()) for each in count_moved(source, asked, Shuffles(1))]
print(len(found), sum(found))"""
    assert within_memory(script) == "7000 7000\n"


def test_a_packed_file_as_people_have_them(tmp_path):
    path = tmp_path / "log.txt.gz"
    path.write_bytes(gzip.compress(b"a b c\n" * 20_000, 9))
    assert sm.read_events(path).n_events == 60_000


def test_many_attributes_of_one_event_cost_nothing(tmp_path):
    many = "".join(f'<string key="k{i}" value="{"v" * 50}"/>' for i in range(200_000))
    event = f'<event>{many}<string key="concept:name" value="a"/></event>'
    (tmp_path / "log.xes").write_text(f"<log><trace>{event * 2}</trace></log>")
    script = "print(sm.read_events(sys.argv[1]).to_lists())"
    assert within_memory(script, tmp_path / "log.xes", room=40 << 20) == "[['a', 'a']]\n"


# ---------------------------------------------------------------------- models


@pytest.mark.parametrize("command", ["show", "simulate", "report"])
def test_devices_and_pipes_are_no_models(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for path in ("/dev/zero", "/dev/null", "pipe"):
        run = CliRunner().invoke(app, [command, path])
        assert run.exit_code == 2
        assert run.stderr == f"Error: {path}: is a pipe or a device; save the model as a file and give that\n"


def test_models_that_are_too_large(tmp_path):
    path = tmp_path / "model.json"
    with open(path, "wb") as file:
        file.truncate((1 << 28) + 1)  # without using the disk
    with pytest.raises(StoreError, match="has 256 MiB, and a model has 256 at most"):
        sm.load(path)


def test_models_of_too_many_values(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b"[" + b"[]," * 17_000_000 + b"[]]")
    assert within_memory("sm.load(sys.argv[1])", path) == (
        f"StoreError {path}: holds more than 16,777,216 values, and a model has fewer\n"
    )


# ---------------------------------------------------------------------- time


def test_what_was_meant_is_looked_for_among_some():
    assert nearest("protset", ["riot", "protest"]) == "; did you mean 'protest'?"
    assert nearest("x" * 101, ["x" * 100]) == ""
    assert nearest("protset", ["x" * 10_000, "protest"]) == "; did you mean 'protest'?"
    asked = Counter()

    class Names(list):
        def __iter__(self):
            for name in super().__iter__():
                asked["names"] += 1
                yield name

    assert nearest("protset", Names(["riot"] * 50_000)) == ""
    assert asked["names"] <= 1001
