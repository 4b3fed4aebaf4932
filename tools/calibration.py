"""Write docs/calibration.md: simulated graphs whose truth is known, and how sure each edge was.

Run ``python tools/calibration.py`` (or ``make calibration``); it takes some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from summarkov.reproduce.calibration import calibration
from summarkov.reproduce.worlds_table import worlds_table

FILE = Path(__file__).parents[1] / "docs" / "calibration.md"

HEAD = """\
# Is confidence what it says?

Written by `make calibration`. Data are simulated from graphs that are known, so every edge is true or false.
What it means to be sure stands in the [guide to confidence](guide/confidence.md), what can go wrong in
the [guide to pitfalls](guide/pitfalls.md).
"""


def main() -> None:
    """Run the study and write the page."""

    def progress(done: int, total: int) -> None:
        print(f"\r{done} of {total} graphs", end="", file=sys.stderr, flush=True)

    sections = [worlds_table(progress=progress), *calibration(progress=progress)]
    FILE.write_text("\n".join([HEAD, *(section.to_markdown() for section in sections)]), encoding="utf-8")
    print(file=sys.stderr)


if __name__ == "__main__":
    main()
