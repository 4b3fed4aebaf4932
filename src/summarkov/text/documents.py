"""Documents from files, folders and Python, and the sentences of a text."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from summarkov.errors import DataError, nearest, optional_library
from summarkov.read.csv_files import stated_separator
from summarkov.read.files import text_lines

_FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "text"}


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
    names = _Names(id, text, date)
    found: list[tuple[Document, str]] = []
    for source in sources:
        found.extend(_documents_of(source, names))
    first: dict[str, str] = {}
    for document, where in found:
        if document.id in first:
            raise DataError(
                f"{where}: the document {document.id!r} was there before ({first[document.id]}); "
                "give each a name of its own"
            )
        first[document.id] = where
    return [document for document, _ in found]


def in_order(documents: Sequence[Document]) -> list[Document]:
    """Documents by date; as they come if none has one.

    Dates are years, months or days as ISO 8601 writes them, which sort as text, or plain numbers.

    >>> documents = [Document("b", "", "2020-02"), Document("a", "", "2020-01-31")]
    >>> [document.id for document in in_order(documents)]
    ['a', 'b']
    """
    dated = [document for document in documents if document.date is not None]
    if not dated:
        return list(documents)
    if len(dated) < len(documents):
        missing = next(document for document in documents if document.date is None)
        raise DataError(f"the document {missing.id!r} has no date and others have; give all of them one")
    numbers = [_number(document) for document in dated]
    if None not in numbers:
        return [dated[at] for at in sorted(range(len(dated)), key=lambda at: numbers[at] or 0.0)]
    for document in dated:
        if not _is_iso(str(document.date)):
            raise DataError(
                f"the date {document.date!r} of the document {document.id!r} is none that can be ordered; "
                "write all as 2024, 2024-05 or 2024-05-31, or as numbers"
            )
    return sorted(dated, key=lambda document: str(document.date))


def _number(document: Document) -> float | None:
    try:
        value = float(str(document.date))
    except ValueError:
        return None
    return value if abs(value) <= sys.float_info.max else None


def _is_iso(date: str) -> bool:
    parts = date[:10].split("-")
    sizes = [len(part) for part in parts]
    return sizes in ([4], [4, 2], [4, 2, 2]) and all(part.isascii() and part.isdigit() for part in parts)


@dataclass(frozen=True)
class _Names:
    """Which keys of a record to take."""

    id: str
    text: str
    date: str | None

    def document(self, record: Mapping[str, Any], where: str) -> Document:
        """The document in a record, or what is wrong with it."""
        for name, role in ((self.id, "id"), (self.text, "text"), (self.date, "date")):
            if name is not None and name not in record:
                known = ", ".join(repr(key) for key in list(record)[:20]) or "none"
                raise DataError(
                    f"{where}: there is no {name!r}; name the {role} with {role}=; its keys are {known}"
                    f"{nearest(name, record)}"
                )
        text = record[self.text]
        if not isinstance(text, str):
            raise DataError(f"{where}, {self.text!r}: expected text, found {_shown(text)}")
        name, key = _plain(record[self.id], where, self.id), "date" if self.date is None else self.date
        date = record.get(key)
        return Document(name, text, None if date is None or date == "" else _plain(date, where, key))


def _plain(value: Any, where: str, name: str) -> str:
    """A name or a date: text, or a whole number as JSON has it."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"{where}, {name!r}: expected text or a number, found {_shown(value)}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f"{text[:40]}..." if len(text) > 40 else text


def _documents_of(source: Any, names: _Names) -> Iterator[tuple[Document, str]]:
    """Every document of a source, and where it stands."""
    if isinstance(source, str | os.PathLike):
        yield from _from_path(Path(os.fsdecode(source)), names)
    elif isinstance(source, Mapping):
        for name, text in source.items():
            where = f"document {name!r}"
            record = {names.id: name, names.text: text, (names.date or "date"): None}
            yield names.document(record, where), where
    elif isinstance(source, Iterable):
        for number, each in enumerate(source):
            where = f"document {number}"
            if isinstance(each, str):
                each = Document(str(number), each)
            elif isinstance(each, Mapping):
                each = names.document(each, where)
            if not isinstance(each, Document):
                raise DataError(f"{where}: expected a text or a Document, found {_shown(each)}")
            yield each, where
    else:
        raise DataError(f"cannot read documents from {type(source).__name__}; give a path, a dict or a list")


def _from_path(path: Path, names: _Names) -> Iterator[tuple[Document, str]]:
    is_folder, format, files = path.is_dir(), _FORMATS.get(path.suffix.lower()), [path]
    if is_folder:
        files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".txt")
        if not files:
            raise DataError(f"the folder {path} holds no .txt files; name the documents' folder or file")
    if is_folder or format == "text":
        for file in files:
            text = "\n".join(line for _, line in text_lines(str(file), expected="a text"))
            yield Document(file.stem, text), str(file)
    elif format is None:
        raise DataError(
            f"the format of {path} cannot be told from its name; let it end in .jsonl, .csv, .tsv or .txt"
        )
    elif format == "jsonl":
        yield from _json_lines(path, names)
    else:
        yield from _rows(path, names, format)


def _json_lines(path: Path, names: _Names) -> Iterator[tuple[Document, str]]:
    for number, line in text_lines(str(path), expected="documents"):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{where}: not JSON ({error.msg}, character {error.pos + 1}); expected an object with "
                f"{names.id!r} and {names.text!r}"
            ) from None
        except (RecursionError, ValueError):
            raise DataError(f"{where}: not a document; expected an object with {names.id!r}") from None
        if not isinstance(record, dict):
            raise DataError(
                f"{where}: expected an object with {names.id!r} and {names.text!r}, found {_shown(record)}"
            )
        yield names.document(record, where), where


def _rows(path: Path, names: _Names, delimiter: str) -> Iterator[tuple[Document, str]]:
    lines = (f"{line}\n" for _, line in text_lines(str(path), expected="documents"))
    first = next(lines)
    stated = stated_separator(first, str(path))
    reader = csv.reader(chain([first], lines), delimiter=stated or delimiter, strict=True)
    header: list[str] | None = None
    try:
        with _cells_of_any_size():
            if stated:
                next(reader)
            begin = reader.line_num + 1  # the line that a row begins in; a quoted cell may hold line breaks
            for cells in reader:
                where = f"{path}, line {begin}"
                begin = reader.line_num + 1
                if not cells:
                    continue
                if header is None:
                    header = cells
                    continue
                if len(cells) != len(header):
                    raise DataError(
                        f"{where}: {len(cells)} cells where the header has {len(header)}; mend the row"
                    )
                yield names.document(dict(zip(header, cells, strict=True)), where), where
    except csv.Error as error:
        raise DataError(f"{path}, line {reader.line_num}: the row cannot be read: {error}") from None


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """A document may be longer than the 128 kB that Python's parser allows a cell."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


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
