"""A fair comparison of models on anyone's data."""

from summarkov.baselines import BlockPredictor, Contender, ModelContender, Predictor
from summarkov.evaluation.comparison import Comparison
from summarkov.evaluation.lineup import DEFAULT, NAMES, lineup
from summarkov.evaluation.run import compare

__all__ = [
    "DEFAULT",
    "NAMES",
    "BlockPredictor",
    "Comparison",
    "Contender",
    "ModelContender",
    "Predictor",
    "compare",
    "lineup",
]
