"""Do the outputs stay what they were? Runs with two versions of the package, compared.

    python tools/golden.py                       against commit cf1b4fcf (compiled below build/ if need be)
    python tools/golden.py --against TREE        against a tree that is compiled already
    python tools/golden.py --only NAME ...       runs whose names contain one of these
    python tools/golden.py --list                their names and commands
    python tools/golden.py --all                 every difference, not the first ones
    python tools/golden.py --fresh               run the old version again, too

A run is a list of command lines, or a function of Python, in an empty folder and a process of its own.
What it prints and every file it writes is compared: words, names and whole numbers exactly, other numbers
to 1e-9 relative; of a page, the data in it; what is printed as JSON may have more fields than before. For
each run, "same" is printed, or the paths that differ, as old -> new. Differences that the changelog lists
stand in ACCEPTED, what has other names now in old_words and new_names. Results of the old version are kept
in a temporary folder.
The paper's data is looked for in SUMMARKOV_DATA, else ../shared/data; without it those runs are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import hashlib
import inspect
import io
import itertools
import json
import math
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from golden_logs import make_logs

ROOT = Path(__file__).parents[1]
BEFORE = "cf1b4fcf"
DATA = Path(os.environ.get("SUMMARKOV_DATA", ROOT.parent / "shared" / "data"))
MADE = Path(tempfile.gettempdir()) / "summarkov-golden"

#: Differences that are meant: a pattern of "run/path", and why. See CHANGELOG.md.
ACCEPTED: tuple[tuple[str, str], ...] = (
    ("*/seconds", "measured"),
    ("python-graph/returned/repr/2", "events.describe() prints the sentences of the command line"),
    ("*/settings/average", "trees are not averaged over prunings"),
    ("*/settings/split", "trees are not averaged over prunings"),
    ("*/summaries/*/asked", "trees are not averaged over prunings"),
    ("shop/e.dot/*", "a tooltip is the sentence that the page has, too"),
    ("shop-groups/*/edges/*", "robust intervals and follow rates, nothing is resampled"),
    ("shop-groups/*/n", "nothing is resampled"),
    ("shop-groups/*/rate*", "groups have no shares of events"),
    ("shop-groups/*/shares*", "groups have no shares of events"),
    ("shop-groups/*/labels/*", "labels are in the order of their reach"),
    ("shop-groups/*/seed", "nothing is resampled"),
    ("*/data/positions", "it is there in every file"),
    ("*/clusters*", "of no influencers there are none"),
    ("*.json/confidence/*", "edges are influences, those that the graph has apart"),
    ("*/confidence/edges/*", "edges are influences, those that the graph has apart"),
    ("*/confidence/others", "the same"),
    ("diabetes-confidence/1 confidence/printed/edges/*", "the same"),
    ("diabetes-confidence/1 confidence/printed/others", "the same"),
    ("*.json/order/edges/*", "infinite and unknown numbers"),
    ("*/trees", "arrays as nested lists"),
    ("*/alone", "arrays as nested lists"),
    ("*/outcomes/*/trees", "arrays as nested lists"),
    ("*/outcomes/*/alone", "arrays as nested lists"),
    ("*/last_labels*", "arrays as nested lists"),
    ("*/outcome/*", "settings of the model of an outcome stand together"),
    ("linkedin-exact/*/trace*", "an exact search makes no moves"),
    ("diabetes-sensitivity/*/rows", "what each setting finds is summed up in edges"),
    ("diabetes-sensitivity/*/edges/*", "the values of each setting are fields"),
    ("diabetes-sensitivity/*/printed/*", "records are printed as records"),
    ("*/confidence/*/others*", "pairs with their frequency"),
    ("*/seldom", "others has them"),
    ("outcome*/printed/*", "the sentences and tables of edges and states"),
    ("*.json/order/within_short", "what is not known is left out"),
    ("python-stream/returned/*/order/edges/*", "what is not known is left out"),
    ("*.json/edges/*/cases_*", "what is not known is left out"),
    ("*/units", "whole sequences are resampled"),
    ("*/n_units", "whole sequences are resampled"),
    ("shop-groups/1 groups/printed/*", "robust intervals"),
    ("beigebooks/1 show/printed/*", "what columns mean is said in the guide"),
    ("*.json/checksum", "it follows the last digits of numbers, which may differ"),
    ("*.html/places/*", "one layout of networkx instead of the best of thirty"),
    ("shop/4 show/printed/*", "patterns are gone, and the rest moves up"),
    ("*/patterns", "patterns are gone"),
    ("*/patterns/*", "patterns are gone"),
    ("shop/2 learn/printed/*", "what columns are is left to the guide, and the rest moves up"),
    (
        "demo/0 demo/printed/*",
        "the same; and the command as this Python calls it, where it is not on the path",
    ),
)

#: A name, and the command lines of this run; the words in SHORT stand for longer ones.
COMMANDS = """
linkedin: describe PEOPLE --json
    learn PEOPLE --no-order-test --json -o m.json
    show m.json --json
    show m.json --target G --json
    evaluate m.json {data}/linkedin.test.jsonl --json
    predict m.json {data}/linkedin.test.jsonl --json
    predict m.json -a A -a B --json
    predict m.json -a A -a B --target G --json
    report m.json --events PEOPLE --sequences 5 -o p.html
