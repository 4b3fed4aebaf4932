"""What all estimators share: parameters as scikit-learn has them, predicting, files; labels in settings."""

from __future__ import annotations

import bisect
import dataclasses
import inspect
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from summarkov.engines import IN_A_ROW, EventSource, Layout, Target
from summarkov.errors import NotFittedError, SettingError, UnknownLabelError, nearest, optional_library
from summarkov.events.vocabulary import END, Unknown, is_label, label_text
from summarkov.frames import Sheet
from summarkov.models.prediction import (
    Distribution,
    Evaluation,
    Predictions,
    Residual,
    Sums,
    evaluate,
    measure,
    new_source,
    predict_each,
    predict_next,
    predict_rows,
)
from summarkov.settings import Progress
from summarkov.typing import FloatArray


def completed(cls: type) -> str | None:
    """The docstring of an estimator with all its parameters, wherever they are described.

    One that it does not describe itself is described as in the nearest class above that does.
    """
    if cls.__doc__ is None:
        return None
    docs = [inspect.cleandoc(each.__doc__ or "") for each in cls.__mro__]
    head, *rest = re.split(r"^(?=(?:Attributes|Examples)\n-+$)", docs[0], flags=re.MULTILINE)
    described = {name: entry for doc in reversed(docs) for name, entry in _parameters(doc).items()}
    entries = "\n".join(dict.fromkeys(described.values()))
    head = re.split(r"^Parameters\n-+$", head, maxsplit=1, flags=re.MULTILINE)[0].rstrip()
    parts = [head, f"Parameters\n----------\n{entries}" if entries else "", *map(str.rstrip, rest)]
    return "\n\n".join(filter(None, parts))


