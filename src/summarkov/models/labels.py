"""Labels in settings: targets, and lists of labels, as codes."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence

from summarkov.engines import Target
from summarkov.errors import SettingError, UnknownLabelError


def resolve_target(target: str | Iterable[str] | None, labels: Sequence[str]) -> Target:
    """Turn the target's labels into codes."""
    if target is None:
        raise SettingError(
            "this model has no target; give target=, or fit it as a template: InfluenceGraph(model)"
        )
    names = [target] if isinstance(target, str) else label_list("target", target)
    if not names:
        raise SettingError("target is an empty set of labels; name at least one")
    return Target(tuple(sorted(set(codes_of(names, labels)))), len(labels))


def label_list(setting: str, given: Iterable[str]) -> list[str]:
    """Labels that a setting lists; not a text, nor what can be gone through only once."""
    if isinstance(given, str):
        raise SettingError(f"{setting} must be a list of labels; write [{given!r}]")
    if not isinstance(given, Iterable) or isinstance(given, Iterator):
        raise SettingError(f"{setting} must be a list of labels, not {given!r}")
    return list(given)


def codes_of(names: Iterable[str], labels: Sequence[str]) -> list[int]:
    """Codes of labels, or the error that names the nearest one."""
    codes = []
    for name in names:
        if not isinstance(name, str):
            raise SettingError(f"labels are text; write {str(name)!r} instead of {name!r}")
        code = bisect.bisect_left(labels, name)  # labels are sorted
        if code == len(labels) or labels[code] != name:
            raise UnknownLabelError(name, labels)
        codes.append(code)
    return codes
