"""The documents say what is true: references, links, commands and the picture. (Examples run as doctests.)"""

import html
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import summarkov as sm
from summarkov.simulate.example import web_shop

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prose(path: Path) -> str:
    return _FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """The places in a document that can be linked to, by GitHub's rules."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", sm.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    assert f"\n   summarkov.{name}\n" in (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


@pytest.mark.needs("sphinx")
@pytest.mark.needs("matplotlib")
@pytest.mark.needs("sklearn")
def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    """The tutorials are run while it is made; cells that readers do not see check what the text says."""
    copy = shutil.copytree(
        ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("_build", "reference")
    )
    for document in ROOT.glob("*.md"):
        shutil.copy(document, tmp_path)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(copy), str(tmp_path / "site")]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    # a kernel warns of how it talks to whoever runs it, here this very machine
    told = [line for line in made.stderr.splitlines() if not line.startswith("[IPKernelApp] WARNING")]
    assert (made.returncode, told) == (0, []), "\n".join(told)
    page = (tmp_path / "site" / "reference" / "summarkov.BSuMM.html").read_text(encoding="utf-8")
    assert "How many events back to look" in page  # a parameter
    assert "predict_next" in page  # a method that it inherits
    tutorial = (tmp_path / "site" / "tutorials" / "web-shop.html").read_text(encoding="utf-8")
    assert "<td>co-occurrence only</td>" in tutorial  # what a cell shows
    assert 'src="../_images/' in tutorial  # a picture
    assert "assert " not in tutorial
    assert ".ipynb" in tutorial
    found = json.loads(
        (tmp_path / "site" / "searchindex.js")
        .read_text(encoding="utf-8")
        .removeprefix("Search.setIndex(")
        .removesuffix(")")
    )
    assert {"reference/summarkov.BSuMM", "guide/pitfalls", "index"} <= set(found["docnames"])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for link in _LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(link)
    assert broken == []


def test_all_guides_can_be_found_from_the_readme() -> None:
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in _LINK.findall(prose(ROOT / "README.md"))}
    assert [path.name for path in GUIDES if path not in linked] == []


@pytest.mark.parametrize("path", tool("command_outputs").DOCUMENTS, ids=lambda path: path.name)
def test_commands_print_what_the_documents_show(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == tool("command_outputs").with_outputs(text), "run: python tools/command_outputs.py"


def test_every_command_is_in_the_guide() -> None:
    text = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    module = tool("command_outputs")
    shown = {given[0] for given in module.commands(text)}
    assert {command.name for command in module.app.registered_commands} - shown == set()
    pairs = {tuple(given[:2]) for given in module.commands(text)}
    for group in module.app.registered_groups:
        commands = group.typer_instance.registered_commands
        names = {(group.name, command.name) for command in commands}
        # run, or (where that needs a large extra) at least named
        assert [name for name in names - pairs if f"    summarkov {' '.join(name)} " not in text] == []


def test_every_option_of_learn_is_in_the_guide() -> None:
    text = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    options = re.findall(r"--[a-z-]+", tool("command_outputs").run(["learn", "--help-all"]))
    assert "--lookback" in options
    assert [option for option in dict.fromkeys(options) if option not in text and option != "--format"] == []


def test_the_picture_shows_what_the_demo_learns() -> None:
    svg = (ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8")
    drawn = [html.unescape(title) for title in re.findall(r"<title>(.*?)</title>", svg)]
    graph = sm.InfluenceGraph(sm.BSuMM(lookback=5)).fit(web_shop().simulate(1000, 30, random_state=1))
    edges = [f"{edge.influencer}->{edge.target}" for edge in graph.edges_]
    assert sorted(title for title in drawn if "->" in title) == sorted(edges)
    told = {html.unescape(title) for title in re.findall(r'<a xlink:title="(.*?)"', svg)}
    assert told == set(re.findall(r'tooltip="(.*?)"', graph.to_dot()))
    assert len(told) == len(edges)
