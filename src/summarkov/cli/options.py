"""Options: how commands declare them, those that several share, and those that make a model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from summarkov.errors import SettingError, nearest


def option(
    metavar: str | None,
    help: str,
    names: str = "",
    panel: str | None = None,
    *,
    default: Any = None,
    **more: Any,
) -> Any:
    """An option that takes a value, as the default of a parameter: what the value is called, what it is for.

    ``names`` are its names, such as "--target -t", if not that of its parameter; ``panel`` is where --help
    shows it. ``default`` is ``...`` if it must be given, or if each command that shares it has its own.
    """
    return typer.Option(default, *names.split(), metavar=metavar, help=help, rich_help_panel=panel, **more)


def flag(names: str, help: str, panel: str | None = None, *, default: Any = False, **more: Any) -> Any:
    """An option that is given or not."""
    return option(None, help, names, panel, default=default, **more)


def setting(declared: Any) -> Any:
    """An option as a field of a dataclass, whose default is that of the option."""
    return field(default=declared.default, metadata={"option": declared})


def settings_in(panel: str) -> Callable[..., Any]:
    """A function that declares an option of one panel of --help as a field, from what ``option`` takes."""
    return lambda metavar, help, names="", **more: setting(option(metavar, help, names, panel, **more))


_FILES = (
    ".csv or .tsv (one event per row), .parquet, .xes, .jsonl (one sequence per line), .txt (the same, "
    "labels separated by blanks) or .spmf, all but .parquet also packed (.gz, .zst)"
)

EventsFile = Annotated[Path, typer.Argument(metavar="FILE", help=f"Events: {_FILES}.")]
EventsPath = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=f"Events: {_FILES}; or a folder or quoted pattern of .csv, .tsv, .parquet or .jsonl files.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'summarkov learn' saved.")]
SURE = "How sure they are"

_shared = functools.partial(option, default=...)
ModelOutput = Annotated[Path | None, _shared("MODEL", "Save the model in this file (JSON).", "--output -o")]
Unknown = Annotated[
    str,
    _shared(
        "error|ignore",
        "What to do with labels that the model does not know: stop, or let them pass as events that "
        "say nothing.",
    ),
]
Jobs = Annotated[int | None, _shared("N", "Threads; -1 for one per core.", "--jobs -j")]
Within = Annotated[
    str | None,
    _shared(
        "N|TIME",
        "Shuffle events within blocks of N positions, or of a time such as 7d. Default: 4 times the "
        "longest look-back.",
        panel=SURE,
    ),
]
SafeCsv = Annotated[
    bool,
    flag(
        "--safe-csv",
        "In a .csv file for spreadsheets, put ' before texts that these would take for formulas.",
        default=...,
    ),
]
Json = Annotated[bool, flag("--json", "Print one JSON document instead, for programs.", default=...)]


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options of its parameters that are dataclasses: one option per field.

    Such a parameter has an object of the dataclass as its default, and the command is given one.
    """
    own = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {}
    each: dict[str, tuple[Any, Any]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        default = parameter.default
        if is_dataclass(default):
            groups[name] = default
            hints = get_type_hints(type(default))
            each |= {one.name: (hints[one.name], one.metadata["option"]) for one in fields(default)}
        else:
            each[name] = own[name], default

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        made = {
            name: type(plain)(**{one.name: given.pop(one.name) for one in fields(plain)})
            for name, plain in groups.items()
        }
        command(**given, **made)

    with_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # Typer reads it
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in each.items()
        ]
    )
    with_options.__annotations__ = {name: kind for name, (kind, _) in each.items()}
    return with_options


WHAT = "What to learn"
PAST = "What of the past counts"
SEARCH = "How influencers are chosen"
_what, _past, _search = map(settings_in, (WHAT, PAST, SEARCH))

Labels = list[str] | None

#: What is said of models that choose influencers, and of their look-backs.
_KINDS = (
    "bsumm: did an influencer occur? osumm: in which order did they? csumm: how often? "
    "tree: a decision tree over questions to the past"
)
_ALPHA = "Pseudo-count of each outcome; larger is more cautious. Default 0.1"
_GAMMA = "Penalty for complexity; larger finds fewer influencers. Default 1"
_LOOKBACK = (
    "How many events back to look; or a time, such as 6h, 7d, or '30 units' of an order column of numbers; "
    "none: the whole past; auto: learned for each influencer; 1,4,none or 1h,1d: out of these. Default"
)


