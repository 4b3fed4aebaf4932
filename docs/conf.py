"""The site, made by ``make docs`` from these documents and the docstrings (decision 0012)."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import summarkov
from summarkov.events.sequences import MACHINERY as EVENTS_MACHINERY
from summarkov.models.parameters import Parameters

ROOT = Path(__file__).parents[1]
SOURCE = "https://github.com/summarkov/summarkov/blob/main"
SITE = "https://summarkov.github.io/summarkov"

project = html_title = "summarkov"
author = copyright = "the summarkov developers"
version = release = summarkov.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "jupyter_execute"]
templates_path = ["_templates"]
nitpicky = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = (
    "force"  # the tutorials are run whenever the site is made: an error in one is an error here
)
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_output_stderr = "warn"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": "object, tuple, Sequence, Mapping, Generic, Exception",
    # what completion leaves out, too
    "exclude-members": ", ".join(sorted(Parameters._machinery | EVENTS_MACHINERY)),
}
numpydoc_show_class_members = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {"guide/questions": []}  # there is nothing else in its section
html_theme_options = {
    "github_url": "https://github.com/summarkov/summarkov",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navbar_start": ["navbar-logo", "version-switcher"],
    "switcher": {"json_url": f"{SITE}/latest/_static/versions.json", "version_match": version},
    "check_switcher": False,  # the list is fetched by readers, from the site, and not while it is made
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

#: Documents of the repository's first page, and where they stand on the site.
AT_THE_TOP = {
    "README": "index",
    "CHANGELOG": "changelog",
    "CONTRIBUTING": "contributing",
    "SECURITY": "security",
}


def bring_from_the_top(app: Any, name: str, source: list[str]) -> None:
    """Put the README and its like where the site has them, and let links lead there."""
    for file, place in AT_THE_TOP.items():
        if name == place:
            text = (ROOT / f"{file}.md").read_text(encoding="utf-8").replace("](docs/", "](")
            text = re.sub(r"\]\((?=CITATION|LICENSE|tools/|benchmarks/|fuzz/)", f"]({SOURCE}/", text)
            source[0] = text + source[0]
    for file, place in AT_THE_TOP.items():
        source[0] = re.sub(rf"\]\(((?:\.\./)*?)(?:\.\./)?{file}\.md", rf"](\1{place}.md", source[0])


def offer_the_notebook(app: Any, name: str, source: list[str]) -> None:
    """Let readers of a tutorial have it as a notebook, with its results."""
    if name.startswith("tutorials/"):
        file = f"{name.rpartition('/')[2]}.ipynb"
        offer = f"{{nb-download}}`Download this page as a notebook <{file}>`"
        source[0] = re.sub(r"^(# .+\n)", rf"\1\n{offer}\n", source[0], count=1, flags=re.MULTILINE)


def keep_out_of_search(app: Any, name: str, source: list[str]) -> None:
    """Records of decisions are for those who work on the code; who searches for a word wants a guide."""
    if name.startswith("decisions/0"):
        source[0] = f"---\nnosearch: true\n---\n{source[0]}"


def find_by_short_name(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Let docstrings name things as users do: ``read_events`` and not the module that it lives in."""
    if node.get("refdomain") != "py":
        return None
    python = env.get_domain("py")
    found = [name for name in python.objects if f".{name}".endswith(f".{node['reftarget']}")]
    if len({python.objects[name].docname for name in found}) != 1:
        return None
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0], node, content)


def leave_out_how_records_are_made(app: Any, what: str, name: str, *given: Any) -> tuple[str, str] | None:
    """Nobody makes a result by hand: its page begins with what it is, and lists its fields once."""
    record, doc = given[0], given[0].__doc__ or ""
    is_record = what == "class" and (is_dataclass(record) or hasattr(record, "_fields"))
    return ("", "") if is_record and "Attributes\n" in doc and "Parameters\n" not in doc else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", leave_out_how_records_are_made)
    app.connect("source-read", bring_from_the_top)
    app.connect("source-read", offer_the_notebook)
    app.connect("source-read", keep_out_of_search)
    app.connect("missing-reference", find_by_short_name)