def _parameters(doc: str) -> dict[str, str]:
    """What the section on parameters says, by name; several names may share an entry."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", doc, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^\S.*\n(?:[ ]+.*\n?|\n)*", found[1], re.MULTILINE) if found else []
    return {
        name.strip(): entry.rstrip()
        for entry in entries
        for name in entry.partition("\n")[0].partition(" : ")[0].split(",")
    }


class _Shown(type):
    """Classes of which completion and ``help`` show what people need."""

    _machinery: frozenset[str]

    def __dir__(cls) -> list[str]:
        return sorted(set(super().__dir__()) - cls._machinery)


class Parameters(metaclass=_Shown):
    """Parameters are the dataclass fields: stored as given, checked when a model is fitted."""

    #: The attribute that only a fitted estimator has.
    _learned: ClassVar[str] = "_models"
    _is_classifier: ClassVar[bool] = False

    #: Public methods that only the library itself, and authors of models, need: completion leaves them out.
    _machinery: ClassVar[frozenset[str]] = frozenset(
        (
            *("command_name", "durations", "families", "fitted", "fitted_type", "has_edges", "layout_"),
            *("make_models", "make_problem", "make_search", "make_summary", "summary_at"),
            *("decided_by", "open_cases", "yes"),  # of outcomes
        )
    )

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__doc__ = completed(cls)

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - self._machinery)

    @property
    def is_fitted(self) -> bool:
        """Whether it has been fitted."""
        return hasattr(self, self._learned)

    def _check_fitted(self) -> None:
        if not self.is_fitted:
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit(events) first")

    def __sklearn_is_fitted__(self) -> bool:
        """What scikit-learn's ``check_is_fitted`` asks."""
        return self.is_fitted

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; those of a nested estimator as ``name__parameter`` if ``deep``."""
        given = {field.name: getattr(self, field.name) for field in self._settings()}
        nested = {k: v.get_params() for k, v in given.items() if deep and isinstance(v, Parameters)}
        return given | {f"{k}__{inner}": v for k, inside in nested.items() for inner, v in inside.items()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name and return self."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise SettingError(f"{type(self).__name__} has no parameter {name!r}{nearest(name, known)}")
            owner, _, inner = name.partition("__")
            if inner:
                getattr(self, owner).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def copy(self, **changed: Any) -> Self:
        """Return an unfitted estimator with the same parameters but for those given."""
        return type(self)(**{**self.get_params(deep=False), **changed})

    def _settings(self) -> tuple[dataclasses.Field[Any], ...]:
        return dataclasses.fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass

    def __repr__(self) -> str:
        shown = []
        for field in self._settings():
            value = getattr(self, field.name)
            plain = field.default is not dataclasses.MISSING and type(value) is type(field.default)
            if not (plain and value == field.default):
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def summary(self) -> Sheet:
        """What was learned, as a table that prints well and that notebooks show in HTML.

        Of a model the states that were seen most, of a graph or a joint model the surest edges.
        """
        return self._sheet()

    def _sheet(self) -> Sheet:
        raise NotImplementedError  # each class that takes this in has its own

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary; of an estimator that is not fitted, its parameters."""
        return (self._sheet() if self.is_fitted else Sheet(repr(self)))._repr_html_()

    def to_document(self) -> dict[str, Any]:
        """What was learned, as plain values: what ``save`` writes."""
        from summarkov.models.files import document_of  # which needs msgspec

        return document_of(self)  # type: ignore[arg-type]  # every class that people use can be stored

    def save(self, path: Any) -> None:
        """Write it as JSON, all or nothing; :func:`summarkov.load` reads it.

        ``path`` is that of a file, or an open file to write
        to.
        """
        from summarkov.store import write_sealed

        write_sealed(path, self.to_document(), indent=1)

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator; the only place that imports it."""
        with optional_library("the tags of an estimator", "scikit-learn", extra="baselines"):
            from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier" if self._is_classifier else None,
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(multi_class=False) if self._is_classifier else None,
            transformer_tags=None,
            input_tags=InputTags(one_d_array=True, two_d_array=False),
        )


class Predictor(Parameters):
    """Something fitted that tells the probabilities of what comes next, at any place of a sequence."""

    n_jobs: int | None

    @property
    @abstractmethod
    def fitted(self) -> Distribution:
        """What was learned."""

    @property
    def labels_(self) -> tuple[str, ...]:
        """The vocabulary."""
        return self.fitted.labels

    @property
    def outcomes_(self) -> tuple[str | Residual, ...]:
        """What the columns of probabilities stand for: labels, and ``OTHER`` for all that are no target."""
        return self.fitted.outcomes

    @property
    def classes_(self) -> npt.NDArray[np.object_]:
        """``outcomes_`` as an array, as scikit-learn has it."""
        found = np.empty(len(self.outcomes_), object)
        found[:] = self.outcomes_
        return found

    @property
    def layout_(self) -> Layout:
        """What the data it was learned from had beside events in a row: ticks, times, attributes."""
        return self.fitted.layout

    def _source(self, events: Any, unknown: Unknown = "error", sample_weight: Any = None) -> EventSource:
        """New events in the vocabulary of the model."""
        return new_source(self.fitted, events, unknown, sample_weight, self.n_jobs)

    def _measured(self, events: Any, unknown: Unknown, sample_weight: Any) -> Sums:
        """Sums over new events; models of some labels only, which give no distribution, are refused."""
        self.fitted.check_complete()
        return measure(self.fitted, self._source(events, unknown, sample_weight))

    # ------------------------------------------------------------------ how well it predicts

    def log_likelihood(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Log-likelihood of new events, summed over all positions.

        Of a graph it is that of the next event, one of all labels; with ``unknown="ignore"`` events of a
        label that it does not know are left out.
        """
        return self._measured(events, unknown, sample_weight).logs

    def score(
        self, events: Any, y: None = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood per event; larger is better, as scikit-learn expects."""
        return self._measured(events, unknown, sample_weight).score

    def brier_score(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Mean squared error of the probabilities; smaller is better.

        For one label it is the mean of (p - [it occurred])^2, for several labels, and for the next event of a
        graph, the sum over the outcomes of that.
        """
        found = self._measured(events, unknown, sample_weight).brier
        return found / 2 if self.fitted.is_apart and len(self.fitted.parts[0].outcomes) == 2 else found

    def evaluate(self, events: Any, *, unknown: Unknown = "error", progress: Progress = None) -> Evaluation:
        """Measure how well every target, and the next event, is predicted; see :class:`Evaluation`.

        The base rate of each target stands beside that.
        """
        return evaluate(self.fitted, events, unknown, self.n_jobs, progress)

    # ------------------------------------------------------------------ predict

    def predict_proba(self, events: Any, *, unknown: Unknown = "error") -> FloatArray:
        """Probability of each outcome at every position, from what came before it: one row per position.

        Columns are as in ``outcomes_``. For rows with the name of their sequence and their position, see
        :meth:`predictions`; for what comes after the last event, :meth:`predict_next`. With
        ``unknown="ignore"`` a label that the model does not know keeps its place and says nothing.
        """
        self.fitted.check_complete()
        return predict_each(self.fitted, events, unknown)

    def predict(self, events: Any, *, unknown: Unknown = "error") -> npt.NDArray[np.object_]:
        """The most likely outcome at every position. For a rare target that is mostly ``OTHER``."""
        return np.asarray(self.classes_[self.predict_proba(events, unknown=unknown).argmax(axis=1)])

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> Predictions:
        """``predict_proba`` with the sequence, position and event of every row, for ``to_frame()``."""
        from summarkov.read import read_events

        self.fitted.check_complete()
        return predict_rows(self.fitted, read_events(events), unknown)

    def predict_next(self, histories: Any, *, unknown: Unknown = "error") -> Predictions:
        """What comes next after each history? One row per history, in their order.

        ``histories`` are sequences of labels, oldest first: lists, or whatever ``read_events`` takes.

        >>> import numpy as np
        >>> from summarkov import BSuMM, InfluenceGraph
        >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5)
        >>> after = graph.predict_next([["A"], ["C", "A", "B"], []])
        >>> after.most_likely
        ('B', 'C', '(end of case)')
        >>> after.probabilities.shape
        (3, 4)
        """
        self.fitted.check_complete()
        return predict_next(self.fitted, histories, unknown)

    # ------------------------------------------------------------------ show

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        events: Any = None,
        passages: Any = None,
        title: str | None = None,
        sequences: int | None = None,
        groups: Any = None,
    ) -> str | None:
        """Write it as one HTML page that needs nothing else, all or nothing; or return its text.

        A notebook shows the text as the page itself, to explore in the cell.

        The page shows the graph, every label's table and the data, and computes what a history of one's own
        makes of the probabilities. With ``events`` it also shows what a graph does not know: how long their
        sequences are, and how the share of a target changes from event to event after an influencer. With
        ``passages``, the :class:`summarkov.text.TextEvents` that it was learned from, it shows the sentences
        behind every edge; they are then part of the page. ``title`` says what the events are. ``sequences``
        is the number of sequences of the events that become part of the page, to be looked at one event
        after the other: none unless asked for. ``groups``, what :func:`compare_groups` returned, or several
        of these, are shown side by side.
        """
        from summarkov.show.page import to_html

        return to_html(
            self, path, events=events, passages=passages, title=title, sequences=sequences, groups=groups
        )


