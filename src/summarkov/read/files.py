"""Files: which ones a path means, their format and text, and writing them whole."""

from __future__ import annotations

import codecs
import contextlib
import glob
import io
import math
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal

from summarkov.arrow import pa
from summarkov.errors import DataError, SettingError, StoreError, naming_the_disk, nearest, warn_caller

#: What names a file.
Name = str | os.PathLike[str]
#: The formats that files can be read in.
Format = Literal["csv", "tsv", "parquet", "jsonl", "text", "spmf", "xes"]
#: The endings of file names by which they are guessed.
FORMATS = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "jsonl": (".jsonl", ".ndjson"),
    "text": (".txt",),
    "spmf": (".spmf",),
    "xes": (".xes",),
}
#: Those that can be read without taking all of a file into memory; tabs are a kind of commas.
STREAMED = ("parquet", "csv", "jsonl")
#: How packed files begin, whatever they are called; and the ends of names that only say so.
_CODECS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
ENDINGS = (".gz", ".zst", ".zstd")
#: What a packed file may hold: this number of bytes, or its own size times that. Logs pack to 1/10 or 1/30.
MOST_BYTES, MOST_TIMES = 1 << 28, 200
#: The same for what becomes an object of its own when it is read: lines, words, cells and elements.
MOST_PARTS, PARTS_TIMES = 1 << 22, 20
_BETWEEN = b" \t\r\n,;|<[{"
#: How addresses begin, also once pathlib has made a path of one, which drops a slash.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
#: Tables whose folders also hold files that are no longer theirs: how such a table is called, what is in its
#: folder, and how to find out about its files.
_TABLES = (
    ("a Delta table", "_delta_log/*", "deltalake.DeltaTable(path).file_uris()"),
    (
        "an Iceberg table",
        "metadata/*.metadata.json",
        "[task.file.file_path for task in table.scan().plan_files()] of pyiceberg",
    ),
)


def name_of(path: Name) -> str:
    """What a file is called; addresses of other machines are refused."""
    name = os.fsdecode(path)
    if (address := _ADDRESS.match(name)) and not os.path.exists(name):
        raise SettingError(
            f"addresses ({address[1]}://) are not opened; copy the file, or let another library read it and "
            f"give the table, such as duckdb.sql(\"FROM '{address[1]}://...'\")"
        )
    return name


# ---------------------------------------------------------------------- formats


def format_of(path: Name, asked: str | None) -> str:
    """Return the format asked for, or the one that the end of the file's name tells.

    >>> format_of("log.CSV", None), format_of("log.xes.gz", None), format_of("log.dat", "text")
    ('csv', 'xes', 'text')
    """
    choices = ", ".join(repr(name) for name in FORMATS)
    if asked is not None:
        if asked not in FORMATS:
            hint = nearest(str(asked), FORMATS)
            raise SettingError(f"unknown format {asked!r}; use one of {choices}{hint}")
        return asked
    name = name_of(path).lower()
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    found = next((format for format, endings in FORMATS.items() if name.endswith(endings)), None)
    if found is None:
        raise DataError(
            f"the format of {path} cannot be told from its name; pass format= as one of {choices}"
        )
    return found


def endings_of(*formats: str) -> tuple[str, ...]:
    """How the names of files of some formats end. (Parquet packs its columns itself.)"""
    packed = () if "parquet" in formats else ENDINGS
    return tuple(ending + more for each in formats for ending in FORMATS[each] for more in ("", *packed))


# ---------------------------------------------------------------------- which files a path means


def are_several(path: Name) -> bool:
    """Whether a path means a folder or a pattern, and not one file."""
    name = name_of(path)
    return os.path.isdir(name) or (glob.has_magic(name) and not os.path.exists(name))


def find_files(paths: Sequence[Name], asked: str | None = None) -> tuple[str, list[str]]:
    """The format of what is meant, "parquet", "csv" or "jsonl", and its files, in order.

    Single files, those of folders and their subfolders, or of patterns. In folders, files are known by the
    ends of their names, and names that begin with ``_`` or ``.`` are left out, as Arrow and Spark do. Links
    are followed; a file that is there by several names is read once.
    """
    found = [_find(name_of(path), asked) for path in paths]
    kinds = sorted({kind for kind, _ in found})
    if len(kinds) != 1:
        raise DataError(f"these files are of several formats, {' and '.join(kinds)}; name those of one")
    first = dict[str, str]()
    for name in (name for _, names in found for name in names):
        first.setdefault(os.path.realpath(name), name)
    return kinds[0], [*first.values()]


