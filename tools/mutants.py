"""Mutants of the core: every small change of the code that counts, scores and searches must fail a test.

Each mutant changes one thing: a comparison, an operator, a number, a constant, a condition. Its functions are
put in the place of the module's own in a process forked from one that has collected the tests of the module
already, and it is killed if one of them fails, or if they take twice as long as usual. First they run
with a tenth of their examples, and what survives that with all of them.

    python tools/mutants.py [--native] [--of N] [MODULE ...]

tries N mutants of each module, drawn with a fixed seed (default: all), and prints the survivors; with
``--native`` those of the kernels in C++ (native_mutants.py). ``make mutants``; what survives, and why, is in
docs/measured/robustness.md.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import itertools
import json
import os
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]
EDGES = [
    f"tests/hostile/test_numbers.py::test_{name}"
    for name in (
        "the_penalty_of_infinitely_many_states_is_infinite_and_nothing_at_gamma_0",
        "log_rising",
        "estimates_are_the_fractions",
        "likelihood_at_the_edges",
        "evidence_at_the_edges",
    )
]
SCORES = ["tests/unit/search/test_criteria.py", "tests/properties/test_scores.py", *EDGES]
COUNTS = ["tests/every_engine/test_counts.py"]
REPLICATES = ["tests/every_engine/test_replicates.py", "tests/every_engine/test_weights.py"]
SEARCHES = ["tests/properties/test_searches.py", "tests/properties/test_bootstrap.py"]

#: What a mutant may take: some ask for all there is.
MOST_MEMORY = 6 << 30

#: The modules, and the tests that are about each, the quickest first.
TESTS: dict[str, list[str]] = {
    "search/criteria.py": ["tests/unit/test_settings.py", *SCORES],
    "search/trees.py": [
        "tests/unit/search/test_criteria.py::test_gains_of_splits",
        "tests/unit/models/test_context_trees.py",
        "tests/properties/test_context_trees.py",
        "tests/properties/test_rules.py",
        "tests/unit/models/test_tree.py",
    ],
    "search/greedy.py": [
        *SEARCHES,
        "tests/unit/search/test_exact.py",
        "tests/properties/test_graphs.py",
        "tests/unit/models/test_graph.py",
    ],
    "kernels/numpy_kernels.py": [*COUNTS, *REPLICATES, "tests/properties/test_prediction.py"],
    "kernels/index.py": [
        *COUNTS,
        "tests/unit/kernels/test_ticks.py",
        *REPLICATES,
        "tests/every_engine/test_outcomes.py",
    ],
    "engines/counts.py": [
        *COUNTS,
        *REPLICATES,
        "tests/every_engine/test_recency.py",
        "tests/properties/test_rules.py",
        *SEARCHES,
    ],
    "engines/source.py": [
        *COUNTS,
        "tests/every_engine/test_growing.py",
        "tests/every_engine/test_stream.py",
    ],
    "read/values.py": ["tests/hostile/test_date_formats.py", "tests/unit/read/test_csv.py"],
    "read/lines.py": [
        "tests/unit/read/test_ties.py",
        "tests/unit/read/test_case_attributes.py",
        "tests/unit/read/test_write.py",
        "tests/unit/read/test_formats.py",
        "tests/unit/read/test_files.py",
    ],
    "engines/outcomes.py": ["tests/every_engine/test_outcome_twins.py", "tests/unit/models/test_outcome.py"],
    "models/outcome.py": [
        "tests/unit/models/test_outcome.py",
        "tests/every_engine/test_outcomes.py",
        "tests/every_engine/test_outcome_twins.py",
    ],
    "models/joint_parts.py": ["tests/unit/models/test_joint.py", "tests/every_engine/test_joint.py"],
}

# A failure is enough: there is no need to look for the smallest one.
settings.register_profile(
    "mutants", derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate), database=None
)

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
    for node in ast.walk(tree):  # types, messages and assertions do nothing that a test could see
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            skipped |= {id(inner) for inner in ast.walk(node.annotation)}
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            skipped |= {id(inner) for inner in ast.walk(node.returns)}
        if isinstance(node, ast.JoinedStr | ast.Assert) or (
            isinstance(node, ast.keyword) and node.arg == "strict"
        ):
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


def put_in_place(module: ModuleType, source: str) -> None:
    """Let a module, which others may have imported names from, do what another source says."""
    changed = ModuleType(module.__name__)
    sys.modules[module.__name__] = changed  # where dataclasses look for it
    exec(compile(source, str(module.__file__), "exec"), changed.__dict__)
    sys.modules[module.__name__] = module
    for name, new in vars(changed).items():
        old = vars(module).get(name)
        if isinstance(new, int | float | tuple):
            for other in list(sys.modules.values()):
                if getattr(other, "__name__", "").startswith("summarkov") and vars(other).get(name) is old:
                    setattr(other, name, new)
        elif isinstance(new, type) and new.__module__ == module.__name__:
            for each in {*vars(new), *vars(old)}:
                _replace(vars(old).get(each), vars(new).get(each))
        else:
            _replace(old, new)


def _replace(old: Any, new: Any) -> None:
    """Let a function, of whatever kind, do what another does."""
    for inner in ("__func__", "__wrapped__", "func", "fget"):
        if hasattr(old, inner) and hasattr(new, inner):
            return _replace(getattr(old, inner), getattr(new, inner))
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        old.__code__, old.__defaults__, old.__kwdefaults__ = (
            new.__code__,
            new.__defaults__,
            new.__kwdefaults__,
        )
    return None


class Trial:
    """Runs the tests that pytest has collected once without any mutant, and once after each change."""

    def __init__(self, changes: Sequence[Callable[[], None]]) -> None:
        self.changes = changes
        self.survivors: list[int] | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop."""
        usual = self._took(session, lambda: None)
        if usual is not None:
            self.survivors = []
            for number, change in enumerate(self.changes):
                if self._took(session, change, 2 * usual + 2) is not None:
                    self.survivors.append(number)
        return True

    def _took(
        self, session: pytest.Session, change: Callable[[], None], limit: float = 3600.0
    ) -> float | None:
        """Seconds of processor time that the tests take; None if one fails, or if they take too long."""
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
                signal.alarm(20 * int(limit))  # for one that waits for ever
                resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
                change()
                for item, following in itertools.zip_longest(session.items, session.items[1:]):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if session.testsfailed:
                        break
                else:
                    os._exit(0)
            os._exit(1)
        _, status, used = os.wait4(child, 0)
        return used.ru_utime + used.ru_stime if os.waitstatus_to_exitcode(status) == 0 else None


