"""The publication's own figures."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def published() -> dict[str, Any]:
    """Everything in ``published.json``, the one place where published figures stand."""
    text = resources.files("summarkov.reproduce").joinpath("published.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
