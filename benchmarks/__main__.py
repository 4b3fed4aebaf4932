"""Run benchmarks, print their tables, and write what was measured to ``docs/measured/benchmarks.md``.

The first table stands beside other methods. ``python -m benchmarks peers graphs`` runs some; the sections of
the others stay as they are.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.timing import Row, machine
from summarkov.kernels import backend

ALL = ("peers", "kernels", "graphs", "growth", "exact", "trees", "endings", "memory")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured" / "benchmarks.md"


HEAD = """# Benchmarks

Ratios measured side by side, in one run for each section; times are for orientation. `make bench` runs all,
`python -m benchmarks peers growth` some.
"""


def main() -> None:
    """Run what was asked for."""
    where = f"{machine()}, {backend()} kernels"
    console, made = Console(width=160), {}
    for name in sys.argv[1:] or ALL:
        module = importlib.import_module(f"benchmarks.{name}")
        head, *rows = lines(module)
        table = Table(*head, title=module.__doc__.split("\n")[0])
        for row in rows:
            table.add_row(*row)
        console.print(table)
        made[name] = section(name, module.__doc__, where, [head, *rows])
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")


def lines(module: Any) -> list[tuple[str, ...]]:
    """The head of a table and its rows; where a benchmark has no head of its own, what rows are made of."""
    rows = list(module.rows())
    return rows if not isinstance(rows[0], Row) else [Row._fields, *rows]


def section(name: str, about: str, where: str, table: list[tuple[str, ...]]) -> str:
    """What one of the benchmarks found, below a heading of its name."""
    head, *rows = (f"| {' | '.join(row)} |" for row in table)
    rule = "|---" * len(table[0]) + "|"
    return "\n".join([name, "", about.strip(), "", f"Measured on: {where}.", "", head, rule, *rows]) + "\n"


def page(before: str, made: dict[str, str]) -> str:
    """The document with some sections made anew."""
    sections = {part.split("\n")[0]: part for part in before.split("\n## ")[1:]} | made
    return "\n## ".join([HEAD, *(sections[name] for name in ALL if name in sections)])


if __name__ == "__main__":
    main()
