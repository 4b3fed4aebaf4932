"""What the harnesses of stored files share."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import summarkov as sm
from fuzz import CORPUS
from summarkov.engines.source import Layout
from summarkov.errors import StoreError, SummarkovError
from summarkov.models import InfluenceGraph, JointSuMM
from summarkov.show.page import page

warnings.simplefilter("error")  # a number that is not one must not pass quietly

_FILE = Path(tempfile.gettempdir(), f"summarkov-fuzz-{os.getpid()}.json")
_EVENTS = [["a", "b", "c"], ["b", "b"], ["c"]]


def hand_over(data: bytes, read: Callable[[Path], Any], refusals: type[Exception] = StoreError) -> Any:
    """Read bytes as a file; None if they are refused, in one line."""
    try:
        _FILE.write_bytes(data)
        return read(_FILE)
    except refusals as refused:
        if "\n" in str(refused) or len(str(refused)) > 2000:
            raise AssertionError("an error must be one line") from refused
        return None
    finally:
        _FILE.unlink(missing_ok=True)


def load_and_use(data: bytes) -> None:
    """Load a model; one that loads must predict, tell what it learned, and be fit to be written again."""
    model = hand_over(data, sm.load)
    if model is None:
        return
    events = as_learned(model.layout_)
    try:
        p = model.predict_proba(events, unknown="ignore")
    except SummarkovError:  # a graph of some labels has no distribution over all
        assert isinstance(model, InfluenceGraph)
        assert len(model.models_) < len(model.labels_)
    else:
        assert ((p >= 0) & (p <= 1)).all()
        assert is_graph_of_ticks(model) or abs(p.sum(axis=1) - 1).max() < 1e-9
    json.dumps(model.to_document(), allow_nan=False)
    assert model._repr_html_().startswith("<")
    if isinstance(model, InfluenceGraph):
        assert model.edges_.to_frame("pyarrow").num_rows == len(model.edges_)
        assert all(text(model) for text in (str, InfluenceGraph.to_dot))
    assert "</html>" in page(model)
    for each in model.models_.values() if isinstance(model, InfluenceGraph) else [model]:
        if not isinstance(each, JointSuMM):
            assert all(row.words is not None for row in each.table_)
            assert each.influences_ is not None


def is_graph_of_ticks(model: Any) -> bool:
    """Whether labels are predicted by themselves."""
    return isinstance(model, InfluenceGraph) and model.layout_.together


def as_learned(layout: Layout) -> Any:
    """Events with what those had that a model was learned from: ticks, times, attributes."""
    values = dict(name.partition("=")[::2] for name in layout.attributes)
    if not (layout.together or layout.time or values):
        return _EVENTS
    hours = [1, 1, 3, 7]
    columns = {"case": [1, 1, 1, 2], "event": ["a", "b", "c", "b"]}
    columns["time"] = [datetime(2026, 1, 1, each) for each in hours] if layout.time == "clock" else hours
    columns |= {column: [value] * 4 for column, value in values.items()}
    return sm.read_events(
        pa.table(columns),
        case="case",
        event="event",
        order_by="time",
        ties="together" if layout.together else "in row order",
        times=layout.time is not None,
        attributes=list(values) or None,
    )


@cache
def documents() -> list[Any]:
    """The models of the corpus, parsed, without their checksums."""
    found = []
    paths = (CORPUS / "model").glob("*.json")
    for path in sorted(paths, key=lambda path: (path.stem.startswith("old_"), path)):
        document = json.loads(path.read_bytes())
        document.pop("checksum", None)
        found.append(document)
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a document, as a path."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))
