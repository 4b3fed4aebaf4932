"""What ``make quick`` runs touches every room; what it leaves out, and what tests need, is there."""

import re
import tomllib
from pathlib import Path

import pytest

import summarkov
from needs import EXAMPLES, LIBRARIES, NEEDS, Need, missing_line, why_not
from slow import SLOW

ROOT = Path(__file__).parents[2]
ROOMS = sorted(path.parent.name for path in Path(summarkov.__file__).parent.glob("*/__init__.py"))
QUICK = {
    path: path.read_text(encoding="utf-8")
    for path in (ROOT / "tests").rglob("test_*.py")
    if not path.relative_to(ROOT).as_posix().startswith(SLOW)
}


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_quick_tests(room: str) -> None:
    names = [name for name, where in summarkov._WHERE.items() if where.split(".")[0] == room]
    words = [
        rf"summarkov\.{room}\b",
        rf"from summarkov import .*\b{room}\b",
        *(rf"\bsm\.{n}\b" for n in names),
    ]
    used = re.compile("|".join(words))
    assert [path.name for path, text in QUICK.items() if used.search(text)] != []


@pytest.mark.parametrize(
    "folder", [path.name for path in (ROOT / "tests" / "unit").iterdir() if path.is_dir()]
)
def test_the_folders_of_tests_are_rooms(folder: str) -> None:
    is_file = (Path(summarkov.__file__).parent / f"{folder}.py").exists()  # a room that is one file
    assert is_file or folder in (*ROOMS, "__pycache__")


@pytest.mark.parametrize("start", SLOW)
def test_what_is_left_out_is_there(start: str) -> None:
    file, _, name = start.partition("::")
    assert (ROOT / file).exists()
    assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8") if name else True


@pytest.mark.parametrize("file", EXAMPLES)
def test_examples_that_need_something_are_there(file: str) -> None:
    assert ">>> " in (ROOT / file).read_text(encoding="utf-8")
    assert set(EXAMPLES[file]) <= {*NEEDS, *LIBRARIES}


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NEEDS, "Java", Need(False, "the Spark engine", "apt-get install java"))
    monkeypatch.setitem(NEEDS, "chromium", Need(True, "the page", "apt-get install chromium"))
    monkeypatch.setitem(LIBRARIES, "polars", False)
    assert why_not("chromium") == ""
    assert why_not("chromium", "Java", "polars") == "no Java and no polars here"
    assert "Java for the Spark engine (apt-get install java)" in missing_line()
    assert 'pip install -e ".[test]"' in missing_line()
    assert "\n" not in missing_line()


def test_the_libraries_are_those_of_the_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[<>=\[]", each)[0] for each in extras["optional-dependencies"]["test"]}
    modules = {"scikit-learn": "sklearn", "flask-cors": "flask_cors"}
    imported = {modules.get(name, name) for name in named - {"summarkov", "flask"}}  # flask_cors brings flask
    assert imported | {"sphinx"} == {*LIBRARIES}
    assert set(NEEDS).isdisjoint(LIBRARIES)