def survivors(
    changes: Sequence[Callable[[], None]], tests: list[str], left_out: str, examples: float
) -> list[int] | None:
    """The mutants that no test kills, or None if tests fail without any; a change is made in a fork."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException), open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
                os.environ["SUMMARKOV_EXPLORE"] = str(examples)
                options = ["-x", "-q", "--assert=plain", "-o", "addopts=--import-mode=importlib"]
                options += ["-p", "no:cacheprovider", "-k", f"not {left_out}", f"--basetemp={folder}/tests"]
                options += ["--hypothesis-profile=mutants"]
                trial = Trial(changes)
                pytest.main([*options, *tests], plugins=[trial])
                Path(folder, "survivors").write_text(json.dumps(trial.survivors))
            os._exit(0)
        os.waitpid(child, 0)
        found: list[int] | None = json.loads(Path(folder, "survivors").read_text())
        return found


Mutant = tuple[int, str, Callable[[], None]]


def left_of(every: Sequence[Mutant], of: int | None, tests: list[str], left_out: str, name: str) -> list[int]:
    """Try all mutants, or ``of`` of them, and print the survivors; how many were tried, and are left."""
    chosen = every if of is None else random.Random(1).sample(every, min(of, len(every)))
    left = list(chosen)
    for examples in (0.1, 1.0):
        changes = [change for _, _, change in left]
        numbers = survivors(changes, tests, left_out, examples) if left else []
        if numbers is None:
            sys.exit(f"{name}: its tests fail without any mutant")
        left = [left[number] for number in numbers]
    share = f"{len(chosen) - len(left)} of {len(chosen)} killed ({len(every)} in all)"
    print(f"{name}: {share}", *(f"  {line}: {what}" for line, what, _ in left), sep="\n", flush=True)
    return [len(chosen), len(left)]


def python_mutants(module: str) -> list[Mutant]:
    """All mutants of a module."""
    name = "summarkov." + module.removesuffix(".py").replace("/", ".")

    def change(source: str) -> None:
        put_in_place(importlib.import_module(name), source)

    found = sorted(mutants((ROOT / "src" / "summarkov" / module).read_text()))
    return [(line, what, partial(change, source)) for line, what, source in found]


def main() -> None:
    """Try mutants module by module."""
    parser = argparse.ArgumentParser(prog="python tools/mutants.py")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="default all")
    parser.add_argument("--of", type=int, default=None, help="mutants of each module, drawn; default all")
    parser.add_argument("--native", action="store_true", help="of the native kernels")
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "tests")]
    os.environ["SUMMARKOV_KERNELS"] = "native" if given.native else "numpy"  # which are mutated
    results = []
    if given.native:
        import native_mutants

        found = native_mutants.build(given.modules)
        for name, every in found.items():
            results.append(left_of(every, given.of, native_mutants.TESTS[name], "[numpy", name))
    else:
        for name in given.modules or TESTS:
            results.append(left_of(python_mutants(name), given.of, TESTS[name], "[native", name))
    tried, survived = (sum(numbers) for numbers in zip(*results, strict=True))
    print(f"together: {tried - survived} of {tried} killed, {(tried - survived) / tried:.1%}")


if __name__ == "__main__":
    main()
