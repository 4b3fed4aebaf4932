"""The outcome that stands for every label outside the target."""

from __future__ import annotations


class Residual:
    """The outcome that stands for every label outside the target.

    A reserved object, so that no label, not even "other", can be taken for it.
    """

    _only: Residual | None = None

    def __new__(cls) -> Residual:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __repr__(self) -> str:
        return "OTHER"

    def __reduce__(self) -> tuple[type[Residual], tuple[()]]:
        return (Residual, ())


OTHER = Residual()
