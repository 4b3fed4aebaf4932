"""JSON documents, such as models: read with suspicion, written with a checksum that tells of changes."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import re
import stat
from collections.abc import Mapping
from typing import IO, Any, NoReturn, TypeVar, get_args, overload

from summarkov.errors import StoreError
from summarkov.read.files import name_of, write_atomically

#: Where a document is: a path, or a file that is open.
Place = str | os.PathLike[str] | IO[Any]

T = TypeVar("T")
#: What msgspec calls types, for people.
_TYPES = {"int": "a whole number", "float": "a number", "str": "a text", "array": "a list"}
_TYPES |= {"object": "an object", "bool": "true or false"}
_TYPE = re.compile("`([a-z |]+)`")
#: What a file may have at most: bytes, and values in lists and objects, each of which takes some 100 bytes.
_MOST_BYTES, _MOST_VALUES = 1 << 28, 1 << 24


@overload
def checked(value: Any, kind: type[T]) -> T: ...
@overload
def checked(value: Any, kind: Any) -> Any: ...
def checked(value: Any, kind: Any) -> Any:
    """A plain value as what it should be: structure and types are those of ``kind``, as msgspec reads it.

    >>> checked({"a": [1, "2"]}, dict[str, list[int]])
    Traceback (most recent call last):
        ...
    summarkov.errors.StoreError: [...][1]: expected a whole number, found a text
    """
    import msgspec

    def as_array(kind: Any, value: Any) -> Any:
        """A field that is an array of numbers: nested lists of these."""
        import numpy as np

        (form,) = get_args(get_args(kind)[1])
        found = np.array(value)
        if found.size and not np.can_cast(found.dtype, form, "same_kind"):
            raise ValueError("expected numbers, in lists of equal length")
        return found.astype(form)

    try:
        found = msgspec.convert(value, kind, dec_hook=as_array)
    except UnicodeError:
        raise StoreError("half a character stands where none may be") from None
    except msgspec.ValidationError as problem:
        message, _, where = str(problem).replace("Invalid enum", "unknown").partition(" - at `$")
        missing = message.removeprefix("Object missing required field ")
        if missing != message:
            message = f"'{missing.strip('`')}' is missing"
        else:
            message = _TYPE.sub(_words, message.replace(", got", ", found"))
        raise StoreError(f"{where.rstrip('`')}: {message[0].lower()}{message[1:]}") from None
    return found


def _words(found: re.Match[str]) -> str:
    """The types that msgspec names, for people."""
    return " or ".join(_TYPES.get(each, each) for each in found[1].split(" | "))


def read_document(path: Place) -> tuple[str, Any]:
    """The name of a JSON file and what it holds; repeated names, NaN and unbounded nesting are refused."""
    is_path = isinstance(path, str | os.PathLike)
    name = name_of(path) if is_path else str(getattr(path, "name", "the file"))  # type: ignore[arg-type]
    try:
        value = json.loads(_text(path), object_pairs_hook=_no_repeats, parse_constant=_no_constants)
        if _is_deep(value):
            raise RecursionError
    except StoreError as problem:
        raise StoreError(f"{name}: {problem}") from None
    except FileNotFoundError:
        raise StoreError(f"{name}: there is no such file") from None
    except OSError as problem:
        raise StoreError(f"{name}: cannot be read ({problem.strerror or problem})") from None
    except json.JSONDecodeError as problem:
        raise StoreError(
            f"{name}: not valid JSON at line {problem.lineno}, column {problem.colno} ({problem.msg}); "
            "was the file cut short, or is it a file of events?"
        ) from None
    except (UnicodeDecodeError, ValueError) as problem:
        raise StoreError(f"{name}: not a JSON text ({str(problem)[:80]})") from None
    except RecursionError:
        raise StoreError(f"{name}: nested far too deeply to be a model") from None
    return name, value


def _text(path: Place) -> str:
    """The text of a file that is not too large, found out before it is read or parsed."""
    if not isinstance(path, str | os.PathLike):
        return _checked(path.read(_MOST_BYTES + 1))
    opened = os.open(
        name_of(path), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
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
    """Whether lists and objects stand in each other more than ``most`` times; refuses infinite numbers."""
    level = [value]
    for _ in range(most):
        if any(isinstance(each, float) and math.isinf(each) for each in level):
            raise StoreError("a number is too large for a model to hold")
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def first_repeated(pairs: list[tuple[str, Any]]) -> str | None:
    """The first name that stands there again, if there is one."""
    seen = set[str]()
    return next((name for name, _ in pairs if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise StoreError(f"the name {first_repeated(pairs)!r} stands twice in one object")
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


def check_seal(document: Mapping[str, Any]) -> None:
    """Refuse a document that is not what was written; one without a checksum is taken as it is.

    Files are checked in every other way first, so this is for changes that make sense on their own, such as
    another look-back than the one that the counts were made with.
    """
    if "checksum" not in document:  # older than checksums, or its owner knows better
        return
    rest = {name: value for name, value in document.items() if name != "checksum"}
    if document["checksum"] != _checksum(rest):
        raise StoreError(
            "was changed after it had been written, its checksum does not fit; learn the model again, or "
            "delete 'checksum' if the change is meant"
        )


def _checksum(document: Mapping[str, Any]) -> str:
    """Of the values alone: neither blanks nor the order of names matter."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
