"""Whatever goes wrong is one sentence on stderr and exit code 2, and nothing is written."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

import summarkov as sm
from commands import run
from summarkov.cli.errors import sentence
from summarkov.errors import DataError

#: Numbers as the paper counts them.
pytestmark = pytest.mark.cut_off

Fail = Callable[..., str]

UNKNOWN = "unknown label 'Z'; the labels are 'A', 'B', 'C'; --unknown ignore lets such labels pass"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with events, models of every kind, and files that are none."""
    folder = tmp_path_factory.mktemp("files")
    events = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10
    ways = {"ask wait": "declined", "ask check": "paid", "wait": "declined", "check ask": "paid"}
    rows = [(way, at, event) for way in ways for at, event in enumerate(way.split())]
    cases = [f"{way}{k},{event},{at},{ways[way]}\n" for k in range(20) for way, at, event in rows]
    texts = {
        "events.jsonl": "\n".join(json.dumps(e) for e in events),
        "other.jsonl": '["A", "Z"]\n',
        "none.jsonl": '["Y", "Z"]\n',
        "empty.jsonl": "[]\n",
        "half.jsonl": '["A", "\\ud800"]\n',
        "a.txt": "A B\n",
        "log.csv": "who,what\nx,A\n",
        "cases.csv": "case,event,time,result\n" + "".join(cases),
        "broken.json": '{"format": "summarkov", "version"',
        "dynamics.json": json.dumps(sm.Dynamics({"A": 0.5, "B": 0.5}).to_dict()),
        "wrong.json": '{"kind": "dynamics", "version": 1, "lookback": null, "rules": {"A": []}}',
        "map-list.json": '["a"]',
        "map-twice.json": '{"a": "b", "a": "c"}',
        "map-broken.json": '{"a": ',
        "map-other.json": '{"a": "b"}',
        "map-rare.json": '{"A": "(rare)"}',
        "none/readme": "",
        "mixed/a.csv": "",
        "mixed/b.parquet": "",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    sm.InfluenceGraph(sm.BSuMM()).fit(events).save(folder / "graph.json")
    sm.InfluenceGraph(sm.BSuMM(), targets=["A", "B"]).fit(events).save(folder / "some.json")
    sm.BSuMM("B").fit(events).save(folder / "one.json")
    sm.BSuMM(("A", "B")).fit(events).save(folder / "joint.json")
    sm.JointSuMM(penalty=10.0).fit(events).save(folder / "all.json")
    return folder


@pytest.fixture
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, to be changed."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fail(folder: Path) -> Fail:
    """Run a command that fails, and return its sentence."""

    def contents() -> dict[Path, bytes | None]:
        return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}

    def fail(*arguments: str) -> str:
        before = contents()
        result = run(*arguments, code=2)
        assert result.stdout == ""
        assert contents() == before
        assert result.stderr.startswith("Error: ")
        assert result.stderr.endswith("\n")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.stderr
        return result.stderr.removeprefix("Error: ").rstrip("\n")

    return fail


