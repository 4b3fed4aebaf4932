"""Labels in settings: targets, and lists of labels, as codes."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

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


def candidate_codes(
    labels: Sequence[str], candidates: Iterable[str] | None, without: Iterable[int]
) -> tuple[int, ...]:
    """The codes of the labels that may influence, all or those listed, but for some; sorted."""
    among = None if candidates is None else tuple(codes_of(label_list("candidates", candidates), labels))
    return _all_but(len(labels), among, frozenset(without))


@lru_cache(maxsize=4)
def _all_but(n_labels: int, among: tuple[int, ...] | None, without: frozenset[int]) -> tuple[int, ...]:
    """The models of a graph all ask the same, and share one answer: with many labels it is long."""
    return tuple(z for z in (range(n_labels) if among is None else sorted(set(among))) if z not in without)
