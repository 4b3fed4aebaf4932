"""A joint model with the settings that best foretell sequences which it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from summarkov.comparison.contenders import JointContender, JointPredictor
from summarkov.comparison.tuning import BOOSTED_GRID, ROUNDS
from summarkov.engines import EventSource, Layout, as_source
from summarkov.errors import DataError, SettingError
from summarkov.events.vocabulary import label_text
from summarkov.models import JointSuMM
from summarkov.models.learning import check_in_a_row
from summarkov.read import read_events
from summarkov.settings import Progress, check_level, check_seed, reporter
from summarkov.wording import plural

#: With fewer sequences hardly any would be held out.
_LEAST_SEQUENCES = 10


def tune_joint(
    events: Any,
    *,
    model: JointSuMM | None = None,
    holdout: float = 0.2,
    random_state: int = 0,
    progress: Progress = None,
) -> JointSuMM:
    """Fit a joint model with the settings that best foretell sequences which it has not seen.

    Some sequences are held out at random. The penalty, the trees and the share of what followed the last
    labels are those of ``joint-boosted`` in :func:`compare` that have the smallest log loss of the next event
    on them; the model with these settings is then fitted to all events. All other settings stay as they are.

    Parameters
    ----------
    events : events
        As for ``JointSuMM.fit``; they must be in memory.
    model : JointSuMM, optional
        What to tune, with the default settings if it is not given. ``gamma=0`` keeps all influencers, which
        predicts best and reads worst.
    holdout : float
        The share of sequences to choose on.
    random_state : int
        Of the choice of these sequences.
    progress : bool or function
        Called as ``progress(done, total)`` after each number of rounds; it may end early.

    Returns
    -------
    JointSuMM
        A new model. Its parameters tell what was chosen.

    Examples
    --------
    >>> model = tune_joint([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 10)
    >>> model.predict_next([["A"]]).most_likely
    ('B',)
    """
    template = JointSuMM() if model is None else model
    if not isinstance(template, JointSuMM):
        raise SettingError(f"model must be a JointSuMM, not {template!r}; compare chooses among other models")
    check_level("holdout", holdout)
    if isinstance(events, EventSource):
        raise SettingError(
            "settings are chosen on events in memory; read them with read_events (some of the sequences if "
            "they are too many), then fit the model that was found to this source"
        )
    data, tell = read_events(events), reporter(progress)
    check_in_a_row("JointSuMM", Layout.of(as_source(data)))
    train, held = data.split((1 - holdout, holdout), random_state=check_seed(random_state))
    if len(data) < _LEAST_SEQUENCES or not train.n_events or not held.n_events:
        raise DataError(
            f"too few to hold some out and choose settings on them: {plural(len(data), 'sequence')}; fit a "
            "JointSuMM with settings of your own"
        )
    grid = [{name: value for name, value in each.items() if name != "gamma"} for each in BOOSTED_GRID]
    targets = data.labels if template.targets is None else tuple(map(label_text, template.targets))
    contender = JointContender("joint", template, grid, ROUNDS, stop_on=held, n_jobs=template.n_jobs)
    total, best, chosen = len(grid) * len(ROUNDS) + 1, np.inf, None
    for settings, predictor in contender.fit_each(train, targets):
        assert isinstance(predictor, JointPredictor)
        loss = predictor.loss(held)
        if loss < best:
            best, chosen = loss, settings
        at = next(i for i, each in enumerate(grid) if each["penalty"] == settings["penalty"])
        tell(at * len(ROUNDS) + ROUNDS.index(settings["rounds"]) + 1, total)
    assert chosen is not None
    found = template.copy(**chosen).fit(data)
    tell(total, total)
    return found
