"""Parts of a store on disk: their codes, the answers worked out from them, and the names of questions."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from summarkov.engines.messages import pack, unpack
from summarkov.engines.source import EventSource
from summarkov.errors import SettingError
from summarkov.events.draws import sequence_keys
from summarkov.events.moments import TimeUnit
from summarkov.io.spill import Spill, SpillWriter
from summarkov.io.temporary import write_atomically
from summarkov.io.ticks import Ties

#: What of a part is written beside its codes.
_KNOWN = ("n_events", "n_sequences", "labels", "label_counts", "n_held", "has_ticks", "n_ticks", "time_unit")


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
            writer.copy(block, len(part.labels), sequence_keys(names[begun:]))
            begun, first = block.goes_on, first + ended
        content = writer.finish_copy(part.labels)
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
    unit = known.pop("time_unit", None)
    return Spill(
        folder,
        labels=labels,
        label_counts=counts,
        translate=np.append(np.arange(len(labels), dtype=np.int32), np.int32(-1)),
        ties=Ties(known.pop("tied_order")),
        has_names=False,
        n_values=0,
        time_unit=None if unit is None else TimeUnit(*unit),
        **known,
    )


def refuse_more(source: EventSource) -> None:
    """Refuse a part whose sequences are known by more than their events and the times of these."""
    if source.attributes or (source.origin is not None and source.origin.period is not None):
        raise SettingError(
            "attributes and periods are named from all of the data at once; read parts without attributes= "
            "and period=, or learn with read_events, scan_events or scan_spark"
        )
    if source.weights is not None:
        raise SettingError("parts have no weights; leave them out, or learn with read_events or scan_events")


def refuse_other_times(units: Iterable[TimeUnit | None]) -> None:
    """Refuse parts of which only some have times, or whose times cannot be compared."""
    if len(set(units)) > 1:
        raise SettingError(
            "some parts have times and others have none, or times of another type; read all parts alike"
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
