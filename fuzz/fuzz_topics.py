"""Bytes as the file of a topic model."""

from fuzz.stored import hand_over
from summarkov.text import load_topics


def check(data: bytes) -> None:
    """A topic model that labels sentences, or an error of ours."""
    model = hand_over(data, load_topics)
    if model is not None:
        assert len(model(["the bank raised rates", "rain", ""])) == 3