#: What asks for options of each other, beginning with the command and its events.
LEARN, CASES, CONVERT = "learn events.jsonl", "outcome cases.csv", "convert events.jsonl out.csv"


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
        ("describe events.jsonl --rows -1", "invalid value for '--rows'"),
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
        (
            "show events.jsonl",
            "not valid JSON at line 2, column 1 (Extra data); was the file",
        ),
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
        ("learn events.jsonl --lookback 0", "--lookback must be a whole number from 1 on, none, or"),
        ("learn events.jsonl --set delay=5", "delay 5 must be less than lookback 5"),
        ("learn events.jsonl --set mask=first", "mask is not a setting of --model bsumm"),
        (
            "learn events.jsonl --false-edges few",
            "--false-edges must be a number above 0, not 'few'",
        ),
        (
            "learn events.jsonl --search gredy",
            "--search must be one of greedy, sweep, exact, not 'gredy'; did you mean",
        ),
        ("learn events.jsonl --required A --forbidden A", "'A' is both required and forbidden"),
        ("learn events.jsonl --jobs 0", "--jobs must be a number of threads"),
        ("export joint.json -o g.dot", ".dot holds a graph; a model of its own has a figure, or a table"),
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
        # options that do not go together
        (f"{LEARN} -t B --order-test", "--order-test is about the edges of a graph"),
        (f"{LEARN} -t B --within 9", "--within is about the edges of a graph"),
        (f"{LEARN} --no-order-test --within 9", "leave out --no-order-test"),
        (
            f"{LEARN} --within month",
            "--within must be a number of positions or a time such as 7d, not 'month'",
        ),
        (f"{LEARN} -m joint --set cap=3", "cap is not a setting of --model joint"),
        (f"{LEARN} -m joint --confidence 9", "--confidence is not for --model"),
        # joint models
        ("groups events.jsonl events.jsonl -m joint", "--model must be one of bsumm, osumm"),
        ("confidence all.json events.jsonl", "holds a joint model, which this command does"),
        ("show all.json -t no", "unknown label 'no'"),
        pytest.param(
            "export all.json -o x.svg -t A",
            "drawn and written as a whole",
            marks=pytest.mark.needs("matplotlib"),
        ),
        # comparisons
        ("compare events.jsonl other.jsonl", "give one file to have it split, or three: train, dev and test"),
        ("compare a.txt a.txt a.txt --splits 2", "train, dev and test are already split"),
        ("compare events.jsonl -m bsum", "there is no model 'bsum'; did you mean 'bsumm'?"),
        ("compare events.jsonl -m vom -m vom", "two contenders have the same name, 'vom'"),
        ("compare events.jsonl -o out.csv", "cannot tell the format of out.csv; let its name end in .json"),
        # outcomes
        (CASES, "say what the outcome is: one of --column COLUMN=VALUE, --contains LABEL"),
        (f"{CASES} --contains ask --ends-with ask", "--contains LABEL or --ends-with LABEL"),
        (f"{CASES} --column result=", "--column must be COLUMN=VALUE, not 'result='"),
        (f"{CASES} --column result=x", "no sequence has result=x"),
        (f"{CASES} --ends-with check --after soon", "--after must be a number of positions, or a time"),
        (f"{CASES} --contains ask --after 1 --model joint", "--model must be one of bsumm, osumm"),
        (
            f"{CASES} --contains check --after 50",
            "no case is left to learn from: 40 cases ended before event 50 and 40 cases reached it within 50",
        ),
        # cases
        (
            "predict graph.json events.jsonl --why 100",
            "there is no case '100', and --why names one of the file; did you mean '10",
        ),
        ("predict graph.json events.jsonl --why 1 -o x.csv", "--why prints its result; leave out --output"),
        # events that are prepared
        (f"{CONVERT} --min-count -1", "--min-count must be a whole number from 0 on, not -1"),
        (
            f"{CONVERT} --session-gap 5",
            "leave out --lifecycle, --session-gap and --drop-duplicates, and name a key of times",
        ),
        (f"{CONVERT} --map no.json", "there is no file no.json; check the path"),
        (f"{CONVERT} --map map-list.json", 'list.json: expected an object of texts, {"old": "new", ...}'),
        (f"{CONVERT} --map map-twice.json", "twice.json: 'a' stands there twice; keep one"),
        (f"{CONVERT} --map map-broken.json", "broken.json is not JSON ("),
        (
            f"{CONVERT} --map map-other.json",
            "none of the labels in the mapping is in the data, not even 'a'; check how",
        ),
        (
            f"{CONVERT} --map map-rare.json --min-count 2",
            "there is a label '(rare)' already; rename it first, or choose another one with --map",
        ),
        ("convert events.jsonl out.dat", "cannot tell the format of out.dat; let its name end in one of"),
        ("learn half.jsonl", "half.jsonl, line 1: holds '\\ud800', half of a character; mend the data"),
        # events that are streamed
        ("learn mixed --engine memory", "mixed is not one file; --engine stream reads folders"),
        ("learn mixed --engine fast", "--engine must be auto, memory or stream, not 'fast'"),
        ("learn mixed", "holds parquet and csv files; say which to read with --format"),
        ("learn none", "holds no parquet, csv or jsonl files"),
        ("learn a.txt --engine stream", "is of a format (text) that is read into memory only"),
        ("predict graph.json mixed", "save them with -o FILE"),
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
    assert said.startswith("out.csv: cannot be written (No space left on device); make room on its disk")


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
    result = run("learn", "events.jsonl", "-o", "model.json", code=130)
    assert result.stdout == ""
    assert result.stderr.strip() == "Error: interrupted"
    assert Path("model.json").read_text() == "what was there before"


def test_interrupted_with_a_model_learned(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        monkeypatch.setattr("summarkov.cli.errors.came", [2])
        raise KeyboardInterrupt

    monkeypatch.setattr("summarkov.models.graph.bootstrap", stop)
    result = run("learn", "events.jsonl", "--confidence", 10, "-o", "model.json", code=130)
    assert "Saved the model as model.json" in result.stdout
    assert result.stderr.strip() == "Error: interrupted"
    assert sm.load("model.json").confidence_ is None


def test_a_mistake_of_ours_is_a_sentence_too(fail: Fail, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("summarkov.events.describe.Description.of", stumble)
    said = fail("describe", "events.jsonl")
    assert "did not expect (KeyError: 'surprise')" in said
    monkeypatch.setenv("SUMMARKOV_TRACEBACK", "1")
    assert isinstance(run("describe", "events.jsonl", code=1).exception, KeyError)


def test_sentences() -> None:
    assert sentence(FileNotFoundError(2, "No such file or directory", "x")) == "x: no such file or directory"
    assert "not enough memory" in sentence(MemoryError())
    assert sentence(DataError("say which with case=, in a file x_case=1")) == (
        "say which with --case, in a file x_case=1"
    )
