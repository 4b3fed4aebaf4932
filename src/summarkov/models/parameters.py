"""scikit-learn's conventions for parameters, without scikit-learn."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

from summarkov.errors import SettingError, nearest, optional_library
from summarkov.frames import Sheet


class Parameters:
    """Parameters are the dataclass fields: stored as given, checked when a model is fitted."""

    #: The attribute that only a fitted estimator has.
    _learned: ClassVar[str] = "_models"

    #: Public methods that only the library itself, and authors of models, need: completion leaves them out.
    _machinery: ClassVar[frozenset[str]] = frozenset(
        {
            "choices",
            "fitted",
            "fitted_type",
            "make_models",
            "make_problem",
            "make_search",
            "make_searches",
            "make_summary",
            "shared_search",
            "summary_at",
        }
    )

    def __dir__(self) -> list[str]:
        return sorted(set(super().__dir__()) - self._machinery)

    @property
    def is_fitted(self) -> bool:
        """Whether it has been fitted."""
        return hasattr(self, self._learned)

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
        """What was learned, as a table that prints well and that notebooks show in HTML."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """What a notebook shows: the summary; of an estimator that is not fitted, its parameters."""
        return (self.summary() if self.is_fitted else Sheet(repr(self)))._repr_html_()

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator; the only place that imports it."""
        with optional_library("the tags of an estimator", "scikit-learn", extra="baselines"):
            from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(one_d_array=True, two_d_array=False),
        )