linkedin-cut-off: learn PEOPLE --cut-off --order-test --json -o m.json
linkedin-paper: learn PEOPLE --paper --json -o m.json
linkedin-osumm: learn PEOPLE -m osumm --json -o m.json
linkedin-exact: learn PEOPLE --search exact -k 3 --json -o m.json
linkedin-chains: learn PEOPLE --joint -m vom --json -o v.json
    learn PEOPLE --joint -m chain --set order=2 --json -o c.json
    evaluate c.json {data}/linkedin.test.jsonl --json
    predict v.json -a A -a B --json
    show v.json
    report v.json -o v.html
linkedin-compare: compare PEOPLE {data}/linkedin.dev.jsonl {data}/linkedin.test.jsonl -m bsumm --json
beigebooks: learn {data}/beigebooks.train.jsonl --no-order-test --json -o m.json
    show m.json
    evaluate m.json {data}/beigebooks.test.jsonl --unknown ignore --json
    report m.json -o p.html
beigebooks-order: learn {data}/beigebooks.train.jsonl --order-test --json -o m.json
beigebooks-cut-off: learn {data}/beigebooks.train.jsonl --cut-off -m osumm -k 3 --json -o m.json
fomc: describe {data}/fomc.jsonl --json
    learn {data}/fomc.jsonl --paper -k 4 --json -o m.json
diabetes: learn DIABETES --cut-off --order-test --json -o m.json
    show m.json --json
    report m.json --events DIABETES --cut-off -o p.html
diabetes-tree: learn DIABETES -m tree -t HSE -t TET --json -o m.json
    show m.json --target HSE --json
    learn DIABETES -m tree -t HSE --gamma 0.3 --json -o a.json
    evaluate a.json DIABETES --json
    report m.json -o p.html
diabetes-confidence: learn DIABETES --confidence 20 --no-order-test --json -o m.json
    confidence m.json DIABETES -n 10 --no-order-test --json
diabetes-joint: learn DIABETES -m joint --json -o m.json
    learn DIABETES -m joint --set rounds=40 --set contexts=0.2 -k 50 --json -o t.json
    evaluate t.json DIABETES --json
    predict m.json -a HSE -a USE --json
    simulate m.json -n 5 --length 10 --seed 3
    report m.json -o p.html
diabetes-sensitivity: sensitivity DIABETES --json
stackoverflow-auto: learn {made}/stackoverflow.jsonl -k auto --no-order-test --json -o m.json
stackoverflow-csumm: learn {made}/stackoverflow.jsonl -m csumm --set prior=base-rate --alpha 5 --json -om.json
    simulate m.json -n 5 --length 10 --seed 3
