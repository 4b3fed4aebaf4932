"""The joint model beside LightGBM, both tuned on dev: log loss of the next event, single labels, and seconds.

    python -m benchmarks.prediction DIR OUT.jsonl linkedin beigebooks [--split 0 1 2] [--transformer]
    python -m benchmarks.prediction --table OUT.jsonl

DIR holds NAME.train.jsonl, NAME.dev.jsonl and NAME.test.jsonl. With --split all sequences are pooled and
split anew (70/15/15) by each seed. Each data set and split adds one line to OUT.jsonl; --table sums them up,
with the difference of both models over the splits and its 95% interval (Student's t over splits). For single
labels the joint model has one setting for all, LightGBM one for each label. With --transformer a small causal
transformer is measured, and neither of them; --epochs are how long it learns, for large data.

LightGBM has one thread. Give BLAS one, too (OPENBLAS_NUM_THREADS=1), where processor seconds are compared:
threads that wait for each other on a busy machine count as well.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from paper.lightgbm import LightgbmContender
from paper.transformer import TransformerContender

import summarkov as sm
from summarkov.comparison import JointContender
from summarkov.comparison.tuning import BOOSTED_GRID, ROUNDS

#: The labels that the paper's table of Timelines is about.
TIMELINES = [
    "armed conflict",
    "arrest",
    "aviation incident",
    "bomb attack",
    "disease outbreak",
    "economy",
    "election",
    "explosion",
    "military raid",
    "pathogen spread",
    "protest",
    "quarantine",
    "riot",
    "vaccination",
    "war",
]

Tuned = Iterator[Any]  # functions from events to probabilities of all outcomes


def outcomes(events: sm.EventSequences, targets: Sequence[str]) -> Any:
    """The target at every position, the number of targets for all other labels."""
    return outcomes_of(events.labels, targets)[events.codes]


def outcomes_of(labels: Sequence[str], targets: Sequence[str]) -> Any:
    """The outcome of every label."""
    number = {label: at for at, label in enumerate(targets)}
    return np.array([number.get(label, len(targets)) for label in labels])


def joint(train: sm.EventSequences, dev: sm.EventSequences, targets: Sequence[str]) -> Tuned:
    """The boosted joint model as ``compare`` has it, but that no more trees grow where dev gains no more.

    They stop once two numbers of rounds in a row predict dev less well than an earlier one. 0 does not count,
    as few trees are often worse than none.
    """
    happened = outcomes(dev, targets)
    for settings in BOOSTED_GRID:
        losses: dict[int, float] = {}
        each = JointContender("joint", sm.JointSuMM(), [settings], ROUNDS).fit_each(train, targets)
        for rounds, several in groupby(each, lambda pair: pair[0]["rounds"]):
            for _, predictor in several:
                yield predictor.next_event
                loss = -np.log(predictor.next_event(dev)[np.arange(len(happened)), happened]).mean()
                losses[rounds] = min(loss, losses.get(rounds, np.inf))
            told = [losses[n] for n in losses if n]
            if told and min(told[-2:]) > min(told):
                break


def lightgbm(train: sm.EventSequences, dev: sm.EventSequences, targets: Sequence[str]) -> Tuned:
    """LightGBM with each of its settings, stopped on dev and somewhat earlier."""
    for _, predictor in LightgbmContender(stop_on=dev).fit_each(train, targets):
        yield predictor.next_event


def transformer(train: sm.EventSequences, targets: Sequence[str], epochs: int) -> Tuned:
    """A causal transformer with each of its settings; all labels that are no target are one outcome."""
    column = outcomes_of(train.labels, targets)
    for _, predictor in TransformerContender(epochs=epochs).fit_each(train, targets):

        def predict(events: sm.EventSequences, said: Any = predictor.next_event) -> Any:
            return said(events) @ (column[:, None] == np.arange(column.max() + 1))

        yield predict


def single(p: Any, happened: Any) -> Any:
    """Log-likelihood of "this label or not", for each outcome."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    hit = np.arange(p.shape[1]) == happened[:, None]
    return np.where(hit, np.log(p), np.log1p(-p)).sum(axis=0)


