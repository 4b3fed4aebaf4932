"""Bytes as a file of format "spmf"."""

from fuzz.reading import read


def check(data: bytes) -> None:
    """Events, or an error of ours."""
    read(data, "spmf")
