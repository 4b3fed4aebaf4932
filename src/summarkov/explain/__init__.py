"""What a fitted model says, in numbers and in words."""

from summarkov.explain.explanation import Explanation
from summarkov.explain.influence import Influence, influence_of

__all__ = ["Explanation", "Influence", "influence_of"]
