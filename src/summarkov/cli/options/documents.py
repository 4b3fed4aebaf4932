"""What the commands for text share: reading documents, and telling what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from summarkov.cli.files import check_output, saving
from summarkov.cli.options.shared import flag, option
from summarkov.cli.printing.console import progress, working
from summarkov.errors import SettingError

if TYPE_CHECKING:
    from summarkov.text import Document, TextEvents
    from summarkov.text.events import Labeler

READING = "Reading the documents"

DocumentFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Documents: .jsonl (one object per line), .csv or .tsv (one row per document), .txt (one "
        "document), or folders of .txt files.",
    ),
]
EventsOut = Annotated[Path, option("FILE", "Save the events here, as .jsonl.", "--output -o")]


@dataclass(frozen=True)
class Labelling:
    """How to read documents, and what to make events of. Every field is an option."""

    repeats: Annotated[
        str,
        option(
            "runs|once|all",
            "Keep the first event of every run of the same label, the first of each label in a "
            "document, or all.",
        ),
    ] = "runs"
    single: Annotated[
        bool, flag("--single", "One sequence over all documents by date, not one per document.")
    ] = False
    together: Annotated[
        bool,
        flag(
            "--together",
            "With --single: the labels of a document happened together, whatever the order of its sentences.",
        ),
    ] = False
    id_column: Annotated[str, option("COLUMN", "A document's name.", "--id", panel=READING)] = "id"
    text_column: Annotated[str, option("COLUMN", "A document's text.", "--text", panel=READING)] = "text"
    date_column: Annotated[
        str | None,
        option(
            "COLUMN",
            "A document's date, for --single. Default: 'date' if there is one, else the order of the file.",
            "--date",
            panel=READING,
        ),
    ] = None
    language: Annotated[str, option("CODE", "For splitting into sentences.", panel=READING)] = "en"

    def read(self, files: list[Path]) -> list[Document]:
        """Read all documents."""
        from summarkov.text import read_documents

        with working("Reading the documents"):
            return read_documents(*files, id=self.id_column, text=self.text_column, date=self.date_column)

    def make_events(self, documents: list[Document], label: Labeler, **settings: Any) -> TextEvents:
        """Label the sentences, with a bar that counts them."""
        from summarkov.text import text_events

        how: dict[str, Any] = {"repeats": self.repeats, "single": self.single, "together": self.together}
        how |= {"language": self.language, **settings}
        with progress("Labelling", 0, "sentences") as advance:
            return text_events(documents, label, progress=advance, **how)


#: Nothing special.
PLAIN_LABELLING = Labelling()


def check_events_output(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a name for the events that cannot be written, or would lose the sentences."""
    check_output(path, *inputs)
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        raise SettingError(f"the sentences are kept in JSON lines; let the name of {path} end in .jsonl")


def save_events(found: TextEvents, path: Path) -> None:
    """Write the events with their sentences."""
    with saving(path):
        found.save(path)
