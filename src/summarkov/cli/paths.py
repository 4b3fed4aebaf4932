"""Names of files as they were given; of an address, pathlib leaves one slash of two."""

from __future__ import annotations

from pathlib import Path, PurePath


def shown(path: Path) -> str:
    """What a file is called."""
    from summarkov.io.addresses import name_of

    return name_of(path)


def suffix_of(path: Path) -> str:
    """The end of a file's name, such as ".csv"; addresses may have settings after it."""
    from summarkov.io.addresses import plain_name

    return PurePath(plain_name(path)).suffix.lower()


def is_elsewhere(path: Path) -> bool:
    """Whether a file is not of this machine."""
    from summarkov.io.addresses import is_address

    return is_address(path)
