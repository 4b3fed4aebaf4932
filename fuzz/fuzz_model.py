"""Bytes as the file of a model or graph."""

from fuzz.stored import load_and_use


def check(data: bytes) -> None:
    """A model that works, or an error of ours."""
    load_and_use(data)
