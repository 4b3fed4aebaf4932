"""Values of options that are more than one word: where numbers are cut, and what labels become."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from summarkov.cli.paths import shown
from summarkov.errors import DataError, SettingError


def read_cuts(given: Sequence[str]) -> dict[str, list[float] | None]:
    """Read where numbers are cut.

    >>> read_cuts(["age=30,50", "postcode=none"])
    {'age': [30.0, 50.0], 'postcode': None}
    """
    found: dict[str, list[float] | None] = {}
    for text in given:
        column, _, numbers = text.rpartition("=")
        try:
            found[column] = None if numbers == "none" else [float(number) for number in numbers.split(",")]
        except ValueError:
            raise SettingError(f"--cut must be written as age=30,50 or postcode=none, not {text!r}") from None
    return found


def read_map(path: Path) -> dict[str, str]:
    """Read what labels become."""
    from summarkov.io.files import text_lines
    from summarkov.store.document import first_repeated

    text = "\n".join(line for _, line in text_lines(shown(path), expected="a map of labels"))
    expected = 'expected an object of texts, {"old": "new", ...}'
    try:
        found = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON ({error}); {expected}") from None
    if not text.lstrip().startswith("{") or not all(isinstance(new, str) for _, new in found):
        raise DataError(f"{path}: {expected}")
    mapping = dict(found)
    if len(mapping) < len(found):
        raise DataError(f"{path}: {first_repeated(found, mapping)!r} stands there twice; keep one")
    return mapping
