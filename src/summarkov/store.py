"""JSON documents, such as models: read with suspicion, written with a checksum that tells of changes."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import stat
import sys
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, Any, NoReturn

from summarkov.errors import DataError, StoreError
from summarkov.read.addresses import is_address, local_name, name_of, open_address
from summarkov.read.temporary import write_atomically

#: Where a document is: a path, an address, or a file that is open.
Place = str | os.PathLike[str] | IO[Any]

#: The largest count that a file may hold.
_LARGEST = 2**62
#: What a file may have at most: bytes, and values in lists and objects, each of which takes some 100 bytes.
_MOST_BYTES, _MOST_VALUES = 1 << 28, 1 << 24
#: How many of the texts that are allowed are named.
_SHOWN = 20


class Node:
    """A value in a document, together with where it stands, so that every complaint names its place."""

    def __init__(self, value: Any, where: str) -> None:
        self.value, self.where = value, where

    def wrong(self, expected: str) -> NoReturn:
        """Complain."""
        found = json.dumps(self.value, ensure_ascii=False, default=str)
        raise StoreError(
            f"{self.where}: expected {expected}, found {found[:60]}{'...' if len(found) > 60 else ''}"
        )

    def __getitem__(self, name: str) -> Node:
        if not isinstance(self.value, dict):
            self.wrong("an object")
        if name not in self.value:
            raise StoreError(f"{self.where}: {name!r} is missing")
        return Node(self.value[name], f"{self.where}.{name}")

    def __contains__(self, name: str) -> bool:
        return isinstance(self.value, dict) and name in self.value

    def items(self) -> Iterator[tuple[str, Node]]:
        """The entries of an object."""
        if not isinstance(self.value, dict):
            self.wrong("an object")
        return ((name, self[name]) for name in self.value)

    def list(self, size: int | None = None) -> list[Node]:
        """The items of a list, of a given size if one is given."""
        if not isinstance(self.value, list) or (size is not None and len(self.value) != size):
            self.wrong("a list" if size is None else f"a list of {size}")
        return [Node(item, f"{self.where}[{i}]") for i, item in enumerate(self.value)]

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            self.wrong("a text")
        return str(self.value)

    def one_of(self, known: Collection[str]) -> str:
        """One of some texts."""
        if not isinstance(self.value, str) or self.value not in known:
            shown = list(islice(known, _SHOWN + 1))
            self.wrong(f"one of {', '.join(shown[:_SHOWN])}{', ...' if len(shown) > _SHOWN else ''}")
        return self.value

    def label(self, labels: Sequence[str]) -> str:
        """One of the labels, which are sorted and may be many."""
        at = bisect_left(labels, self.text())
        return self.text() if at < len(labels) and labels[at] == self.value else self.one_of(labels)

    def count(self, most: int = _LARGEST) -> int:
        """A whole number from 0 on."""
        if type(self.value) is not int or not 0 <= self.value <= most:
            self.wrong(f"a whole number from 0 to {most}" if most < _LARGEST else "a whole number from 0 on")
        return int(self.value)

    def number(self) -> float:
        """A finite number."""
        if type(self.value) not in (int, float) or not abs(self.value) <= sys.float_info.max:
            self.wrong("a number")
        return float(self.value)


def read_document(path: Place) -> Node:
    """Parse a JSON file; repeated names, NaN and unbounded nesting are refused."""
    name = name_of(path) if isinstance(path, str | os.PathLike) else str(getattr(path, "name", "the file"))
    try:
        value = json.loads(_text(path), object_pairs_hook=_no_repeats, parse_constant=_no_constants)
    except StoreError as problem:
        raise StoreError(f"{name}: {problem}") from None
    except DataError as problem:  # of an address
        raise StoreError(str(problem)) from None
    except FileNotFoundError:
        raise StoreError(f"{name}: there is no such file") from None
    except OSError as problem:
        raise StoreError(f"{name}: cannot be read ({problem.strerror or problem})") from None
    except json.JSONDecodeError as problem:
        if problem.msg == "Extra data":
            raise StoreError(
                f"{name}: more than one JSON value; this is no model, is it a file of events?"
            ) from None
        if problem.msg == "Expecting value" and problem.pos == 0 and problem.doc:
            raise StoreError(f"{name}: not JSON; this is no model, is it a file of events?") from None
        raise StoreError(
            f"{name}: not valid JSON at line {problem.lineno}, column {problem.colno} ({problem.msg}); "
            "was the file cut short?"
        ) from None
    except (UnicodeDecodeError, ValueError) as problem:
        raise StoreError(f"{name}: not a JSON text ({str(problem)[:80]})") from None
    except RecursionError:
        raise StoreError(f"{name}: nested far too deeply to be a model") from None
    if _is_deep(value):
        raise StoreError(f"{name}: nested far too deeply to be a model")
    return Node(value, name)


def _text(path: Place) -> str:
    """The text of a file that is not too large, found out before it is read or parsed."""
    if not isinstance(path, str | os.PathLike):
        return _checked(path.read(_MOST_BYTES + 1))
    if is_address(path):
        with open_address(name_of(path)) as file:
            return _checked(file.read(_MOST_BYTES + 1))
    opened = os.open(
        local_name(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    )  # not to wait for who writes to a pipe
    with open(opened, "rb") as file:
        found = os.fstat(opened)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(found.st_mode):
            raise StoreError("is a pipe or a device; save the model as a file and give that")
        if found.st_size > _MOST_BYTES:
            raise StoreError(f"has {found.st_size >> 20:,} MiB, and a model has {_MOST_BYTES >> 20} at most")
        return _checked(file.read(found.st_size))


def _checked(content: bytes | str) -> str:
    """What a file holds as text, unless that is too much."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    if len(content) > _MOST_BYTES:
        raise StoreError(f"has more than {_MOST_BYTES >> 20} MiB, and a model has fewer")
    if sum(content.count(mark) for mark in (b",", b"[", b"{")) > _MOST_VALUES:
        raise StoreError(f"holds more than {_MOST_VALUES:,} values, and a model has fewer")
    return content.decode("utf-8")


