"""On the workers: text in the order column, read as numbers to sort by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class TextKinds:
    """Finds out what the text of an order column can be read as, batch by batch."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row a batch: whether it fits each kind, as bits, and a value that fits none, or the first."""
        import pyarrow as pa

        from summarkov.io.ordering import fitting, order_text, text_kinds, unreadable_row

        for batch in batches:
            if not batch.num_rows:
                continue
            text = order_text(pa.chunked_array([batch.column("order")]))
            kinds = text_kinds()
            bits = sum(1 << kinds.index(kind) for kind in fitting(kinds, text))
            example = text[unreadable_row(text) or 0].as_py()
            yield pa.record_batch({"bits": pa.array([bits], pa.int32()), "value": pa.array([example])})


@dataclass(frozen=True)
class FromText:
    """Turns the text of an order column into numbers to sort by."""

    kind: int  # number in text_kinds()
    order: str
    source: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows with numbers."""
        import pyarrow as pa

        from summarkov.io.ordering import order_text, sort_keys, text_kinds

        for batch in batches:
            text = order_text(pa.chunked_array([batch.column("order")]))
            column = text_kinds()[self.kind].read(text)
            keys = pa.array(sort_keys(column, self.order, self.source))
            at = batch.schema.get_field_index("order")
            yield pa.record_batch([*batch.columns[:at], keys, *batch.columns[at + 1 :]], batch.schema.names)
