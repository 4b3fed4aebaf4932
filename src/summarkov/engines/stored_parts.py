"""Parts of a store on disk: their codes, the answers worked out from them, and the names of questions.

Whoever can write to a store can change what is learned from it, and no more: what leads nowhere is refused
before anything is counted, and answers that are not as they were written are worked out again.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from summarkov.engines.messages import pack, unpack
from summarkov.engines.source import EventSource
from summarkov.errors import DataError, SettingError, StoreError
from summarkov.events.block import Block
from summarkov.events.draws import sequence_keys
from summarkov.events.moments import TimeUnit
from summarkov.io.scan import Content
from summarkov.io.spill import Spill, SpillWriter
from summarkov.io.ticks import Ties
from summarkov.store import Node, check_seal, read_document, write_sealed
from summarkov.typing import IntArray

#: What of a part is written beside its codes.
_KNOWN = ("n_events", "n_sequences", "labels", "label_counts", "n_held", "has_ticks", "n_ticks", "time_unit")


class StoredCodes(Spill):
    """Codes in a folder that somebody may have changed: refused where they run backwards in time."""

    def blocks(self, n_events: int, weights: IntArray | None = None) -> Iterator[Block]:
        """Read all sequences, at most ``n_events`` events at a time."""
        for block in super().blocks(n_events, weights):
            if block.moments is not None:
                try:
                    block.moments.check(block.offsets)
                except DataError as problem:
                    raise StoreError(f"{self.folder} is damaged ({problem}); make the store anew") from None
            yield block


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
    write_sealed(folder / "part.json", known)


def read_part(folder: Path) -> Content:
    """A part as it was written; refused if its files do not fit together."""
    known = read_document(folder / "part.json")
    n_events, n_sequences, n_held = (known[name].count() for name in ("n_events", "n_sequences", "n_held"))
    labels = tuple(node.text() for node in known["labels"].list())
    if any(a >= b for a, b in pairwise(labels)):
        known["labels"].wrong("labels in sorted order, each once")
    counts = [node.count() for node in known["label_counts"].list(len(labels))]
    has_ticks = "has_ticks" in known and known["has_ticks"].value is True
    unit = _read_unit(known["time_unit"]) if "time_unit" in known else None
    sizes = {"codes": 4 * n_events, "ends": 8 * n_sequences, "keys": 8 * n_sequences}
    for name, size in (sizes | ({} if unit is None else {"times": 8 * n_events})).items():
        if not (folder / name).is_file() or (folder / name).stat().st_size != size:
            raise StoreError(f"{folder.name}/{name} has not its {size} bytes")
    ends = np.fromfile(folder / "ends", np.int64)
    lengths = np.diff(ends, prepend=np.int64(0))
    found = (int(lengths.min(initial=0)), int(ends[-1]) if n_sequences else 0, int(np.count_nonzero(lengths)))
    empty = n_events - sum(counts)  # ticks
    if found != (0, n_events, n_held) or empty < 0 or (empty and not has_ticks):
        raise StoreError(f"{folder.name}: the sequences are not those of its {n_events} events")
    codes = StoredCodes(
        folder,
        n_events,
        n_sequences,
        labels,
        np.array(counts, np.int64),
        translate=np.append(np.arange(len(labels), dtype=np.int32), np.int32(-1))[: len(labels) + has_ticks],
        ties=Ties(known["tied_order"].count()),
        has_names=False,
        n_held=n_held,
        n_values=0,
        has_ticks=has_ticks,
        n_ticks=known["n_ticks"].count(n_events) if has_ticks else n_events,
        time_unit=unit,
    )
    check_seal(known)
    return Content(codes, None, None, codes.values(), None)


def _read_unit(node: Node) -> TimeUnit | None:
    """What times are measured in, if there are any."""
    if node.value is None:
        return None
    size, is_clock = node.list(2)
    if type(is_clock.value) is not bool or size.count() == 0:
        node.wrong("a unit of time")
    return TimeUnit(size.count(), is_clock.value)


def kept_answer(path: Path | None) -> Any:
    """An answer that was kept, or None; also None if it is not what was kept."""
    if path is None or not path.is_file():
        return None
    content = path.read_bytes()
    digest, message = content[: hashlib.sha256().digest_size], content[hashlib.sha256().digest_size :]
    return unpack(message) if hashlib.sha256(message).digest() == digest else None


def keep_answer(path: Path | None, answer: object) -> None:
    if path is None:
        return
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    message = pack(answer)
    unfinished.write_bytes(hashlib.sha256(message).digest() + message)
    os.replace(unfinished, path)


def question_name(labels: tuple[str, ...], asked: object) -> str | None:
    """The name of a question: a checksum of all that it holds; None if that is not plain data."""
    digest = hashlib.sha256()
    try:
        spell((labels, asked), digest)
    except NotPlainError:
        return None
    return digest.hexdigest()[:40]


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
