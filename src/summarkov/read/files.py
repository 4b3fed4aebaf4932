"""Files, here or in an object store: which ones a path means, their format and text, and writing them whole.

Addresses such as ``s3://bucket/log.csv`` are those of Arrow's file systems. Who may enter such a store is
told as its own tools tell it: by environment variables (``AWS_ACCESS_KEY_ID``, ...), by the role of the
machine, or in the address (``s3://bucket/log?endpoint_override=host:port&scheme=http``).
"""

from __future__ import annotations

import codecs
import contextlib
import fnmatch
import glob
import io
import math
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path, PurePath
from typing import Any, Literal

from summarkov.arrow import fs, pa
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
#: What comes before the path in an address; also once pathlib has made a path of it, which drops a slash.
_SCHEME, _IN_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://"), re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
#: Tables whose folders also hold files that are no longer theirs: what is in such a folder, how the table is
#: called, and how to find out about its files.
_TABLES = (
    (r"_delta_log/.", "a Delta table", "deltalake.DeltaTable(path).file_uris()"),
    (
        r"metadata/[^/]*\.metadata\.json$",
        "an Iceberg table",
        "[task.file.file_path for task in table.scan().plan_files()] of pyiceberg",
    ),
)

# ---------------------------------------------------------------------- names and addresses


def name_of(path: Name) -> str:
    """What a file is called, also where a ``pathlib.Path`` was made of an address; ``file://`` is a path.

    >>> from pathlib import PurePosixPath
    >>> name_of(PurePosixPath("s3://bucket/log.csv")), name_of("file:///data/my%20log.csv")
    ('s3://bucket/log.csv', '/data/my log.csv')
    """
    name = os.fsdecode(path)
    if isinstance(path, PurePath) and not os.path.exists(name) and (made := _IN_PATH.match(path.as_posix())):
        slashes = "///" if made[1].lower() == "file" else "//"
        name = f"{made[1]}:{slashes}{path.as_posix()[made.end() :]}"
    return _at(name)[1] if name.lower().startswith("file://") else name


def is_address(path: Name) -> bool:
    """Whether this is the address of a file that is not of this machine.

    >>> is_address("s3://bucket/log.csv"), is_address("file:///log.csv"), is_address("C:/log.csv")
    (True, False, False)
    """
    return _SCHEME.match(name_of(path)) is not None


def plain_name(path: Name) -> str:
    """A name without the settings that an address may end in, for what the end of a name tells.

    >>> plain_name("s3://bucket/log.csv?region=eu-west-1")
    's3://bucket/log.csv'
    """
    name = name_of(path)
    return name.partition("?")[0] if is_address(name) else name


def size_of(path: Name) -> int:
    """The bytes of a file, wherever it is."""
    if not is_address(path):
        return os.path.getsize(name_of(path))
    system, inside = _at(name_of(path))
    return int(system.get_file_info(inside).size or 0)


def arrow_file(path: Name) -> pa.NativeFile:
    """A file as Arrow reads it best; an OSError if that is not possible."""
    if not is_address(path):
        return pa.OSFile(os.fsencode(name_of(path)))
    system, inside = _at(name_of(path))
    return system.open_input_file(inside)


