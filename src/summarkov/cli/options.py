"""Options are what --help says of them: every command declares them in its docstring, as a table of text.

A line such as ``--rows N>=0  Show at most N labels; 0 for all. [default: 20]`` is an option,
``file:FILE  Events.`` an argument, ``Reading the events:`` the heading of what follows, and ``<reading>``
stands for a table below that several commands share. What a value is called tells what it is: N is a whole
number, FILE a path. After it, ``...`` means that the option may be repeated, and ``(required)`` at the end
that it must be given.

The tables load nothing, so that --help is instant; a test holds them against the models and ``read_events``.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import typer

from summarkov.cli.page import Document
from summarkov.errors import SettingError, nearest

_FILES = """
    .csv or .tsv (one event per row), .parquet, .xes, .jsonl (one sequence per line), .txt (the same, labels
    separated by blanks) or .spmf, all but .parquet also packed (.gz, .zst)"""

#: Tables that several commands share.
SHARED = {
    "file": f"file:FILE  Events: {_FILES}.",
    "path": f"""file:FILE  Events: {_FILES}; or a folder or quoted pattern of .csv, .tsv, .parquet or .jsonl
    files.""",
    "model": "model:MODEL  A model that 'summarkov learn' saved.",
    "json": "--json  Print one JSON document instead, for programs.",
    "jobs": "--jobs -j N  Threads; -1 for one per core.",
    "safe-csv": """
--safe-csv  In a .csv file for spreadsheets, put ' before texts that these would take for formulas.
""",
    "unknown": """
--unknown error|ignore  What to do with labels that the model does not know: stop, or let them pass as events
    that say nothing. [default: error]
""",
    "within": """
--within N|TIME  Shuffle events within blocks of N positions, or of a time such as 7d. Default: 4 times the
    longest look-back.
""",
    "sets": """
Sets of labels that keep a promise:
--sets FILE  Say of which labels the next event is one, as often as --coverage promises. FILE has events that
    the model was not learned from, read as those to predict are.
--coverage P  With --sets: what is promised, above 0 and below 1. Default 0.9.
""",
    "reading": """
Reading the events:
--case COLUMN  Column that names the sequence.
--event COLUMN...  Column of the event's label; repeat it to join several to one label.
--order-column COLUMN...  Column that orders the events of a sequence (time or number), else the order of the
    rows; repeat it for columns to sort by where the first has equal values.
--in-order  The rows are in order, whatever their columns are called.
--date-format FORMAT  How dates are written, such as '%d/%m/%Y %H:%M', if not as ISO has it.
--weight COLUMN  Column of how much each sequence counts; constant per sequence.
--lifecycle NAME  Keep only events of this lifecycle, such as complete.
--missing error|skip|LABEL  What to do with events without a label, or a label for them. skip also leaves out
    rows without a case. [default: error]
--drop-duplicates  Leave out rows of the case, event and place of an earlier row.
--separator TEXT  What stands between the labels of several columns. [default: +]
--ties KIND  What events with the same place are: 'in row order' after each other, 'together', or an error. If
    not given they are taken in row order, with a note if they are many.
--times  Keep the times of events. A look-back in time keeps them, too.
--attribute COLUMN...  Column of an attribute, constant per sequence; repeat for more.
--attributes FILE  Table of attributes, one row per sequence (.csv, .tsv, .parquet).
--cut COLUMN=N,N...  Cut numbers here, as age=30,50; COLUMN=none leaves them as they are.
--missing-attributes value|error  Whether a missing attribute is a value of its own. [default: value]
--format FORMAT  csv, tsv, parquet, jsonl, text, xes or spmf, where the file's name does not tell.
--cut-off  Cases are windows onto something that goes on: do not count their ends.
--closed-by LABEL...  Only a case whose last event is this one is complete; repeat for more labels.
--open-since TIME  A case with an event at this time or later may go on.
--ends-column COLUMN  Column that is true for complete cases, else false.
Preparing the events:
--session-gap TIME  Begin a new sequence after such a time without events: 30min, 2h, 1d, or a number in the
    unit of the order column.
--map FILE  Rename labels as this JSON file says: {"old": "new", ...}.
--min-count N  Make one label, "(rare)", of all that occur fewer than N times; with a model, of all that the
    model does not know.
--drop-first  Leave out the first event of every case.
--collapse  Keep only the first of equal labels in a row.
--start  Begin every sequence with one more event, "(start)".
""",
    "opening": """
<reading>
Reading the events:
--engine auto|memory|stream  Take the events into memory, or stream them through a temporary folder on disk.
    auto streams folders, patterns, and files that need more than --memory. [default: auto]
--memory SIZE  What streaming may use, such as 500M or 4G. [default: 1G]
""",
    "settings": """
What of the past counts:
--delay N|TIME  Leave out the N most recent events, or what is as recent as a time. Default 0.
--mask last|first  osumm: which occurrence of a label counts. Default last.
--cap N  csumm: count up to N. Default 2.
--lookbacks N,N,...  tree: how far back to look for a label, or times such as 1h,1d; none, the last: the whole
    past. Default 1,2,3,5,10,20,none.
