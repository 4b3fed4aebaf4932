"""Folders, patterns and large files on the command line: the same results, streamed."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner, Result

from summarkov.cli.main import app
from summarkov.cli.reading import bytes_of
from summarkov.errors import SettingError
from summarkov.simulate.example import web_shop

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in a folder with a log in three files, in a shuffled order, and as one in memory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    events = web_shop().simulate(80, 20, random_state=4)
    case = np.repeat([f"v{i:02}" for i in range(80)], 20)
    table = pa.table(
        {"case": case, "time": np.tile(np.arange(20), 80), "event": [x for s in events for x in s]}
    )
    csv.write_csv(table, tmp_path / "log.csv")
    shuffled = table.take(np.random.default_rng(0).permutation(1600))
    (tmp_path / "folder").mkdir()
    for part in range(3):
        parquet.write_table(shuffled.slice(600 * part, 600), tmp_path / "folder" / f"{part}.parquet")

    def run(*arguments: object) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert list((tmp_path / "tmp").iterdir()) == []
        return result

    return run


def learned(result: Result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_learn_gives_the_same_model_from_a_folder_a_pattern_and_a_file(run: Run) -> None:
    tested = ("--order-test", "--json")  # however long it takes
    expected = learned(run("learn", "log.csv", *tested))
    assert learned(run("learn", "log.csv", "--engine", "stream", *tested)) == expected
    bare = ("--no-order-test", "--json")  # how a sequence is shuffled depends on its number, another one here
    expected = learned(run("learn", "log.csv", *bare))
    assert learned(run("learn", "log.csv", "--memory", "1K", *bare)) == expected
    assert learned(run("learn", "folder", *bare)) == expected
    assert learned(run("learn", "folder/*.parquet", "--memory", "100K", "-j", 2, *bare)) == expected
    assert learned(run("learn", "folder/0.parquet", "--memory", "9K", "-t", "purchase", "--json")) == learned(
        run("learn", "folder/0.parquet", "--engine", "memory", "-t", "purchase", "--json")
    )


@pytest.mark.parametrize(
    ("settings", "memory"), [([], "20K"), (["-t", "purchase"], "1K"), (["--joint"], "1G")]
)
def test_predictions_are_those_in_memory(run: Run, settings: list[str], memory: str) -> None:
    assert run("learn", "log.csv", "--lookback", "none", *settings, "-o", "m.json").exit_code == 0
    # an event at a time is slow
    plain, streamed, n = (
        ("log.csv", "folder", "1,600") if memory != "1K" else (("folder/2.parquet",) * 2 + ("400",))
    )
    assert run("predict", "m.json", plain, "--engine", "memory", "-o", "a.parquet").exit_code == 0
    result = run("predict", "m.json", streamed, "--engine", "stream", "-o", "b.parquet", "--memory", memory)
    assert result.stdout == f"Saved {n} rows as b.parquet\n"
    keys = [("sequence", "ascending"), ("position", "ascending")]
    one, other = (parquet.read_table(f"{name}.parquet").sort_by(keys) for name in "ab")
    assert other.equals(one)


def test_sizes() -> None:
    assert [bytes_of(size) for size in ("2k", "1.5 KB", "1MiB", "3g")] == [
        2048,
        1536,
        2**20,
        3 * 2**30,
    ]
    for size in ("", "0", "-1", "1X", "G"):
        with pytest.raises(SettingError, match="--memory must be a size"):
            bytes_of(size)
