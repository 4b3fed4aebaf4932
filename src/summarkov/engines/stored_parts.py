"""Parts of a store on disk: their codes, the answers worked out from them, and the names of questions."""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from summarkov.engines.messages import pack, unpack
from summarkov.engines.source import EventSource
from summarkov.errors import SettingError
from summarkov.events.draws import sequence_keys
from summarkov.io.spill import Spill, SpillWriter
from summarkov.io.temporary import write_atomically
from summarkov.io.ticks import Ties

#: What of a part is written beside its codes.
_KNOWN = ("n_events", "n_sequences", "labels", "label_counts", "n_held")


def write_part(folder: Path, source: EventSource) -> None:
    """Write the codes of a source, which must be in one part, and what is known of them."""
    part, ids, first = source.part(), source.ids, 0
    folder.mkdir()
    (folder / "answers").mkdir()
    writer = SpillWriter(folder)
    try:
        begun = False
        for block in part.read(1 << 20):
            n = len(block.offsets) - 1
            names = list(ids[first : first + n]) if block.names is None else block.names.to_pylist()
            if len(names) < n:
                raise SettingError("the names of sequences are needed; give scan_events(path, names=True)")
            ended = n - block.goes_on
            writer.add(block.codes, block.offsets[1 : 1 + ended], sequence_keys(names[begun:]), [])
            begun, first = block.goes_on, first + ended
        content = writer.finish(part.labels, np.arange(len(part.labels), dtype=np.int32))
    finally:
        writer.close()
    known = {name: value for name, value in asdict(content).items() if name in _KNOWN}
    known["label_counts"], known["tied_order"] = content.label_counts.tolist(), source.tied_order
    write_atomically(folder / "part.json", json.dumps(known) + "\n")


def read_part(folder: Path) -> Spill:
    known = json.loads((folder / "part.json").read_text(encoding="utf-8"))
    if (folder / "codes").stat().st_size != 4 * known["n_events"]:
        raise ValueError(f"{folder.name}/codes has not its {known['n_events']} events")
    labels = tuple(known.pop("labels"))
    counts = np.array(known.pop("label_counts"), np.int64)
    return Spill(
        folder,
        labels=labels,
        label_counts=counts,
        translate=np.arange(len(labels), dtype=np.int32),
        ties=Ties(known.pop("tied_order")),
        has_names=False,
        n_values=0,
        **known,
    )


def kept_answer(path: Path | None) -> Any:
    """An answer that was kept, or None."""
    return unpack(path.read_bytes()) if path is not None and path.exists() else None


def keep_answer(path: Path | None, answer: object) -> None:
    if path is None:
        return
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    unfinished.write_bytes(pack(answer))
    os.replace(unfinished, path)


class NotPlainError(Exception):
    """A question that holds more than plain data, such as a function of the user's."""


def spell(value: object, digest: Any) -> None:
    """Tell a checksum all that a question depends on."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        digest.update(f"array {value.dtype.str} {value.shape} ".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif value is None or isinstance(value, str | bytes | bool | int | float | np.generic):
        digest.update(f"{type(value).__name__} {value!r} ".encode())
    elif isinstance(value, tuple | list):
        digest.update(f"{type(value).__name__} {len(value)} ".encode())
        for each in value:
            spell(each, digest)
    elif is_dataclass(value) and re.match(r"summarkov\.", type(value).__module__):
        digest.update(f"{type(value).__qualname__} ".encode())
        for field in fields(value):
            spell((field.name, getattr(value, field.name)), digest)
    else:
        raise NotPlainError(type(value).__name__)
