"""Threads to count in."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from summarkov.errors import SettingError
from summarkov.settings import is_whole

#: More threads than any machine has cores.
_MOST = 1024


def pool_of(n_jobs: int) -> ThreadPoolExecutor | Inline:
    """What runs tasks in so many threads."""
    return ThreadPoolExecutor(n_jobs) if n_jobs > 1 else Inline()


class Inline:
    """A pool of no threads."""

    map = staticmethod(map)

    def __enter__(self) -> Inline:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def threads(n_jobs: int | None) -> int:
    """The number of threads asked for."""
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0 or n_jobs < -1:
        raise SettingError(f"n_jobs must be a number of threads, None or -1 for one a core, not {n_jobs!r}")
    if n_jobs > _MOST:
        raise SettingError(f"n_jobs {n_jobs} is too large; it may be {_MOST} at most, or -1 for one a core")
    return (os.cpu_count() or 1) if n_jobs == -1 else n_jobs