def _find(name: str, asked: str | None) -> tuple[str, list[str]]:
    """The format of one path, and its files."""
    is_folder = os.path.isdir(name)
    if is_folder and asked is None:
        members = {kind: _inside(name, kind) for kind in STREAMED}
        there = [kind for kind in STREAMED if any(map(os.path.isfile, members[kind]))]
        if len(there) != 1:
            what = "no parquet, csv or jsonl files; name one that does"
            if there:
                what = f"{' and '.join(there)} files; say which to read with format="
            raise DataError(f"the folder {name} holds {what}")
        return there[0], _regular(members[there[0]])
    kind = format_of(name, asked).replace("tsv", "csv")
    if kind not in STREAMED:
        raise SettingError(f"{name} is of a format ({kind}) that is read into memory only; save it as .jsonl")
    if not are_several(name):
        open_file(name).close()  # says what is wrong with it
        return kind, [name]
    files = _regular(_inside(name, kind) if is_folder else sorted(glob.glob(name, recursive=True)))
    if not files:
        what = f"the folder {name} holds no {kind} files" if is_folder else f"no file fits the pattern {name}"
        raise DataError(f"{what}; check the path")
    return kind, files


def _regular(paths: Sequence[str]) -> list[str]:
    """Those that are files; others, such as named pipes, are never opened, and named in a warning."""
    odd = [path for path in paths if not os.path.isfile(path) and not os.path.isdir(path)]
    if odd:
        more = f", and {len(odd) - 1} more" if len(odd) > 1 else ""
        warn_caller(
            f"{odd[0]} is skipped{more}: it is a pipe, a device or a link to nothing; save what it "
            "holds as a file, or move it away",
            UserWarning,
        )
    return [path for path in paths if os.path.isfile(path)]


def _inside(folder: str, kind: str) -> list[str]:
    """All in a folder that is called like files of a format, sorted; links never lead in a circle.

    A table that says itself of which files it consists is refused.
    """
    endings = endings_of("csv", "tsv") if kind == "csv" else endings_of(kind)
    found, entered = list[str](), set[str]()
    for root, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(root)
        if os.path.islink(root) and real in entered:
            folders.clear()
            continue
        entered.add(real)
        for table, logged, how in _TABLES:
            if glob.glob(os.path.join(glob.escape(root), logged)):
                raise DataError(
                    f"{root} is {table}, and not all files in it are of its last version: read it with "
                    f"Spark (scan_spark), or give scan_events a list of the files that are ({how})"
                )
        folders[:] = [each for each in folders if each[0] not in "_."]
        found += [
            os.path.join(root, each)
            for each in names
            if each[0] not in "_." and each.lower().endswith(endings)
        ]
    return sorted(found)


# ---------------------------------------------------------------------- reading


def open_file(path: Name, expected: str = "events") -> BufferedReader:
    """Open a file for reading, or say in one sentence why that is not possible."""
    try:
        file = open(name_of(path), "rb")  # noqa: SIM115  # closed by who asked for it
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror or error}") from error
    try:
        if file.peek(1):
            return file
        why = f"is empty; expected {expected} in it"
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
    file.close()
    raise DataError(f"{path} {why}")


def open_text(path: Name, expected: str = "events") -> BufferedReader:
    """Open a file as UTF-8, whether or not it is packed or UTF-16; a byte order mark of UTF-8 stays."""
    file = open_file(path, expected)
    try:
        text = unpacked(file, path)
        start = text.peek(2)[:2]
        if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            stream = pa.transcoding_input_stream(pa.PythonFile(text, mode="r"), "utf-16", "utf-8")
            why = "begins as UTF-16 and is not UTF-16 all through; save it as UTF-8"
            text = BufferedReader(_Made(text, path, stream, why), 1 << 16)
        elif b"\0" in start:
            raise DataError(f"{path} begins like UTF-16 without a byte order mark; save it as UTF-8")
        if not text.peek(1):
            raise DataError(f"{path} holds nothing; expected {expected} in it")
        return text
    except BaseException:
        file.close()
        raise


