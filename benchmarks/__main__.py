"""Run benchmarks, print one table, and write what was measured to ``docs/measured/benchmarks.md``.

``python -m benchmarks peers graphs`` runs some of them; the sections of the others stay as they are.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.timing import Row, machine
from summarkov.kernels import backend

ALL = (
    "peers",
    "kernels",
    "graphs",
    "reading",
    "growth",
    "memory",
    "exact",
    "trees",
    "bootstrap",
    "edges",
    "outcomes",
    "endings",
    "page",
)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "benchmarks.md"


HEAD = """# Benchmarks

Ratios measured side by side, in one run for each section; times are for orientation. `make bench` runs all,
`python -m benchmarks growth memory` some.
"""


def main() -> None:
    """Run what was asked for."""
    where = f"{machine()}, {backend()} kernels"
    console, found = Console(), {}
    for name in sys.argv[1:] or ALL:
        found[name] = []
        for row in importlib.import_module(f"benchmarks.{name}").rows():
            found[name].append(row)
            console.print(f"{row.what}: [bold]{row.measured}[/] (wanted: {row.wanted})")
    table = Table(title=where)
    for heading in ("what", "measured", "wanted"):
        table.add_column(heading)
    for row in (row for rows in found.values() for row in rows):
        table.add_row(*row)
    console.print(table)
    made = {name: section(name, where, rows) for name, rows in found.items()}
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")


def section(name: str, where: str, rows: list[Row]) -> str:
    """What one of the benchmarks found, below a heading of its name."""
    about = (importlib.import_module(f"benchmarks.{name}").__doc__ or "").split("\n")[0]
    table = [f"| {row.what} | {row.measured} | {row.wanted} |" for row in rows]
    head = ["| what | measured | wanted |", "|---|---|---|"]
    return "\n".join([name, "", about, "", f"Measured on: {where}.", "", *head, *table]) + "\n"


def page(before: str, made: dict[str, str]) -> str:
    """The document with some sections made anew."""
    sections = {part.split("\n")[0]: part for part in before.split("\n## ")[1:]} | made
    return "\n## ".join([HEAD, *(sections[name] for name in ALL if name in sections)])


if __name__ == "__main__":
    main()
