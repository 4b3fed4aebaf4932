"""The command line: parse, call, print. The only room that knows typer and rich.

This file holds only what must be ready before anything else is imported.
"""

from __future__ import annotations

import signal
from types import FrameType

#: The signals that interrupted this process.
came: list[int] = []


class Interrupted(KeyboardInterrupt):
    """Of a kind of its own, for Python kills a process that met a plain one in ``exec``, caught or not."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """Interrupt; of signals other than Ctrl-C only the first, for the next would hit the cleaning up."""
    came.append(number)
    if len(came) == 1 or number == signal.SIGINT:
        raise Interrupted


def take_signals() -> None:
    """From now on what ``kill`` and a closed terminal send interrupts as Ctrl-C does, and cleans up.

    A signal that is ignored already, as after ``nohup``, stays so.
    """
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        number = getattr(signal, name, None)  # there is no SIGHUP on Windows
        if number and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, interrupt)
