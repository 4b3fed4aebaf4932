"""The kind of a model and its settings, as options, and the model that they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from summarkov.cli.options import flag, setting, settings_in
from summarkov.errors import SettingError, nearest

if TYPE_CHECKING:
    from summarkov.models import JointSuMM, SummaryModel

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
    gamma: float | None = _search("G", "Penalty for complexity; larger finds fewer influencers. Default 1.")
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

    def template(self) -> SummaryModel | JointSuMM:
        """A model without a target, with the settings that were given."""
        given = {**vars(self), "average": self.average or None}
        del given["model"]
        return make_template(self.model, given, joint=True)


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
    lookback: str | None = _past("N|TIME|none|auto", f"{_LOOKBACK} 5.", "--lookback -k")
    alpha: float | None = _search("A", f"{_ALPHA}; ctw: 0.5, tree: 5.")
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


#: Of every model what it takes itself.
DEFAULTS = ModelSettings()
#: The same of models of outcomes.
OUTCOME_DEFAULTS = InfluencerSettings()


@overload
def make_template(kind: str, settings: dict[str, Any], *, joint: Literal[False] = False) -> SummaryModel: ...
@overload
def make_template(kind: str, settings: dict[str, Any], *, joint: bool) -> SummaryModel | JointSuMM: ...
def make_template(kind: str, settings: dict[str, Any], *, joint: bool = False) -> SummaryModel | JointSuMM:
    """A model without a target, with the settings that were given: those that are not None.

    ``joint`` says whether it may be a joint model.
    """
    from summarkov.models import JointSuMM, SummaryModel

    kind = kind.lower()
    if kind == "joint" and not joint:
        raise SettingError("--model joint is for 'summarkov learn'; choose another model here")
    known_names = {family.command_name: family for family in SummaryModel.families.values()}
    families = {name: known_names[name] for name in sorted(filter(None, known_names))}
    if kind != "joint" and kind not in families:
        raise SettingError(
            f"--model must be one of {', '.join(families)}, not {kind!r}{nearest(kind, families)}"
        )
    read = {
        name: _READ[name](value) if name in _READ else value
        for name, value in settings.items()
        if value is not None
    }
    made: type[SummaryModel] | type[JointSuMM] = JointSuMM if kind == "joint" else families[kind]
    known = made().get_params(deep=False)
    for name in read:
        if name not in known:
            raise SettingError(f"--{name.replace('_', '-')} is not a setting of --model {kind}; leave it out")
    template = made(**read)
    # What makes no sense is refused before the events are read.
    template.make_summary() if isinstance(template, SummaryModel) else template._check()
    return template


def _parts(text: str, *, times: bool = False) -> tuple[Any, ...]:
    """Whole numbers and "none"; or times, such as "6h"."""
    return tuple(
        None if part.strip().lower() == "none" else read_span(part.strip()) if times else int(part)
        for part in text.split(",")
    )


def read_span(text: str) -> Any:
    """A number of positions, or a time such as "6h" or "30 units"; what is neither is no number."""
    from summarkov.settings import read_time

    is_time = text[-1:].isalpha() and read_time(text, "lookback") is not None
    return text if is_time else int(text)


def _numbers(name: str, text: str) -> tuple[Any, ...]:
    if name != "lookbacks" and text.lower() == "none":
        return ()
    try:
        return _parts(text, times=name == "lookbacks")
    except ValueError:
        raise SettingError(f"--{name} must be whole numbers such as 2,3, not {text!r}") from None


def _delay(text: str) -> Any:
    try:
        return read_span(text)
    except ValueError:
        raise SettingError(
            f"--delay must be a number of events, or a time such as 6h, not {text!r}"
        ) from None


def _pairs(text: str) -> bool | str:
    known: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}
    if text.lower() not in known:
        raise SettingError(f"--pairs must be auto, yes or no, not {text!r}")
    return known[text.lower()]


def _false_edges(text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"--false-edges must be a number above 0, or none, not {text!r}") from None


def _lookback(text: str) -> Any:
    """A number, None, "auto", or several numbers to choose from."""
    if text.lower() in ("none", "auto"):
        return None if text.lower() == "none" else "auto"
    try:
        each = _parts(text, times=True)
    except ValueError:
        raise SettingError(
            "--lookback must be a whole number from 1 on, a time such as 6h, none, auto, or several such as "
            f"1,4,none, not {text!r}"
        ) from None
    return each if len(each) > 1 else each[0]


#: How a setting is read that is not what was typed.
_READ: dict[str, Callable[[str], Any]] = {
    "lookback": _lookback,
    "delay": _delay,
    "lookbacks": partial(_numbers, "lookbacks"),
    "counts": partial(_numbers, "counts"),
    "starts": partial(_numbers, "starts"),
    "false_edges": _false_edges,
    "pairs": _pairs,
}
