"""A fair comparison of models on anyone's data: our own, and what a user would try instead.

A contender of :func:`summarkov.compare` has a ``name``, and ``fit_each(train, targets)`` fits it with each of
the settings to choose from (:class:`Contender`). Logistic regression and gradient boosting need scikit-learn
(``summarkov[baselines]``), which loads when first used.
"""

from summarkov.comparison.boosting import BoostingContender, Trees
from summarkov.comparison.choosing import tune_joint
from summarkov.comparison.comparison import Comparison, Line
from summarkov.comparison.contenders import (
    BlockPredictor,
    Contender,
    JointContender,
    ModelContender,
    Predictor,
    TreeContender,
)
from summarkov.comparison.kneser_ney import KneserNeyContender
from summarkov.comparison.logistic import LogisticRegressionContender
from summarkov.comparison.run import compare
from summarkov.comparison.tuning import DEFAULT, NAMES, lineup
from summarkov.comparison.windows import Windows
from summarkov.models.measures import ReliabilityBin

__all__ = [
    "DEFAULT",
    "NAMES",
    "BlockPredictor",
    "BoostingContender",
    "Comparison",
    "Contender",
    "JointContender",
    "KneserNeyContender",
    "Line",
    "LogisticRegressionContender",
    "ModelContender",
    "Predictor",
    "ReliabilityBin",
    "TreeContender",
    "Trees",
    "Windows",
    "compare",
    "lineup",
    "tune_joint",
]
