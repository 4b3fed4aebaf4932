"""Tests that are slow, tests that are skipped for want of something, and how to get what is missing."""

from collections.abc import Iterable

import pytest

from needs import EXAMPLES, missing_line, why_not
from slow import SLOW

#: A class of scikit-learn's has to be there before this can be imported.
collect_ignore = ["src/summarkov/models/pipeline.py"] if why_not("sklearn") else []


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Mark what is slow, and skip what needs something that is not here."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        needed = [name for mark in item.iter_markers("needs") for name in mark.args]
        if isinstance(item, pytest.DoctestItem):
            needed += EXAMPLES.get(item.nodeid.split("::")[0], ())
        if why := why_not(*needed):
            item.add_marker(pytest.mark.skip(reason=why))


def pytest_unconfigure(config: pytest.Config) -> None:
    """End with one line on what is missing here and the commands that bring it."""
    if not hasattr(config, "workerinput") and (line := missing_line()):
        print(line)
