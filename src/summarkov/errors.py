"""What can go wrong, as one tree.

::

    SummarkovError
    ├── DataError          the events cannot be read or used as they are
    │   └── UnknownLabelError   a label that the vocabulary does not hold
    ├── SettingError       a parameter has a value that makes no sense
    │   └── TooLargeError       the counts asked for would not fit in memory
    ├── NotFittedError     a method that needs a fitted model
    ├── MissingLibraryError     an optional library is not installed
    └── StoreError         a model file that is damaged, foreign or of a later version; a disk that is full

    UserWarning
    └── TiesWarning        many events have the place of the one before, and nothing says what that means

Every message is one sentence that says what is wrong and what to do about it. ``DataError`` and
``SettingError`` are also ``ValueError``, so code that knows nothing of this library can catch them.
"""

from __future__ import annotations

import copyreg
import difflib
import errno
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from summarkov.wording import END

#: How long names may be, and how many, for one that is most like another to be looked for.
_LONGEST_NAME, _MOST_NAMES = 100, 1000


class SummarkovError(Exception):
    """Anything that this library reports to its user."""

    def __reduce__(self) -> tuple[Any, ...]:  # an error may have to cross to another process
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class DataError(SummarkovError, ValueError):
    """The events cannot be read or used as they are."""


class SettingError(SummarkovError, ValueError):
    """A parameter has a value that makes no sense."""


class TooLargeError(SettingError):
    """The counts asked for would not fit in memory."""


class NotFittedError(SummarkovError, AttributeError):
    """A method that needs a fitted model was called on one that is not."""


class MissingLibraryError(SummarkovError, ImportError):
    """An optional library is not installed.

    >>> print(MissingLibraryError("a figure", "matplotlib", "plot"))
    a figure needs matplotlib; install it with: pip install "summarkov[plot]" (in a clone: pip install -e
    ".[plot]")
    """

    def __init__(self, purpose: str, library: str, extra: str) -> None:
        super().__init__(
            f'{purpose} needs {library}; install it with: pip install "summarkov[{extra}]" '
            f'(in a clone: pip install -e ".[{extra}]")'
        )


class StoreError(SummarkovError, ValueError):
    """A model file is damaged, foreign or of a later version; or there is no room to write one."""

    @classmethod
    def expected(cls, what: str, found: object) -> StoreError:
        """What should stand in a file, and what does.

        >>> print(StoreError.expected("a list", {"a": 1}))
        expected a list, found {"a": 1}
        """
        import json

        text = json.dumps(found, ensure_ascii=False, default=str)
        return cls(f"expected {what}, found {text[:60]}{'...' if len(text) > 60 else ''}")


@contextmanager
def place(where: str) -> Iterator[None]:
    """Around the reading of a part of a file: say where in it something is wrong.

    >>> with place("model.json"), place(".targets[0]"):
    ...     raise StoreError("'score' is missing")
    Traceback (most recent call last):
        ...
    summarkov.errors.StoreError: model.json.targets[0]: 'score' is missing
    """
    try:
        yield
    except StoreError as problem:
        told = str(problem)
        raise StoreError(where + (told if told[:1] in (".", "[", ":") else f": {told}")) from None


class TiesWarning(UserWarning):
    """Many events have the place of the one before, and nothing says whether that is their order."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn of something in the line of code, outside of this library, that has asked for it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    """Whether a module is of this library, or stands between it and whoever calls it."""
    return module.partition(".")[0] in ("summarkov", "contextlib")


@contextmanager
def optional_library(purpose: str, library: str, extra: str) -> Iterator[None]:
    """Around the import of an optional library: where it is missing, say what needs it and how to install it.

    ``purpose`` is what was asked for, and ``extra`` the name of the extra that brings the library.
    """
    try:
        yield
    except ImportError as missing:
        raise MissingLibraryError(purpose, library, extra) from missing


@contextmanager
def naming_the_disk(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of a disk without room what is written to it, ``path``."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in (errno.EFBIG, errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreError(
            f"{os.fspath(path)}: cannot be written ({problem.strerror}); make room on its disk, or write "
            "elsewhere (a limit of the process is raised by ulimit -f)"
        ) from problem


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known name most like ``name``, or nothing.

    >>> nearest("protset", ["riot", "protest"])
    "; did you mean 'protest'?"
    """
    if len(name) > _LONGEST_NAME:
        return ""
    alike = (other for other in islice(known, _MOST_NAMES) if len(other) <= _LONGEST_NAME)
    found = difflib.get_close_matches(name, alike, n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


class UnknownLabelError(DataError):
    """A label that the vocabulary does not hold.

    >>> UnknownLabelError("protset", ["riot", "protest"]).args[0]
    "unknown label 'protset'; did you mean 'protest'?"
    """

    def __init__(self, label: str, known: Iterable[str]) -> None:
        known = [name for name in known if name != END]  # which is no event that anybody gives
        hint = nearest(label, known)
        if not hint and known:
            shown = ", ".join(repr(k) for k in known[:8])
            hint = f"; the labels are {shown}{', ...' if len(known) > 8 else ''}"
        super().__init__(f"unknown label {label!r}{hint}")
        self.label = label