shop: describe TIME --json
    LEARN --order-test --confidence 10
    learn TIME
    show m.json --json
    show m.json --target buy
    evaluate m.json TIME --json
    predict m.json TIME --why c7 --target buy --json
    simulate m.json -n 10 --length 12 --seed 5 --json -o s.jsonl
    report m.json --events TIME --sequences 3 -o p.html
    export m.json -o e.csv
    export m.json -o e.dot
    export m.json -o e.graphml
shop-times: LEARN -k 6h --order-test
    show m.json --json
    report m.json --events TIME --times -o p.html
shop-times-auto: LEARN -k 1h,6h,1d
shop-osumm: LEARN -m osumm --set mask=first -k none --set criterion=marginal
    show m.json -t buy --json
shop-csumm: LEARN -m csumm --set criterion=extended-bic --set parameters=reachable
shop-lookbacks: LEARN -m csumm -k 1,4,none --set criterion=aic
shop-sweep: LEARN -m csumm --search sweep
shop-limits: LEARN --required view --forbidden search --max-influencers 2 -t buy -t help
shop-joint-target: LEARN --joint -t buy -t help
    predict m.json -a view -a cart --json
shop-attributes: LEARN --attribute channel --attribute age --cut age=30,50
    show m.json --json
    evaluate m.json TIME --attribute channel --attribute age --cut age=30,50 --json
    report m.json -o p.html
shop-given: LEARN --attribute channel --given channel --order-test
shop-weights: LEARN --weight weight --no-order-test
    show m.json --json
shop-prepared: LEARN --session-gap 5h --map {made}/map.json --min-count 60 --collapse --start --no-order-test
    convert TIME --collapse c.csv
shop-groups: groups TIME --by channel --json
    groups TIME --by channel -t buy
shop-ends: LEARN --closed-by buy --closed-by leave
    learn TIME --ends-column done --no-order-test --json -o n.json
    learn TIME --open-since 2024-03-10 --no-order-test --json -o o.json
    report n.json -o p.html
shop-stream: LEARN --engine stream --memory 64M
    learn TIME --engine stream -m tree -t buy --json -o n.json
parquet: describe {made}/shop.parquet --order-by time --json
    learn {made}/parts --order-by time --json -o m.json --no-order-test
xes: describe {made}/shop.xes --json
    learn {made}/shop.xes --lifecycle complete --json -o m.json --times -k 6h --no-order-test
text-files: describe {made}/plain.txt --json
    convert {made}/plain.txt a.jsonl
    convert {made}/plain.txt b.csv
ticks: describe TICKS --json
    learn TICKS --json -o m.json --order-test
    show m.json --json
    evaluate m.json TICKS --json
    report m.json --events TICKS -o p.html
ticks-csumm: learn TICKS -m csumm -k 2 --json -o m.json
ticks-tree: learn TICKS -m tree -t b --json -o m.json
outcome: outcome TIME --column kind=good --attribute channel --json -o m.json
    outcome TIME --column kind=good
    outcome TIME --contains buy --after 3 --json -o n.json
    show m.json --json
    report m.json -o p.html
outcome-tree: outcome TIME --ends-with leave --after 2 -m tree --json -o m.json
    outcome TIME --column kind=good --engine stream --json
demo: demo --output .
    simulate truth.json --seed 2 -n 20 --json -o new.jsonl
