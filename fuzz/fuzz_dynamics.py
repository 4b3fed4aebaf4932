"""Bytes as the file of dynamics written down, as ``summarkov simulate`` reads it."""

from fuzz.stored import hand_over
from summarkov.cli.events import read_source
from summarkov.errors import SummarkovError
from summarkov.models import InfluenceGraph


def check(data: bytes) -> None:
    """Dynamics, or a graph, that can be drawn from, or an error of ours."""
    source = hand_over(data, read_source, SummarkovError)
    if source is None:
        return
    if isinstance(source, InfluenceGraph):
        assert source.simulate(2, 3).n_events == 6
    else:
        assert source.simulate(n_sequences=2, length=3).n_events == 6
