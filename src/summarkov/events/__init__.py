"""The data: sequences of event labels in order; which happened together, when, and attributes."""

from summarkov.events.attributes import Attributes
from summarkov.events.describe import Description
from summarkov.events.sequences import EventSequences
from summarkov.events.vocabulary import END

__all__ = ["END", "Attributes", "Description", "EventSequences"]
