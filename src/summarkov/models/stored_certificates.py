"""Certificates of exact searches as plain values, and back."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from summarkov.models.fitted import Fitted
from summarkov.search import Certificate, Problem
from summarkov.search.exact import n_allowed
from summarkov.store import Node

#: More sets than any vocabulary that fits in a file has.
_MOST_SETS = 2**100_000


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """A certificate as plain values."""
    return {**dataclasses.asdict(certificate), "greedy": list(certificate.greedy)}


def read_certificate(node: Node, labels: tuple[str, ...]) -> Certificate:
    """A certificate from a file."""
    return Certificate(
        examined=node["examined"].count(_MOST_SETS),
        pruned=node["pruned"].count(_MOST_SETS),
        open=node["open"].count(_MOST_SETS),
        bound=node["bound"].number(),
        gap=node["gap"].number(),
        greedy=tuple(label.one_of(labels) for label in node["greedy"].list()),
        greedy_gap=node["greedy_gap"].number(),
    )


def check_certificate(node: Node, fitted: Fitted, problem: Problem) -> None:
    """What a certificate says must agree with itself and with the model."""
    found = fitted.certificate
    assert found is not None
    total = n_allowed(problem)
    if found.examined + found.pruned + found.open != total:
        node.wrong(f"examined, pruned and open sets that add up to {total}")
    if found.gap < 0 or found.greedy_gap < 0 or (found.is_optimal and found.gap > 0):
        node.wrong("gaps from 0 on, and none once nothing is open")
    if not math.isclose(found.bound, fitted.score + found.gap, rel_tol=1e-9, abs_tol=1e-9):
        node["bound"].wrong("the score and the gap together")
