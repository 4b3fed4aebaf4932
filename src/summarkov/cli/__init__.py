"""The command line: parse, call, print. The only room that knows typer and rich.

This file holds only what must be ready before anything else is imported: a signal that asks the program to
end does the same as Ctrl-C.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: The signals that came while they interrupt; None while they do not.
_came: list[int] | None = None


class Interrupted(KeyboardInterrupt):
    """Of a kind of its own, for Python kills a process that met a plain one in ``exec``, caught or not."""


@contextmanager
def interrupting() -> Iterator[list[int]]:
    """While this lasts, what ``kill`` and a closed terminal send interrupts as Ctrl-C does, and cleans up.

    Gives the list of the signals that came: an interruption in the middle of an import may end as any other
    error. Of others than Ctrl-C only the first interrupts: the next would hit the cleaning up. One that is
    ignored already, as after ``nohup``, stays so. Inside of another this gives the list of that one.
    """
    global _came
    if _came is not None:
        yield _came
        return
    came: list[int] = []
    _came = came

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) == 1 or number == signal.SIGINT:
            raise Interrupted

    before = {}
    if threading.current_thread() is threading.main_thread():  # the only one that may ask for signals
        for name in ("SIGTERM", "SIGHUP", "SIGINT"):
            number = getattr(signal, name, None)  # there is no SIGHUP on Windows
            if number and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, interrupt)
    try:
        yield came
    finally:
        _came = None
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if came else handler)
