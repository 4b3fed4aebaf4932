"""What people see: 80 columns, no colours where there is no terminal, labels of any kind as text."""

import io
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from paper.loans import loan_process
from rich.cells import cell_len
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.learned import learned
from summarkov.cli.main import app
from summarkov.cli.page import Page, shorten
from summarkov.wording import visible

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

Run = Callable[..., str]
SEED = 11

LABELS = (
    "[bold]x[/]",
    "[/nothing to close]",
    "esc \x1b[31mred\x07",
    "tab\tand\nnew line",
    "C1 \x9b31m",
    "right to left \u202eabc",
    "👩‍⚕️ nurse",
    "日本語のとても長いラベル" * 6,
    "L" * 200,
    "a label of many short words " * 7,
    ":smile:",
    "comma, quote \" ' and \\",
    "",
    " ",
    "OTHER",
)
MODELS = ("graph", "some", "one", "joint", "all", "ordinal", "count", "chain", "chains", "nothing")


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Events with strange labels and ids, each label mostly followed by the next; models of all kinds."""
    folder = tmp_path_factory.mktemp("strange")
    draw = random.Random(SEED)
    lines = []
    for k in range(150):
        codes = [draw.randrange(len(LABELS))]
        for _ in range(12):
            follows = (codes[-1] + 1) % len(LABELS)
            codes.append(follows if draw.random() < 0.6 else draw.randrange(len(LABELS)))
        lines.append(json.dumps({"id": f"id \x1b[1m{k}" * 3, "events": [LABELS[c] for c in codes]}))
    (folder / "events.jsonl").write_text("\n".join(lines))
    events = sm.read_events(folder / "events.jsonl")
    a, b, c = LABELS[2], LABELS[7], LABELS[8]
    sm.InfluenceGraph(sm.BSuMM(lookback=2)).fit(events).save(folder / "graph.json")
    sm.InfluenceGraph(sm.BSuMM(lookback=2), targets=[a, b, c, ""]).fit(events).save(folder / "some.json")
    sm.BSuMM(b, lookback=2, required=LABELS[7:10]).fit(events).save(folder / "one.json")
    sm.BSuMM((a, b), lookback=2).fit(events).save(folder / "joint.json")
    sm.BSuMM(LABELS, lookback=1).fit(events).save(folder / "all.json")
    sm.OSuMM(c, lookback=3, required=LABELS[6:9]).fit(events).save(folder / "ordinal.json")
    sm.CSuMM(a, lookback=4, required=LABELS[:2]).fit(events).save(folder / "count.json")
    sm.MarkovChain(b, order=2).fit(events).save(folder / "chain.json")
    sm.InfluenceGraph(sm.MarkovChain()).fit(events).save(folder / "chains.json")
    sm.BSuMM(a, candidates=()).fit(events).save(folder / "nothing.json")
    return folder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, columns: int = 80) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert (result.exit_code, result.stderr) == (0, "")
        check(result.stdout, columns)
        return result.stdout

    return run


def check(output: str, columns: int) -> None:
    assert output.strip()
    for line in output.split("\n"):
        assert cell_len(line) <= columns, line
        assert visible(line) == line


@pytest.mark.parametrize("columns", [60, 200])
@pytest.mark.parametrize("name", MODELS)
def test_show_fits(run: Run, strange: Path, name: str, columns: int) -> None:
    output = run("show", strange / f"{name}.json", columns=columns)
    model = sm.load(strange / f"{name}.json")
    n = (
        next(iter(model.models_.values())).fitted.n_events
        if hasattr(model, "models_")
        else model.fitted.n_events
    )
    assert f"{n:,.0f} events" in " ".join(output.split())


@pytest.mark.parametrize("name", ["graph", "joint", "ordinal", "chains"])
def test_predict_and_evaluate_fit(run: Run, strange: Path, name: str) -> None:
    assert "more; -o FILE saves all" in run("predict", strange / f"{name}.json", strange / "events.jsonl")
    assert "150 sequences" in run("evaluate", strange / f"{name}.json", strange / "events.jsonl")
    history = [word for label in LABELS for word in ("-a", label)]
    assert run("predict", strange / f"{name}.json", *history).startswith("History: ...")
    assert run("predict", strange / f"{name}.json", "-a", "[bold]x[/]").startswith("History: [bold]x[/]\n")


def test_learn_and_describe_fit(run: Run, strange: Path) -> None:
    assert "15 labels" in run("describe", strange / "events.jsonl")
    assert "Saved the model as m.json" in run("learn", strange / "events.jsonl", "-k", "2", "-o", "m.json")
    one = run("learn", strange / "events.jsonl", "-t", LABELS[9], "-k", "2")
    assert one.startswith("a label of many short words a l")


def test_labels_are_text_not_markup(run: Run, strange: Path) -> None:
    shown = {label: run("show", strange / "graph.json", "-t", label) for label in LABELS}
    assert all(text.startswith(shorten(label, 32)) for label, text in shown.items())
    output = " ".join(shown.values())
    for expected in (
        "[bold]x[/]",
        "[/nothing to close]",
        ":smile:",
        "esc \\x1b[31mred\\x07",
        "C1 \\x9b31m",
        '""',
    ):
        assert expected in output
    assert "LLLLLLL…" in output


@pytest.mark.parametrize("command", ["show", "evaluate", "predict"])
@pytest.mark.parametrize("name", ["graph", "all", "chain"])
def test_documents_hold_the_labels_as_they_are(strange: Path, command: str, name: str) -> None:
    files = [str(strange / f"{name}.json")] + ([] if command == "show" else [str(strange / "events.jsonl")])
    result = CliRunner().invoke(app, [command, *files, "--json"])
    assert result.stdout.isascii()
    document = json.loads(result.stdout)
    if command == "predict":
        assert [row["event"] for row in document["rows"][:13]] == sm.read_events(files[1]).to_lists()[0]
    elif command == "evaluate":
        assert {x for each in document["targets"] for x in each["target"]} <= set(LABELS)
        assert document["targets"][0]["log_loss"] > 0
    else:
        assert set(document["data"]["labels"]) == set(LABELS)


@pytest.mark.parametrize("command", ["", "learn", "predict", "demo"])
def test_help_fits(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    result = CliRunner().invoke(app, [*([command] if command else []), "--help"])
    assert result.exit_code == 0
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    assert f"Usage: summarkov {command}".strip() in plain
    assert max(cell_len(line) for line in plain.split("\n")) <= 80
    if command not in ("", "demo"):
        assert "--json" in plain


def test_a_terminal_without_block_characters(strange: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-m", "summarkov", "show", str(strange / "graph.json")],
        env=environment,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    assert b" -> " in done.stdout
    assert b" x" in done.stdout  # a factor
    assert done.stdout.isascii()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_progress_is_shown_on_a_terminal_only(strange: Path, tmp_path: Path) -> None:
    import pty

    command = [sys.executable, "-m", "summarkov", "learn", str(strange / "events.jsonl"), "--json"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    silent = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert silent.stderr == b""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        assert process.stdout is not None
        output = process.stdout.read()
        shown = read_all(ours)
    os.close(ours)
    assert output == silent.stdout
    assert "Learning" in shown
    assert "/15 labels" in re.sub(r"\x1b\[[0-9;]*m", "", shown)


def read_all(descriptor: int) -> str:
    """Everything written to a pseudo terminal whose other end is closed."""
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode()


@pytest.mark.parametrize("columns", [40, 72, 100])
def test_no_number_is_ever_cut(columns: int) -> None:
    """Names are shortened and columns left out, but what is counted is whole; lines fit."""
    events = loan_process(150, seed=1)
    events = events.map_labels({x: f"{x} of the very long department name" for x in events.labels})
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events, sample_weight=[1_234_567] * len(events))
    sure = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(events)
    sure.confidence(events, n=3)
    groups = sm.compare_groups(sm.BSuMM(lookback=5), events[:70], events[70:])
    for parts in (learned(graph), learned(sure), [groups.summary()]):
        said = io.StringIO()
        Page(file=said, width=columns).show(parts)
        assert not re.search(r"[\d.,%×]…|(Fact|Sur|Seq|inter|wit|Orde)\w?…", said.getvalue())
        assert max(map(cell_len, said.getvalue().splitlines())) <= columns


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("command", ["learn", "outcome", "groups", "confidence", "show"])
def test_help_has_everyday_options_or_all(command: str, every: bool) -> None:
    words = ["--model", "csumm", "--help-all"] if every else ["--help"]
    shown = CliRunner().invoke(app, [command, *words], env={"COLUMNS": "80"}).stdout
    if every or command == "show":
        assert "more option" not in shown
        assert " cap=2." in shown or command not in ("learn", "outcome")
    else:
        assert len(shown.splitlines()) <= 40
        assert f"summarkov {command} --help-all" in shown


def test_options_of_one_model_are_shown_with_it() -> None:
    shown = [CliRunner().invoke(app, ["learn", "-m", kind, "--help"]).stdout for kind in ("joint", "chain")]
    assert ["--gamma" in each for each in shown] == [True, False]
    assert ["order=1" in each for each in shown] == [False, True]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A process log with names of 60 letters, of which only some at the start or in the middle differ."""
    events = loan_process(300, seed=1)
    events = events.map_labels({x: f"Application: {x}, at the regional headquarters" for x in events.labels})
    path = tmp_path_factory.mktemp("log") / "log.csv"
    lists = zip(events.ids, events.to_lists(), strict=True)
    rows = [f'{case},"{x}",{"ns"[int(case) % 2]}' for case, each in lists for x in each]
    path.write_text("\n".join(["case,event,region", *rows]) + "\n")
    return path


