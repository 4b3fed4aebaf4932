"""What takes part in a comparison: our models, and what a user would try instead.

A contender of :func:`summarkov.compare` has a ``name``, and ``fit_each(train, targets)`` fits it with each of
the settings to choose from (:class:`Contender`). Logistic regression and gradient boosting are not learned
from counts, so they are no models of this library; they need scikit-learn (``summarkov[baselines]``), which
loads when first used.
"""

from summarkov.baselines.boosting import BoostingContender, Trees
from summarkov.baselines.contenders import (
    BlockPredictor,
    Contender,
    JointContender,
    ModelContender,
    Predictor,
    TreeContender,
)
from summarkov.baselines.kneser_ney import KneserNeyContender
from summarkov.baselines.logistic import LogisticRegressionContender
from summarkov.errors import MissingLibraryError