def text_lines(path: Name, *, expected: str = "events") -> Iterator[tuple[int, str]]:
    """Yield number and text of every line, without its line break; packed files and UTF-16 are fine."""
    with open_text(path, expected) as file:
        for number, line in enumerate(file, start=1):
            yield number, decode(line, path, number).rstrip("\r\n")


def decode(line: bytes, path: Name, number: int) -> str:
    """Decode a line; a byte order mark before the first one is dropped."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path}, line {number}: the text is not UTF-8; save the file as UTF-8") from None


def unpacked(file: BufferedReader, path: Name) -> BufferedReader:
    """What a file holds: itself, or the content of a gzip or zstd file, unpacked as it is read."""
    start = file.peek(4)[:4]
    for magic, codec in _CODECS.items():
        if start.startswith(magic):
            stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), codec)
            why = f"is damaged: it begins as a {codec} file and cannot be unpacked ({{}}); get it anew"
            return BufferedReader(_Made(file, path, stream, why, os.path.getsize(path)), 1 << 16)
    return file


class _Made(io.RawIOBase):
    """What a file holds, unpacked or as UTF-8, up to what is believable."""

    def __init__(self, file: Any, path: Name, made: Any, why: str, size: float = math.inf) -> None:
        self._file, self._path, self._stream, self._why = file, path, made, why
        self._left, self._parts = max(MOST_BYTES, MOST_TIMES * size), max(MOST_PARTS, PARTS_TIMES * size)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def readinto(self, into: Any) -> int:
        try:
            n = int(self._stream.readinto(into))  # Arrow's read() leaks where it fails
        except (OSError, UnicodeError) as error:
            why = " ".join(str(error).split())[:200]
            raise DataError(f"{self._path} {self._why.replace('{}', why)}") from error
        self._left -= n
        self._parts -= n - len(bytes(into[:n]).translate(None, _BETWEEN))
        if self._left < 0 or self._parts < 0:
            size = f"more than {MOST_TIMES} times its own size"
            what = size if self._left < 0 else "more lines or words than files of its size have"
            raise DataError(
                f"{self._path} holds {what}, as files made to do harm do; if it is meant so, unpack it first"
            )
        return n


# ---------------------------------------------------------------------- writing, all or nothing


@contextlib.contextmanager
def replacing(path: Name) -> Iterator[Path]:
    """Give an empty file beside ``path`` to write to; on success it takes that name, else it is gone.

    Whatever stood there before stays whole until then, and after an error.
    """
    final = Path(os.path.realpath(name_of(path)))  # what a link leads to, and not the link
    if final.exists() and not (final.is_file() or final.is_dir()):
        raise StoreError(f"{path}: cannot be written, it is not a regular file; name one")
    temporary = final.with_name(f".{final.name[:40]}.{secrets.token_hex(6)}.tmp")  # names have 255 bytes
    try:  # from before the file is there, for Ctrl-C may come the moment it is
        with naming_the_disk(path):
            _make(temporary, final)
            yield temporary
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())  # a name that comes before its bytes would be lost with the power
            os.replace(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def _make(temporary: Path, final: Path) -> None:
    """Make a file that may be read by whoever may read the one that it replaces, and nobody else."""
    before = os.stat(final) if final.exists() else None
    file = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if before is None else 0o600)
    if before is not None and hasattr(os, "fchown"):
        with contextlib.suppress(PermissionError):
            os.fchown(file, before.st_uid, before.st_gid)
        ours = os.fstat(file).st_gid == before.st_gid  # another group must not read it
        os.fchmod(file, before.st_mode & (0o7777 if ours else 0o7707))
    os.close(file)


def write_atomically(path: Name, text: str) -> None:
    """Write text, so that readers see the old file or the whole new one and never a part."""
    try:
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as problem:
        raise StoreError(f"{name_of(path)}: cannot be written ({problem.strerror or problem})") from None
