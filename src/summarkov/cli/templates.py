"""From options of the command line to a model without a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summarkov.errors import SettingError, nearest

if TYPE_CHECKING:
    from summarkov.models import SummaryModel

#: The kinds of models, by the name on the command line.
FAMILIES = {
    "bsumm": "BSuMM",
    "osumm": "OSuMM",
    "csumm": "CSuMM",
    "chain": "MarkovChain",
    "vom": "VariableOrderChain",
    "ctw": "ContextTreeWeighting",
    "tree": "TreeSuMM",
}


def make_template(kind: str, settings: dict[str, Any]) -> SummaryModel:
    """A model without a target, with the settings that were given."""
    if kind.lower() not in FAMILIES:
        raise SettingError(
            f"--model must be one of {', '.join(FAMILIES)}, not {kind!r}{nearest(kind, FAMILIES)}"
        )
    if "lookback" in settings:
        settings["lookback"] = _lookback(settings["lookback"])
    if "lookbacks" in settings:
        settings["lookbacks"] = _numbers("lookbacks", settings["lookbacks"])
    for name in ("counts", "starts"):
        if settings.get(name, "").lower() == "none":
            settings[name] = ()
        elif name in settings:
            settings[name] = _numbers(name, settings[name])
    if "pairs" in settings:
        settings["pairs"] = _pairs(settings["pairs"])
    from summarkov import models

    family = getattr(models, FAMILIES[kind.lower()])
    known = family().get_params(deep=False)
    for name in settings:
        if name not in known:
            raise SettingError(f"--{name.replace('_', '-')} is not a setting of --model {kind.lower()}")
    template: SummaryModel = family(**settings)
    template.make_summary()  # refuses what makes no sense before the events are read
    return template


def _parts(text: str) -> tuple[int | None, ...]:
    """Whole numbers and "none"."""
    return tuple(None if part.strip().lower() == "none" else int(part) for part in text.split(","))


def _numbers(name: str, text: str) -> tuple[int | None, ...]:
    try:
        return _parts(text)
    except ValueError:
        raise SettingError(f"--{name} must be whole numbers such as 2,3, not {text!r}") from None


def _pairs(text: str) -> bool | str:
    known: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}
    if text.lower() not in known:
        raise SettingError(f"--pairs must be auto, yes or no, not {text!r}")
    return known[text.lower()]


def _lookback(text: str) -> Any:
    """A number, None, "auto", or several numbers to choose from."""
    if text.lower() in ("none", "auto"):
        return None if text.lower() == "none" else "auto"
    try:
        each = _parts(text)
    except ValueError:
        raise SettingError(
            f"--lookback must be a whole number from 1 on, none, auto, or several such as 1,4,none, "
            f"not {text!r}"
        ) from None
    return each if len(each) > 1 else each[0]
