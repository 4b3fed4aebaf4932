"""A made-up loan process, whose steps only begin, never repeat or only end a case."""

from __future__ import annotations

import random

from summarkov.events import EventSequences


def loan_process(n_cases: int = 1000, seed: int = 0) -> EventSequences:
    """Draw cases of a made-up loan process, whose steps only begin, never repeat or only end a case.

    Logs of processes are full of zeros: nothing is submitted twice, nothing follows the end. What is said of
    an edge must hold there too.

    Each case is submitted and registered once. Some are declined at once; the others are checked, some of
    them several times because documents are missing. A check may ask for a guarantor. Then an offer is made,
    and made again if the customer calls. It ends accepted and paid out, refused, or withdrawn. Fraud is
    looked into seldom.

    >>> loan_process(2, seed=1).to_lists()[1][:6]
    ['submit', 'register', 'check', 'ask for guarantor', 'guarantor signs', 'offer']
    """
    draw = random.Random(f"loan process {seed}")  # the same in every version of Python
    return EventSequences.from_lists([_case(draw) for _ in range(n_cases)])


def _case(draw: random.Random) -> list[str]:
    case = ["submit", "register"]
    if draw.random() < 0.2:
        return [*case, "decline"]
    if draw.random() < 0.02:
        case += ["suspect fraud", "look into fraud"]
        if draw.random() < 0.7:
            return [*case, "decline", "report fraud"]
    case.append("check")
    while draw.random() < 0.35:
        case += ["ask for documents", "receive documents", "check"]
    if draw.random() < 0.15:
        case += ["ask for guarantor", "guarantor signs"]
    if draw.random() < 0.3:
        case.append("call customer")
    case.append("offer")
    while draw.random() < 0.3:
        case += ["call customer", "offer"] if draw.random() < 0.6 else ["remind"]
    likely = 0.75 if "guarantor signs" in case else 0.55
    likely -= 0.15 * ("remind" in case)
    end = draw.random()
    if end < likely:
        return [*case, "accept", "sign", "pay out"]
    return [*case, "refuse"] if end < likely + 0.25 else [*case, "withdraw"]
