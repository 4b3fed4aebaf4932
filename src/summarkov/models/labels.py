"""Labels in settings: targets, and lists of labels, as codes."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from summarkov.engines import Target
from summarkov.errors import SettingError, UnknownLabelError
from summarkov.events.labels import is_label, label_text


def resolve_target(target: Any, labels: Sequence[str]) -> Target:
    """Turn the target's labels into codes."""
    if target is None:
        raise SettingError(
            "this model has no target; give target=, or fit it as a template: InfluenceGraph(model)"
        )
    names = [target] if is_label(target) else label_list("target", target)
    if not names:
        raise SettingError("target is an empty set of labels; name at least one")
    return Target(tuple(sorted(set(codes_of(names, labels)))), len(labels))


def label_list(setting: str, given: Any) -> list[object]:
    """Labels that a setting lists; not a single one, nor what can be gone through only once."""
    if is_label(given):
        raise SettingError(f"{setting} must be a list of labels; write [{given!r}]")
    if not isinstance(given, Iterable) or isinstance(given, Iterator):
        raise SettingError(f"{setting} must be a list of labels, not {given!r}")
    return list(given)


def codes_of(names: Iterable[object], labels: Sequence[str]) -> list[int]:
    """Codes of labels, or the error that names the nearest one."""
    codes = []
    for given in names:
        if not is_label(given) or given != given:
            raise SettingError(f"labels are text, or numbers that mean their text, not {given!r}")
        name = label_text(given)
        code = bisect.bisect_left(labels, name)  # labels are sorted
        if code == len(labels) or labels[code] != name:
            raise UnknownLabelError(name, labels)
        codes.append(code)
    return codes


def candidate_codes(
    labels: Sequence[str], candidates: Iterable[object] | None, without: Iterable[int]
) -> tuple[int, ...]:
    """The codes of the labels that may influence, all or those listed, but for some; sorted."""
    among = None if candidates is None else tuple(codes_of(label_list("candidates", candidates), labels))
    return _all_but(len(labels), among, frozenset(without))


@lru_cache(maxsize=4)
def _all_but(n_labels: int, among: tuple[int, ...] | None, without: frozenset[int]) -> tuple[int, ...]:
    """The models of a graph all ask the same, and share one answer: with many labels it is long."""
    return tuple(z for z in (range(n_labels) if among is None else sorted(set(among))) if z not in without)
