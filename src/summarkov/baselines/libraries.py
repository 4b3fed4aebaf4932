"""The optional libraries of the baselines, imported here and only when needed."""

from __future__ import annotations

from typing import Any

from summarkov.errors import optional_library


def load_logistic_regression() -> Any:
    """scikit-learn's ``LogisticRegression``."""
    with optional_library("logistic regression", "scikit-learn", extra="baselines"):
        from sklearn.linear_model import LogisticRegression
    return LogisticRegression


def load_boosting() -> Any:
    """scikit-learn's ``HistGradientBoostingClassifier``."""
    with optional_library("gradient boosting", "scikit-learn", extra="baselines"):
        from sklearn.ensemble import HistGradientBoostingClassifier
    return HistGradientBoostingClassifier


def load_thread_limits() -> Any:
    """``threadpool_limits``, which comes with scikit-learn; models of scikit-learn are fitted under it."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits


def load_torch() -> Any:
    """PyTorch."""
    with optional_library("the LSTM", "PyTorch", extra="lstm"):
        import torch
    return torch
