"""Contenders by name, each with its grid of settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from summarkov.comparison.contenders import (
    FEATURES,
    Contender,
    JointContender,
    MatrixContender,
    ModelContender,
)
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
JOINT_GRID = tuple({"penalty": penalty, "gamma": 0.5} for penalty in (3.0, 30.0, 300.0, 3000.0))
#: With trees there are three settings to choose from, for few events and for many, which may be in short
#: sequences or in long ones. With more, chance chooses.
BOOSTED_GRID: tuple[Mapping[str, Any], ...] = (
    {"penalty": 10.0, "gamma": 0.0, "leaves": 4, "learning_rate": 0.1, "contexts": 0.2},
    {"penalty": 1000.0, "gamma": 0.0, "leaves": 8, "learning_rate": 0.05, "contexts": 0.0},
    {"penalty": 1000.0, "gamma": 0.0, "leaves": 8, "learning_rate": 0.05, "contexts": 0.2},
)
ROUNDS = (0, 20, 40, 60, 80, 120, 160, 240)

#: Of logistic regression, and of gradient boosting.
REGRESSION_GRID = tuple({"C": strength} for strength in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0))
BOOSTING_GRID = tuple(
    {"max_leaf_nodes": leaves, "learning_rate": rate, "l2_regularization": l2, "max_iter": n}
    for leaves, rate, l2 in ((5, 0.05, 10.0), (8, 0.03, 100.0), (15, 0.05, 10.0))
    for n in (30, 100, 300)
)

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


#: Every contender that has a name.
_CONTENDERS: dict[str, Contender] = {
    **{name: ModelContender(name, *each) for name, each in _MODELS.items()},
    "joint": JointContender("joint", JointSuMM(), JOINT_GRID),
    "joint-boosted": JointContender("joint-boosted", JointSuMM(), BOOSTED_GRID, ROUNDS),
    **{
        f"lr-{features}-{k}": MatrixContender(f"lr-{features}-{k}", REGRESSION_GRID, k, features)
        for features in FEATURES
        for k in (3, 5, 10)
    },
    "boosting": MatrixContender("boosting", BOOSTING_GRID),
}
#: Every name that ``compare`` knows.
NAMES = tuple(_CONTENDERS)
#: What is compared if nothing is said: quick, and needs nothing but the core.
DEFAULT = ("chain-0", "chain-1", "chain-2", "bsumm", "osumm")


def default_models(layout: Layout) -> tuple[str, ...]:
    """What is compared on such data if nothing is said: longer chains only of events in a row."""
    in_a_row = not layout.together and not layout.attributes
    return DEFAULT if in_a_row else tuple(name for name in DEFAULT if name not in ("chain-1", "chain-2"))


def named(name: str) -> Contender | None:
    """The contender of a name, if there is one; a family and a look-back make a name too.

    >>> named("bsumm-6h").template.lookback, named("osumm-5").template.lookback, named("bsumm-0")
    ('6h', 5, None)
    """
    family, _, window = name.partition("-")
    if name in _CONTENDERS or family not in _FAMILIES or not window:
        return _CONTENDERS.get(name)
    lookback: Any = int(window) if window.isdecimal() else window
    if isinstance(lookback, str):
        time = read_time(window, "lookback")
        lookback = Duration.of(window, "lookback").text if time is not None and time[0] else None
    return ModelContender(name, _FAMILIES[family].copy(lookback=lookback), AUTO_GRID) if lookback else None


def lineup(models: Iterable[str | SummaryModel | Contender], *, n_jobs: int | None = None) -> list[Contender]:
    """Make the contenders that are named, and pass on those that are given; what they need must be there.

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
        elif (made := named(model.lower())) is not None:
            ours: Any = made
            contenders.append(replace(ours, n_jobs=n_jobs) if hasattr(made, "n_jobs") else made)
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