def _is_deep(value: Any, most: int = 100) -> bool:
    """Whether lists and objects stand in each other more than ``most`` times."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def first_repeated(pairs: list[tuple[str, Any]], found: dict[str, Any]) -> str:
    """The first name that stands there again, given the object that holds fewer names than there are pairs.

    An object keeps names in the order of their first places, so the first name that stands elsewhere is a
    repeated one: no table of all names is needed beside the object itself.
    """
    at = next((i for i, name in enumerate(found) if pairs[i][0] is not name), len(found))
    return pairs[at][0]


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise StoreError(f"the name {first_repeated(pairs, found)!r} stands twice in one object")
    return found


def _no_constants(text: str) -> NoReturn:
    raise StoreError(f"{text} is not a number that a model can hold")


def finite(value: Any) -> Any:
    """The same plain values, with None for numbers that are infinite or not known: JSON has none of these.

    >>> finite({"ratio": math.inf, "limits": (0.5, math.nan)})
    {'ratio': None, 'limits': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_sealed(path: Place, document: Mapping[str, Any], indent: int | None = None) -> None:
    """Write a document as JSON, all or nothing, with its checksum as the last entry."""
    sealed = {**document, "checksum": _checksum(document)}
    text = json.dumps(sealed, indent=indent, ensure_ascii=False, allow_nan=False)
    # half a surrogate pair, which UTF-8 cannot hold, becomes JSON's escape of it
    content = text.encode("utf-8", "backslashreplace") + b"\n"
    if isinstance(path, str | os.PathLike):
        write_atomically(path, content.decode("utf-8"))
    else:
        path.write(content.decode("utf-8") if isinstance(path, io.TextIOBase) else content)


def check_seal(document: Node) -> None:
    """Refuse a document that is not what was written; one without a checksum is taken as it is.

    Files are checked in every other way first, so this is for changes that make sense on their own, such as
    another look-back than the one that the counts were made with.
    """
    if "checksum" not in document:  # older than checksums, or its owner knows better
        return
    rest = {name: value for name, value in document.value.items() if name != "checksum"}
    if document["checksum"].value != _checksum(rest):
        raise StoreError(
            f"{document.where}: was changed after it had been written, its checksum does not fit; learn the "
            "model again, or delete 'checksum' if the change is meant"
        )


def _checksum(document: Mapping[str, Any]) -> str:
    """Of the values alone: neither blanks nor the order of names matter."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
