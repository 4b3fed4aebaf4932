"""Codes in a folder, where they stay from session to session, instead of in the cache of one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any

from summarkov.engines.spark.session import Tally, exceptions, types
from summarkov.engines.spark.workers import CODES
from summarkov.errors import DataError
from summarkov.read.wanted import Wanted
from summarkov.typing import IntArray

#: Changes whenever codes of an earlier version could not be read any more.
_FORMAT = 2
#: Rows of one partition must not be read by two tasks: they are one row group of their file.
_ROW_GROUP = 1 << 28
#: Where in the folder it says what the codes must be; Spark passes over names that begin so.
_SEAL = "_summarkov/tally"
#: Nobody has more partitions than this.
_MOST_PARTITIONS = 1 << 20


@dataclass(frozen=True)
class KeptCodes:
    """Codes in a folder: where, of which events, and in how many partitions."""

    path: str
    fingerprint: str
    n_partitions: int
    is_new: bool  # whether they were made just now
    frame: Any

    @classmethod
    def of(cls, session: Any, path: str, fingerprint: str, n: int, make: Callable[[Any], Any]) -> KeptCodes:
        """Those that are there, or else those that ``make(schema)`` makes in ``n`` partitions."""
        made = make(code_schema({"fingerprint": fingerprint, "partitions": n}))
        try:
            made.write.option("parquet.block.size", _ROW_GROUP).parquet(path)
            return cls(path, fingerprint, n, True, session.read.parquet(path))
        except exceptions.AnalysisException as error:  # before anything is worked out
            if "PATH_ALREADY_EXISTS" not in str(error):
                raise
        try:
            there = session.read.parquet(path)
        except exceptions.AnalysisException as error:
            raise DataError(
                f"{path} holds no codes; remove it, or name a folder that is not there"
            ) from error
        return cls(path, fingerprint, _checked(there, path, fingerprint), False, there)

    def seal(self, session: Any, tally: Tally) -> None:
        """Say beside codes that were made just now what is in them."""
        told = session.createDataFrame([(_written(tally),)], "value string")
        told.coalesce(1).write.text(f"{self.path}/{_SEAL}")

    def check(self, session: Any, tally: Tally | None) -> None:
        """Refuse codes of another session in which there is something else than was written."""
        if self.is_new:
            return
        try:
            told = session.read.text(f"{self.path}/{_SEAL}").limit(1).collect()
        except exceptions.AnalysisException:
            told = []
        if tally is None or [row[0] for row in told] != [_written(tally)]:
            raise DataError("they were changed, or not written to the end")


def _written(tally: Tally) -> str:
    """A tally as text, without what depends on how codes are read."""
    return json.dumps(asdict(replace(tally, weight=0)))


def code_schema(about: dict[str, Any] | None = None) -> Any:
    """The columns of codes, of which the first says what they are ``about``."""
    schema = types.StructType()
    for name, kind in CODES.items():
        schema.add(name, kind, metadata={"summarkov": about} if about and name == "part" else None)
    return schema


def fingerprint_of(wanted: Wanted, labels: tuple[str, ...], counts: IntArray, columns: object) -> str:
    """A text that differs if labels, their numbers, columns or settings of reading do."""
    told = repr((_FORMAT, labels, counts.tolist(), columns, wanted))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _checked(there: Any, path: str, fingerprint: str) -> int:
    """The number of partitions of codes that are there; refused if they are of something else."""
    about = there.schema[0].metadata.get("summarkov", {}) if there.columns == [*CODES] else {}
    n = about.get("partitions")
    if about.get("fingerprint") != fingerprint or type(n) is not int or not 0 < n <= _MOST_PARTITIONS:
        raise DataError(
            f"{path} holds something else than the codes of these events, read in this way: labels or "
            "columns differ, or how often labels occur; remove it, or name another folder"
        )
    return n
