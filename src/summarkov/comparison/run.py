"""``compare``: fit contenders on train, choose settings on dev for each target, measure them on test."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from summarkov.comparison.comparison import Chosen, Comparison, Tuned
from summarkov.comparison.contenders import Contender, Predictor, is_target
from summarkov.comparison.tuning import default_models, lineup
from summarkov.engines import Layout, as_events, make_source
from summarkov.errors import DataError, SettingError, UnknownLabelError
from summarkov.events import EventSequences
from summarkov.events.draws import split_by_key
from summarkov.events.vocabulary import Label, vocabulary_of
from summarkov.models import SummaryModel
from summarkov.models.prediction import binned, hits
from summarkov.settings import MOST_REPLICATES, check_seed, check_whole, reporter, until_interrupted
from summarkov.typing import BoolArray, FloatArray, HashArray

#: Told the trials done, the trials in all, and what is being worked on.
Progress = Callable[[int, int, str], None] | bool | None
#: How far outside 0 to 1 a probability may be.
_ROUNDING = 1e-9


class Split(NamedTuple):
    """Train, dev and test over the vocabulary of train; other labels have the code -1."""

    train: EventSequences
    dev: EventSequences
    test: EventSequences


# ---------------------------------------------------------------------- probabilities


class Answer(NamedTuple):
    """What a predictor said of a target, position by position, and what it comes to for each sequence."""

    p: FloatArray
    occurred: BoolArray
    by_sequence: FloatArray


def ask(contender: str, predictor: Predictor, events: EventSequences, target: str) -> Answer:
    """The probabilities of a target, refused if they are none; log-likelihoods may be minus infinity."""
    p, n = np.asarray(predictor.probability(events, target), dtype=np.float64), events.n_ticks
    if p.shape != (n,):
        raise SettingError(
            f"{contender} must give {target!r} one probability per position, {n} of them, not an "
            f"array of shape {p.shape}"
        )
    if not ((p >= -_ROUNDING) & (p <= 1 + _ROUNDING)).all():
        raise SettingError(f"{contender} gives {target!r} a probability that is not between 0 and 1")
    p, occurred = np.clip(p, 0.0, 1.0), is_target(events, target)
    sequence = np.repeat(np.arange(len(events)), events.lengths)[events.moments.starts]
    with np.errstate(divide="ignore"):
        logs = np.log(np.where(occurred, p, 1 - p))
    return Answer(p, occurred, np.bincount(sequence, weights=logs, minlength=len(events)).astype(float))


def logs_among_all(codes: npt.NDArray[np.integer], p: FloatArray) -> FloatArray:
    """Logarithms of what came, where ``p[i, m]`` is divided by the sum of its row; without codes of -1."""
    known = np.flatnonzero(codes >= 0)
    own, total = p[known, codes[known]], p.sum(axis=1)[known]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.divide(own, total, out=np.zeros_like(own), where=own > 0)))


# ---------------------------------------------------------------------- a trial


class _Best(NamedTuple):
    """What is best on dev for one target, so far."""

    dev: float
    settings: dict[str, Any]
    predictor: Predictor


def tune(contender: Contender, split: Split, targets: Sequence[str]) -> Tuned:
    """Choose a contender's settings for each target by log-likelihood on dev; ties go to the first.

    One that says ``one_for_all = True`` has the same settings for all targets, those with the largest sum of
    their log-likelihoods. Test has no say in the choice. The next event is predicted where every label that
    occurs in train is a target.
    """
    start, best = time.perf_counter(), dict[str, _Best]()
    one_for_all: bool = getattr(contender, "one_for_all", False)
    for settings, predictor in contender.fit_each(split.train, targets):
        answers = ((x, ask(contender.name, predictor, split.dev, x)) for x in targets)
        on_dev = {x: float(answer.by_sequence.sum()) for x, answer in answers}
        if best and one_for_all and sum(on_dev.values()) <= sum(one.dev for one in best.values()):
            continue
        for target, found in on_dev.items():
            if one_for_all or target not in best or found > best[target].dev:
                best[target] = _Best(found, plain(settings), predictor)
    if not best:
        raise SettingError(f"{contender.name} has no settings to choose from, or there are no targets")
    on_test = {x: ask(contender.name, one.predictor, split.test, x) for x, one in best.items()}
    chosen = tuple(_chosen(x, best[x], answer) for x, answer in on_test.items())
    mean = np.mean([answer.by_sequence for answer in on_test.values()], axis=0)
    by_sequence, next_event = mean[np.argsort(split.test.sequence_keys())], _next_event(split, on_test)
    return Tuned(contender.name, chosen, by_sequence, time.perf_counter() - start, *next_event, one_for_all)


def _chosen(target: str, best: _Best, answer: Answer) -> Chosen:
    """How one target does on test."""
    p, occurred = answer.p, answer.occurred
    return Chosen(
        target=target,
        settings=best.settings,
        dev_log_likelihood=best.dev,
        influencers=best.predictor.influencers(target),
        log_likelihood=float(answer.by_sequence.sum()),
        brier=float(((p - occurred) ** 2).sum()) / max(1, len(p)),
        reliability=binned(p, np.ones(len(p), np.int64), occurred.astype(np.int64)).tolist(),
    )


def _next_event(
    split: Split, answers: Mapping[str, Answer]
) -> tuple[float | None, float | None, float | None]:
    """How often the next event was among the most likely one and three, and its log loss."""
    train, test, targets = split.train, split.test, sorted(answers)
    occurring = {x for x, n in zip(train.labels, train.label_counts.tolist(), strict=True) if n}
    if test.attributes is not None or test.has_ticks or not occurring <= set(targets):
        return None, None, None
    column_of = np.array([*(targets.index(x) if x in answers else -1 for x in test.labels), -1])
    codes, p = column_of[test.codes], np.column_stack([answers[target].p for target in targets])
    logs, n = logs_among_all(codes, p), max(1, len(codes))
    loss = abs(float(logs.sum())) / len(logs) if len(logs) else None
    return hits(codes, p, 1) / n, hits(codes, p, 3) / n, loss


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON holds them; what it cannot hold, as text."""
    text = json.dumps(settings, default=lambda value: value.item() if hasattr(value, "item") else repr(value))
    found: dict[str, Any] = json.loads(text)
    return found


