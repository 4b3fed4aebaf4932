"""No code from data, and labels are text: in a terminal, in markup, in errors."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import summarkov as sm
from summarkov.cli.main import app

ROOT = Path(__file__).parents[2]

# ------------------------------------------------------------------------------- no code from data

#: Modules that run what they read, or that run other programs.
MODULES = {
    *("pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "subprocess", "pty"),
    *("ctypes", "code", "codeop", "runpy", "xmlrpc", "commands", "popen2"),
}
CALLS = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
METHODS = {"os.system", "os.popen", "os.execv", "os.spawnv", "np.load", "numpy.load", "torch.load", "pd.eval"}


def dotted(node):
    """A name such as ``os.path.join``, or nothing."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def complaints(source):
    """What in a module could run data, let it be a format, or hand it to a shell."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"imports {name}" for name in names if name.split(".")[0] in MODULES)
        if not isinstance(node, ast.Call):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
                yield "formats with %"
            continue
        if isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield f"calls {node.func.id}"
        plain = any(
            k.arg == "allow_pickle" and getattr(k.value, "value", True) is False for k in node.keywords
        )
        if dotted(node.func) in METHODS and not plain:
            yield f"calls {dotted(node.func)}"
        is_format = isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "format_map")
        if is_format and not isinstance(node.func.value, ast.Constant):
            yield "formats with what is not written in the code"
        for keyword in node.keywords:
            if keyword.arg in ("shell", "allow_pickle") and getattr(keyword.value, "value", True):
                yield f"asks for {keyword.arg}"


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_no_code_from_data():
    sources = Path(sm.__file__).parent.rglob("*.py")
    found = {path: list(complaints(path.read_text(encoding="utf-8"))) for path in sources}
    assert len(found) > 50
    assert {path: each for path, each in found.items() if each} == {}


def test_dependencies_have_lower_bounds():
    """And one upper bound: DuckDB changes its Python interface with its first number."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for requirement in [*wanted, *(each for extra in extras for each in extra)]:
        bounds = r"[A-Za-z0-9._-]+(\[\w+\])?>=[0-9.]+|summarkov\[[\w,]+\]|duckdb>=[0-9.]+,<3"
        assert re.fullmatch(bounds, requirement), requirement


# ------------------------------------------------------------------------------- labels are text

HOSTILE = [
    "[red]markup[/red]",
    "[link=http://x.example]here[/link]",
    "\x1b[31mcolour",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x.example\x1b\\link",
    "\x9b31mcolour in one byte",
    "{0.__class__}",
    "{label!r:>{width}}",
    "%s%n%d",
    "\u202eright to left",
    "\u2066isolated\u2069",
    "two\nlines",
    "carriage\rreturn",
    "back\x08\x08space",
    "bell\x07",
    "nul\x00",
    ":smile:",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt; ]]> -->",
    '"; rm -rf / #',
    "$(reboot) `reboot`",
    "=cmd|' /C calc'!A0",
]
#: What must never reach a terminal.
FORBIDDEN = re.compile(
    "\x1b\\]|\x1b\\[31mcolour|\x07|\x08|\x00|[\x80-\x9f]|[\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Events with such labels and names, and models of them."""
    folder = tmp_path_factory.mktemp("hostile")
    pairs = zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True)
    events = sm.read_events({f"{a} of": [a, b, a, b, a] * 3 for a, b in pairs})
    lines = [json.dumps({"id": name, "events": each}) for name, each in zip(events.ids, events, strict=True)]
    (folder / "e.jsonl").write_text("\n".join(lines) + "\n")
    sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events).save(folder / "graph.json")
    sm.TreeSuMM(HOSTILE[2], gamma=0.1).fit(events).save(folder / "tree.json")
    sm.MarkovChain(HOSTILE[3]).fit(events).save(folder / "chain.json")
    sm.CSuMM(HOSTILE[:3]).fit(events).save(folder / "joint.json")
    sm.BSuMM(HOSTILE[1], lookback=(1, 2)).fit(events).save(folder / "learned.json")
    (folder / "other.jsonl").write_text(json.dumps([HOSTILE[0], "\x1b[31mcolour?\x07"]) + "\n")
    (folder / "\x1b[31mcolour[red].jsonl").write_text("[1, {\n")
    return folder


