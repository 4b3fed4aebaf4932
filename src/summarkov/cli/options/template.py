"""A model without a target, from its name and settings as people type them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from summarkov.errors import SettingError, nearest

if TYPE_CHECKING:
    from summarkov.models import JointSuMM, SummaryModel


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
            raise SettingError(f"--{name.replace('_', '-')} is not a setting of --model {kind}")
    template = made(**read)
    # What makes no sense is refused before the events are read.
    template.make_summary() if isinstance(template, SummaryModel) else template._check()
    return template


def _parts(text: str, *, times: bool = False) -> tuple[Any, ...]:
    """Whole numbers and "none"; or times, such as "6h"."""
    return tuple(
        None if part.strip().lower() == "none" else _one(part.strip()) if times else int(part)
        for part in text.split(",")
    )


def _one(text: str) -> Any:
    """A number of positions, or a time; what is neither is no number."""
    from summarkov.durations import read_time

    found = read_time(text, "lookback")
    return text if found is not None and found[1] else int(text)


def _numbers(name: str, text: str) -> tuple[Any, ...]:
    if name != "lookbacks" and text.lower() == "none":
        return ()
    try:
        return _parts(text, times=name == "lookbacks")
    except ValueError:
        raise SettingError(f"--{name} must be whole numbers such as 2,3, not {text!r}") from None


def _delay(text: str) -> Any:
    try:
        return _one(text)
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
