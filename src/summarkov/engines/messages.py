"""Answers and errors as bytes, for work that is done in other processes: plain data, and never code.

An answer is a tree of tuples, lists and some dataclasses over numbers, texts and arrays. Its shape goes as
JSON, the numbers of its arrays as they are in memory behind that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from summarkov import errors
from summarkov.errors import SettingError, SummarkovError
from summarkov.scores.sums import ExactSum

Kind = TypeVar("Kind", bound=type)

#: The dataclasses that answers may hold, by name.
_KINDS: dict[str, Any] = {"ExactSum": ExactSum}
#: Arrays of other things than truth values and numbers go item by item.
_NUMBERS = "biuf"


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
    tree = _tree(answer, arrays)
    head = json.dumps([tree, [[array.dtype.str, *array.shape] for array in arrays]]).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *(array.tobytes() for array in arrays)])


def unpack(message: bytes) -> Any:
    """The answer that :func:`pack` was given."""
    start = 8 + int.from_bytes(message[:8], "little")
    tree, about = json.loads(message[8:start])
    return _value(tree, _arrays(message, start, about))


def _tree(value: object, arrays: list[npt.NDArray[Any]]) -> Any:
    """What JSON can hold: values, and lists that begin with the name of what they stand for."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in _NUMBERS:
        arrays.append(value)
        return ["array"]
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
    if name == "array":
        return next(arrays)
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


def _arrays(message: bytes, start: int, about: list[list[Any]]) -> Iterator[npt.NDArray[Any]]:
    """The arrays of a message, in the order in which they were met."""
    for kind, *shape in about:
        dtype = np.dtype(kind)
        n = int(np.prod(shape, dtype=np.int64))
        yield np.frombuffer(message, dtype, n, start).reshape(shape).copy()
        start += n * dtype.itemsize


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
    kind: type[SummarkovError] = getattr(errors, name)
    error = kind.__new__(kind, text)  # not all are made from what they say
    vars(error).update(told)
    return error
