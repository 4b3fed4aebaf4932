"""A checksum in every file of a model, so that a later change does not go unnoticed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from summarkov.errors import StoreError
from summarkov.store.document import Node
from summarkov.store.files import write_atomically


def write_sealed(
    path: str | os.PathLike[str], document: Mapping[str, Any], indent: int | None = None
) -> None:
    """Write a document as JSON, all or nothing, with its checksum as the last entry."""
    sealed = {**document, "checksum": _checksum(document)}
    text = json.dumps(sealed, indent=indent, ensure_ascii=False, allow_nan=False)
    # half a surrogate pair, which UTF-8 cannot hold, becomes JSON's escape of it
    write_atomically(path, text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def check_seal(document: Node) -> None:
    """Refuse a document that is not what was written; one without a checksum is taken as it is.

    Files are checked in every other way first, so this is for changes that make sense on their own, such as
    another look-back than the one that the counts were made with.
    """
    if "checksum" not in document:  # older than checksums, or its owner knows better
        return
    rest = {name: value for name, value in document.value.items() if name != "checksum"}
    if document["checksum"].value != _checksum(rest):
        raise StoreError(
            f"{document.where}: was changed after it had been written, its checksum does not fit; learn the "
            "model again, or delete 'checksum' if the change is meant"
        )


def _checksum(document: Mapping[str, Any]) -> str:
    """Of the values alone: neither blanks nor the order of names matter."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
