"""The parts of the reproduction, on a folder of the paper's layout with made-up data."""

import json
import math
import re
from pathlib import Path

import pytest
from paper.__main__ import app
from paper.bombing import bombing, planted
from paper.discovery import discovery, f1
from paper.fomc import fomc, read_fomc
from paper.irrelevant import irrelevant, noisy_dynamics, precision
from paper.order import shuffled_inside, under_order
from paper.published import published
from paper.reproduction import reproduce
from paper.section import Section
from paper.tables import Tables, read_split, targets_of
from typer.testing import CliRunner, Result

import summarkov as sm
from paper import reproduction as report
from summarkov.comparison import MatrixContender, run
from summarkov.comparison.run import tune
from summarkov.errors import DataError
from summarkov.simulate.example import web_shop

pytestmark = [pytest.mark.cut_off, pytest.mark.needs("sklearn")]

REGRESSIONS = (
    MatrixContender("3-LR presence", [{"C": 1.0}], 3),
    MatrixContender("3-LR presence unpenalised", [{"C": float("inf")}], 3),
)
#: discovery at 2 sizes; 2 data sets with 2 + 5 + 2 + 1 models; 2 case studies; irrelevant labels
PIECES = 2 + 2 * 10 + 2 + 2


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two data sets and the FOMC topics, and little to do with them."""
    for seed, name in enumerate(("linkedin", "beigebooks")):
        events = web_shop().simulate(30, 9, random_state=seed).restrict(["browse", "search", "view product"])
        for part, some in zip(("train", "dev", "test"), events.split(), strict=True):
            lines = [json.dumps(each) for each in some.to_lists()]
            (tmp_path / f"{name}.{part}.jsonl").write_text("\n".join(lines) + "\n")
    documents = [("2001-02", ["b", "c"]), ("2001-01", ["a", "b"]), ("2002-01", ["c", "a"])] * 4
    lines = [
        json.dumps({"id": f"{date}-{n}", "events": topics}) for n, (date, topics) in enumerate(documents)
    ]
    (tmp_path / "fomc.jsonl").write_text("\n".join(lines) + "\n")
    given = {
        "settings": {"alpha": 0.1, "lookback": 2, "gamma": 0.3},
        "influencers": {"BSuMM": {"a": ["b"]}, "OSuMM": {"a": ["a", "c"], "b": []}},
    }
    (tmp_path / "fomc.published.json").write_text(json.dumps(given))
    monkeypatch.setitem(published(), "names", {"beigebooks": "Beige Books", "linkedin": "LinkedIn"})
    monkeypatch.setitem(published(), "discovery", {"sequences": [5, 10], "f1": [0.1, 0.2]})
    monkeypatch.setattr(report, "REGRESSIONS", REGRESSIONS)
    monkeypatch.setattr(report, "FAMILY", ("vom",))
    monkeypatch.setattr(report, "irrelevant", lambda: irrelevant(sizes=(20,), seeds=2))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def command(*arguments: str, code: int = 0) -> Result:
    """Run ``python -m paper reproduce``."""
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert (result.exit_code, bool(result.stderr)) == (code, code != 0)
    return result


# ------------------------------------------------------------------ the published figures


def test_every_published_figure_has_its_place():
    figures = published()["prediction"]
    assert set(figures) == set(published()["names"])
    columns = {"bsumm", "osumm", "lstm", "lr-3", "lr-5", "lr-10", *(f"chain-{k}" for k in range(5))}
    assert all(set(row) == columns for row in figures.values())
    assert all(-2000 < figure < -30 for row in figures.values() for figure in row.values())
    assert len(published()["targets"]["timelines"]) == 15
    assert published()["discovery"] == {
        "sequences": [10, 50, 100, 500, 1000],
        "f1": [0.23, 0.59, 0.69, 0.93, 1.0],
    }


# ------------------------------------------------------------------ sections


def test_a_section_as_markdown_and_for_programs():
    section = Section("T", "about", ["a", "b"], [["1", "x|y"]], ["note"])
    assert section.to_markdown() == "## T\n\nabout\n\n| a | b |\n|---|---|\n| 1 | x\\|y |\n\n- note\n"
    assert section.to_dict()["rows"] == [{"a": "1", "b": "x|y"}]


def test_half_of_the_noisy_events_mean_nothing():
    events = noisy_dynamics(30).simulate(1000, 25, 0)
    noise = [x.startswith("irrelevant") for x in events.labels]
    assert sum(noise) == 30
    assert events.label_counts[noise].sum() / events.n_events == pytest.approx(0.5, abs=0.02)
    assert sm.BSuMM("A", lookback=3).fit(events).influencers_ == ("B", "C")
    assert [precision(found, "BC") for found in ((), "B", "BD", "D", "BC")] == [1, 1, 0.5, 0, 1]


def test_discovery_counts_its_sizes(folder):
    found = [f1(found, "BC") for found in ("", "B", "AD", "BC", "BCDE")]
    assert found == pytest.approx([0, 2 / 3, 0, 1, 2 / 3], rel=1e-12)
    steps = []
    section = discovery(seeds=3, on_done=lambda: steps.append(1))
    assert len(steps) == 2
    assert [row[:2] for row in section.rows] == [["5", "0.10"], ["10", "0.20"]]
    for row in section.rows:
        mean, theirs, difference = float(row[2].split()[0]), float(row[1]), float(row[3])
        assert difference == pytest.approx(mean - theirs, abs=0.001)


def test_the_planted_corpus_has_the_published_size_and_an_or():
    events = planted().simulate(15, 4, 0)
    assert (len(events), events.n_events, len(planted().labels)) == (15, 60, 12)
    theirs, ours = bombing()
    assert [row[0] for row in theirs.rows] == ["denouncement", "purchase", "sentencing"]
    assert "never published" in theirs.about
    assert ours.rows[1][:2] == ["300", "failure-bomb, investigation"]


def test_documents_are_joined_by_date(folder):
    data = read_fomc(folder)
    assert data.events.to_lists() == [list("abababab" + "bcbcbcbc" + "cacacaca")]
    binary, ordinal = fomc(data)
    graph = sm.InfluenceGraph(sm.BSuMM(alpha=0.1, lookback=2, gamma=0.3, false_edges=None)).fit(data.events)
    for x, row in zip("abc", binary.rows, strict=True):
        assert row[2] == ", ".join(graph.influencers_[x])
    assert "; ".join(row[1] for row in ordinal.rows) == "a, c; ; "
    equal = sum(row[3] == "yes" for row in binary.rows)
    assert binary.notes[0].startswith(f"{equal} of 3 sets are equal; of 1 published edges ")


def test_graphs_are_told_by_what_the_order_test_says(folder):
    section = under_order(folder, read_fomc(folder), seeds=(0, 1))
    assert len(section.rows) == len(published()["names"]) + 2
    for row in section.rows:
        edges, _, depends_on_order, company, unclear, shuffled, passed = map(int, row[1:])
        assert depends_on_order + company + unclear == edges
        assert 0 <= passed <= shuffled
    events = read_fomc(folder).events
    other = shuffled_inside(events, 1)
    assert other.to_lists() != events.to_lists()
    assert [sorted(some) for some in other.to_lists()] == [sorted(some) for some in events.to_lists()]


# ------------------------------------------------------------------ tables


def test_a_table_stands_beside_the_published_figures(folder):
    contender = REGRESSIONS[0]
    section = Tables(folder).table(
        "T", "about", [("lr-3", lambda data: contender), ("x", lambda data: contender)]
    )
    split = read_split(folder, "linkedin")
    ours = tune(contender, split, targets_of("linkedin", split)).log_likelihood
    assert section.headings == ["data set", "model", "published", "ours", "difference", "relative", "seconds"]
    assert section.rows[2][:6] == [
        "LinkedIn",
        "3-LR presence",
        "-92.23",
        f"{ours:.2f}",
        f"{ours + 92.23:+.2f}",
        f"{(ours + 92.23) / 92.23:+.2%}",
    ]
    assert [row[0] for row in section.rows] == ["Beige Books"] * 2 + ["LinkedIn"] * 2
    assert section.rows[3][2:6] == ["", f"{ours:.2f}", "", ""]
    assert targets_of("linkedin", split) == split.train.labels
    assert len(targets_of("timelines", split)) == 15


@pytest.mark.parametrize("missing", ["beigebooks.dev.jsonl", "fomc.jsonl", "fomc.published.json"])
def test_a_missing_or_damaged_file_is_told_before_any_work(folder, monkeypatch, missing):
    text = (folder / missing).read_text()
    (folder / missing).unlink()
    monkeypatch.setattr(run, "tune", None)
    monkeypatch.setattr(report, "discovery", None)
    with pytest.raises(
        DataError, match=f"{re.escape(str(folder / missing))} is missing; the folder must hold "
    ):
        reproduce(folder)
    (folder / missing).write_text(text)
    (folder / "fomc.published.json").write_text('{"settings": {}}')
    with pytest.raises(
        DataError, match=r"fomc\.published\.json does not hold settings and influencers as JSON"
    ):
        reproduce(folder)


# ------------------------------------------------------------------ all of it


def test_all_of_it_as_markdown_as_json_and_printed(folder, monkeypatch):
    told = []
    result = reproduce(folder, progress=lambda done, total: told.append((done, total)))
    assert told == [(n, PIECES) for n in range(1, PIECES + 1)]
    assert [section.title for section in result.sections] == [
        "Influencing-set discovery",
        "Prediction: summary Markov models",
        "Prediction: Markov chains",
        "Prediction: logistic regression",
        "Prediction: other members of the family",
        "FOMC statements, BSuMM",
        "FOMC statements, OSuMM",
        "The graphs under the order test",
        "Bombing reports (as published)",
        "Bombing reports (planted in their place)",
        "Many irrelevant labels",
    ]
    assert [len(section.rows) for section in result.sections] == [2, 4, 10, 4, 2, 3, 3, 4, 3, 2, 10]
    ours = [float(row[3]) for section in result.sections[1:5] for row in section.rows]
    assert all(math.isfinite(figure) and figure < 0 for figure in ours)
    (row,) = (row for row in result.sections[1].rows if row[:2] == ["LinkedIn", "bsumm"])
    assert row[2] == "-114.52"
    assert float(row[4]) == pytest.approx(float(row[3]) + 114.52, abs=0.011)
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["paper"] == published()["paper"]
    assert document["sections"][1]["rows"][0]["model"] == "bsumm"

    monkeypatch.setattr(report, "reproduce", lambda *_, **__: result)
    printed = command(".", "-o", "report.md").stdout
    assert printed.endswith("\nSaved report.md\n")
    assert {section.title for section in result.sections} <= {*printed.splitlines()}
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= 80
    text = Path("report.md").read_text()
    assert text.startswith("# Reproduction\n\n" + published()["paper"])
    assert text.count("\n## ") == 11
    assert json.loads(command(".", "--json", "-o", "report.json").stdout) == document
    assert json.loads(Path("report.json").read_text()) == document


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "missing argument 'DIR'"),
        ("nowhere", "nowhere is no folder"),
        ("empty", "empty/fomc.jsonl is missing; the folder must hold the FOMC topics"),
        (". -o no/such.md", "cannot write no/such.md: there is no folder no"),
        (". -o report.html", "cannot tell the format of report.html; let its name end in .json or .md"),
    ],
)
def test_what_is_wrong_is_one_sentence(folder, arguments, words):
    Path("empty").mkdir()
    result = command(*arguments.split(), code=2)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr
    assert result.stdout == ""
