"""Run the commands that the documents show, and write what they print below them.

In a block of ``console``, lines that begin with ``$ summarkov`` are commands and the others what they print;
a block of ``sh`` shows commands only. The commands of a document run one after the other in a folder
that holds nothing but the documents that the guide to text is about.
``python tools/command_outputs.py`` rewrites the documents; a test tells if what they show is out of date.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from summarkov.cli.main import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "guide" / "command-line.md")

_BLOCK = re.compile(r"^```(console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Rewrite the documents."""
    for path in DOCUMENTS:
        path.write_text(with_outputs(path.read_text(encoding="utf-8")), encoding="utf-8")


def with_outputs(text: str) -> str:
    """A document with the outputs that its commands have now."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        shutil.copy(ROOT / "docs" / "guide" / "harbour.jsonl", folder)
        return _BLOCK.sub(_block, text)


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of every command that a document shows."""
    for kind, block in _BLOCK.findall(text):
        for line in command_lines(kind, block):
            yield arguments(line.removeprefix("$ "))


def command_lines(kind: str, block: str) -> list[str]:
    """The lines of a block that are commands of ours; one that goes on in the next line is made one."""
    begin = "$ summarkov " if kind == "console" else "summarkov "
    return [line for line in block.replace("\\\n", " ").splitlines() if line.startswith(begin)]


def arguments(line: str) -> list[str]:
    """What stands after the program's name, up to where the shell sends the output elsewhere."""
    words = shlex.split(line, comments=True)[1:]
    ends = [at for at, word in enumerate(words) if word in ("|", ">")]
    return words[: min(ends, default=len(words))]


def run(given: list[str]) -> str:
    """Run a command at 80 columns and return what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # has summarkov
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "PATH": path}
    with mock.patch.object(sys, "argv", ["summarkov"]):
        result = CliRunner().invoke(app, given, env=plain, prog_name="summarkov")
    if result.exit_code:
        raise RuntimeError(f"summarkov {shlex.join(given)}: exit code {result.exit_code}: {result.output}")
    return "\n".join(line.rstrip() for line in result.stdout.splitlines())


def _block(found: re.Match[str]) -> str:
    kind, block = found.groups()
    shown = []
    for line in command_lines(kind, block):
        printed = run(arguments(line.removeprefix("$ ")))
        shown.append(f"{line}\n{printed}" if printed else line)
    return found[0] if kind == "sh" else "```console\n" + "\n\n".join(shown) + "\n```"


if __name__ == "__main__":
    main()