"""
SHORT = {
    "LEARN": "learn TIME --json -o m.json",
    "TIME": "{made}/shop.csv --order-by time",
    "PEOPLE": "{data}/linkedin.train.jsonl",
    "DIABETES": "{made}/diabetes.jsonl",
    "TICKS": "{made}/ticks.csv --ties together --order-by day",
}
for short, long in SHORT.items():
    COMMANDS = COMMANDS.replace(short, long)
RUNS: dict[str, list[str] | Callable[[], Any]] = {
    block.split(": ")[0]: [line.strip() for line in block.split(": ", 1)[1].splitlines()]
    for block in re.split(r"\n(?=\S)", COMMANDS.strip())
}


def python_run(function: Callable[[], Any]) -> Callable[[], Any]:
    """A run in Python instead of command lines."""
    RUNS[function.__name__.replace("_", "-")] = function
    return function


@python_run
def python_graph() -> Any:
    """Documents, explanations, predictions, influences, tables."""
    import summarkov as sm

    events = sm.read_events(MADE / "shop.csv", order_by="time", times=True, attributes=["channel"])
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=4)).fit(events)
    model = sm.OSuMM("buy", lookback=4).fit(events)
    plain = sm.InfluenceGraph(sm.BSuMM(lookback=4)).fit(sm.read_events(MADE / "shop.csv", order_by="time"))
    return {
        "document": graph.to_document(),
        "model": model.to_document(),
        "edges": [vars(edge) for edge in graph.edges_],
        "explain": str(plain.explain_next(["view", "cart"])),
        "next": plain.predict_next([["view", "cart"], []]).top(3),
        "score": [graph.score(events), model.brier_score(events)],
        "table": str(model.table_),
        "repr": [str(graph.evaluate(events)), str(graph.edges_), str(events.describe())],
        "simulated": [list(each) for each in plain.simulate(3, 8, 1)],
    }


@python_run
def python_stream() -> Any:
    """A stream of Parquet files, with ends, against its own models."""
    import summarkov as sm

    with sm.scan_events(MADE / "parts", order_by="time", closed_by=["buy", "leave"]) as events:
        graph = sm.InfluenceGraph(sm.CSuMM(lookback=3)).fit(events)
        tested = graph.order_test(events)
        chain = sm.MarkovChain("buy", order=2).fit(events)
        return [graph.to_document(), str(tested), chain.to_document(), graph.score(events)]


def main() -> int:
    """The number of runs that differ."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--against", default=BEFORE, help="a commit, or the folder of a compiled tree")
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--jobs", type=int, default=2)
    for flag in ("list", "all", "fresh"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        return worker(*options.run)
    names = [name for name in RUNS if any(part in name for part in options.only) and possible(name)]
    if options.list:
        for name in names:
            print(name, *map(str, commands(name)), sep="\n    ")
        return 0
    make_logs(MADE, DATA)
    old = tree(options.against)

    def both(name: str) -> list[str]:
        """How the two results of a run differ."""
        before = {key: new_names(each) for key, each in kept(old, name, options.fresh).items()}
        return list(differences(before, result(ROOT, name), name))

    start, differing = time.monotonic(), 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, lines in zip(names, pool.map(both, names), strict=True):
            differing += bool(lines)
            print(f"{name}: {f'{len(lines)} differ' if lines else 'same'}")
            for line in lines if options.all else lines[:8]:
                print("   ", line)
            sys.stdout.flush()
    print(f"{len(names)} runs, {differing} differ, {time.monotonic() - start:.0f} s")
    return min(differing, 1)


def possible(name: str) -> bool:
    """Whether the data of a run is there."""
    return DATA.exists() or not re.search("{data}|diabetes|stackoverflow", " ".join(commands(name)))


def commands(name: str) -> list[str]:
    """The command lines of a run, or the source of its function."""
    run = RUNS[name]
    return run if isinstance(run, list) else [inspect.getsource(run)]


def tree(against: str) -> Path:
    """The folder of the old version, compiled."""
    if (Path(against) / "src" / "summarkov").exists():
        return Path(against).resolve()
    folder = ROOT / "build" / f"golden-{against}"
    if not folder.exists():
        subprocess.run(["git", "worktree", "add", "--detach", folder, against], cwd=ROOT, check=True)
        subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, check=True)
    return folder


def kept(old: Path, name: str, fresh: bool) -> Any:
    """A result of the old version, from the last time if nothing of the run has changed."""
    what = [str(old), *map(old_words, commands(name)), *map(inspect.getsource, (make_logs, worker))]
    path = MADE / "old" / f"{name}.{hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12]}.json"
    if fresh or not path.exists():
        value = result(old, name, "old")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(f".{os.getpid()}").write_text(json.dumps(value))
        path.with_suffix(f".{os.getpid()}").replace(path)
    return json.loads(path.read_text())


def result(folder: Path, name: str, age: str = "new") -> Any:
    """What a run gives with the package of a tree, which is old or new."""
    env = {**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC"}
    env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, str(Path(__file__).resolve()), "--run", name, age]
        done = subprocess.run(command, cwd=scratch, env=env, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"broken": done.stderr.splitlines()}