--counts N,N,...  tree: ask if a label occurred at least N times; none: do not. Default 2,3.
--pairs auto|yes|no  tree: ask which of two labels is the more recent. Default auto: with at most 25 labels.
--starts N,N,...  tree: ask if fewer events precede; none: do not. Default 1,2,3,5,10.
--max-depth N  tree: at most N questions to a history. Default 12.
How influencers are chosen:
--alpha A  Pseudo-count of each outcome; larger is more cautious. Default 0.1; tree: 5.
--prior uniform|base-rate  What rarely seen states are drawn to; base-rate pays off for rare labels with alpha
    from about 5 on. Default uniform; tree: base-rate.
--gamma G  Penalty for complexity; larger finds fewer influencers. Default 1.
--average  tree: average over all smaller trees; best with a smaller --gamma, say 0.3.
--split P  tree --average: how likely a node is split, before anything is seen. Default 0.5, as many times
    less as there are questions.
--criterion NAME  bic, aic, extended-bic or marginal. Default bic.
--xi X  extended-bic: weight of its extended part. Default 1.
--false-edges N|none  In pure noise, find at most N influences by chance, on average, among all that is
    learned; none: ask for no more than the criterion does, as in the paper. Default 0.2.
--parameters all|reachable  Which states the penalty counts. Default all.
--search greedy|sweep|exact  The search; exact proves that no other influencers score better. Default greedy.
--required LABEL...  An influencer that must be there.
--forbidden LABEL...  One that may not be there.
--candidates LABEL...  Consider only these.
--given COLUMN...  An attribute (--attribute) within whose values all influences are reported; repeat for
    more.
--max-influencers N  At most N influencers of a label.
--max-sets N  exact: stop after N sets per label, and say how much better others could be. Default 100000.
--paper  The paper's settings: --cut-off and --false-edges none.
""",
    "chains": """
What of the past counts:
--order N  chain: how many labels back. Default 1.
--max-order N  vom, ctw: at most N labels back. Default 4. (ctw: --alpha is 0.5, and --split, how likely a
    context is split, 0.5.)
How influencers are chosen:
--penalty P  joint: how strongly weights are held to 0; more for long sequences. Default 30. (joint: --gamma
    is 0.5.)
