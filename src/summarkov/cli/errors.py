"""Whatever goes wrong: one sentence on stderr and exit code 2, never a traceback."""

from __future__ import annotations

import ast
import contextlib
import errno
import functools
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from summarkov.cli import came
from summarkov.cli.page import errors
from summarkov.errors import SummarkovError
from summarkov.wording import visible

#: What typer raises for a wrong command line. (Where the class lives depends on typer's version.)
_UsageError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
WRONG, INTERRUPTED = 2, 130
#: Narrower pages than this are not believed; longer messages are cut, for a label may be of any size.
_NARROWEST, _LONGEST = 20, 1000
#: What Python calls otherwise than the command line.
_OTHER = {
    "attributes": "attribute",
    "cuts": "cut",
    "into": "map",
    "label": "map",
    "n_jobs": "jobs",
    "n_topics": "topics",
    "targets": "target",
}
#: Settings of Python's in a message: ``name=``, ``name='value'``, ``name=[...]``; or a name with "_" in it,
#: or one that a message begins with.
_SETTING = re.compile(
    r"(?<![^ ;,])(\w+)=(False|True|'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\})?(?![^ ;,.:])|"
    r"(?<![^ ;,])([a-z]+_[a-z]+)\b|^([a-z]+)(?= must be | names )"
)


class Commands(TyperGroup):
    """The commands, with every failure turned into a sentence."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and end the process."""
        if os.environ.get("COLUMNS", "").isdigit() and int(os.environ["COLUMNS"][:9]) < _NARROWEST:
            del os.environ["COLUMNS"]  # by which a table would have no room for anything
        for name in ("stdin", "stdout", "stderr"):
            if getattr(sys, name) is None:  # closed, as by >&-; the next file must not take its place
                setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115  # kept
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a label that the terminal has no letters for is no failure
                stream.reconfigure(errors="replace")
        try:
            code = self._run(*args, **{**extra, "standalone_mode": False})
        except KeyboardInterrupt:
            code = INTERRUPTED
        if came:  # a result, if there is one, is about what was finished before
            code = 128 + came[0]
        if code == INTERRUPTED or came:
            report("interrupted")
        sys.exit(code)

    def _run(self, *args: Any, **extra: Any) -> int:
        """Run a command, say what went wrong unless a signal came, and return the exit code."""
        try:
            code = super().main(*args, **extra)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read the output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return WRONG
        except typer.Abort:
            return INTERRUPTED
        except Exception as problem:
            if os.environ.get("SUMMARKOV_TRACEBACK"):
                raise
            if not came:
                report(sentence(problem))
            return WRONG
        return code if isinstance(code, int) else 0


def report(message: str, *, name: str = "Error") -> None:
    """Say something that is not a result, on stderr."""
    if len(message) > _LONGEST:
        message = f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"
    words = Text.assemble((f"{name}: ", "bold red" if name == "Error" else "bold"), visible(message))
    with contextlib.suppress(OSError):  # where a terminal was closed nobody reads it
        errors().print(words, soft_wrap=not errors().is_terminal)


@contextlib.contextmanager
def reporting() -> Iterator[None]:
    """Say on stderr what something warns of, once it is done."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        yield
    for note in notes:
        report(sentence(note.message) if isinstance(note.message, Exception) else note.message, name="Note")


def sentence(problem: Exception) -> str:
    """What went wrong, in one sentence."""
    if isinstance(problem, SummarkovError | Warning):
        words = str(problem).replace("BSuMM, OSuMM, CSuMM or TreeSuMM", "--model bsumm, osumm, csumm or tree")
        words = _SETTING.sub(_as_option, words)
        return re.sub(r"\bNone\b", "none", words) if words.startswith("--") else words
    if isinstance(problem, _UsageError):
        return _usage(problem)
    if isinstance(problem, UnicodeEncodeError):
        half = visible(problem.object[problem.start : problem.end])
        return f"a label holds '{half}', half of a character, which this file cannot hold; mend the data"
    if isinstance(problem, OSError):
        where = f"{problem.filename}: " if problem.filename else ""
        if problem.errno in (errno.ENOSPC, errno.EDQUOT) and not where:
            where = "the output cannot be written: "
        return f"{where}{(problem.strerror or str(problem)).lower()}"
    if isinstance(problem, MemoryError):
        return "there is not enough memory for this; give it less data, or ask for less at once"
    return (
        f"summarkov stumbled over something it did not expect ({type(problem).__name__}: {problem}); "
        "set SUMMARKOV_TRACEBACK=1 to see where, and please report it"
    )


def _as_option(found: re.Match[str]) -> str:
    """A setting of Python's as the command line takes it; left as it is where it is none of its options.

    >>> _SETTING.sub(_as_option, "pass ties='in row order', or attributes=['a', 'b']; min_count must be 1")
    "pass --ties 'in row order', or --attribute a --attribute b; --min-count must be 1"
    """
    setting, value = found[1] or found[3] or found[4], found[2]
    if setting == "order_by" and value == "False":
        return "--in-order"
    option = f"--{_OTHER.get(setting, setting).replace('_', '-')}"
    try:
        values = ast.literal_eval(value or "True")
    except (SyntaxError, ValueError):
        return found[0]
    if option not in _options():
        return found[0]
    if isinstance(values, dict):  # where numbers are cut
        values = [f"{column}={','.join(f'{number:g}' for number in each)}" for column, each in values.items()]
    if isinstance(values, str | list):
        each = [values] if isinstance(values, str) else values
        return " ".join(f"{option} {shlex.quote(str(one))}" for one in each)
    return option


@functools.cache
def _options() -> frozenset[str]:
    """The options that all commands have together."""
    from summarkov.cli.main import COMMANDS, SHARED

    return frozenset(re.findall(r"(?m)^\*?(--[\w-]+)", "\n".join([*SHARED.values(), *COMMANDS.values()])))


def _usage(problem: Any) -> str:
    """A wrong command line, and where to look up the right one."""
    message = str(problem.format_message()).strip().rstrip(".").replace(". Did you mean", "; did you mean")
    message = message[:1].lower() + message[1:]
    context = getattr(problem, "ctx", None)
    if context is None:
        return message
    return f"{message}{' See' if message.endswith('?') else '; see'} {context.command_path} --help"
