"""``summarkov compare``: the table, what is saved, going on, and what is refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import summarkov as sm
from summarkov.cli.main import app
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
    monkeypatch.setenv("COLUMNS", "80")
    events = web_shop().simulate(60, 12, random_state=1)
    for name, part in zip(("all", "train", "dev", "test"), (events, *events.split()), strict=True):
        lines = (json.dumps(labels) for labels in part.to_lists())
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")

    def go(*arguments: object, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["compare", *(str(a) for a in arguments)])
        assert (result.exit_code, bool(result.stderr)) == (code, code != 0)
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


def test_the_help_names_every_model(run_command: Run) -> None:
    text = " ".join(re.sub(r"[│\n]", " ", run_command("--help").stdout).split())
    families = {re.sub(r"^(lr-\w+)-\d+$", r"\1-K", name) for name in NAMES}
    families = {"chain-4" if name.startswith("chain") else name for name in families}
    assert [name for name in sorted(families) if name not in text] == []
    assert "K = 3, 5, 10" in text
    assert f"Default: {', '.join(DEFAULT)}." in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "missing argument 'FILE'"),
        ("train.jsonl dev.jsonl", "give one file to have it split, or three: train, dev and test"),
        ("train.jsonl dev.jsonl test.jsonl --splits 2", "train, dev and test are already split"),
        ("nothing.jsonl", "there is no file nothing.jsonl"),
        ("all.jsonl -m bsum", "there is no model 'bsum'; did you mean 'bsumm'?"),
        ("all.jsonl -m vom -m vom", "two contenders have the same name, 'vom'"),
        ("all.jsonl -o out.csv", "cannot tell the format of out.csv; let its name end in .json"),
    ],
)
def test_what_is_wrong_is_one_sentence(run_command: Run, arguments: str, words: str) -> None:
    before = sorted(Path().iterdir())
    result = run_command(*arguments.split(), code=2)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert result.stdout == ""
    assert sorted(Path().iterdir()) == before


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
    monkeypatch.setenv("COLUMNS", "80")
    text = GUIDE.read_text(encoding="utf-8")
    make, shown = re.findall(r"^```(?:sh|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[:2]
    command_line, printed = shown.removeprefix("$ ").split("\n", 1)
    for line in (*make.splitlines(), command_line):
        result = CliRunner().invoke(app, line.split()[1:])
        assert (result.exit_code, result.stderr) == (0, "")
    now = "\n".join(line.rstrip() for line in result.stdout.splitlines()) + "\n"
    assert without_seconds(now) == without_seconds(printed)


def test_the_guide_names_every_model() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    families = {re.sub(r"^(lr-\w+)-\d+$", r"\1-K", name) for name in NAMES}
    families = {"chain-4" if name.startswith("chain") else name for name in families}
    assert [name for name in sorted(families) if f"`{name}`" not in text] == []
