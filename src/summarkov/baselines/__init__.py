"""What a user would try instead: logistic regression, gradient boosting, an LSTM.

Each is a contender of :func:`summarkov.compare`: it has a ``name``, and ``candidates(train, targets)`` fits
it with each of the settings to choose from. None of them is learned from counts, so none is a model of this
library. scikit-learn (``summarkov[baselines]``) and PyTorch (``summarkov[lstm]``) load when first used.
"""

from summarkov.baselines.bags import BagContender
from summarkov.baselines.boosting import BoostingContender, Trees
from summarkov.baselines.contender import (
    Contender,
    ModelContender,
    PiecewisePredictor,
    Predictor,
    TreeContender,
)
from summarkov.baselines.logistic import LogisticRegressionContender
from summarkov.baselines.lstm import PAPER_SETTINGS, LstmContender, LstmSettings
from summarkov.errors import MissingLibraryError

__all__ = [
    "PAPER_SETTINGS",
    "BagContender",
    "BoostingContender",
    "Contender",
    "LogisticRegressionContender",
    "LstmContender",
    "LstmSettings",
    "MissingLibraryError",
    "ModelContender",
    "PiecewisePredictor",
    "Predictor",
    "TreeContender",
    "Trees",
]
