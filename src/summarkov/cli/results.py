"""Results of long work: saved as JSON or Markdown, and kept while they are being worked out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from summarkov.cli.failures import report
from summarkov.cli.files import check_output, saving
from summarkov.errors import SettingError


class Result(Protocol):
    """What can be saved."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""

    def to_markdown(self) -> str:
        """As Markdown."""


def check_result_file(path: Path | None, *inputs: Path) -> None:
    """Refuse, before the work, a file that the result cannot be saved as."""
    if path is not None and path.suffix.lower() not in (".json", ".md"):
        raise SettingError(f"cannot tell the format of {path}; let its name end in .json or .md")
    check_output(path, *inputs)


def save_result(path: Path, result: Result) -> None:
    """Write JSON or Markdown, as the name tells."""
    from summarkov.io.temporary import write_atomically

    if path.suffix.lower() == ".md":
        text = result.to_markdown()
    else:
        text = json.dumps(result.to_dict(), indent=1, allow_nan=False) + "\n"
    with saving(path):
        write_atomically(path, text)


@contextmanager
def going_on(path: Path | None) -> Iterator[Path | None]:
    """The file to keep finished pieces in; an interrupted user is told how to go on from there."""
    partial = None if path is None else path.with_name(path.name + ".partial")
    try:
        yield partial
    except KeyboardInterrupt:
        if partial is None:
            report("nothing is kept; with -o FILE an interrupted run can go on later", name="Note")
        elif partial.exists():
            report(f"what is done is kept in {partial}; run the same command again to go on", name="Note")
        else:
            report("nothing was done yet", name="Note")
        raise
