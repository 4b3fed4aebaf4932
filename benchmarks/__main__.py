"""Run all benchmarks, print one table and write it to ``docs/benchmarks.md``.

``python -m benchmarks peers graphs`` runs some of them, and prints only.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.timing import Row, machine
from summarkov import backend

ALL = ("peers", "kernels", "graphs", "reading", "growth", "memory", "exact", "trees", "bootstrap", "edges")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def main() -> None:
    """Run what was asked for."""
    chosen = sys.argv[1:] or ALL
    where = f"{machine()}, {backend()} kernels"
    console, found = Console(), []
    for name in chosen:
        for row in importlib.import_module(f"benchmarks.{name}").rows():
            found.append(row)
            console.print(f"{row.what}: [bold]{row.measured}[/] (wanted: {row.wanted})")
    table = Table(title=where)
    for heading in ("what", "measured", "wanted"):
        table.add_column(heading)
    for row in found:
        table.add_row(*row)
    console.print(table)
    if not sys.argv[1:]:
        PAGE.write_text(page(where, found), encoding="utf-8")


def page(where: str, found: list[Row]) -> str:
    """The table as a document."""
    lines = [
        "# Benchmarks",
        "",
        "Ratios measured side by side in one run of `make bench`; times are for orientation.",
        "",
        f"Measured on: {where}.",
        "",
        "| what | measured | wanted |",
        "|---|---|---|",
    ]
    return "\n".join([*lines, *(f"| {row.what} | {row.measured} | {row.wanted} |" for row in found)]) + "\n"


if __name__ == "__main__":
    main()
