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

#: What ``kill`` and service managers send, and what comes when the terminal is closed (not on Windows).
_NAMES = ("SIGTERM", "SIGHUP")
#: That of the signals that come, while they interrupt.
_lists: list[list[int]] = []


class Interrupted(KeyboardInterrupt):
    """Of a kind of its own, for Python kills a process that met a plain one in ``exec``, caught or not."""


@contextmanager
def interrupting() -> Iterator[list[int]]:
    """While this lasts such a signal interrupts as Ctrl-C does, so that whatever cleans up then does so now.

    Gives the list that signals are put into when they come, Ctrl-C too: an interruption in the middle of an
    import may end as any other error. Of the others only the first interrupts: the next, of which a
    closed terminal sends several, would hit the cleaning up. A signal that is ignored already, as after
    ``nohup``, stays so. Inside of another this gives the list of that one.
    """
    if _lists:
        yield _lists[0]
        return
    came: list[int] = []
    _lists.append(came)

    def interrupt(number: int, frame: FrameType | None) -> None:
        first = not came
        came.append(number)
        if first or number == signal.SIGINT:
            raise Interrupted

    before = {}
    if threading.current_thread() is threading.main_thread():  # the only one that may ask for signals
        for each in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            if signal.getsignal(each) is signal.SIG_DFL:
                before[each] = signal.signal(each, interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
    try:
        yield came
    finally:
        _lists.clear()
        for each, handler in before.items():
            signal.signal(each, signal.SIG_IGN if came else handler)