def resolve_target(target: Any, labels: Sequence[str], layout: Layout = IN_A_ROW) -> Target:
    """Turn the target's labels into codes; what cannot be one in data of this layout is refused."""
    if target is None:
        raise SettingError(
            "this model has no target; give target=, or fit it as a template: InfluenceGraph(model)"
        )
    names = [target] if is_label(target) else target
    found = Target(target_codes(names, labels, "target"), len(labels), len(layout.attributes))
    chosen = [labels[code] for code in found.codes]
    if held := set(chosen) & set(layout.attributes):
        raise SettingError(
            f"{min(held)!r} is an attribute of sequences, which nothing can change; "
            "name a label of events as the target"
        )
    if layout.together and len(chosen) > 1 and not layout.outcomes:
        raise SettingError(
            f"{chosen[0]!r} and {chosen[1]!r} can happen together here, so they "
            "are no outcomes of one variable; learn a model of each, or a graph"
        )
    return dataclasses.replace(found, only=True) if layout.outcomes else found


def target_codes(targets: Any, labels: Sequence[str], setting: str = "targets") -> tuple[int, ...]:
    """The codes of the labels that the setting lists, sorted."""
    names = label_list(setting, targets)
    if not names:
        raise SettingError(f"{setting} is an empty list; name at least one label")
    return tuple(sorted(set(codes_of(names, labels))))


def label_list(setting: str, given: Any) -> list[object]:
    """Labels that a setting lists; not a single one, nor what can be gone through only once."""
    if is_label(given):
        raise SettingError(f"{setting} must be a list of labels; write [{given!r}]")
    if not isinstance(given, Iterable) or isinstance(given, Iterator):
        raise SettingError(f"{setting} must be a list of labels, not {given!r}")
    return list(given)


def codes_of(names: Iterable[object], labels: Sequence[str]) -> list[int]:
    """Codes of labels, or the error that names the nearest one."""
    codes = []
    for given in names:
        if not is_label(given) or given != given:
            raise SettingError(f"labels are text, or numbers that mean their text, not {given!r}")
        name = label_text(given)
        code = bisect.bisect_left(labels, name)  # labels are sorted
        if code == len(labels) or labels[code] != name:
            raise UnknownLabelError(name, labels)
        codes.append(code)
    return codes


def candidate_codes(
    labels: Sequence[str], candidates: Iterable[object] | None, without: Iterable[int]
) -> tuple[int, ...]:
    """The codes of the labels that may influence, all or those listed, but for some and ``END``; sorted."""
    among = None if candidates is None else tuple(codes_of(label_list("candidates", candidates), labels))
    at = bisect.bisect_left(labels, END)
    end = [at] if END in labels[at : at + 1] else []
    return _all_but(len(labels), among, frozenset((*without, *end)))


def tested_codes(
    labels: Sequence[str], candidates: Iterable[str] | None, forbidden: Iterable[str], target: Target
) -> tuple[int, ...]:
    """The codes of the labels that may be tested, sorted."""
    without = codes_of(label_list("forbidden", forbidden), labels)
    return candidate_codes(labels, candidates, [*without, *target.never_influence])


def given_codes(given: Iterable[str], labels: Sequence[str]) -> list[list[int]]:
    """For each column of attributes that is given, the codes of its values, such as "region=north"."""
    found = []
    for column in label_list("given", given):
        codes = [code for code, label in enumerate(labels) if label.startswith(f"{column}=")]
        if not codes:
            columns = sorted({label.partition("=")[0] for label in labels if "=" in label})
            raise SettingError(
                f"given names {column!r}, and the data have no such attribute"
                f"{nearest(str(column), columns) or f'; read the events with attributes=[{column!r}]'}"
            )
        found.append(codes)
    return found


@lru_cache(maxsize=4)
def _all_but(n_labels: int, among: tuple[int, ...] | None, without: frozenset[int]) -> tuple[int, ...]:
    """The models of a graph all ask the same, and share one answer: with many labels it is long."""
    return tuple(z for z in (range(n_labels) if among is None else sorted(set(among))) if z not in without)
