"""Parameters as scikit-learn has them, without scikit-learn: described once, and the labels they name."""

from __future__ import annotations

import bisect
import dataclasses
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

from summarkov.engines import IN_A_ROW, Layout, Target
from summarkov.errors import NotFittedError, SettingError, UnknownLabelError, nearest, optional_library
from summarkov.events.vocabulary import END, is_label, label_text
from summarkov.frames import Sheet


def completed(cls: type) -> str | None:
    """The docstring of an estimator with all its parameters, wherever they are described.

    One that it does not describe itself is described as in the nearest class above that does.
    """
    if cls.__doc__ is None:
        return None
    docs = [inspect.cleandoc(each.__doc__ or "") for each in cls.__mro__]
    head, *rest = re.split(r"^(?=(?:Attributes|Examples)\n-+$)", docs[0], flags=re.MULTILINE)
    names = [name for each in reversed(cls.__mro__) for name in _settings(each)]
    described = [_parameters(doc) for doc in docs]
    found = (next((some[name] for some in described if name in some), None) for name in names)
    entries = "\n".join(entry for entry in dict.fromkeys(found) if entry is not None)
    head = re.split(r"^Parameters\n-+$", head, maxsplit=1, flags=re.MULTILINE)[0].rstrip()
    parts = [head, f"Parameters\n----------\n{entries}" if entries else "", *map(str.rstrip, rest)]
    return "\n\n".join(filter(None, parts))


def _settings(cls: type) -> list[str]:
    """The fields of a dataclass that a class itself adds."""
    given = inspect.get_annotations(cls).items()
    return [name for name, kind in given if not name.startswith("_") and "ClassVar" not in str(kind)]


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
        {
            "choices",
            "command_name",
            "decided_by",
            "durations",
            "families",
            "fitted",
            "fitted_type",
            "has_edges",
            "layout_",
            "make_models",
            "make_problem",
            "make_search",
            "make_summary",
            "open_cases",
            "states_sheet",
            "summary_at",
            "yes",
        }
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
        if deep:
            for name, value in list(given.items()):
                if isinstance(value, Parameters):
                    given |= {f"{name}__{inner}": v for inner, v in value.get_params().items()}
        return given

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

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator; the only place that imports it."""
        with optional_library("the tags of an estimator", "scikit-learn", extra="baselines"):
            from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="classifier" if self._is_classifier else None,
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(multi_class=False) if self._is_classifier else None,
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(one_d_array=True, two_d_array=False),
        )


class Saved:
    """Something fitted that is kept in a file."""

    def to_document(self) -> dict[str, Any]:
        """What was learned, as plain values: what ``save`` writes."""
        from summarkov.models.files import document_of  # which needs msgspec

        return document_of(self)  # type: ignore[arg-type]  # each class that takes this in can be stored

    def save(self, path: Any) -> None:
        """Write it as JSON, all or nothing; :func:`summarkov.load` reads it.

        ``path`` is that of a file, an address such as ``"s3://bucket/model.json"``, or an open file to write
        to.
        """
        from summarkov.store import write_sealed

        write_sealed(path, self.to_document(), indent=1)


def resolve_target(target: Any, labels: Sequence[str], layout: Layout = IN_A_ROW) -> Target:
    """Turn the target's labels into codes; what cannot be one in data of this layout is refused."""
    if target is None:
        raise SettingError(
            "this model has no target; give target=, or fit it as a template: InfluenceGraph(model)"
        )
    names = [target] if is_label(target) else label_list("target", target)
    if not names:
        raise SettingError("target is an empty set of labels; name at least one")
    found = Target(tuple(sorted(set(codes_of(names, labels)))), len(labels), len(layout.attributes))
    for code in found.codes:
        if labels[code] in layout.attributes:
            raise SettingError(
                f"{labels[code]!r} is an attribute of sequences, which nothing can change; "
                "name a label of events as the target"
            )
    if layout.outcomes:
        return dataclasses.replace(found, only=True)
    if layout.together and len(found.codes) > 1:
        raise SettingError(
            f"{labels[found.codes[0]]!r} and {labels[found.codes[1]]!r} can happen together here, so they "
            "are no outcomes of one variable; learn a model of each, or a graph"
        )
    return found


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
    end = codes_of([END], labels) if END in labels else ()
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