def old_words(command: str) -> str:
    """A command line as the old version takes it."""
    return command


def new_names(value: Any) -> Any:
    """What the old version printed as JSON, in the names and words of today, as the changelog has them."""
    if isinstance(value, list):
        return [new_names(each) for each in value]
    if not isinstance(value, dict):
        return value
    value = {name: new_names(each) for name, each in value.items()}
    if {"inhibited", "amplified"} & value.keys():
        value["without"] = value.pop("inhibited", value.pop("amplified", None))
    if value.get("format") == "summarkov" and value.get("version") in (1, 2):
        value["version"] = 3
        for one in value.get("targets", ()):
            known = one.get("followings", one.get("moments", {}))
            edges = [(z, x) for z in one["influencers"] if z in known for x in one["target"]]
            n = len(one["target"])

            def rows(each: dict[tuple[str, str], Any], n: int = n) -> list[Any]:
                found = list(each.values())
                return [found[at : at + n] for at in range(0, len(found), n)]

            if "followings" in one:
                asked = one.pop("followings")
                one["followed"] = rows({(z, x): asked[z][x] for z, x in edges})
            if "moments" in one:
                asked = one.pop("moments")
                one["moments"] = rows({(z, x): [*asked[z][x].values()] for z, x in edges})
            if asked := one.get("clusters"):
                squares = [
                    [[asked[z]["squares"][x][k] for z in asked] for x in one["target"]] for k in (0, 1)
                ]
                one["clusters"] = {
                    "squares": squares,
                    "n": [[asked[z]["n"][k] for z in asked] for k in (0, 1)],
                }
    return value


def worker(name: str, age: str) -> int:
    """Run in the current folder, and print as JSON what was printed and written."""
    run, out = RUNS[name], {}
    if callable(run):
        try:
            out["returned"] = run()
        except Exception:
            out["returned"] = traceback.format_exc().splitlines()[-1]
    for number, line in enumerate(run if isinstance(run, list) else ()):
        command = old_words(line) if age == "old" else line
        arguments = shlex.split(command.format(data=DATA, made=MADE))
        printed, noted, code = io.StringIO(), io.StringIO(), 0
        sys.argv = ["summarkov", *arguments]
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(noted):
            try:
                runpy.run_module("summarkov", run_name="__main__")
            except SystemExit as stop:
                code = stop.code
            except BaseException:
                code = traceback.format_exc().splitlines()[-1]
        out[f"{number} {arguments[0]}"] = {
            "printed": as_value(printed.getvalue()),
            "noted": noted.getvalue().splitlines() if code else [],
            "code": code or 0,
        }
    for path in sorted(Path.cwd().iterdir()):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            text = text.split('type="application/json"')[1].split(">", 1)[1].split("</script>")[0]
        out[path.name] = as_value(text)
    sys.__stdout__.write(json.dumps(out, default=str))
    return 0


def as_value(text: str) -> Any:
    """JSON as what it stands for, anything else as lines."""
    try:
        return json.loads(text)
    except ValueError:
        return text.splitlines()


def differences(old: Any, new: Any, path: str) -> Iterator[str]:
    """Each place where two results differ."""
    if any(fnmatch.fnmatch(path, pattern) for pattern, _ in ACCEPTED):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old and "/printed" not in path)]:
            yield from differences(old.get(key, "(nothing)"), new.get(key, "(nothing)"), f"{path}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        for index, (a, b) in enumerate(itertools.zip_longest(old, new, fillvalue="(nothing)")):
            yield from differences(a, b, f"{path}/{index}")
    elif not same(old, new):
        yield f"{path}: {str(old)[:150]} -> {str(new)[:150]}"


def same(old: Any, new: Any) -> bool:
    """Numbers with a point are the same to 1e-9, all else exactly."""
    if isinstance(old, float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12) or (old != old and new != new)
    return type(old) is type(new) and bool(old == new)


if __name__ == "__main__":
    sys.exit(main())
