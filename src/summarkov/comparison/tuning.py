"""Contenders by name, each with its grid of settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from summarkov.comparison.contenders import Contender, JointContender, KneserNeyContender, ModelContender
from summarkov.comparison.learners import boosting, regression
from summarkov.engines import Layout
from summarkov.errors import SettingError, nearest
from summarkov.models import (
    BSuMM,
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

#: Of joint models: few short sequences want a small penalty, many long ones a large one.
JOINT_GRID = tuple({"penalty": penalty, "gamma": 0.25} for penalty in (3.0, 30.0, 300.0, 3000.0))
#: With trees there are three settings to choose from, for few events and for many, which may be in short
#: sequences or in long ones; two fits have them all. With more, chance chooses.
BOOSTED_GRID: tuple[Mapping[str, Any], ...] = (
    {"penalty": 10.0, "gamma": 0.0, "leaves": 4, "learning_rate": 0.1, "contexts": 0.2},
    {"penalty": 1000.0, "gamma": 0.0, "leaves": 8, "learning_rate": 0.05, "contexts": (0.0, 0.2)},
)
ROUNDS = (0, 20, 40, 60, 80, 120, 160, 240)


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
    "tree": (TreeSuMM(), {"gamma": TREE_GAMMAS, **TREE_GRID}),
}


def _regression(k: int, features: str, jobs: int | None) -> Contender:
    return regression(k, features, name=f"lr-{features}-{k}")


#: Every contender that has a name, made with a number of threads.
_CONTENDERS: dict[str, Callable[[int | None], Contender]] = {
    **{name: partial(ModelContender, name, *each) for name, each in _MODELS.items()},
    "kneser-ney": lambda jobs: KneserNeyContender(n_jobs=jobs),
    "joint": lambda jobs: JointContender("joint", JointSuMM(), JOINT_GRID, n_jobs=jobs),
    "joint-boosted": lambda jobs: JointContender(
        "joint-boosted", JointSuMM(), BOOSTED_GRID, ROUNDS, n_jobs=jobs
    ),
    **{
        f"lr-{features}-{k}": partial(_regression, k, features)
        for features in ("presence", "counts", "onehot")
        for k in (3, 5, 10)
    },
    "boosting": lambda jobs: boosting(),
}


def named(name: str, n_jobs: int | None = None) -> Contender | None:
    """The contender of a name, if there is one; a family and a look-back make a name too."""
    if name in _CONTENDERS:
        return _CONTENDERS[name](n_jobs)
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
NAMES = tuple(_CONTENDERS)
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