def measure(tuned: Tuned, dev: Any, test: Any, targets: Sequence[str]) -> dict[str, Any]:
    """Log loss on test of what is best on dev, and the mean over labels of "this label or not".

    The latter with the settings that are best for all labels together, as ``compare`` has them for a joint
    model ("singles"), and with those that are best for each ("each").
    """
    start, best, each, tried = time.process_time(), (np.inf, np.nan), {}, 0
    together = -np.inf, np.nan
    y, z = outcomes(dev, targets), outcomes(test, targets)
    for predict in tuned:
        tried += 1
        on_dev = predict(dev)
        loss, singles = -np.log(on_dev[np.arange(len(y)), y]).mean(), single(on_dev, y)
        better = [x for x in range(len(targets)) if x not in each or singles[x] > each[x][0]]
        n = len(targets)
        if loss < best[0] or better or singles[:n].sum() > together[0]:
            on_test = predict(test)
            if loss < best[0]:
                best = loss, -np.log(on_test[np.arange(len(z)), z]).mean()
            found = single(on_test, z)
            each |= {x: (singles[x], found[x]) for x in better}
            if singles[:n].sum() > together[0]:
                together = singles[:n].sum(), found[:n].mean()
    mean = float(np.mean([found for _, found in each.values()]))
    seconds = time.process_time() - start
    return {
        "loss": float(best[1]),
        "singles": float(together[1]),
        "each": mean,
        "tried": tried,
        "seconds": seconds,
    }


def run(folder: Path, out: Path, names: Sequence[str], seeds: Sequence[int | None], epochs: int) -> None:
    """Add one line per split and data set, data sets side by side."""
    for seed in seeds:
        for name in names:
            files = [folder / f"{name}.{part}.jsonl" for part in ("train", "dev", "test")]
            parts = [sm.read_events(file, ends="cut off") for file in files]  # the paper's protocol
            pooled = sm.read_events([one for part in parts for one in part.to_lists()], ends="cut off")
            targets = TIMELINES if name == "timelines" else list(pooled.labels)
            recoded = [part.recode(pooled.labels) for part in parts]
            train, dev, test = recoded if seed is None else pooled.split((0.7, 0.15, 0.15), random_state=seed)
            found: dict[str, Any] = {"data": name, "split": seed}
            if epochs:
                found["transformer"] = measure(transformer(train, targets, epochs), dev, test, targets)
            else:
                found["joint"] = measure(joint(train, dev, targets), dev, test, targets)
                found["lightgbm"] = measure(lightgbm(train, dev, targets), dev, test, targets)
            with open(out, "a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")


def table(path: Path) -> str:
    """The paper's split of every data set, then what the other splits say."""
    from scipy import stats

    every = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines = [line for line in every if "joint" in line]
    rows = [
        "| data | splits | log loss of the next event | LightGBM | better by | single labels | LightGBM "
        "| better by | seconds | LightGBM |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(line["data"] for line in lines):
        for is_paper in (True, False):
            some = [x for x in lines if x["data"] == name and (x["split"] is None) == is_paper]
            if not some:
                continue
            cells = [name, "the paper's" if is_paper else f"{len(some)} others"]
            for what, rival, sign, digits in (("loss", "loss", -1, 4), ("singles", "each", 1, 2)):
                ours = np.array([x["joint"][what] for x in some])
                theirs = np.array([x["lightgbm"][rival] for x in some])
                gain = sign * (ours - theirs)
                told = f"{gain.mean():+.{digits}f}"
                if len(some) > 1:
                    width = stats.t.ppf(0.975, len(some) - 1) * gain.std(ddof=1) / np.sqrt(len(some))
                    told += f" ({gain.mean() - width:+.{digits}f} to {gain.mean() + width:+.{digits}f})"
                cells += [f"{ours.mean():.{digits}f}", f"{theirs.mean():.{digits}f}", told]
            cells += [f"{np.mean([x[m]['seconds'] for x in some]):.0f}" for m in ("joint", "lightgbm")]
            rows.append(f"| {' | '.join(cells)} |")
    for line in every:
        if (found := line.get("transformer")) is not None:
            told = f"{found['loss']:.4f} and {found['singles']:.2f} in {found['seconds']:.0f} s"
            rows.append(f"\nTransformer, {line['data']}, split {line['split']}: {told}")
    return "\n".join(rows)


def main() -> None:
    """Measure, or sum up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--table", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--split", type=int, nargs="*", default=[])
    parser.add_argument("--transformer", action="store_true")
    parser.add_argument("--epochs", type=int, default=300)
    given = parser.parse_args()
    if given.table is not None:
        print(table(given.table))
    elif given.folder is None or given.out is None or not given.names:
        parser.error("give DIR, OUT.jsonl and the names of data sets, or --table OUT.jsonl")
    else:
        epochs = given.epochs if given.transformer else 0
        run(given.folder, given.out, given.names, given.split or [None], epochs)


if __name__ == "__main__":
    main()
