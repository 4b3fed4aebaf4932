"""Which files a path means: one, those of a folder or of a pattern, or several by their names."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence

from summarkov.errors import DataError, SettingError, warn_caller
from summarkov.read.addresses import Path, files_at, is_address, local_name, plain_name
from summarkov.read.files import FORMATS, STREAMED, endings_of, format_of, open_file

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


def are_several(path: Path) -> bool:
    """Whether a path means a folder or a pattern, and not one file."""
    name = local_name(path)
    if is_address(name):
        return files_at(name) is not None
    return os.path.isdir(name) or (not os.path.exists(name) and glob.has_magic(name))


def find_files(paths: Sequence[Path], format: str) -> list[str]:
    """The files that are meant: single ones, those of folders and their subfolders, or of patterns, in order.

    In folders, files are known by the ends of their names, and names that begin with ``_`` or ``.`` are left
    out, as Arrow and Spark do. Links are followed; a file that is there by several names is read once.
    """
    names = [name for path in paths for name in _find(path, format)]
    first = dict[str, str]()
    for name in names:
        first.setdefault(name if is_address(name) else os.path.realpath(name), name)
    return [*first.values()]


def _find(path: Path, format: str) -> list[str]:
    name = local_name(path)
    listed = _listed(name)
    if listed is not None:
        endings = _endings(format)
        found = _regular([part for part in listed if plain_name(part).lower().endswith(endings)])
        if not found:
            named = " or ".join(FORMATS["csv"] + FORMATS["tsv"] if format == "csv" else FORMATS[format])
            raise DataError(f"there are no files that end in {named} in the folder {name}")
        return found
    if not is_address(name) and not os.path.exists(name) and glob.has_magic(name):
        found = _regular(part for part in sorted(glob.glob(name, recursive=True)) if not os.path.isdir(part))
        if not found:
            raise DataError(f"no file fits the pattern {name}; check the path")
        return found
    open_file(name).close()  # says what is wrong with it
    return [name]


def _regular(paths: Iterable[str]) -> list[str]:
    """Those that are files; others, such as named pipes, are never opened, and named in a warning."""
    paths = list(paths)
    odd = {path: None for path in paths if not _is_file(path)}
    if odd:
        more = f", and {len(odd) - 1} more" if len(odd) > 1 else ""
        warn_caller(
            f"{next(iter(odd))} is skipped{more}: it is a pipe, a device or a link to nothing; save what it "
            "holds as a file, or move it away",
            UserWarning,
        )
    return [path for path in paths if path not in odd]


def _is_file(path: str) -> bool:
    return is_address(path) or os.path.isfile(path)


def stream_format(paths: Sequence[Path], asked: str | None) -> str:
    """The format of files, of patterns or in folders: "parquet", "csv" or "jsonl"."""
    kinds = sorted({_format(local_name(path), asked) for path in paths})
    if len(kinds) != 1:
        raise DataError(f"these files are of several formats, {' and '.join(kinds)}; name those of one")
    return kinds[0]


def _format(name: str, asked: str | None) -> str:
    listed = _listed(name) if asked is None else None
    if listed is not None:
        files = [plain_name(part).lower() for part in listed if _is_file(part)]
        found = [kind for kind in STREAMED if any(part.endswith(_endings(kind)) for part in files)]
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


def _endings(format: str) -> tuple[str, ...]:
    return endings_of("csv", "tsv") if format == "csv" else endings_of(format)


def _listed(name: str) -> list[str] | None:
    """The files of a folder, here or at an address, sorted, without hidden ones; None if it is no folder.

    Those of a table that says itself which files it consists of are refused.
    """
    if is_address(name):
        files = files_at(name)
        start = plain_name(name).partition("*")[0].rpartition("/")[0] if "*" in name else plain_name(name)
    else:
        files, start = _walked(name) if os.path.isdir(name) else None, name
    if files is None:
        return None
    shown, inside = [], len(start.rstrip("/" + os.sep)) + 1
    for file in files:
        below = plain_name(file)[inside:].replace(os.sep, "/")
        for pattern, table, how in _TABLES:
            if at := re.search(rf"(?:^|/){pattern}", below):
                folder = os.path.join(start, below[: at.start()]).rstrip("/")
                raise DataError(
                    f"{folder} is {table}, and not all files in it are of its last version: read it with "
                    f"Spark (scan_spark), or give scan_events a list of the files that are ({how})"
                )
        if not re.search(r"(?:^|/)[_.]", below):
            shown.append(file)
    return shown


def _walked(folder: str) -> list[str]:
    """All that is in a folder and in those in it; links are followed, but never in a circle."""
    found, entered = list[str](), set[str]()
    for root, folders, names in os.walk(folder, followlinks=True):
        entered.add(os.path.realpath(root))
        links = [name for name in folders if os.path.islink(os.path.join(root, name))]
        new = [name for name in links if os.path.realpath(os.path.join(root, name)) not in entered]
        folders[:] = [*new, *(name for name in folders if name not in links)]
        found += [os.path.join(root, name) for name in names]
    return sorted(found)