--rounds N  joint: trees of every label beside the weights; some 40 or more, or none. Default 0.
--contexts S  joint: share of what followed the last two labels; 0.2 for few events. Default 0.
""",
}

#: What a value is, by what it is called; text where it is not named here.
_KINDS: dict[str, type] = {
    **dict.fromkeys(("N", "K", "T"), int),
    **dict.fromkeys(("A", "C", "G", "P", "Q", "S", "X", "INCHES", "POINTS"), float),
    **dict.fromkeys(("FILE", "FOLDER", "MODEL", "OUT", "TABLE", "TOPICS", "DEV TEST"), Path),
}
_ENTRY = re.compile(r"(--|[a-z]+:)\S")
_DEFAULT = re.compile(r" \[default: (.*)\]$")


def command(function: Callable[..., Document | None]) -> Callable[..., None]:
    """Make a command of a function that takes its options as one object, and gives a document.

    The docstring of the function is its help, and declares its options.
    """
    words, _, table = inspect.cleandoc(function.__doc__ or "").partition("\n\nOptions:\n")
    parameters = {each.name: each for each in declared(table)}

    @functools.wraps(function)
    def run(**given: Any) -> None:
        found = function(SimpleNamespace(**given))
        if found is not None:
            found.give(as_json=given.get("json", False))

    run.__doc__ = words
    run.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {name: each.annotation for name, each in parameters.items()}
    return run


def declared(table: str) -> list[inspect.Parameter]:
    """The parameters that a table of options declares.

    >>> [str(each) for each in declared("--rows N  At most N. [default: 20]")][0].partition(" = ")[0]
    'rows: int'
    """
    for _ in range(2):  # a shared table may name another
        table = re.sub(r"^<([\w-]+)>$", lambda name: SHARED[name[1]].strip("\n"), table, flags=re.MULTILINE)
    panel, found = None, []
    for line in re.sub(r"\n\s+", " ", table).splitlines():
        if _ENTRY.match(line):
            found.append(_parameter(line, panel))
        elif line.strip():
            panel = line.removesuffix(":")
    return found


def _parameter(line: str, panel: str | None) -> inspect.Parameter:
    """One option or argument."""
    head, _, words = line.partition("  ")
    *names, metavar = head.split(" ") if ":" not in head else [head]
    is_required = words.endswith(" (required)")
    words = words.removesuffix(" (required)")
    default: Any = ... if is_required else None
    if stated := _DEFAULT.search(words):
        default, words = stated[1], words[: stated.start()]
    name, colon, value = metavar.partition(":")
    if metavar.startswith("-"):  # a flag
        kind: Any = bool
        if "/" not in metavar:
            default = False
        elif default is None:
            kind = bool | None
        made = typer.Option(
            default == "yes" if default else default,
            *names,
            metavar,
            help=words,
            rich_help_panel=panel,
            show_default=bool(default),
        )
        names = [*names, metavar.partition("/")[0]]
        return _made(names[0].lstrip("-"), kind, made)
    value, least = (value if colon else metavar).partition(">=")[::2]
    is_many = value.endswith("...") and "," not in value.removesuffix("...")[-1:]
    value = value.removesuffix("...") if is_many else value
    one = _KINDS.get(value.strip("[]"), str)
    kind = list[one] if is_many else one  # type: ignore[valid-type]
    limits: dict[str, Any] = {"min": int(least)} if least else {}
    if colon:
        is_optional = value.startswith("[")
        made = typer.Argument(None if is_optional else ..., metavar=value, help=words)
        return _made(name, kind | None if is_optional else kind, made)
    if isinstance(default, str):
        default = one(default)
    elif default is None:
        kind = kind | None
    made = typer.Option(default, *names, metavar=value, help=words, rich_help_panel=panel, **limits)
    return _made(names[0].lstrip("-"), kind, made)


def _made(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name.replace("-", "_"), inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
    )


# ---------------------------------------------------------------------- settings of models


def given_settings(given: Any) -> dict[str, Any]:
    """The settings of models among options; None where one was not given."""
    names = [each.name for each in declared("<settings>\n<chains>")]
    settings = {name: getattr(given, name, None) for name in ("lookback", *names)}
    return {name: None if value is False else value for name, value in settings.items()}


def make_template(kind: str, settings: dict[str, Any], among: Sequence[str] | None = None) -> Any:
    """A model without a target, with the settings that were given: those that are not None.

    ``among`` are the kinds that the command takes; None: all.
    """
    from summarkov.models import JointSuMM, SummaryModel

    known_names = {family.command_name: family for family in SummaryModel.families.values()}
    families: dict[str, Any] = {name: known_names[name] for name in sorted(filter(None, known_names))}
    kind, typed = kind.lower(), kind
    if among is not None and kind not in among:
        raise SettingError(f"--model must be one of {', '.join(among)}, not {typed!r}")
    kinds = sorted(("joint", *families))
    if kind not in kinds:
        raise SettingError(f"--model must be one of {', '.join(kinds)}, not {kind!r}{nearest(kind, kinds)}")
    read = {
        name: read_option(name, value, *_READ[name]) if name in _READ else value
        for name, value in settings.items()
        if value is not None
    }
    made = JointSuMM if kind == "joint" else families[kind]
    known = made().get_params(deep=False)
    for name in read:
        if name not in known:
            raise SettingError(f"--{name.replace('_', '-')} is not a setting of --model {kind}; leave it out")
    template = made(**read)
    # What makes no sense is refused before the events are read.
    template.make_summary() if isinstance(template, SummaryModel) else template._check()
    return template


def read_option(name: str, text: str, read: Callable[[str], Any], expected: str) -> Any:
    """The value that an option means, or what was expected of it."""
    try:
        return read(text)
    except (KeyError, ValueError):
        raise SettingError(f"--{name.replace('_', '-')} must be {expected}, not {text!r}") from None


def read_span(text: str) -> Any:
    """A number of positions, or a time such as "6h" or "30 units"; what is neither is no number."""
    from summarkov.settings import read_time

    is_time = text[-1:].isalpha() and read_time(text, "lookback") is not None
    return text if is_time else int(text)


def several(text: str, read: Callable[[str], Any] = read_span) -> tuple[Any, ...]:
    """Values with commas between them; "none" is None."""
    return tuple(None if part.lower() == "none" else read(part) for part in map(str.strip, text.split(",")))


def _lookback(text: str) -> Any:
    """One value, "auto", or several to choose from."""
    each = ("auto",) if text.lower() == "auto" else several(text)
    return each if len(each) > 1 else each[0]


def _numbers(text: str) -> tuple[Any, ...]:
    return () if text.lower() == "none" else several(text, int)


#: How a setting is read that is not what was typed, and what is expected.
_READ: dict[str, tuple[Callable[[str], Any], str]] = {
    "lookback": (
        _lookback,
        "a whole number from 1 on, a time such as 6h, none, auto, or several such as 1,4,none",
    ),
    "delay": (read_span, "a number of events, or a time such as 6h"),
    "lookbacks": (several, "whole numbers such as 2,3"),
    "counts": (_numbers, "whole numbers such as 2,3"),
    "starts": (_numbers, "whole numbers such as 2,3"),
    "false_edges": (
        lambda text: None if text.lower() == "none" else float(text),
        "a number above 0, or none",
    ),
    "pairs": (lambda text: {"auto": "auto", "yes": True, "no": False}[text.lower()], "auto, yes or no"),
}
