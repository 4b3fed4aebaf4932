"""Answers and errors as bytes, to be sent from other processes or kept on disk: plain data, and never code.

An answer is a tree of tuples, lists and some dataclasses over numbers, texts and arrays. Its shape goes as
JSON, and then its arrays one after the other, each as a tensor of Arrow's IPC format.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from summarkov import errors
from summarkov.arrow import pa
from summarkov.errors import SettingError, SummarkovError

Kind = TypeVar("Kind", bound=type)

#: The dataclasses that answers may hold, by name.
_KINDS: dict[str, Any] = {}
#: Arrays of other things than numbers and truth values go item by item.
_NUMBERS = "iuf"


def travels(kind: Kind) -> Kind:
    """Let a dataclass be part of answers, under its name."""
    _KINDS[kind.__name__] = kind
    return kind


def pack(answer: object) -> bytes:
    """An answer as bytes.

    >>> unpack(pack((1, [0.5, "a"], np.arange(3))))
    (1, [0.5, 'a'], array([0, 1, 2]))
    """
    arrays: list[npt.NDArray[Any]] = []
    tree = json.dumps(_tree(answer, arrays)).encode()
    stream = pa.BufferOutputStream()
    for array in (np.frombuffer(tree, np.uint8), *arrays):
        pa.ipc.write_tensor(pa.Tensor.from_numpy(np.ascontiguousarray(array)), stream)
    message: bytes = stream.getvalue().to_pybytes()
    return message


def unpack(message: bytes) -> Any:
    """The answer that :func:`pack` was given."""
    stream = pa.BufferReader(message)
    arrays = (pa.ipc.read_tensor(stream).to_numpy().copy() for _ in itertools.count())
    return _value(json.loads(next(arrays).tobytes()), arrays)


def _tree(value: object, arrays: list[npt.NDArray[Any]]) -> Any:
    """What JSON can hold: values, and lists that begin with the name of what they stand for."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in _NUMBERS:
        arrays.append(value)
        return ["array", list(value.shape)]
    if isinstance(value, np.ndarray) and value.dtype == bool:
        arrays.append(value.astype(np.uint8))
        return ["flags", list(value.shape)]
    if isinstance(value, np.ndarray):
        return ["objects", list(value.shape), *(_tree(each, arrays) for each in value.ravel().tolist())]
    name = type(value).__name__
    if isinstance(value, list | tuple) and name in ("list", "tuple"):
        return [name, *(_tree(each, arrays) for each in value)]
    if _KINDS.get(name) is type(value):
        return [name, *(_tree(getattr(value, field.name), arrays) for field in fields(_KINDS[name]))]
    raise SettingError(
        f"a {name} cannot be sent from where events are; the states of a summary of your own must be texts, "
        "numbers and tuples of them there, as for saving"
    )


def _value(tree: Any, arrays: Iterator[npt.NDArray[Any]]) -> Any:
    if not isinstance(tree, list):
        return tree
    name, *rest = tree
    if name in ("array", "flags"):
        array = next(arrays).reshape(rest[0])  # Arrow knows no array of no axes
        return array if name == "array" else array.view(bool)
    if name == "objects":
        shape, *items = rest
        objects = np.empty(len(items), object)
        for at, each in enumerate(items):  # one by one: NumPy would take tuples for rows
            objects[at] = _value(each, arrays)
        return objects.reshape(shape)
    values = [_value(each, arrays) for each in rest]
    if name == "list":
        return values
    return tuple(values) if name == "tuple" else _KINDS[name](*values)


def pack_error(error: SummarkovError) -> bytes:
    """An error as bytes: what it is, what it says, and its attributes that are text."""
    name = next(kind.__name__ for kind in type(error).__mro__ if vars(errors).get(kind.__name__) is kind)
    told = {name: value for name, value in vars(error).items() if isinstance(value, str)}
    return json.dumps([name, str(error), told]).encode()


def unpack_error(message: bytes) -> SummarkovError:
    """The error that :func:`pack_error` was given.

    >>> unpack_error(pack_error(SettingError("alpha must be positive")))
    SettingError('alpha must be positive')
    """
    name, text, told = json.loads(message)
    kind = vars(errors)[name]
    if not (isinstance(kind, type) and issubclass(kind, SummarkovError)):
        raise TypeError(f"{name} is none of our errors")
    error = kind.__new__(kind, text)  # not all are made from what they say
    vars(error).update(told)
    return error


# ---------------------------------------------------------------------- kept on disk


def kept_answer(path: Path | None) -> Any:
    """An answer that was kept, or None; also None if it is not what was kept."""
    if path is None or not path.is_file():
        return None
    content = path.read_bytes()
    digest, message = content[: hashlib.sha256().digest_size], content[hashlib.sha256().digest_size :]
    return unpack(message) if hashlib.sha256(message).digest() == digest else None


def keep_answer(path: Path | None, answer: object) -> None:
    if path is None:
        return
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    message = pack(answer)
    unfinished.write_bytes(hashlib.sha256(message).digest() + message)
    os.replace(unfinished, path)


def question_name(*asked: object) -> str | None:
    """The name of a question: a checksum of all that it holds; None if that is not plain data."""
    digest = hashlib.sha256()
    try:
        spell(asked, digest)
    except NotPlainError:
        return None
    return digest.hexdigest()[:40]


class NotPlainError(Exception):
    """A question that holds more than plain data, such as a function of the user's."""


def spell(value: object, digest: Any) -> None:
    """Tell a checksum all that a question depends on."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        digest.update(f"array {value.dtype.str} {value.shape} ".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif value is None or isinstance(value, str | bytes | bool | int | float | np.generic):
        digest.update(f"{type(value).__name__} {value!r} ".encode())
    elif isinstance(value, tuple | list):
        digest.update(f"{type(value).__name__} {len(value)} ".encode())
        for each in value:
            spell(each, digest)
    elif is_dataclass(value) and re.match(r"summarkov\.", type(value).__module__):
        digest.update(f"{type(value).__qualname__} ".encode())
        for field in fields(value):
            spell((field.name, getattr(value, field.name)), digest)
    else:
        raise NotPlainError(type(value).__name__)