# ---------------------------------------------------------------------- all of them


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
    The vocabulary is that of train, and what ``targets`` names. Any other label of dev or test is unknown to
    all models alike: its event keeps its position, influences nothing, counts as missed in ``top_1`` and
    ``top_3``, and is left out of the log loss of the next event.

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
    known = [_known(split, names) for split, _ in parts]

    def tuned(at: int) -> Iterator[Tuned]:
        """One contender on each split."""
        name, total = contenders[at].name, len(parts) * len(contenders)
        for number, (split, chosen) in enumerate(known, start=1):
            done, what = at * len(parts) + number, name + f", split {number}" * (len(parts) > 1)
            tell(done - 1, total, what)
            yield tune(contenders[at], split, chosen)
            tell(done, total, what)

    each = (list(tuned(at)) for at in range(len(contenders)))
    return Comparison(
        list(until_interrupted(each, len(contenders), "models")),
        [one.test.n_ticks for one, _ in known],
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
        chosen = [np.isin(keys, part) for part in split_by_key(keys, fractions, seed + s)]
        split = _checked(Split(*(data[which] for which in chosen)))
        tested = keys[chosen[2]]  # alone, sequences of one name may have other keys
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
    for name, part in split._asdict().items():
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
    labels = sorted({label for part in whole for label in part.labels})
    for target in targets:
        if target not in labels:
            raise UnknownLabelError(target, labels)
    known = sorted({*occurring, *targets})  # all other labels are unknown
    return Split(*(part.recode(known, unknown="ignore") for part in whole)), targets
