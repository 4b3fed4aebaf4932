"""The data: sequences of event labels in order, without time stamps."""

from summarkov.events.attributes import Attributes
from summarkov.events.describe import Description
from summarkov.events.sequences import EventSequences

__all__ = ["Attributes", "Description", "EventSequences"]
