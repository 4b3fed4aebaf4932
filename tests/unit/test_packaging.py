"""The version stands in one place, and files agree with each other."""

import json
import re
import tomllib
from pathlib import Path

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
