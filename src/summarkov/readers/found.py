"""Which files a path means: one, those of a folder, or those of a pattern; each of them once."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from summarkov.errors import DataError
from summarkov.readers.files import FORMATS, open_file
from summarkov.readers.packed import ENDINGS


@dataclass(frozen=True)
class Found:
    """Files by name, in sorted order; and further names of the same files, by links, which are left out."""

    paths: list[str]
    repeated: list[str]

    def __str__(self) -> str:
        """What to say of those that are left out."""
        shown = ", ".join(self.repeated[:3]) + (", ..." if len(self.repeated) > 3 else "")
        return f"files that are there by several names, by links, are read once; left out: {shown}"


def find_files(path: str | os.PathLike[str], format: str) -> Found:
    """The files that a path means: one file, those of a folder and its subfolders, or those of a pattern.

    In folders, files are known by the ends of their names, and names that begin with ``_`` or ``.`` are left
    out, as Arrow and Spark do. Links are followed; a file that is there by several names is read once.
    """
    name = os.fsdecode(path)
    endings = endings_of("csv", "tsv") if format == "csv" else endings_of(format)
    named = " or ".join(FORMATS["csv"] + FORMATS["tsv"] if format == "csv" else FORMATS[format])
    if os.path.isdir(name):
        found, again = _files_in(name)
        found = [part for part in found if part.lower().endswith(endings)]
        if not found:
            raise DataError(f"there are no files that end in {named} in the folder {name}")
        return _each_once(found, again)
    if not os.path.exists(name) and glob.has_magic(name):
        found = [part for part in glob.glob(name, recursive=True) if os.path.isfile(part)]
        if not found:
            raise DataError(f"no file fits the pattern {name}; check the path")
        return _each_once(found)
    open_file(name).close()  # says what is wrong with it
    return Found([name], [])


def endings_of(*formats: str) -> tuple[str, ...]:
    """How the names of files of some formats end. (Parquet packs its columns itself.)"""
    plain = [ending for format in formats for ending in FORMATS[format]]
    packed = () if "parquet" in formats else ENDINGS
    return tuple(ending + more for ending in plain for more in ("", *packed))


def _files_in(folder: str) -> tuple[list[str], list[str]]:
    """All files of a folder and of those in it; and links to folders that were entered by another name.

    Links to folders come last, so that what is there by its own name is found by that.
    """
    files, again = list[str](), list[str]()
    entered, links = set[tuple[int, int]](), [folder]
    for link in links:  # which grows
        if _identity(link) in entered:
            again.append(link)
            continue
        for root, folders, names in os.walk(link):
            folders[:] = sorted(_shown(folders))
            inside = [os.path.join(root, name) for name in folders]
            links += [path for path in inside if os.path.islink(path)]
            entered.add(_identity(root))
            files += [os.path.join(root, name) for name in _shown(names)]
    return [path for path in files if os.path.isfile(path)], again


def _each_once(paths: Iterable[str], again: Iterable[str] = ()) -> Found:
    """Files by their own names where they have one here, else by the first link."""
    first: dict[tuple[int, int], str] = {}
    repeated = list(again)
    for path in sorted(paths, key=lambda path: (os.path.realpath(path) != os.path.abspath(path), path)):
        if first.setdefault(_identity(path), path) != path:
            repeated.append(path)
    return Found(sorted(first.values()), sorted(repeated))


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _shown(names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if not name.startswith(("_", ".")))
