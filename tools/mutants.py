"""Mutants of the core: every small change of the code that counts, scores and searches must fail a test.

Each mutant changes one thing: a comparison, an operator, a number, a constant, a condition. It is tried in a
process forked from one in which the libraries are loaded already, on a copy of the package, with the tests
that are about the module; it is killed if one of them fails, or if they take ten times as long as usual.
First they run with a tenth of their examples, and what survives that with all of them.

    python tools/mutants.py [--of N] [MODULE ...]

tries N mutants of each module, drawn with a fixed seed (default: all), and prints the survivors. ``make
mutants``; what survives, and why, is in docs/robustness.md.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EDGES = [
    f"tests/hostile/test_numbers.py::test_{name}"
    for name in (
        "estimates_are_the_fractions",
        "likelihood_at_the_edges",
        "evidence_at_the_edges",
        "log_rising",
        "the_penalty_of_infinitely_many_states_is_infinite_and_nothing_at_gamma_0",
        "beyond_the_ends",
    )
]
SCORES = ["tests/unit/test_scores.py", *EDGES, "tests/properties/test_scores.py"]
COUNTS = ["tests/engines/test_counts.py", "tests/engines/test_cuts.py"]
REPLICATES = ["tests/engines/test_replicates.py", "tests/engines/test_weights.py"]
SEARCHES = ["tests/properties/test_searches.py", "tests/properties/test_bootstrap.py"]

#: The modules, and the tests that are about each, the quickest first.
TESTS: dict[str, list[str]] = {
    "scores/estimates.py": SCORES,
    "scores/gamma.py": SCORES[:-1],
    "scores/scorer.py": [*SCORES, "tests/unit/test_settings.py"],
    "scores/shrunken.py": [*SCORES[:1], "tests/unit/test_tree_model.py", "tests/properties/test_rules.py"],
    "scores/trees.py": ["tests/unit/test_context_trees.py", "tests/properties/test_context_trees.py"],
    "search/greedy.py": [*SEARCHES, "tests/properties/test_graphs.py", "tests/unit/test_graph.py"],
    "kernels/numpy_kernels.py": [*COUNTS, *REPLICATES, "tests/properties/test_prediction.py"],
    "engines/counts.py": [*COUNTS, *REPLICATES, "tests/engines/test_recency.py", *SEARCHES],
}

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip


def mutations(node: ast.AST) -> Iterator[ast.AST]:
    """Every way to change a node a little."""
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Compare) and type(changed.ops[0]) in COMPARISONS:
        changed.ops[0] = COMPARISONS[type(changed.ops[0])]()  # type: ignore[abstract]
        yield changed
    elif isinstance(changed, ast.BinOp | ast.AugAssign) and type(changed.op) in OPERATORS:
        changed.op = OPERATORS[type(changed.op)]()  # type: ignore[abstract]
        yield changed
    elif isinstance(changed, ast.BoolOp):
        changed.op = ast.Or() if isinstance(changed.op, ast.And) else ast.And()
        yield changed
    elif isinstance(changed, ast.UnaryOp) and isinstance(changed.op, ast.Not | ast.USub | ast.Invert):
        yield changed.operand
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, bool):
        changed.value = not changed.value
        yield changed
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, int | float):
        changed.value += 1
        yield changed
    elif isinstance(changed, ast.IfExp):
        yield changed.body
        yield changed.orelse


def mutants(source: str) -> list[tuple[int, str, str]]:
    """All mutants of a module: line, what was changed, and the whole source."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):  # types and messages do nothing that a test could see
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            skipped |= {id(inner) for inner in ast.walk(node.annotation)}
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            skipped |= {id(inner) for inner in ast.walk(node.returns)}
        if isinstance(node, ast.JoinedStr | ast.Assert):
            skipped |= {id(inner) for inner in ast.walk(node)}
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.BinOp)
            and ast.unparse(node).startswith("Counts =")
        ):
            skipped |= {id(inner) for inner in ast.walk(node)}
    found = []
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or id(child) in skipped:
                    continue
                for changed in mutations(child):
                    _put(parent, name, at, changed)
                    what = f"{ast.unparse(child)}  ->  {ast.unparse(changed)}"
                    found.append((getattr(child, "lineno", 0), what, ast.unparse(tree)))
                    _put(parent, name, at, child)
    return found


def _put(parent: ast.AST, name: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[at] = node


def passes(package: Path, tests: list[str], examples: float, limit: float) -> bool:
    """Whether the tests pass on a copy of the package, in a process of their own, with so many examples."""
    child = os.fork()
    if child == 0:
        code = 1
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        with contextlib.suppress(BaseException):
            import pytest

            signal.alarm(int(limit) + 1)
            sys.path[:0] = [str(package), str(ROOT), str(ROOT / "tests")]
            os.environ["PYTHONPATH"] = f"{package}:{ROOT}"
            os.environ["SUMMARKOV_EXPLORE"] = str(examples)
            options = ["-x", "-q", "--assert=plain", "-o", "addopts=--import-mode=importlib"]
            options += ["-p", "no:cacheprovider", "-k", "not [native"]
            code = int(pytest.main([*options, *tests]))
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main() -> None:
    """Try mutants module by module."""
    parser = argparse.ArgumentParser(prog="python tools/mutants.py")
    parser.add_argument("modules", nargs="*", default=list(TESTS), metavar="MODULE")
    parser.add_argument("--of", type=int, default=None, help="mutants of each module, drawn; default all")
    given = parser.parse_args()
    os.chdir(ROOT)
    os.environ["SUMMARKOV_KERNELS"] = "numpy"  # which are mutated
    import hypothesis  # noqa: F401  # loaded once, for all
    import numpy  # noqa: F401
    import pyarrow.csv
    import pyarrow.parquet  # noqa: F401
    import pytest  # noqa: F401
    import scipy.stats  # noqa: F401
    import typer.testing  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder)
        shutil.copytree(ROOT / "src" / "summarkov", package / "summarkov")
        tried = survived = 0
        for module in given.modules:
            path, tests = package / "summarkov" / module, TESTS[module]
            source = path.read_text()
            usual = {}
            for examples in (0.1, 1.0):
                start = time.monotonic()
                if not passes(package, tests, examples, 3600):
                    sys.exit(f"{module}: its tests fail without any mutant")
                usual[examples] = time.monotonic() - start
            every = mutants(source)
            chosen = every if given.of is None else random.Random(1).sample(every, min(given.of, len(every)))
            left = []
            for line, what, mutant in sorted(chosen):
                path.write_text(mutant)
                if all(passes(package, tests, examples, 10 * took) for examples, took in usual.items()):
                    left.append(f"  {line}: {what}")
            path.write_text(source)
            tried, survived = tried + len(chosen), survived + len(left)
            share = f"{len(chosen) - len(left)} of {len(chosen)} killed ({len(every)} in all)"
            print(f"{module}: {share}", *left, sep="\n")
            sys.stdout.flush()
        print(f"together: {tried - survived} of {tried} killed, {(tried - survived) / tried:.1%}")


if __name__ == "__main__":
    main()
