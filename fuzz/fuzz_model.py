"""Bytes as the file of a model, graph or bag."""

from fuzz.stored import load_and_use


def check(data: bytes) -> None:
    """A model that works, or an error of ours."""
    load_and_use(data)
