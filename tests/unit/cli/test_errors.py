"""Whatever goes wrong is one sentence on stderr and exit code 2, and nothing is written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from typer.testing import CliRunner, Result

import summarkov as sm
from summarkov.cli.errors import sentence
from summarkov.cli.main import app
from summarkov.errors import DataError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

Fail = Callable[..., str]

UNKNOWN = "unknown label 'Z'; the labels are 'A', 'B', 'C'; --unknown ignore lets such labels pass"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with events, a graph, a graph over some labels, a model, and files that are none."""
    monkeypatch.chdir(tmp_path)
    events = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10
    Path("events.jsonl").write_text("\n".join(json.dumps(e) for e in events))
    Path("other.jsonl").write_text('["A", "Z"]\n')
    Path("none.jsonl").write_text('["Y", "Z"]\n')
    Path("empty.jsonl").write_text("[]\n")
    Path("log.csv").write_text("who,what\nx,A\n")
    Path("broken.json").write_text('{"format": "summarkov", "version"')
    Path("dynamics.json").write_text(json.dumps(sm.Dynamics({"A": 0.5, "B": 0.5}).to_dict()))
    Path("wrong.json").write_text('{"kind": "dynamics", "version": 1, "lookback": null, "rules": {"A": []}}')
    sm.InfluenceGraph(sm.BSuMM()).fit(events).save("graph.json")
    sm.InfluenceGraph(sm.BSuMM(), targets=["A", "B"]).fit(events).save("some.json")
    sm.BSuMM("B").fit(events).save("one.json")
    sm.BSuMM(("A", "B")).fit(events).save("joint.json")
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def fail(folder: Path) -> Fail:
    """Run a command that fails, and return its sentence."""

    def run(*arguments: str) -> str:
        before = {path: path.read_bytes() for path in folder.iterdir()}
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert {path: path.read_bytes() for path in folder.iterdir()} == before
        assert result.stderr.startswith("Error: ")
        assert result.stderr.endswith("\n")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.stderr
        return result.stderr.removeprefix("Error: ").rstrip("\n")

    return run


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        # the command line itself
        ("sho graph.json", "no such command 'sho'; did you mean 'show'? See"),
        ("learn", "missing argument 'FILE'; see"),
        ("learn events.jsonl --alpah 1", "no such option: --alpah"),
        (
            "outcome events.jsonl --ends-with A --ends-with B",
            "--ends-with is given twice, and takes one value",
        ),
        ("learn events.jsonl --alpha much", "invalid value for '--alpha'"),
        ("show graph.json --rows -1", "invalid value for '--rows'"),
        # files that are not there, or not what they should be
        ("learn nothing.csv", "there is no file nothing.csv; check the path"),
        (
            "describe events.xyz",
            "the format of events.xyz cannot be told from its name; pass --format as one of",
        ),
        ("describe events.jsonl --format xml", "unknown format 'xml'; use one of 'csv', 'tsv', 'parquet'"),
        (
            "describe log.csv",
            "no column of log.csv is recognised as the event; name it with --event; the columns are",
        ),
        ("learn empty.jsonl", "there are no events to learn from"),
        ("show nothing.json", "nothing.json: there is no such file"),
        ("show events.jsonl", "events.jsonl: more than one JSON value; this is no model"),
        ("show broken.json", "broken.json: not valid JSON at line 1, column 34"),
        ("show dynamics.json", "dynamics.json: not a summarkov model"),
        ("simulate wrong.json", "wrong.json: dynamics need 'lookback' and 'rules'"),
        ("evaluate graph.json empty.jsonl", "there are no events to evaluate the model on"),
        # labels
        ("learn events.jsonl -t a", "unknown label 'a'; the labels are 'A', 'B', 'C'"),
        ("show one.json --target A", "unknown label 'A'; the labels are 'B'"),
        ("predict graph.json other.jsonl -o out.csv", UNKNOWN),
        ("evaluate graph.json other.jsonl", UNKNOWN),
        *(
            (
                f"evaluate {model} none.jsonl --unknown ignore --engine {engine}",
                "no event has a label that the model knows",
            )
            for model, engine in (("graph.json", "memory"), ("joint.json", "stream"))
        ),
        ("predict graph.json -a Z", "unknown label 'Z'"),
        # settings
        (
            "learn events.jsonl --model bsum",
            "--model must be one of bsumm, chain, csumm, joint, osumm, tree, vom, not 'bsum'",
        ),
        ("learn events.jsonl --lookback 0", "lookback must be a whole number from 1 on"),
        ("learn events.jsonl --set delay=5", "delay 5 must be less than lookback 5"),
        ("learn events.jsonl --set mask=first", "mask is not a setting of --model bsumm"),
        (
            "learn events.jsonl --false-edges few",
            "--false-edges must be a number above 0, not 'few'",
        ),
        (
            "learn events.jsonl --search gredy",
            "search must be one of greedy, sweep, exact, not 'gredy'; did you mean",
        ),
        ("learn events.jsonl --required A --forbidden A", "'A' is both required and forbidden"),
        ("learn events.jsonl --jobs 0", "--jobs must be a number of threads"),
        ("export joint.json -o g.dot", ".dot holds a graph, or a model of one label; this one is of several"),
        ("predict graph.json", "name a FILE of events, or a history with --after LABEL, and not both"),
        ("predict graph.json -a A -o out.csv", "--after prints its result; leave out --output"),
        *(
            (f"{command} --unknown drop", "--unknown drop is not known; use 'error' or 'ignore'")
            for command in (
                "predict graph.json events.jsonl --engine stream -o out.csv",
                "predict graph.json -a A",
                "evaluate graph.json events.jsonl",
            )
        ),
        ("simulate one.json", "one.json is no graph or joint model of all labels"),
        ("simulate dynamics.json -n -1", "invalid value for '--sequences'"),
        # places to write to
        (
            "learn events.jsonl -o no/model.json",
            "cannot write no/model.json: there is no folder no; make it first",
        ),
        ("learn events.jsonl -o .", "cannot write .: it is a folder; name a file in it"),
        (
            "predict graph.json events.jsonl -o out.xls",
            "cannot tell the format of out.xls; let its name end in .csv,",
        ),
        (
            "simulate dynamics.json -o out.txt",
            "events are not written as text, SPMF or XES, which cannot hold all of them; use one of .csv",
        ),
        ("simulate dynamics.json -o no/out.csv", "cannot write no/out.csv: there is no folder no"),
        ("demo --output graph.json", "cannot make the folder graph.json: "),
    ],
)
def test_one_sentence(fail: Fail, command: str, expected: str) -> None:
    assert expected in fail(*command.split())


