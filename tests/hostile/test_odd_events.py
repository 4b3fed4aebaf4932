"""Odd but valid events through every command: a result, or one sentence that says why there is none."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from summarkov.cli.main import app
from summarkov.simulate.example import web_shop

FILES = {
    "one event": [["a"]],
    "one label": [["a", "a", "a"], ["a"]],
    "none longer than one": [["a"], ["b"], ["a"]],
    "empty among others": [[], ["a", "b"], [], ["b", "a", "a"], []],
    "only empty": [[], []],
    "one sequence": [list("abcacbabbcab") * 20],
    "all alike": [["a", "b", "c", "d"]] * 30,
    "more labels than events of each": [[f"l{(7 * i + j * j) % 20}" for j in range(9)] for i in range(12)],
    "blanks": [["", " ", "\t", ""], [" ", ""]],
    "awkward": [["\x1b[31m", "</script>", "{0}", "a\nb", "é", "e\u0301", "A" * 300], ["{0}", "é"]],
    "others": [["x", "y", "x"], ["y"]],
    "some others": [["purchase", "x", "browse"], ["browse", "purchase", "search", "browse"]],
    "usual": web_shop().simulate(40, 12, random_state=1).to_lists(),
}
FAMILIES = ("bsumm", "osumm", "csumm", "chain", "vom", "tree")
#: The order test is tried once; options that have nothing to do with each other are tried together.
LEARN = [
    ["--gamma", "0", "--order-test"],
    *(["--model", name, "--no-order-test"] for name in FAMILIES),
    ["--cut-off", "--collapse", "--no-order-test"],
    ["--min-count", "2", "--confidence", "3", "--no-order-test"],
    ["--joint", "--alpha", "1e-12"],
    ["--lookback", "auto", "--set", "criterion=marginal", "--no-order-test"],
    ["--search", "exact", "--max-influencers", "1", "--engine", "stream", "--no-order-test"],
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, sequences in FILES.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(sequence) + "\n" for sequence in sequences))
    return tmp_path


def told(*arguments):
    """Run a command: it succeeds, or says one sentence that was meant."""
    result = CliRunner().invoke(app, list(arguments))
    if result.exit_code:
        assert result.exit_code == 2, (arguments, result.output)
        assert result.stderr.startswith("Error: "), (arguments, result.stderr)
        assert result.stderr.count("\n") == 1, (arguments, result.stderr)
        assert "stumbled" not in result.stderr, (arguments, result.stderr)
        assert "no such option" not in result.stderr, (arguments, result.stderr)
    return result.exit_code == 0


@pytest.mark.parametrize("name", FILES)
def test_from_events(here, name):
    file = f"{name}.jsonl"
    assert told("describe", file)
    assert told("describe", file, "--json")
    for ending in ("csv", "xes", "spmf", "parquet", "jsonl"):
        told("convert", file, f"out.{ending}")
    for options in LEARN:
        told("learn", file, *options)
    told("sensitivity", file)
    told("compare", file, "-m", "chain-1", "-m", "bsumm")
    for other in ("others", "none longer than one"):
        told("groups", file, f"{other}.jsonl")


GRAPH = ["-t", "purchase", "-t", "search"]
MODELS = {name: [*GRAPH, "--model", name] for name in ("osumm", "tree")}
MODELS |= {"all labels": [], "one target": ["-t", "purchase"]}


@pytest.mark.parametrize("model", MODELS)
def test_with_a_model(here, model):
    assert told("learn", "usual.jsonl", *MODELS[model], "-o", "m.json")
    for ending in ("svg", "dot", "mmd", "graphml", "csv"):
        told("export", "m.json", f"out.{ending}")
    for extra in ([], ["--json"]):
        assert told("show", "m.json", *extra)
        assert told("predict", "m.json", "-a", "zebra", "--unknown", "ignore", *extra)
    for name in ("one label", "empty among others", "only empty", "awkward", "others", "some others"):
        file = f"{name}.jsonl"
        told("report", "m.json", "--events", file, "-o", "out.html")
        told("confidence", "m.json", file, "-n", "2")
        for unknown, engine in (("error", "memory"), ("ignore", "stream")):
            how = ("--unknown", unknown, "--engine", engine)
            told("evaluate", "m.json", file, *how)
            told("predict", "m.json", file, "-o", "out.csv", *how)
