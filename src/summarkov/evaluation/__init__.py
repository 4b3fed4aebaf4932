"""A fair comparison of models on anyone's data."""

from summarkov.baselines import BlockPredictor, Contender, ModelContender, Predictor
from summarkov.evaluation.choosing import tune_joint
from summarkov.evaluation.comparison import Comparison, Line
from summarkov.evaluation.run import compare
from summarkov.evaluation.tuning import DEFAULT, NAMES, lineup
from summarkov.evaluation.windows import Windows
from summarkov.models.measures import ReliabilityBin

__all__ = [
    "DEFAULT",
    "NAMES",
    "BlockPredictor",
    "Comparison",
    "Contender",
    "Line",
    "ModelContender",
    "Predictor",
    "ReliabilityBin",
    "Windows",
    "compare",
    "lineup",
    "tune_joint",
]