@dataclass(frozen=True)
class InfluencerSettings:
    """The kind of a model that chooses influencers of an outcome, and its settings; every field is an option.

    None is the model's own default, but for the look-back.
    """

    model: str = _what("KIND", f"{_KINDS}.", "--model -m", default="bsumm")
    lookback: str | None = _past("N|TIME|none|auto", f"{_LOOKBACK}: the whole past.", "--lookback -k")
    delay: str | None = _past(
        "N|TIME", "Leave out the N most recent events, or what is as recent as a time. Default 0."
    )
    mask: str | None = _past("last|first", "osumm: which occurrence of a label counts. Default last.")
    cap: int | None = _past("N", "csumm: count up to N. Default 2.")
    lookbacks: str | None = _past(
        "N,N,...",
        "tree: how far back to look for a label, or times such as 1h,1d; none, the last: the whole past. "
        "Default 1,2,3,5,10,20,none.",
    )
    counts: str | None = _past(
        "N,N,...", "tree: ask if a label occurred at least N times; none: do not. Default 2,3."
    )
    pairs: str | None = _past(
        "auto|yes|no",
        "tree: ask which of two labels is the more recent. Default auto: with at most 25 labels.",
    )
    starts: str | None = _past(
        "N,N,...", "tree: ask if fewer events precede; none: do not. Default 1,2,3,5,10."
    )
    max_depth: int | None = _past("N", "tree: at most N questions to a history. Default 12.")
    alpha: float | None = _search("A", f"{_ALPHA}; tree: 5.")
    prior: str | None = _search(
        "uniform|base-rate",
        "What rarely seen states are drawn to; base-rate pays off for rare labels with alpha from "
        "about 5 on. Default uniform; tree: base-rate.",
    )
    gamma: float | None = _search("G", f"{_GAMMA}.")
    average: bool = setting(
        flag(
            "--average",
            "tree: average over all smaller trees; best with a smaller --gamma, say 0.3.",
            panel=SEARCH,
        )
    )
    split: float | None = _search(
        "P",
        "tree --average: how likely a node is split, before anything is seen. Default 0.5, as many times "
        "less as there are questions.",
    )
    criterion: str | None = _search("NAME", "bic, aic, extended-bic or marginal. Default bic.")
    xi: float | None = _search("X", "extended-bic: weight of its extended part. Default 1.")
    false_edges: str | None = _search(
        "N|none",
        "In pure noise, find at most N influences by chance, on average, among all that is learned; "
        "none: ask for no more than the criterion does, as in the paper. Default 0.2.",
    )
    parameters: str | None = _search("all|reachable", "Which states the penalty counts. Default all.")
    search: str | None = _search(
        "greedy|sweep|exact",
        "The search; exact proves that no other influencers score better. Default greedy.",
    )
    required: Labels = _search("LABEL", "An influencer that must be there.")
    forbidden: Labels = _search("LABEL", "One that may not be there.")
    candidates: Labels = _search("LABEL", "Consider only these.")
    given: Labels = _search(
        "COLUMN", "An attribute (--attribute) within whose values all influences are told; repeat for more."
    )
    max_influencers: int | None = _search("N", "At most N influencers of a label.")
    max_sets: int | None = _search(
        "N", "exact: stop after N sets per label, and say how much better others could be. Default 100000."
    )

    paper: bool = setting(
        flag("--paper", "The paper's settings: --cut-off and --false-edges none.", panel=SEARCH)
    )

    def template(self) -> Any:
        """A model without a target, with the settings that were given."""
        given = {**vars(self), "average": self.average or None, "paper": self.paper or None}
        del given["model"]
        return make_template(self.model, given)


@dataclass(frozen=True)
class ModelSettings(InfluencerSettings):
    """The kind of a model and its settings; None is the model's own default. Every field is an option."""

    model: str = _what(
        "KIND",
        f"{_KINDS}; chain: the last labels themselves; vom: as many of them as they are worth; ctw: all "
        "such chains together; joint: one distribution over all labels.",
        "--model -m",
        default="bsumm",
    )
    lookback: str | None = _past(
        "N|TIME|none|auto", f"{_LOOKBACK} 5; joint: a number from 20 on, 500.", "--lookback -k"
    )
    alpha: float | None = _search("A", f"{_ALPHA}; ctw: 0.5, tree: 5.")
    gamma: float | None = _search("G", f"{_GAMMA}; joint: 0.5.")
    split: float | None = _search(
        "P",
        "ctw, tree --average: how likely a context or node is split, before anything is seen. "
        "Default 0.5; tree: as many times less as there are questions.",
    )
    order: int | None = _past("N", "chain: how many labels back. Default 1.")
    max_order: int | None = _past("N", "vom, ctw: at most N labels back. Default 4.")
    penalty: float | None = _search(
        "P", "joint: how strongly weights are held to 0; more for long sequences. Default 30."
    )
    rounds: int | None = _search(
        "N", "joint: trees of every label beside the weights; some 40 or more, or none. Default 0."
    )
    contexts: float | None = _search(
        "S", "joint: share of what followed the last two labels; 0.2 for few events. Default 0."
    )


def make_template(kind: str, settings: dict[str, Any], among: Sequence[str] | None = None) -> Any:
    """A model without a target, with the settings that were given: those that are not None.

    ``among`` are the kinds that the command takes; None: all.
    """
    from summarkov.models import JointSuMM, SummaryModel

    known_names = {family.command_name: family for family in SummaryModel.families.values()}
    families: dict[str, Any] = {name: known_names[name] for name in sorted(filter(None, known_names))}
    if among is not None and kind.lower() not in among:
        raise SettingError(f"--model must be one of {', '.join(among)}, not {kind!r}")
    kind = kind.lower()
    kinds = ("joint", *families)
    if kind not in kinds:
        raise SettingError(
            f"--model must be one of {', '.join(sorted(kinds))}, not {kind!r}{nearest(kind, kinds)}"
        )
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