def test_first_screens_have_24_lines_and_full_names(run: Run, log: Path) -> None:
    run("learn", log, "--in-order", "-o", "m.json")
    offer = "Application: offer, at the regional headquarters"
    for words in (
        ["learn", log, "--in-order"],
        ["learn", log, "--in-order", "--by", "ratio", "--confidence", "3"],
        ["show", "m.json"],
        ["show", "m.json", "-t", offer],
        ["outcome", log, "--in-order", "--column", "region=n"],
        ["outcome", log, "--in-order", "--ends-with", "Application: decline, at the regional headquarters"],
        ["groups", log, "--in-order", "--by", "region"],
        ["confidence", "m.json", log, "--in-order", "-n", "3"],
    ):
        shown = run(*words)
        assert len(shown.splitlines()) <= 24, shown
        assert "rows 0" not in shown
    assert f"→ {offer}" in " ".join(run("learn", log, "--in-order", columns=160).split())


@pytest.mark.parametrize("n_labels", [10, 1000])
def test_nothing_found_is_said_with_what_came_nearest(run: Run, tmp_path: Path, n_labels: int) -> None:
    draw = random.Random(1)
    lines = [" ".join(f"L{draw.randrange(n_labels)}" for _ in range(20)) for _ in range(200)]
    (tmp_path / "noise.txt").write_text("\n".join(lines))
    shown = run("learn", tmp_path / "noise.txt")
    assert shown.startswith("No event type was found to influence another.")
    assert "More cases, or another look-back window" in shown
    assert len(re.findall(r"Nearest: L\d+ → .*: its score is [\d.]+ too low", shown)) == 3
    assert "explains the data clearly better" not in shown
    assert len(shown.splitlines()) <= 24


def test_another_look_back_is_named_where_it_explains_clearly_more(run: Run, tmp_path: Path) -> None:
    draw, cases = random.Random(3), []
    for _ in range(200):
        case: list[str] = []
        for _ in range(40):
            a, b = 1 + 6 * ("z" in case[-15:]), 1
            case += draw.choices(["x", "z", *"abcdef"], [a, b, *[2] * 6])
        cases.append(" ".join(case))
    (tmp_path / "log.txt").write_text("\n".join(cases))
    shown = " ".join(run("learn", tmp_path / "log.txt", "--cut-off").split())
    assert re.search(
        r"A look-back of 20 explains the data clearly better \(score \+\d+\): --lookback 20,", shown
    )
    assert "clearly better" not in run("learn", tmp_path / "log.txt", "--cut-off", "-k", "5")
    document = json.loads(CliRunner().invoke(app, ["learn", str(tmp_path / "log.txt"), "--json"]).stdout)
    assert list(document["other_lookbacks"]) == ["1", "2", "10", "20"]
