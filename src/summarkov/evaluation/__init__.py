"""A fair comparison of models on anyone's data."""

from summarkov.baselines import Contender, ModelContender, PiecewisePredictor, Predictor
from summarkov.evaluation.comparison import Comparison
from summarkov.evaluation.lineup import DEFAULT, NAMES, lineup
from summarkov.evaluation.run import compare

__all__ = [
    "DEFAULT",
    "NAMES",
    "Comparison",
    "Contender",
    "ModelContender",
    "PiecewisePredictor",
    "Predictor",
    "compare",
    "lineup",
]
