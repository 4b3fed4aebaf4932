"""The publication's own figures."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def published() -> dict[str, Any]:
    """Everything in ``published.json``, the one place where published figures stand."""
    text = Path(__file__).with_name("published.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
