"""Documents from files, folders and Python, and the sentences of a text."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from summarkov.errors import DataError, nearest, optional_library
from summarkov.read.files import text_lines
from summarkov.read.tables import read_whole

_FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "text",
}


@dataclass(frozen=True)
class Document:
    """A text with a name.

    Attributes
    ----------
    id, text : str
        Its name, and the text.
    date : str or None
        The date, by which documents can be put in order.
    """

    id: str
    text: str
    date: str | None = None


def read_documents(
    *sources: Any, id: str = "id", text: str = "text", date: str | None = None
) -> list[Document]:
    """Read documents from files and folders, or from Python.

    Parameters
    ----------
    sources
        Paths: JSON lines (one object per document), CSV or TSV with a header line (one row per document), a
        .txt file (a document, named by its file), a folder of .txt files (in the order of their names). Or a
        dict from name to text, a list of texts (named 0, 1, ...), or a list of :class:`Document`.
    id, text, date
        The keys, or columns, of a document's name, text and date. A key "date" is taken for the date unless
        another is named.

    >>> [document.id for document in read_documents({"monday": "All is well.", "tuesday": "It broke."})]
    ['monday', 'tuesday']
    """
    keys = {"id": id, "text": text, "date": date}
    first: dict[str, str] = {}
    found = []
    for source in sources:
        for each, where in _records_of(source):
            document = each if isinstance(each, Document) else _document(each, where, keys)
            if document.id in first:
                raise DataError(
                    f"{where}: the document {document.id!r} was there before ({first[document.id]}); "
                    "give each a name of its own"
                )
            first[document.id] = where
            found.append(document)
    return found


def in_order(documents: Sequence[Document]) -> list[Document]:
    """Documents by date; as they come if none has one.

    Dates are years, months or days as ISO 8601 writes them, which sort as text, or plain numbers.

    >>> documents = [Document("b", "", "2020-02"), Document("a", "", "2020-01-31")]
    >>> [document.id for document in in_order(documents)]
    ['a', 'b']
    """
    dates = [document.date for document in documents]
    if all(date is None for date in dates):
        return list(documents)
    if None in dates:
        missing = documents[dates.index(None)]
        raise DataError(f"the document {missing.id!r} has no date and others have; give all of them one")
    values: list[Any] = [_number(str(date)) for date in dates]
    if None in values:
        values = [str(date) for date in dates]
        for document in documents:
            if not re.fullmatch(r"\d{4}(-\d\d(-\d\d.*)?)?", str(document.date), re.ASCII):
                raise DataError(
                    f"the date {document.date!r} of the document {document.id!r} is none that can be "
                    "ordered; write all as 2024, 2024-05 or 2024-05-31, or as numbers"
                )
    return [documents[at] for at in sorted(range(len(values)), key=lambda at: values[at])]


def _number(date: str) -> float | None:
    try:
        value = float(date)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _document(record: Any, where: str, keys: Mapping[str, str | None]) -> Document:
    """The document in a record, or what is wrong with it."""
    if not isinstance(record, Mapping):
        wanted = f"an object with {keys['id']!r} and {keys['text']!r}"
        raise DataError(f"{where}: expected {wanted}, found {_shown(record)}")
    for role, name in keys.items():
        if name is not None and name not in record:
            known = ", ".join(repr(key) for key in list(record)[:20]) or "none"
            raise DataError(
                f"{where}: there is no {name!r}; name the {role} with {role}=; its keys are {known}"
                f"{nearest(name, record)}"
            )
    text, date = record[keys["text"]], record.get(keys["date"] or "date")
    if not isinstance(text, str):
        raise DataError(f"{where}, {keys['text']!r}: expected text, found {_shown(text)}")
    name = _plain(record[keys["id"]], where, keys["id"])
    return Document(name, text, None if date in (None, "") else _plain(date, where, keys["date"] or "date"))


def _plain(value: Any, where: str, name: str | None) -> str:
    """A name or a date: text, or a number as JSON has it."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise DataError(f"{where}, {name!r}: expected text or a number, found {_shown(value)}")
    return str(value)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"{text[:40]}..." if len(text) > 40 else text


def _records_of(source: Any) -> Iterator[tuple[Any, str]]:
    """Every document of a source, or the record that it is in, and where it stands."""
    if isinstance(source, str | os.PathLike):
        yield from _from_path(Path(os.fsdecode(source)))
    elif isinstance(source, Mapping):
        for name, text in source.items():
            keys = {"id": "id", "text": "text", "date": None}
            yield _document({"id": name, "text": text}, f"document {name!r}", keys), f"document {name!r}"
    elif isinstance(source, Iterable):
        for number, each in enumerate(source):
            where = f"document {number}"
            if not isinstance(each, str | Mapping | Document):
                raise DataError(f"{where}: expected a text or a Document, found {_shown(each)}")
            yield Document(str(number), each) if isinstance(each, str) else each, where
    else:
        raise DataError(f"cannot read documents from {type(source).__name__}; give a path, a dict or a list")


def _from_path(path: Path) -> Iterator[tuple[Any, str]]:
    format, files = _FORMATS.get(path.suffix.lower()), [path]
    if path.is_dir():
        format, files = "text", sorted(file for file in path.iterdir() if file.suffix.lower() == ".txt")
        if not files:
            raise DataError(f"the folder {path} holds no .txt files; name the documents' folder or file")
    if format == "text":
        for file in files:
            text = "\n".join(line for _, line in text_lines(str(file), expected="a text"))
            yield Document(file.stem, text), str(file)
    elif format is None:
        raise DataError(
            f"the format of {path} cannot be told from its name; let it end in .jsonl, .csv, .tsv or .txt"
        )
    else:
        yield from _json_lines(path) if format == "jsonl" else _rows(path, format)


def _json_lines(path: Path) -> Iterator[tuple[Any, str]]:
    for number, line in text_lines(str(path), expected="documents"):
        where = f"{path}, line {number}"
        try:
            if line.strip():
                yield json.loads(line), where
        except json.JSONDecodeError as error:
            raise DataError(
                f"{where}: not JSON ({error.msg}, character {error.pos + 1}); expected an object per line"
            ) from None
        except (RecursionError, ValueError):
            raise DataError(f"{where}: not a document; expected an object per line") from None


def _rows(path: Path, format: str) -> Iterator[tuple[Any, str]]:
    """The rows of a table with a header, the first one below that being row 1."""
    for number, row in enumerate(read_whole(str(path), format).to_pylist(), start=1):
        yield {name: value or "" for name, value in row.items()}, f"{path}, row {number}"


@dataclass(frozen=True)
class Sentence:
    """A sentence of a document.

    Attributes
    ----------
    document : str
        The name of the document.
    number : int
        Its number there; the first one has the number 1.
    text : str
        The sentence.
    """

    document: str
    number: int
    text: str


def split_sentences(text: str, language: str = "en") -> list[str]:
    """Split a text into sentences, by the rules of ``sentencex``; white space in them becomes single blanks.

    ``language`` is an ISO 639 code, for the abbreviations that end no sentence.

    >>> split_sentences("Dr. Li came at 3.30 p.m. on Monday. All was well!")
    ['Dr. Li came at 3.30 p.m. on Monday.', 'All was well!']
    """
    with optional_library("splitting text into sentences", "sentencex", extra="text"):
        import sentencex
    sentences = (" ".join(part.split()) for part in sentencex.segment(language, text))
    return [sentence for sentence in sentences if sentence]
