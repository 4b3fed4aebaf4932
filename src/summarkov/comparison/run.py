"""``compare``: tune several models on the same data and say which predicts best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from summarkov.comparison.comparison import Comparison
from summarkov.comparison.contenders import Contender
from summarkov.comparison.measures import Split, Tuned, tune
from summarkov.comparison.tuning import default_models, lineup
from summarkov.engines import Layout, as_events, make_source
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.draws import split_by_key
from summarkov.events.vocabulary import Label, vocabulary_of
from summarkov.models import SummaryModel
from summarkov.settings import MOST_REPLICATES, check_seed, check_whole, reporter
from summarkov.typing import HashArray

#: Told the trials done, the trials in all, and what is being worked on.
Progress = Callable[[int, int, str], None] | bool | None


def compare(
    train: Any,
    dev: Any = None,
    test: Any = None,
    *,
    models: Iterable[str | SummaryModel | Contender] | None = None,
    targets: Iterable[Label] | None = None,
    splits: int = 1,
    fractions: Sequence[float] = (0.7, 0.15, 0.15),
    random_state: int = 0,
    n_bootstrap: int = 2000,
    progress: Progress = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Fit on train, choose settings on dev for each target, report on test.

    Parameters
    ----------
    train, dev, test : events
        The three parts; or only ``train``, which is then split at random by sequence, ``splits`` times (seeds
        ``random_state``, ``random_state + 1``, ...), in parts of the given ``fractions``.
    models : names, models or contenders, optional
        Names as in ``summarkov.comparison.NAMES``, each with the grid of settings of the paper; models
        without a target, such as ``BSuMM(lookback=3)``, with just these settings; or contenders of your own,
        with ``name`` and ``fit_each`` (``summarkov.comparison.Contender``). By default chains of order 0, 1
        and 2, ``bsumm`` and ``osumm``; where events happened together, or there are attributes, no chain but
        that of order 0.
    targets : labels, optional
        Average over these labels only. By default all that occur in train. A label that is asked for here is
        a target in any case.
    splits : int
        How often ``train`` is split, where it is all there is.
    fractions : three numbers
        The shares of the sequences for training, for choosing settings and for the test.
    random_state : int
        Of the first split, and of the resamples.
    n_bootstrap : int
        Resamples of the test sequences behind the intervals.
    progress : function or True, optional
        Called with trials done, trials in all, and what is being worked on; True writes that to the standard
        error.
    n_jobs : int, optional
        Threads; None is one, -1 one per core. The result does not depend on it.

    Notes
    -----
    The vocabulary is learned from train: the labels that occur there, and those that ``targets`` names. Any
    other label of dev or test is unknown to all models alike. An event of such a label keeps its position,
    influences nothing, and none of the targets occurred there; it counts as missed in ``top_1`` and
    ``top_3``, and the log loss of the next event leaves it out. So nothing on dev depends on test.

    Examples
    --------
    >>> from summarkov import read_events, compare
    >>> events = read_events([["A", "B", "C"] * 5, ["B", "C", "A"] * 4, ["C", "A", "B"] * 3] * 9)
    >>> result = compare(events, models=["chain-0", "chain-1"], splits=2)
    >>> [(line.name, line.verdict) for line in result.lines]
    [('chain-1', 'best'), ('chain-0', 'worse')]
    """
    seed = check_seed(random_state)
    tell = reporter(progress)
    check_whole("n_bootstrap", n_bootstrap, 1, MOST_REPLICATES)
    names = None if targets is None else vocabulary_of(targets, "targets")
    parts = splits_of(train, dev, test, splits, fractions, seed)
    layout = Layout.of(make_source(parts[0][0].train))
    contenders = lineup(default_models(layout) if models is None else models, n_jobs=n_jobs)
    if not contenders:
        raise SettingError("there is nothing to compare; name at least one model")
    results: list[list[Tuned]] = [[] for _ in contenders]
    total, done = len(parts) * len(contenders), 0
    for number, (whole, _) in enumerate(parts):
        split, chosen = _known(whole, names)
        for c, contender in enumerate(contenders):
            what = contender.name if len(parts) == 1 else f"{contender.name}, split {number + 1}"
            tell(done, total, what)
            results[c].append(tune(contender, split, chosen))
            done += 1
            tell(done, total, what)
    return Comparison(
        results,
        [tuned.n_positions for tuned in results[0]],
        unit="tick" if layout.together else "event",
        sequences=[keys for _, keys in parts],
        n_bootstrap=n_bootstrap,
        seed=seed,
    )


def splits_of(
    train: Any, dev: Any, test: Any, splits: int, fractions: Sequence[float], seed: int
) -> list[tuple[Split, HashArray]]:
    """The parts to work on, each with the keys of its test sequences, by which they are known again."""
    if (dev is None) != (test is None):
        raise SettingError("give train, dev and test, or train alone to have it split")
    if dev is not None:
        if splits != 1:
            raise SettingError("splits= is for one data set; train, dev and test are already split")
        split = _checked(Split(*_alike({"train": train, "dev": dev, "test": test})))
        return [(split, np.sort(split.test.sequence_keys()))]
    check_whole("splits", splits, 1)
    if len(fractions) != 3:
        raise SettingError(f"fractions are those of train, dev and test, not {tuple(fractions)}")
    (data,), found = _alike({"train": train}), []
    keys = data.sequence_keys()
    for s in range(splits):
        drawn = split_by_key(np.sort(keys), fractions, seed + s)
        split = _checked(Split(*(data.only(part) for part in drawn)))
        tested = keys[drawn[2].weights(keys) > 0]  # alone, sequences of one name may have other keys
        found.append((split, tested[np.argsort(split.test.sequence_keys())]))
    return found


def _alike(parts: dict[str, Any]) -> list[EventSequences]:
    """Parts as they are counted: with their ends, unless those of the first are all cut off."""
    found = []
    for name, part in parts.items():
        events = as_events(part)
        if not isinstance(events, EventSequences):
            raise SettingError(
                f"models are compared on events of this machine, and {name} is a {type(events).__name__}; "
                "read them with read_events or scan_events, some of the cases if they are too many"
            )
        found.append(events)
    cut_off = not found[0].complete.any()
    return [events.with_ends("cut off") if cut_off else events.with_end_rows() for events in found]


def _checked(split: Split) -> Split:
    for name, part in vars(split).items():
        if not part.n_events:
            raise DataError(f"the {name} part has no events; give more sequences or other fractions")
    return split


def _known(whole: Split, names: Sequence[str] | None) -> tuple[Split, tuple[str, ...]]:
    """The parts over the labels that occur in train, and targets; and the targets."""
    train = whole.train
    occurring = [label for label, n in zip(train.labels, train.label_counts.tolist(), strict=True) if n]
    targets = tuple(occurring if names is None else names)
    if not targets:
        raise SettingError("targets must hold at least one label; leave it out for all of them")
    labels = sorted({label for part in vars(whole).values() for label in part.labels})
    for target in targets:
        if target not in labels:
            raise UnknownLabelError(target, labels)
    known = sorted({*occurring, *targets})  # all other labels are unknown
    return Split(*(part.recode(known, unknown="ignore") for part in vars(whole).values())), targets
