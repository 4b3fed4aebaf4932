"""A fair comparison of models on anyone's data: our own, and what a user would try instead.

A contender of :func:`summarkov.compare` has a ``name``, and ``fit_each(train, targets)`` fits it with each of
the settings to choose from (:class:`Contender`). Logistic regression and gradient boosting need scikit-learn
(``summarkov[baselines]``), which loads when first used.
"""

from summarkov.comparison.comparison import Comparison, Line
from summarkov.comparison.contenders import (
    Contender,
    JointContender,
    MatrixContender,
    ModelContender,
    Predictor,
)
from summarkov.comparison.run import compare
from summarkov.comparison.tuning import DEFAULT, NAMES, lineup
from summarkov.models.prediction import ReliabilityBin

__all__ = [
    "DEFAULT",
    "NAMES",
    "Comparison",
    "Contender",
    "JointContender",
    "Line",
    "MatrixContender",
    "ModelContender",
    "Predictor",
    "ReliabilityBin",
    "compare",
    "lineup",
]
