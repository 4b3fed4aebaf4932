"""Draw the map of rooms in CONTRIBUTING.md from the imports in the code.

Run ``python tools/rooms.py`` after a room begins or stops to use another; a test tells if that was forgotten.
``python tools/rooms.py FOLDER`` prints the map of another copy of the package instead.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "summarkov"
FILE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- the map of rooms, by tools/rooms.py -->\n```text\n", "```\n<!-- the end of the map -->"
#: What every room may use, and nobody need be told of.
EVERYWHERE = {"arrow", "errors", "settings", "typing", "wording"}


def imports(package: Path) -> dict[str, Counter[tuple[str, bool]]]:
    """For every room: how often it imports another one, and whether inside a function."""
    found: dict[str, Counter[tuple[str, bool]]] = {}
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        if room.startswith("__"):
            continue

        def visit(node: ast.AST, inside: bool, room: str = room) -> None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("summarkov"):
                    parts = (child.module or "").split(".")
                    for other in [parts[1]] if len(parts) > 1 else [alias.name for alias in child.names]:
                        if (package / other).is_dir() or (package / f"{other}.py").is_file():
                            found.setdefault(room, Counter())[other, inside] += 1
                visit(child, inside or isinstance(child, ast.FunctionDef), room)

        found.setdefault(room, Counter())
        visit(ast.parse(path.read_text(encoding="utf-8")), False)
    return found


def draw(package: Path) -> str:
    """One line per room, those that nobody below uses first; ``*``: only inside functions."""
    found = imports(package)
    uses = {
        room: {other for other, _ in counts if other != room and other not in EVERYWHERE}
        for room, counts in found.items()
        if room not in EVERYWHERE
    }
    height: dict[str, int] = {}

    def level(room: str, above: tuple[str, ...] = ()) -> int:
        """How many rooms stand below each other under this one; a circle is not followed."""
        if room not in height:
            below = [other for other in uses.get(room, ()) if other not in above]
            height[room] = 1 + max((level(other, (*above, room)) for other in below), default=0)
        return height[room]

    ordered = sorted(uses, key=lambda room: (-level(room), room))
    width = max(map(len, ordered))
    lines = []
    for room in ordered:
        others = [other for other in ordered if other in uses[room]]
        told = [other if found[room][other, False] else f"{other}*" for other in others]
        lines.append(f"{room:<{width}} -> {' '.join(told) or '-'}")
    return "\n".join(lines) + "\n"


def with_map(text: str) -> str:
    """The text of CONTRIBUTING.md with the map as it is."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}{draw(PACKAGE)}{END}{after}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(draw(Path(sys.argv[1])), end="")
    else:
        FILE.write_text(with_map(FILE.read_text(encoding="utf-8")), encoding="utf-8")
