"""Generate events: from dynamics written down, or from a fitted graph."""

from summarkov.simulate.draw import draw_sequences
from summarkov.simulate.dynamics import Dynamics

__all__ = ["Dynamics", "draw_sequences"]
