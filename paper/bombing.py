"""The corpus of bombing reports, which was never published, and a planted example in its place."""

from __future__ import annotations

from paper.published import published
from paper.section import Section
from summarkov.models import BSuMM
from summarkov.simulate import Dynamics

SEED = 0


def planted() -> Dynamics:
    """Twelve labels; sentencing follows a failed bomb or an investigation, whichever it was: an OR."""
    others = (
        "attack",
        "arrest",
        "denouncement",
        "injury",
        "purchase",
        "radicalization",
        "threat",
        "trial",
        "travel",
    )
    states = [(0, 0), (0, 1), (1, 0), (1, 1)]
    sentencing: dict[tuple[int, ...], float] = dict(zip(states, (0.02, 0.45, 0.45, 0.45), strict=True))
    fixed = {**dict.fromkeys(others[:-1], 0.05), "failure-bomb": 0.07, "investigation": 0.07}
    rest: dict[tuple[int, ...], float] = {
        state: 1 - sum(fixed.values()) - p for state, p in sentencing.items()
    }
    causes = ("failure-bomb", "investigation")
    return Dynamics({**fixed, "sentencing": (causes, sentencing), others[-1]: (causes, rest)}, lookback=10)


def bombing() -> list[Section]:
    """The published influences as they stand, and what is learned from a planted corpus of that size."""
    given = published()["bombing"]
    size = f"{given['labels']} labels, {given['sequences']} sequences, {given['events']} events"
    settings = given["settings"]
    shown = ", ".join(f"{name} {value}" for name, value in settings.items())
    theirs = Section(
        "Bombing reports (as published)",
        f"A corpus of {size}; {shown}. Its data was never published, so nothing can be reproduced here.",
        ["target", "published influencers", "published probabilities"],
        [[target, ", ".join(influencers), p] for target, influencers, p in given["influences"]],
    )
    dynamics = planted()
    rows = []
    for n_sequences in (given["sequences"], 20 * given["sequences"]):
        events = dynamics.simulate(n_sequences, given["events"] // given["sequences"], SEED)
        model = BSuMM("sentencing", **settings, false_edges=None).fit(events)
        table = "; ".join(f"{row.words}: {row.probabilities[0]:.2f} (n={row.n:g})" for row in model.table_)
        rows.append([str(n_sequences), ", ".join(model.influencers_) or "none", table])
    ours = Section(
        "Bombing reports (planted in their place)",
        "Sentencing is likely (0.45) after a failed bomb or an investigation and rare (0.02) otherwise, "
        f"an OR; twelve labels, sequences of 4 events, seed {SEED}; {shown}.",
        ["sequences", "influencers learned for sentencing", "its table"],
        rows,
        [
            "At the published size, 60 events, there is too little to go by: what is found depends on the "
            "draw. With twenty times as much both causes are found, and the table shows the OR."
        ],
    )
    return [theirs, ours]
