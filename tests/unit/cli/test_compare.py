"""``summarkov compare``: the table, what is saved, going on, and what is refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import commands
import summarkov as sm
from summarkov.comparison import DEFAULT, NAMES, Comparison
from summarkov.simulate.example import web_shop

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "evidence.md"
FAST = ("-m", "chain-0", "-m", "chain-1")

Run = Callable[..., Result]


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run ``summarkov compare`` in a folder with events, expecting an exit code."""
    monkeypatch.chdir(tmp_path)
    events = web_shop().simulate(60, 12, random_state=1)
    for name, part in zip(("all", "train", "dev", "test"), (events, *events.split()), strict=True):
        lines = (json.dumps(labels) for labels in part.to_lists())
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")

    def go(*arguments: object, code: int = 0) -> Result:
        result = commands.run("compare", *arguments, code=code)
        assert bool(result.stderr) == (code != 0)
        return result

    return go


def library(**options: Any) -> Comparison:
    return sm.compare("all.jsonl", models=["chain-0", "chain-1"], **options)


def timeless(document: Any) -> Any:
    for line in document["lines"]:
        line["seconds"] = 0
    return document


# ------------------------------------------------------------------ the table


def test_the_table_says_what_the_library_says(run_command: Run) -> None:
    lines = [line.split() for line in run_command("all.jsonl", *FAST).stdout.splitlines()]
    sheet = library().summary()
    assert sheet.title.split() in lines
    printed = [word for line in lines for word in line]
    for row in sheet.rows:
        cells = [cell for at, cell in enumerate(row) if sheet.head[at] != "seconds"]
        assert set(" ".join(cells).split()) <= set(printed)


# ------------------------------------------------------------------ documents


def test_for_programs(run_command: Run) -> None:
    options = ("--splits", "2", "--seed", "3", "-j", "2", "-o", "out.json")
    result = run_command("all.jsonl", *FAST, "--json", *options)
    document = json.loads(result.stdout)
    assert json.loads(Path("out.json").read_text())["lines"][0]["name"] == document["lines"][0]["name"]
    assert timeless(document) == timeless(library(splits=2, random_state=3).to_dict())
    assert result.stdout.isascii()


# ------------------------------------------------------------------ help, and what is refused


@pytest.mark.parametrize("mark", ["", "`"], ids=["help", "guide"])
def test_every_model_is_named(run_command: Run, mark: str) -> None:
    text = " ".join(re.sub(r"[│\n]", " ", run_command("--help-all").stdout).split())
    assert "K = 3, 5, 10" in text
    assert f"Default: {', '.join(DEFAULT)}." in text
    text = text.replace("- ", "-")  # a name may be broken there
    families = {re.sub(r"^(lr-\w+)-\d+$", r"\1-K", name) for name in NAMES}
    families = {"chain-4" if name.startswith("chain") else name for name in families}
    text = GUIDE.read_text(encoding="utf-8") if mark else text
    assert [name for name in sorted(families) if f"{mark}{name}{mark}" not in text] == []


def test_the_result_is_printed_even_if_it_cannot_be_saved(
    run_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("summarkov.read.files.write_atomically", full)
    result = run_command("all.jsonl", *FAST, "-o", "out.json", code=2)
    assert result.stderr == "Error: cannot write out.json: No space left on device\n"
    assert result.stdout.startswith("2 contenders on ")


# ------------------------------------------------------------------ the guide


def without_seconds(text: str) -> str:
    return re.sub(r" +\d+\.\d$", " s", text, flags=re.MULTILINE)


def test_the_guide_shows_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    make, shown = re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[:2]
    command_line, printed = shown.removeprefix("$ ").split("\n", 1)
    for line in (*make.splitlines(), command_line):
        result = commands.run(*line.split()[1:])
        assert result.stderr == ""
    now = "\n".join(line.rstrip() for line in result.stdout.splitlines()) + "\n"
    assert without_seconds(now) == without_seconds(printed)
