"""``python -m paper reproduce``: on a tiny folder of the paper's layout, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from paper.__main__ import app
from paper.irrelevant import irrelevant
from paper.published import published
from typer.testing import CliRunner, Result

from paper import reproduction as report
from summarkov.comparison import regression

pytestmark = pytest.mark.needs("sklearn")

Run = Callable[..., Result]


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run ``python -m paper reproduce`` beside a folder ``data`` with one tiny data set and few models."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("data").mkdir()
    for part in ("train", "dev", "test"):
        Path(f"data/linkedin.{part}.jsonl").write_text('["a", "b", "a", "c"]\n["b", "c", "a"]\n' * 4)
    Path("data/fomc.jsonl").write_text('{"id": "2001", "events": ["a", "b"]}\n')
    Path("data/fomc.published.json").write_text(
        json.dumps({"settings": {"alpha": 0.1, "lookback": 2}, "influencers": {"BSuMM": {}, "OSuMM": {}}})
    )
    monkeypatch.setitem(published(), "names", {"linkedin": "LinkedIn"})
    monkeypatch.setitem(published(), "discovery", {"sequences": [5], "f1": [0.1]})
    few = (regression(3, strengths=(1.0,)), regression(5, strengths=(1.0,)))
    monkeypatch.setattr(report, "REGRESSIONS", few)
    monkeypatch.setattr(report, "FAMILY", ("vom",))
    monkeypatch.setattr(report, "irrelevant", lambda: irrelevant(sizes=(20,), seeds=2))

    def go(*arguments: object, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["reproduce", *(str(a) for a in arguments)])
        assert (result.exit_code, bool(result.stderr)) == (code, code != 0)
        return result

    return go


def test_printed_in_80_columns_as_markdown_and_as_json(run_command: Run) -> None:
    printed = run_command("data", "-o", "report.md").stdout
    assert printed.endswith("\nSaved report.md\n")
    lines = printed.splitlines()
    assert {"Influencing-set discovery", "Prediction: Markov chains", "FOMC statements, OSuMM"} <= {*lines}
    assert max(len(line.rstrip()) for line in lines) <= 80
    (row,) = [line.split() for line in lines if line.split()[:2] == ["LinkedIn", "bsumm"]]
    assert row[2] == "-114.52"
    assert float(row[4]) == pytest.approx(float(row[3]) + 114.52, abs=0.011)
    assert sorted(path.name for path in Path().iterdir()) == ["data", "report.md"]
    text = Path("report.md").read_text()
    assert text.startswith("# Reproduction\n")
    document = json.loads(run_command("data", "--json", "-o", "report.json").stdout)
    assert f"## {document['sections'][3]['title']}\n" in text
    assert document["sections"][3]["rows"][1]["model"] == "5-LR presence"
    saved = json.loads(Path("report.json").read_text())
    assert saved == document


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "missing argument 'DIR'"),
        ("nowhere", "nowhere is no folder"),
        ("empty", "empty/fomc.jsonl is missing; the folder must hold the FOMC topics"),
        ("data -o no/such.md", "cannot write no/such.md: there is no folder no"),
        ("data -o report.html", "cannot tell the format of report.html; let its name end in .json or .md"),
    ],
)
def test_what_is_wrong_is_one_sentence(run_command: Run, arguments: str, words: str) -> None:
    Path("empty").mkdir()
    result = run_command(*arguments.split(), code=2)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert result.stdout == ""