def test_an_error_leaves_the_previous_output_whole(fail: Fail) -> None:
    Path("out.csv").write_text("what was there before")
    assert "unknown label 'Z'" in fail("predict", "graph.json", "other.jsonl", "-o", "out.csv")
    Path("model.json").write_text("what was there before")
    assert "no events" in fail("learn", "empty.jsonl", "-o", "model.json")
    assert Path("out.csv").read_text() == Path("model.json").read_text() == "what was there before"


def test_a_failure_while_writing_leaves_no_litter(fail: Fail, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_some(parts: object, to: IO[bytes], format: str, *, safe_csv: bool) -> None:
        to.write(b"half a row")
        raise OSError(28, "No space left on device", to.name)

    Path("out.csv").write_text("what was there before")
    monkeypatch.setattr("summarkov.read.write.write_table", write_some)
    said = fail("predict", "graph.json", "events.jsonl", "-o", "out.csv")
    assert said.startswith("out.csv: cannot be written, the disk /")
    assert said.endswith(" MB free); make room there, or write elsewhere")


def test_a_label_that_no_file_can_hold(fail: Fail) -> None:
    Path("half.jsonl").write_text('["A", "\\ud800"]\n["A", "\\ud800"]\n')
    assert "half of a character; mend the data" in fail("learn", "half.jsonl")


def test_messages_cannot_steer_the_terminal(fail: Fail) -> None:
    assert fail("show", "no\x1b[31mred\x07.json") == "no\\x1b[31mred\\x07.json: there is no such file"
    assert "[bold]A[/]" in fail("learn", "events.jsonl", "-t", "[bold]A[/]")
    long = fail("learn", "events.jsonl", "-t", "x" * 100_000)
    assert len(long) < 1100
    assert long.startswith("unknown label 'xxx")


@pytest.mark.parametrize("problem", [KeyboardInterrupt, EOFError])
def test_interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch, problem: type[BaseException]) -> None:
    def stop(*_: object, **__: object) -> None:
        raise problem

    Path("model.json").write_text("what was there before")
    monkeypatch.setattr("summarkov.models.graph.learn", stop)
    result = invoke("learn", "events.jsonl", "-o", "model.json")
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr.strip() == "Error: interrupted"
    assert Path("model.json").read_text() == "what was there before"


def test_a_mistake_of_ours_is_a_sentence_too(fail: Fail, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("summarkov.cli.events._description", stumble)
    said = fail("describe", "events.jsonl")
    assert "did not expect (KeyError: 'surprise')" in said
    monkeypatch.setenv("SUMMARKOV_TRACEBACK", "1")
    assert isinstance(invoke("describe", "events.jsonl").exception, KeyError)


def test_sentences() -> None:
    assert sentence(FileNotFoundError(2, "No such file or directory", "x")) == "x: no such file or directory"
    assert "not enough memory" in sentence(MemoryError())
    assert sentence(DataError("say which with case=, in a file x_case=1")) == (
        "say which with --case, in a file x_case=1"
    )