def _at(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        system, path = fs.FileSystem.from_uri(address)
    except (OSError, ValueError, NotImplementedError) as error:
        raise DataError(
            f"{address} is no address that can be read ({_short(error)}); Arrow knows s3://, gs://, "
            "abfss://, hdfs:// and file://"
        ) from error
    return system, str(path)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


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
    name = plain_name(path).lower()
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
    return _members(name_of(path)) is not None


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
        first.setdefault(name if is_address(name) else os.path.realpath(name), name)
    return kinds[0], [*first.values()]


def _find(name: str, asked: str | None) -> tuple[str, list[str]]:
    """The format of one path, and its files."""
    members, pattern = _members(name), not is_address(name) and not os.path.isdir(name)
    if members is None or pattern:
        kind = format_of(name, asked).replace("tsv", "csv")
        if kind not in STREAMED:
            raise SettingError(
                f"{name} is of a format ({kind}) that is read into memory only; save it as .jsonl"
            )
        if members is None:
            open_file(name).close()  # says what is wrong with it
            return kind, [name]
        found = _regular(members)
        if not found:
            raise DataError(f"no file fits the pattern {name}; check the path")
        return kind, found
    kinds = {kind: endings_of("csv", "tsv") if kind == "csv" else endings_of(kind) for kind in STREAMED}
    if asked is None:
        files = [plain_name(part).lower() for part in members if is_address(part) or os.path.isfile(part)]
        there = [kind for kind in STREAMED if any(part.endswith(kinds[kind]) for part in files)]
        if not there:
            raise DataError(f"the folder {name} holds no parquet, csv or jsonl files; name one that does")
        if len(there) > 1:
            what = " and ".join(there)
            raise DataError(f"the folder {name} holds {what} files; say which to read with format=")
        asked = there[0]
    kind = format_of(name, asked).replace("tsv", "csv")
    found = _regular(part for part in members if plain_name(part).lower().endswith(kinds.get(kind, ())))
    if not found:
        named = " or ".join(FORMATS["csv"] + FORMATS["tsv"] if kind == "csv" else FORMATS[kind])
        raise DataError(f"there are no files that end in {named} in the folder {name}")
    return kind, found


def _regular(paths: Iterable[str]) -> list[str]:
    """Those that are files; others, such as named pipes, are never opened, and named in a warning."""
    paths = list(paths)
    odd = [path for path in paths if not is_address(path) and not os.path.isfile(path)]
    if odd:
        more = f", and {len(odd) - 1} more" if len(odd) > 1 else ""
        warn_caller(
            f"{odd[0]} is skipped{more}: it is a pipe, a device or a link to nothing; save what it "
            "holds as a file, or move it away",
            UserWarning,
        )
    return [path for path in paths if path not in odd]


def _members(name: str) -> list[str] | None:
    """The files of a folder or a pattern, sorted, in folders without hidden ones; None if it is one file.

    Those of a table that says itself which files it consists of are refused.
    """
    if is_address(name):
        files, start = _files_at(name), re.sub(r"[^/]*[*\[].*", "", plain_name(name))
    elif os.path.isdir(name):
        files, start = _walked(name), name
    elif os.path.exists(name) or not glob.has_magic(name):
        return None
    else:
        return [part for part in sorted(glob.glob(name, recursive=True)) if not os.path.isdir(part)]
    if files is None:
        return None
    inside = len(start.rstrip("/" + os.sep)) + 1
    below = {file: plain_name(file)[inside:].replace(os.sep, "/") for file in files}
    for pattern, table, how in _TABLES:
        at = next(filter(None, (re.search(rf"(?:^|/){pattern}", each) for each in below.values())), None)
        if at:
            folder = os.path.join(start, at.string[: at.start()]).rstrip("/")
            raise DataError(
                f"{folder} is {table}, and not all files in it are of its last version: read it with "
                f"Spark (scan_spark), or give scan_events a list of the files that are ({how})"
            )
    return [file for file, part in below.items() if not re.search(r"(?:^|/)[_.]", part)]


def _walked(folder: str) -> list[str]:
    """All that is in a folder and in those in it; links are followed, but never in a circle."""
    found, entered = list[str](), set[str]()
    for root, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(root)
        if os.path.islink(root) and real in entered:
            folders.clear()
            continue
        entered.add(real)
        found += [os.path.join(root, name) for name in names]
    return sorted(found)


def _files_at(address: str) -> list[str] | None:
    """The addresses of all files in a folder and its subfolders, or of a pattern; None if it is a file."""
    start, question, settings = address.partition("?")
    pattern = start if any(mark in start for mark in "*[") else None
    if pattern:
        start = re.sub(r"/[^/]*[*\[].*", "", start)
    system, inside = _at(start + question + settings)
    try:
        if not pattern and system.get_file_info(inside).type == fs.FileType.File:
            return None
        found = system.get_file_info(fs.FileSelector(inside, recursive=True, allow_not_found=True))
    except OSError as error:
        raise DataError(f"{address} cannot be looked at: {_short(error)}") from error
    root, n = start.rstrip("/"), len(inside.rstrip("/"))
    names = sorted(root + info.path[n:] for info in found if info.type == fs.FileType.File)
    if pattern:
        names = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    elif not names:
        raise DataError(f"there is no file or folder {address}; check the address")
    return [name + question + settings for name in names]


# ---------------------------------------------------------------------- reading


def open_file(path: Name, expected: str = "events") -> BufferedReader:
    """Open a file for reading, or say in one sentence why that is not possible."""
    try:
        raw: Any = arrow_file(path) if is_address(path) else open(name_of(path), "rb", buffering=0)  # noqa: SIM115
        file = BufferedReader(raw, 1 << 20 if is_address(path) else io.DEFAULT_BUFFER_SIZE)
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
            return BufferedReader(_Made(file, path, stream, why, size_of(path)), 1 << 16)
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
            raise DataError(f"{self._path} {self._why.replace('{}', _short(error))}") from error
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

    Whatever stood there before stays whole until then, and after an error. What is written to an address is
    sent there when it is complete.
    """
    if is_address(path):
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, "file")
            yield made
            _send(made, name_of(path))
        return
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


def _send(file: Path, address: str) -> None:
    """Write a file of this machine to an address: it is there when all of it is, and not before."""
    system, path = _at(address)
    try:
        with open(file, "rb") as source, system.open_output_stream(path) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except OSError as error:
        raise StoreError(f"{address}: cannot be written ({_short(error)})") from error


def write_atomically(path: Name, text: str) -> None:
    """Write text, so that readers see the old file or the whole new one and never a part."""
    try:
        with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as problem:
        raise StoreError(f"{name_of(path)}: cannot be written ({problem.strerror or problem})") from None
