"""A part of the report: a table, what it says, and why it differs from the publication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Section:
    """A title, a table of texts, and notes below it."""

    title: str
    about: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "title": self.title,
            "about": self.about,
            "rows": [dict(zip(self.headings, row, strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }

    def to_markdown(self) -> str:
        """As Markdown."""
        lines = [f"## {self.title}", "", self.about, ""]
        lines += ["| " + " | ".join(self.headings) + " |", "|" + "---|" * len(self.headings)]
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in self.rows]
        if self.notes:
            lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"
