"""Which files a path means: one, those of a folder or of a pattern, or several by their names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from summarkov.errors import DataError, SettingError
from summarkov.read.addresses import Path, files_at, is_address, local_name, plain_name
from summarkov.read.files import FORMATS, STREAMED, endings_of, format_of, open_file

#: The value of rows that have none, in the name of a folder.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
#: Tables whose folders also hold files that are no longer theirs: what is in such a folder, how the table is
#: called, and how to find out about its files.
_TABLES = {
    "_delta_log": ("a Delta table", "deltalake.DeltaTable(path).file_uris()"),
    "metadata": (
        "an Iceberg table",
        "[task.file.file_path for task in table.scan().plan_files()] of pyiceberg",
    ),
}


@dataclass(frozen=True)
class FoundFiles:
    """Files by name, in order; and further names of the same files, by links, which are left out."""

    paths: list[str]
    repeated: list[str]

    def __str__(self) -> str:
        """What to say of those that are left out."""
        shown = ", ".join(self.repeated[:3]) + (", ..." if len(self.repeated) > 3 else "")
        return f"files that are there by several names, by links, are read once; left out: {shown}"


def are_several(path: Path) -> bool:
    """Whether a path means a folder or a pattern, and not one file."""
    name = local_name(path)
    if is_address(name):
        return files_at(name) is not None
    return os.path.isdir(name) or (not os.path.exists(name) and glob.has_magic(name))


def find_files(path: Path | Sequence[Path], format: str) -> FoundFiles:
    """The files that are meant: one file, those of a folder and its subfolders or of a pattern, or several.

    In folders, files are known by the ends of their names, and names that begin with ``_`` or ``.`` are left
    out, as Arrow and Spark do. Links are followed; a file that is there by several names is read once.
    Several files are read in the order in which they are named.
    """
    if not isinstance(path, str | os.PathLike):
        each = [find_files(one, format) for one in path]
        return _each_once([name for found in each for name in found.paths], ordered=False)
    name = local_name(path)
    endings = endings_of("csv", "tsv") if format == "csv" else endings_of(format)
    if is_address(name):
        listed = files_at(name)
        shown = [] if listed is None else _shown_at(listed, name)
        names = [each for each in shown if plain_name(each).lower().endswith(endings)]
        if listed is not None and not names:
            raise DataError(f"there are no {format} files at {name}; check the address")
        return FoundFiles(names or [name], [])
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
    return FoundFiles([name], [])


def folder_columns(path: str) -> dict[str, str | None]:
    """What the names of the folders of a file tell, as Hive and Spark write them; None for no value.

    >>> folder_columns("lake/region=north%20sea/day=2024-05-01/part-0.parquet")
    {'region': 'north sea', 'day': '2024-05-01'}
    """
    found: dict[str, str | None] = {}
    for folder in re.split(r"[/\\]", plain_name(path))[:-1]:
        name, equals, value = map(unquote, folder.partition("="))
        if name and equals:
            found[name] = None if value == _NO_VALUE else value
    return found


def stream_format(path: Path | Sequence[Path], asked: str | None) -> str:
    """The format of one or several files, of a pattern or in a folder: "parquet", "csv" or "jsonl"."""
    if not isinstance(path, str | os.PathLike):
        kinds = sorted({stream_format(one, asked) for one in path})
        if len(kinds) != 1:
            raise DataError(f"these files are of several formats, {' and '.join(kinds)}; name those of one")
        return kinds[0]
    name = local_name(path)
    listed = files_at(name) if is_address(name) else None
    if asked is None and (listed is not None or os.path.isdir(name)):
        found_here = _files_in(name)[0] if listed is None else _shown_at(listed, name)
        files = [plain_name(part).lower() for part in found_here]
        endings = {kind: endings_of("csv", "tsv") if kind == "csv" else endings_of(kind) for kind in STREAMED}
        found = [kind for kind in STREAMED if any(part.endswith(endings[kind]) for part in files)]
        if not found:
            raise DataError(f"the folder {name} holds no parquet, csv or jsonl files; name one that does")
        if len(found) > 1:
            what = " and ".join(found)
            raise DataError(f"the folder {name} holds {what} files; say which to read with format=")
        return found[0]
    kind = format_of(name, asked)
    kind = "csv" if kind == "tsv" else kind
    if kind not in STREAMED:
        raise SettingError(f"{name} is of a format ({kind}) that is read into memory only; save it as .jsonl")
    return kind


def _shown_at(addresses: Sequence[str], start: str) -> list[str]:
    """The files of a folder somewhere else, without hidden ones; those of a table are refused."""
    inside = plain_name(start).rstrip("/").count("/") + 1
    shown = []
    for address in addresses:
        folders = plain_name(address).split("/")
        for depth, name in enumerate(folders[inside:-1], start=inside):
            if name == "_delta_log" or (name == "metadata" and folders[-1].endswith(".metadata.json")):
                raise _is_table("/".join(folders[:depth]), name)
        if not any(name.startswith(("_", ".")) for name in folders[inside:]):
            shown.append(address)
    return shown


def _is_table(folder: str, name: str) -> DataError:
    table, files = _TABLES[name]
    return DataError(
        f"{folder} is {table}, and not all files in it are of its last version: read it with Spark "
        f"(scan_spark), or give scan_events a list of the files that are ({files})"
    )


def _refuse_tables(folder: str, inside: Sequence[str]) -> None:
    """Refuse to read the files of a table that says itself which of them it consists of."""
    for name in _TABLES:
        if name not in inside:
            continue
        if name == "metadata" and not glob.glob(os.path.join(glob.escape(folder), name, "*.metadata.json")):
            continue  # somebody's folder of that name
        raise _is_table(folder, name)


def _files_in(folder: str) -> tuple[list[str], list[str]]:
    """All files of a folder and of those in it; and links to folders that were entered by another name.

    Links to folders come last, so that what is there by its own name is found by that.
    """
    files, again = list[str](), list[str]()
    entered, links = set[tuple[int | str, int]](), [folder]
    for link in links:  # which grows
        if _identity(link) in entered:
            again.append(link)
            continue
        for root, folders, names in os.walk(link):
            _refuse_tables(root, folders)
            folders[:] = sorted(_shown(folders))
            inside = [os.path.join(root, name) for name in folders]
            links += [path for path in inside if os.path.islink(path)]
            entered.add(_identity(root))
            files += [os.path.join(root, name) for name in _shown(names)]
    return [path for path in files if os.path.isfile(path)], again


def _each_once(paths: Sequence[str], again: Iterable[str] = (), *, ordered: bool = True) -> FoundFiles:
    """Files by their own names where they have one here, else by the first link; sorted, if ``ordered``."""
    first: dict[tuple[int | str, int], str] = {}
    repeated = list(again)
    for path in sorted(paths, key=lambda path: (os.path.realpath(path) != os.path.abspath(path), path)):
        if first.setdefault(_identity(path), path) != path:
            repeated.append(path)
    kept = set(first.values())
    return FoundFiles(
        sorted(kept) if ordered else [path for path in dict.fromkeys(paths) if path in kept], sorted(repeated)
    )


def _identity(path: str) -> tuple[int | str, int]:
    """What tells a file from all others, whatever it is called."""
    if is_address(path):
        return path, 0
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _shown(names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if not name.startswith(("_", ".")))
