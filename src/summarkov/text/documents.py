"""Documents from files, folders and Python, and the sentences of a text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
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
    """A ``text`` with a name, ``id``."""

    id: str
    text: str


def read_documents(*sources: Any, id: str = "id", text: str = "text") -> list[Document]:
    """Read documents from files and folders, or from Python.

    Parameters
    ----------
    sources
        Paths: JSON lines (one object per document), CSV or TSV with a header line (one row per document), a
        .txt file (a document, named by its file), a folder of .txt files (in the order of their names). Or a
        dict from name to text, a list of texts (named 0, 1, ...), or a list of :class:`Document`.
    id, text
        The keys, or columns, of a document's name and text.

    >>> [document.id for document in read_documents({"monday": "All is well.", "tuesday": "It broke."})]
    ['monday', 'tuesday']
    """
    first: dict[str, str] = {}
    documents = []
    for source in sources:
        for record, where in _records_of(source):
            document = record if isinstance(record, Document) else _document(record, where, id, text)
            if document.id in first:
                raise DataError(
                    f"{where}: the document {document.id!r} was there before ({first[document.id]}); "
                    "give each a name of its own"
                )
            first[document.id] = where
            documents.append(document)
    return documents


def _document(record: Any, where: str, id: str, text: str) -> Document:
    """The document in a record, or what is wrong with it."""
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: expected an object with {id!r} and {text!r}, found {_shown(record)}")
    for role, name in (("id", id), ("text", text)):
        if name not in record:
            known = ", ".join(repr(key) for key in list(record)[:20]) or "none"
            raise DataError(
                f"{where}: there is no {name!r}; name the {role} with {role}=; its keys are {known}"
                f"{nearest(name, record)}"
            )
    named, words = record[id], record[text]
    if not isinstance(words, str):
        raise DataError(f"{where}, {text!r}: expected text, found {_shown(words)}")
    if isinstance(named, bool) or not isinstance(named, str | int | float) or named == "":
        raise DataError(f"{where}, {id!r}: expected text or a number, found {_shown(named)}")
    return Document(str(named), words)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"{text[:40]}..." if len(text) > 40 else text


def _records_of(source: Any) -> Iterator[tuple[Any, str]]:
    """Every document of a source, or the record that it is in, and where it stands."""
    if isinstance(source, str | os.PathLike):
        yield from _from_path(Path(os.fsdecode(source)))
    elif isinstance(source, Mapping):
        for name, text in source.items():
            where = f"document {name!r}"
            yield _document({"id": name, "text": text}, where, "id", "text"), where
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
    if format is None:
        raise DataError(
            f"the format of {path} cannot be told from its name; let it end in .jsonl, .csv, .tsv or .txt"
        )
    if format == "text":
        for file in files:
            text = "\n".join(line for _, line in text_lines(str(file), expected="a text"))
            yield Document(file.stem, text), str(file)
    elif format == "jsonl":
        yield from _json_lines(path)
    else:  # the first row below the header is row 1
        for number, row in enumerate(read_whole(str(path), format).to_pylist(), start=1):
            yield {name: value or "" for name, value in row.items()}, f"{path}, row {number}"


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


@dataclass(frozen=True)
class Sentence:
    """A sentence: the name of its ``document``, its ``number`` there (the first is 1), and its ``text``."""

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