COMMANDS = [
    ["describe", "e.jsonl"],
    ["learn", "e.jsonl"],
    ["convert", "e.jsonl", "\x1b[31mcolour.csv"],
    ["learn", "e.jsonl", "--model", "tree", "-t", HOSTILE[5]],
    ["show", "graph.json"],
    ["show", "tree.json"],
    ["show", "chain.json"],
    ["show", "joint.json"],
    ["show", "learned.json"],
    ["predict", "graph.json", "e.jsonl"],
    ["predict", "graph.json", "-a", HOSTILE[2], "-t", HOSTILE[3]],
    ["evaluate", "graph.json", "e.jsonl"],
    ["simulate", "graph.json", "-n", "20"],
    ["confidence", "graph.json", "e.jsonl", "-n", "3"],
    ["groups", "e.jsonl", "e.jsonl", "-t", HOSTILE[0]],
    ["compare", "e.jsonl", "-m", "chain-0", "-m", "chain-1"],
    ["sensitivity", "e.jsonl"],
]
#: Commands that fail, each with a hostile text in what they say.
FAILURES = [
    ["predict", "graph.json", "other.jsonl"],
    ["predict", "graph.json", "-a", "\x1b[31mcolour\x07"],
    ["learn", "e.jsonl", "-t", "\x1b]0;titles\x07"],
    ["learn", "\x1b[31mcolour[red].jsonl"],
    ["learn", "\x1b]0;no such file\x07.jsonl"],
    ["show", "\x1b[31mcolour[red].jsonl"],
    ["show", "graph.json", "-t", "[red]\x07"],
    ["learn", "e.jsonl", "--model", "\x1b[31mcolour"],
    ["learn", "e.jsonl", "--alpha", "\x1b[31mcolour"],
    ["\x1b[31mcolour"],
    ["learn", "e.jsonl", "--\x1b[31mcolour"],
    ["export", "graph.json", "-o", "\x1b[31mcolour.\x07"],
]


def name_of(command):
    return " ".join(command).encode("unicode_escape").decode()


@pytest.mark.parametrize("command", COMMANDS, ids=name_of)
def test_commands(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    for extra in ([], ["--json"]):
        ended = CliRunner().invoke(app, [*command, *extra])
        assert ended.exit_code == 0, ended.output
        for said in (ended.stdout, ended.stderr):
            assert not FORBIDDEN.search(said)
            assert "\x1b" not in said
        if extra:
            assert ended.stdout.isascii()
            json.loads(ended.stdout if command[0] != "simulate" else ended.stdout.strip())


@pytest.mark.parametrize("command", FAILURES, ids=name_of)
def test_failures(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    ended = CliRunner().invoke(app, command)
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert not FORBIDDEN.search(ended.stderr)
    assert "\x1b" not in ended.stderr
    assert ended.stderr.startswith("Error: ")
    assert ended.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_labels_are_shown_as_they_are_written(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said = CliRunner().invoke(app, ["show", str(folder / "graph.json"), "--all"]).stdout
    shown = (
        "[red]markup[/red]",
        "\\x1b[31mcolour",
        "\\x1b]0;title\\x07",
        "{0.__class__}",
        "%s%n%d",
        ":smile:",
    )
    for label in (*shown, "two\\nlines", "\\u202eright to left", "<script>alert(1)</script>"):
        assert label in said


TERMINAL = [
    *(COMMANDS[i] for i in (0, 4, 5, 13, 15)),  # tables, trees, bars
    *(FAILURES[i] for i in (0, 3)),
]

#: Runs commands one after the other, each on a terminal of its own, and prints what the terminal got.
ON_TERMINALS = """
import json, os, pty, sys
import summarkov.models, summarkov.read
from summarkov.cli.main import app
for command in json.loads(sys.argv[1]):
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        app(command)
    got = b""
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:
            break
        if not some:
            break
        got += some
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([code, got.decode("utf-8", "replace")]), flush=True)
"""


#: Styles, moves of the cursor, and hiding it: what the bars and tables themselves are made of.
STYLE = re.compile(r"\x1b\[(\d+(;\d+)*)?m|\x1b\[\d*[A-DJKG]|\x1b\[\?25[lh]|\r")


def test_terminals(folder):
    """What a terminal gets of every command, bars included."""
    pytest.importorskip("pty", reason="there are no terminals of this kind here")
    ended = subprocess.run(
        [sys.executable, "-c", ON_TERMINALS, json.dumps(TERMINAL)],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "160"},
    )
    assert ended.returncode == 0, ended.stderr
    for command, line in zip(TERMINAL, ended.stdout.splitlines(), strict=True):
        code, got = json.loads(line)
        assert code == (2 if command in FAILURES else 0), got
        plain = STYLE.sub("", got)
        assert "\x1b" not in plain
        assert not FORBIDDEN.search(plain)
        assert "31mcolour" not in re.sub(r"\\x1b\[31mcolour|\\x9b31mcolour", "", plain)


def test_notebooks_and_pages(folder):
    """The files that are written of such labels are tested where each is the topic."""
    graph = sm.load(folder / "graph.json")
    for name in ("graph", "tree", "chain", "joint"):
        text = sm.load(folder / f"{name}.json")._repr_html_()
        assert not re.search("<(script|img|a|b)[ >]", text)
    assert "<img" not in graph.to_html()
    assert "<script>alert" not in graph.to_html()
