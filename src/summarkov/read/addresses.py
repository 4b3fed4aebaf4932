"""Addresses: files that are not of this machine, such as ``s3://bucket/log.csv``, by Arrow's file systems.

Where such a store is and who may enter it is told as its own tools tell it: by environment variables
(``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ...), by the role of the machine, or in the address
(``s3://bucket/log?endpoint_override=host:port&scheme=http``).
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
from io import BufferedReader
from pathlib import PurePath
from typing import Any

from summarkov.arrow import fs, pa
from summarkov.errors import DataError, StoreError

Path = str | os.PathLike[str]

#: What comes before the path in an address.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
#: The same once pathlib has made a path of it, which leaves one slash of two.
_AS_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
#: Those that Arrow knows.
_KNOWN = "s3://, gs://, abfss://, hdfs:// and file://"


def name_of(path: Path) -> str:
    """What a file is called, also where somebody made a ``pathlib.Path`` of an address.

    >>> from pathlib import PurePosixPath
    >>> name_of(PurePosixPath("s3://bucket/log.csv")), name_of("log.csv")
    ('s3://bucket/log.csv', 'log.csv')
    """
    name = os.fsdecode(path)
    if not isinstance(path, PurePath) or not _AS_PATH.match(path.as_posix()) or os.path.exists(name):
        return name
    scheme, _, inside = path.as_posix().partition(":/")
    return f"{scheme}://{'/' if scheme.lower() == 'file' else ''}{inside}"


def is_address(path: Path) -> bool:
    """Whether this is the address of a file that is not of this machine.

    >>> is_address("s3://bucket/log.csv"), is_address("file:///log.csv"), is_address("C:/log.csv")
    (True, False, False)
    """
    found = _SCHEME.match(name_of(path))
    return found is not None and found[1].lower() != "file"


def local_name(path: Path) -> str:
    """The name of a file as the machine knows it: ``file://`` addresses become paths, all else stays.

    >>> local_name("file:///data/my%20log.csv"), local_name("log.csv")
    ('/data/my log.csv', 'log.csv')
    """
    name = name_of(path)
    if not name.lower().startswith("file://"):
        return name
    return str(_at(name)[1])


def open_address(address: str) -> BufferedReader:
    """Open a file for reading; an OSError if that is not possible."""
    file: Any = arrow_file(address)
    return BufferedReader(file, 1 << 20)


def arrow_file(path: str) -> pa.NativeFile:
    """A file as Arrow reads it best; an OSError if that is not possible."""
    if not is_address(path):
        return pa.OSFile(os.fsencode(path))
    system, inside = _at(path)
    return system.open_input_file(inside)


def size_of(path: Path) -> int:
    """The bytes of a file, wherever it is."""
    if not is_address(path):
        return os.path.getsize(path)
    system, inside = _at(name_of(path))
    return int(system.get_file_info(inside).size or 0)


def files_at(address: str) -> list[str] | None:
    """The addresses of all files in a folder and its subfolders, or of a pattern; None if it is a file."""
    start, question, settings = address.partition("?")
    pattern = None
    if any(mark in start for mark in "*["):
        pattern = start
        start = re.split(r"[*\[]", start, maxsplit=1)[0].rpartition("/")[0]
    system, inside = _at(start + question + settings)
    try:
        if pattern is None and system.get_file_info(inside).type == fs.FileType.File:
            return None
        found = system.get_file_info(fs.FileSelector(inside, recursive=True, allow_not_found=True))
    except OSError as error:
        raise DataError(f"{address} cannot be looked at: {_said(error)}") from error
    root = start.rstrip("/")
    names = sorted(
        root + info.path[len(inside.rstrip("/")) :] for info in found if info.type == fs.FileType.File
    )
    if pattern is not None:
        names = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
    elif not names:
        raise DataError(f"there is no file or folder {address}; check the address")
    return [name + question + settings for name in names]


def send(file: Path, address: str) -> None:
    """Write a file of this machine to an address: it is there when all of it is, and not before."""
    system, path = _at(address)
    try:
        with open(file, "rb") as source, system.open_output_stream(path) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    except OSError as error:
        raise StoreError(f"{address}: cannot be written ({_said(error)})") from error


def plain_name(path: Path) -> str:
    """A name without the settings that an address may end in, for what the end of a name tells.

    >>> plain_name("s3://bucket/log.csv?region=eu-west-1")
    's3://bucket/log.csv'
    """
    name = name_of(path)
    return name.partition("?")[0] if is_address(name) else name


def _at(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        system, path = fs.FileSystem.from_uri(address)
    except (OSError, ValueError, NotImplementedError) as error:
        raise DataError(
            f"{address} is no address that can be read ({_said(error)}); Arrow knows {_KNOWN}"
        ) from error
    return system, str(path)


def _said(error: Exception) -> str:
    """The first sentence of an error of Arrow."""
    return " ".join(str(error).split())[:200]
