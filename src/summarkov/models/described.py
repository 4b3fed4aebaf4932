"""Docstrings of estimators: what one says of a parameter holds for all that inherit it."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence


def completed(cls: type, hidden: Iterable[str]) -> str | None:
    """The docstring of an estimator with all its parameters and attributes, wherever they are described.

    A parameter that it does not describe itself is described as in the nearest class above that does; a
    fitted attribute, whose name ends in "_", as its property is. ``hidden`` are no attributes for people.
    """
    if cls.__doc__ is None:
        return None
    doc = inspect.cleandoc(cls.__doc__)
    told = [inspect.cleandoc(each.__doc__ or "") for each in cls.__mro__[1:]]
    settings = [name for each in reversed(cls.__mro__) for name in _settings(each)]
    learned = [name for each in cls.__mro__ for name in vars(each) if re.fullmatch(r"[a-z]\w*_", name)]
    head = re.split(r"^\w+\n-+$", doc, maxsplit=1, flags=re.MULTILINE)[0].rstrip()
    examples = re.search(r"^Examples\n-+\n.*", doc, re.MULTILINE | re.DOTALL)
    properties = {name: _entry(cls, name) for name in learned if name not in set(hidden)}
    parts = [
        head,
        _section("Parameters", settings, [_entries(each, "Parameters") for each in (doc, *told)]),
        _section("Attributes", properties, [_entries(doc, "Attributes"), properties]),
        examples[0] if examples else "",
    ]
    return "\n\n".join(filter(None, parts))


def _settings(cls: type) -> list[str]:
    """The fields of a dataclass that a class itself adds."""
    given = inspect.get_annotations(cls).items()
    return [name for name, kind in given if not name.startswith("_") and "ClassVar" not in str(kind)]


def _entries(doc: str, title: str) -> dict[str, str]:
    """What a section says, by name; several names may share an entry."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^\S.*\n(?:[ ]+.*\n?|\n)*", found[1], re.MULTILINE) if found else []
    return {
        name.strip(): entry.rstrip()
        for entry in entries
        for name in entry.partition("\n")[0].partition(" : ")[0].split(",")
    }


def _entry(cls: type, name: str) -> str:
    """An attribute as its property describes it."""
    found = inspect.getattr_static(cls, name)
    words = inspect.cleandoc(found.__doc__ or "").partition("\n\n")[0]
    kind = getattr(found, "fget", found).__annotations__.get("return", "")
    return f"{name} : {'array' if 'NDArray' in kind else kind}\n{textwrap.indent(words, '    ')}"


def _section(title: str, names: Iterable[str], told: Sequence[dict[str, str]]) -> str:
    """Entries for all names, each once: as the first that has one tells it."""
    each = (next((some[name] for some in told if name in some), None) for name in names)
    entries = [entry for entry in dict.fromkeys(each) if entry is not None]
    return "\n".join([title, "-" * len(title), *entries]) if entries else ""
