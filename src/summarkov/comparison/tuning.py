"""Contenders by name, each with its grid of settings; tuned: fit on train, choose on dev, report on test."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from summarkov.comparison.contenders import (
    Contender,
    JointContender,
    KneserNeyContender,
    ModelContender,
    Predictor,
)
from summarkov.comparison.learners import BoostingContender, LogisticRegressionContender
from summarkov.comparison.measures import Chosen, Tuned, log_likelihoods, pieces, report
from summarkov.engines import Layout
from summarkov.errors import SettingError, nearest
from summarkov.events import EventSequences
from summarkov.models import (
    BSuMM,
    ContextTreeWeighting,
    CSuMM,
    JointSuMM,
    MarkovChain,
    OSuMM,
    SummaryModel,
    TreeSuMM,
    VariableOrderChain,
)
from summarkov.settings import Duration, read_time

#: The grids of the paper.
ALPHAS = (0.1, 1, 5, 10)
LOOKBACKS = (1, 5, 10)
GAMMAS = (0.1, 0.5, 1)
SUMM_GRID = {"alpha": ALPHAS, "lookback": LOOKBACKS, "gamma": GAMMAS}
AUTO_GRID = {"alpha": ALPHAS, "gamma": GAMMAS}

#: A split costs from about 2 to about 25 nats on the paper's data sets.
TREE_GAMMAS = (0.2, 0.4, 0.7, 1, 1.5, 2)
TREE_GRID = {"alpha": (0.5, 1.5, 5, 15)}
SPLITS: tuple[float | str, ...] = (0.4, 0.05, "auto")

#: Of joint models: few short sequences want a small penalty, many long ones a large one.
JOINT_GRID = tuple({"penalty": penalty, "gamma": 0.25} for penalty in (3.0, 30.0, 300.0, 3000.0))
#: With trees there are three settings to choose from, for few events and for many, which may be in short
#: sequences or in long ones; two fits have them all. With more, chance chooses.
BOOSTED_GRID: tuple[Mapping[str, Any], ...] = (
    {"penalty": 10.0, "gamma": 0.0, "leaves": 4, "learning_rate": 0.1, "contexts": 0.2},
    {"penalty": 1000.0, "gamma": 0.0, "leaves": 8, "learning_rate": 0.05, "contexts": (0.0, 0.2)},
)
ROUNDS = (0, 20, 40, 60, 80, 120, 160, 240)


def _logistic(lookback: int, features: str, jobs: int | None) -> Contender:
    return LogisticRegressionContender(lookback, features, name=f"lr-{features}-{lookback}")


def _relaxed(lookback: int, jobs: int | None) -> Contender:
    name, strengths = f"lr-relaxed-{lookback}", (0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
    return LogisticRegressionContender(lookback, strengths=strengths, name=name, relaxed=True)


#: Summary models search as in the paper: settings are chosen by prediction, which punishes what is false.
#: "bsumm-5" looks back over 5 positions, "bsumm-6h" over 6 hours.
_FAMILIES: dict[str, SummaryModel] = {
    "bsumm": BSuMM(false_edges=None),
    "osumm": OSuMM(false_edges=None),
    "csumm": CSuMM(false_edges=None),
}
#: Models with their grids.
_MODELS: dict[str, tuple[SummaryModel, Mapping[str, Sequence[Any]]]] = {
    "bsumm": (_FAMILIES["bsumm"], SUMM_GRID),
    "bsumm-auto": (BSuMM(lookback="auto", false_edges=None), AUTO_GRID),
    "osumm": (_FAMILIES["osumm"], SUMM_GRID),
    "csumm": (_FAMILIES["csumm"], {**SUMM_GRID, "cap": (2, 3)}),
    **{f"chain-{order}": (MarkovChain(order=order), {"alpha": ALPHAS}) for order in range(5)},
    "vom": (VariableOrderChain(max_order=4), AUTO_GRID),
    "ctw": (ContextTreeWeighting(max_order=4), {"alpha": (0.1, 0.5, 1)}),
    "tree": (TreeSuMM(), {"gamma": TREE_GAMMAS, **TREE_GRID}),
    "tree-average": (TreeSuMM(gamma=TREE_GAMMAS[0], average=True), {**TREE_GRID, "split": SPLITS}),
}
#: All others, made with a number of threads.
_OTHERS: dict[str, Callable[[int | None], Contender]] = {
    "kneser-ney": lambda jobs: KneserNeyContender(n_jobs=jobs),
    **{
        f"lr-{features}-{k}": partial(_logistic, k, features)
        for features in ("presence", "counts", "onehot")
        for k in (3, 5, 10)
    },
    **{f"lr-relaxed-{k}": partial(_relaxed, k) for k in (3, 5, 10)},
    "joint": lambda jobs: JointContender("joint", JointSuMM(), JOINT_GRID, n_jobs=jobs),
    "joint-boosted": lambda jobs: JointContender(
        "joint-boosted", JointSuMM(), BOOSTED_GRID, ROUNDS, n_jobs=jobs
    ),
    "boosting": lambda jobs: BoostingContender(name="boosting"),
}


def named(name: str, n_jobs: int | None = None) -> Contender | None:
    """The contender of a name, if there is one; a family and a look-back make a name too."""
    if name in _MODELS:
        return ModelContender(name, *_MODELS[name], n_jobs)
    if name in _OTHERS:
        return _OTHERS[name](n_jobs)
    if (found := window_of(name)) is None:
        return None
    family, lookback = found
    window = lookback.text if isinstance(lookback, Duration) else lookback
    return ModelContender(name, _FAMILIES[family].copy(lookback=window), AUTO_GRID, n_jobs)


def window_of(name: str) -> tuple[str, int | Duration] | None:
    """The family and the look-back in the name of a contender; None where it names none.

    >>> window_of("bsumm-6h"), window_of("osumm-5"), window_of("bsumm-auto")
    (('bsumm', '6h'), ('osumm', 5), None)
    """
    family, _, window = name.lower().partition("-")
    if family not in _FAMILIES or not window:
        return None
    if window.isdecimal():
        return (family, int(window)) if int(window) else None
    found = read_time(window, "lookback")
    return None if found is None or not found[0] else (family, Duration.of(window, "lookback"))


#: Every name that ``compare`` knows.
NAMES = (*_MODELS, *_OTHERS)
#: What is compared if nothing is said: quick, and needs nothing but the core.
DEFAULT = ("chain-0", "chain-1", "chain-2", "bsumm", "osumm")


def default_models(layout: Layout) -> tuple[str, ...]:
    """What is compared on such data if nothing is said: longer chains only of events in a row.

    >>> default_models(Layout(together=True))
    ('chain-0', 'bsumm', 'osumm')
    """
    in_a_row = not layout.together and not layout.attributes
    return DEFAULT if in_a_row else tuple(name for name in DEFAULT if name not in ("chain-1", "chain-2"))


def lineup(models: Iterable[str | SummaryModel | Contender], *, n_jobs: int | None = None) -> list[Contender]:
    """Make the contenders that are named, and pass on those that are given; a model is one as it is.

    Something that one of them needs and that is not there is told now, not after hours of work.

    >>> [contender.name for contender in lineup(["bsumm", "chain-1"])]
    ['bsumm', 'chain-1']
    """
    if isinstance(models, str):
        raise SettingError(f"models must be a list; write [{models!r}]")
    contenders: list[Contender] = []
    for model in models:
        if isinstance(model, SummaryModel):
            if model.target is not None:
                raise SettingError(
                    f"{model!r} has a target; compare models without one, and choose labels with targets="
                )
            contenders.append(ModelContender(repr(model), model, {}, n_jobs))
        elif not isinstance(model, str):
            if not (hasattr(model, "name") and hasattr(model, "fit_each")):
                raise SettingError(
                    f"{model!r} is no contender, which has a name and fit_each; a model becomes one as "
                    "ModelContender(name, model, grid)"
                )
            contenders.append(model)
        elif (made := named(model.lower(), n_jobs)) is not None:
            contenders.append(made)
        else:
            several = f"; the models are {', '.join(NAMES)}, or with a look-back bsumm-5, osumm-6h, csumm-7d"
            hint = nearest(model.lower(), NAMES) or several
            raise SettingError(f"there is no model {model!r}{hint}")
    names = [contender.name for contender in contenders]
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise SettingError(f"two contenders have the same name, {twice[0]!r}; every name may occur once")
    for contender in contenders:
        if hasattr(contender, "require"):
            contender.require()
    return contenders


@dataclass(frozen=True)
class Split:
    """Train, dev and test over the vocabulary of train; other labels have the code -1."""

    train: EventSequences
    dev: EventSequences
    test: EventSequences


class _Best(NamedTuple):
    """What is best on dev for one target, so far."""

    dev: float
    settings: dict[str, Any]
    influencers: tuple[str, ...] | None
    predictor: Predictor


def tune(contender: Contender, split: Split, targets: Sequence[str]) -> Tuned:
    """Choose a contender's settings for each target by log-likelihood on dev; ties go to the first.

    One that says ``one_for_all = True`` has the same settings for all targets, those with the largest sum of
    their log-likelihoods.

    Test is predicted once, with what is best on dev, and has no say in the choice. How well the
    next event is told is measured where every label that occurs in train is a target.
    """
    start, best, train = time.perf_counter(), dict[str, _Best](), split.train
    one_for_all: bool = getattr(contender, "one_for_all", False)
    dev = pieces(split.dev, len(targets))
    for settings, predictor in contender.fit_each(train, targets):
        on_dev = log_likelihoods(dev, contender.name, dict.fromkeys(targets, predictor))
        for target in _better(on_dev, best, one_for_all):
            best[target] = _Best(on_dev[target], plain(settings), predictor.influencers(target), predictor)
    if not best:
        raise SettingError(f"{contender.name} has no settings to choose from, or there are no targets")
    in_train = {x for x, n in zip(train.labels, train.label_counts.tolist(), strict=True) if n}
    found = report(
        pieces(split.test, len(targets)),
        contender.name,
        {target: one.predictor for target, one in best.items()},
        next_event=in_train <= set(best),
    )
    chosen = tuple(
        Chosen(target, one.settings, one.dev, n_influencers, found.measures[target], one.influencers)
        for target, one in best.items()
        for n_influencers in [None if one.influencers is None else len(one.influencers)]
    )
    n, told = max(split.test.n_ticks, 1), found.next_event
    top_1, top_3, loss = (None,) * 3 if told is None else (told.top_1 / n, told.top_3 / n, told.log_loss)
    by_sequence = found.by_sequence[np.argsort(split.test.sequence_keys())]
    seconds = time.perf_counter() - start
    return Tuned(contender.name, chosen, by_sequence, seconds, top_1, top_3, loss, one_for_all)


def _better(on_dev: Mapping[str, float], best: Mapping[str, _Best], one_for_all: bool) -> list[str]:
    """The targets for which something new is better than the best so far: each for itself, or all or none."""
    if not best:
        return list(on_dev)
    if one_for_all:
        return list(on_dev) if sum(on_dev.values()) > sum(one.dev for one in best.values()) else []
    return [target for target, dev in on_dev.items() if dev > best[target].dev]


def plain(value: Any) -> Any:
    """Settings as JSON can hold them, so that a result is the same when it was stored in between.

    >>> plain({"lookback": np.int64(5), "grid": (1, float("inf")), "of": BaseException})
    {'lookback': 5, 'grid': [1, 'inf'], 'of': "<class 'BaseException'>"}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return repr(value)
