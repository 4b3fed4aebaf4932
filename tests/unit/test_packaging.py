"""The version stands in one place, files agree with each other, and environments are made and mended."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import summarkov

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_stands_in_one_place() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert re.findall(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE) == [summarkov.__version__]
    assert re.fullmatch(r"\d+\.\d+\.\d+", summarkov.__version__)


def test_the_least_python_is_the_same_everywhere() -> None:
    least = PROJECT["requires-python"].removeprefix(">=")
    assert f"sys.version_info < ({least.replace('.', ', ')})" in text("Makefile")
    assert f"summarkov needs Python {least} or later" in text("Makefile")
    assert f"Python {least} or later" in text("README.md")
    assert f"Python {least} or later" in text("CONTRIBUTING.md")


def test_pythons_are_the_same_everywhere() -> None:
    named = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    tags = [f"cp{each.replace('.', '')}-*" for each in named]
    tools = tomllib.loads(text("pyproject.toml"))["tool"]
    assert tools["cibuildwheel"]["build"] == tags
    assert json.dumps(named) in text(".github/workflows/tests.yml")


def test_the_address_is_the_same_everywhere() -> None:
    source = PROJECT["urls"]["Source"]
    assert all(address.startswith(source) for address in PROJECT["urls"].values())
    assert f"repository-code: {source}\n" in text("CITATION.cff")


def test_every_target_of_make_is_in_the_documents() -> None:
    targets = re.search(r"^\.PHONY: (.*)$", text("Makefile"), re.MULTILINE)
    assert targets is not None
    documents = text("README.md") + text("CONTRIBUTING.md")
    assert [each for each in targets[1].split() if f"make {each}" not in documents] == ["clean"]


def test_pre_commit_runs_the_linters_of_make() -> None:
    linters = re.findall(
        r"^\t\$\(BIN\)/((?:ruff|mypy|check-jsonschema)[^\n]*)$", text("Makefile"), re.MULTILINE
    )
    hooks = re.findall(r"entry: \.venv/bin/(.*)", text(".pre-commit-config.yaml"))
    assert len(linters) == 4
    assert [line.removesuffix(" .github/workflows/*.yml").removesuffix(" .") for line in linters] == hooks


# ------------------------------------------------------------------------------- environments


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """tools/environment.py, in an empty folder."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    monkeypatch.delitem(sys.modules, "environment", raising=False)
    monkeypatch.chdir(tmp_path)
    import environment

    return environment


class Commands:
    """Stands for the commands that are started: what they were, and how they end."""

    def __init__(self, folder: Path, *, fails: str = "nothing", report: str | None = None) -> None:
        self.folder, self.fails, self.report = folder, fails, report
        self.calls: list[str] = []

    def call(self, command: list[str]) -> int:
        said = " ".join(command[1:])
        self.calls.append(said)
        assert (self.folder / ".whole").exists() == ("-c" in command)  # missing while anything is installed
        if "venv" in command:
            self.folder.mkdir(exist_ok=True)
        if self.fails == "interrupted" and "install" in command:
            raise KeyboardInterrupt
        return int(self.fails in said)

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert "--dry-run" in command
        return subprocess.CompletedProcess(command, int(self.report is None), self.report or "")


def use(environment: ModuleType, commands: Commands, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(environment.subprocess, "call", commands.call)
    patch.setattr(environment.subprocess, "run", commands.run)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_environment_is_made(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("env")
    commands = Commands(folder)
    use(environment, commands, monkeypatch)
    assert environment.main(folder, "core") == 0
    assert names(folder) == [".core", ".whole"]
    assert commands.calls[:2] == ["-m venv --clear env", "-m pip install --quiet --editable ."]
    (folder / ".whole").unlink()
    commands.calls.clear()
    assert environment.main(folder, "lint") == 0
    assert commands.calls[:2] == ["-m venv --clear env", "-m pip install --quiet --editable .[lint]"]


def test_an_interrupted_installation_is_begun_anew(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path("env")
    use(environment, Commands(folder, fails="interrupted"), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        environment.main(folder, "test")
    assert names(folder) == []
    again = Commands(folder)
    use(environment, again, monkeypatch)
    assert environment.main(folder, "test") == 0
    assert again.calls[0] == "-m venv --clear env"
    assert names(folder) == [".test", ".whole"]


def test_a_failed_installation_leaves_what_was_there(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("env")
    use(environment, Commands(folder), monkeypatch)
    assert environment.main(folder, "core") == 0
    failing = Commands(folder, fails="pip install")
    use(environment, failing, monkeypatch)
    assert environment.main(folder, "test") == 1
    assert names(folder) == [".core", ".whole"]
    assert failing.calls == ["-m pip install --quiet --editable .[test]"]
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("packages", "taken"),
    [(["torch", "numpy"], True), (["torch", "nvidia-cublas", "triton"], False), (None, False)],
)
def test_pytorch_comes_only_without_the_libraries_for_graphics_cards(
    environment: ModuleType, monkeypatch: pytest.MonkeyPatch, packages: list[str] | None, taken: bool
) -> None:
    report = packages and json.dumps({"install": [{"metadata": {"name": name}} for name in packages]})
    commands = Commands(Path("env"), report=report)
    use(environment, commands, monkeypatch)
    assert environment.main(Path("env"), "test") == 0
    assert any("torch==" in call for call in commands.calls) == taken
