"""The optional libraries of the baselines, imported here and only when needed."""

from __future__ import annotations

from typing import Any

from summarkov.errors import MissingLibraryError


def load_logistic_regression() -> Any:
    """scikit-learn's ``LogisticRegression``."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as missing:
        raise MissingLibraryError("logistic regression", "scikit-learn", "baselines") from missing
    return LogisticRegression


def load_boosting() -> Any:
    """scikit-learn's ``HistGradientBoostingClassifier``."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as missing:
        raise MissingLibraryError("gradient boosting", "scikit-learn", "baselines") from missing
    return HistGradientBoostingClassifier


def load_thread_limits() -> Any:
    """``threadpool_limits``, which comes with scikit-learn."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError as missing:
        raise MissingLibraryError("gradient boosting", "scikit-learn", "baselines") from missing
    return threadpool_limits


def load_sparse() -> Any:
    """``scipy.sparse``, which comes with scikit-learn."""
    try:
        import scipy.sparse
    except ImportError as missing:
        raise MissingLibraryError("logistic regression", "scikit-learn", "baselines") from missing
    return scipy.sparse


def load_torch() -> Any:
    """PyTorch."""
    try:
        import torch
    except ImportError as missing:
        raise MissingLibraryError("the LSTM", "PyTorch", "lstm") from missing
    return torch
