"""How the influencers change with the settings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from summarkov.engines import Layout
from summarkov.errors import SettingError
from summarkov.frames import Column, Records, Sheet, Tabular, columns_of
from summarkov.models.graph import InfluenceGraph
from summarkov.models.learning import learn, progress_counter
from summarkov.models.model import SummaryModel
from summarkov.settings import Progress
from summarkov.wording import plural

#: Criteria that look at gamma.
_WITH_GAMMA = ("bic", "extended-bic")


@dataclass(frozen=True)
class StabilityRow:
    """One ``target`` with one of the settings: the ``influencers`` that were found, and how they score.

    ``settings`` has the values of the settings that were varied. Values of ``score`` (and ``log_likelihood``)
    with different gammas are different things; compare them between look-backs only.
    """

    target: str | tuple[str, ...]
    settings: Mapping[str, Any]
    influencers: tuple[str, ...]
    score: float
    log_likelihood: float


@dataclass(frozen=True)
class StableEdge:
    """An ``influencer`` of a ``target`` that some setting finds.

    ``share`` is the share of the settings that find it, and ``at`` has, for each setting that was varied, the
    values with which it is found, whatever the other setting is.
    """

    influencer: str
    target: str | tuple[str, ...]
    share: float
    at: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, repr=False)
class Stability(Tabular):
    """Influencers over a path of settings.

    The frame has one row per target and setting.

    Attributes
    ----------
    paths : dict
        The values of each setting that was varied; every combination is a setting.
    rows : tuple of StabilityRow
        What was found for each target with each setting; ``edges`` sums it up.
    """

    paths: Mapping[str, tuple[Any, ...]]
    rows: tuple[StabilityRow, ...]

    @property
    def settings(self) -> tuple[dict[str, Any], ...]:
        """Every combination of the values."""
        return tuple(_combinations(self.paths))

    @property
    def edges(self) -> Records[StableEdge]:
        """Every influencer that was found with some setting."""
        found: list[StableEdge] = []
        for target, some in itertools.groupby(self.rows, key=lambda row: row.target):
            rows, stable = list(some), list[StableEdge]()
            for z in sorted({z for row in rows for z in row.influencers}):
                there = [row.settings for row in rows if z in row.influencers]
                at = {
                    name: tuple(value for value in values if any(each[name] == value for each in there))
                    for name, values in self.paths.items()
                }
                stable.append(StableEdge(z, target, len(there) / len(rows), at))
            found += sorted(stable, key=lambda edge: -edge.share)
        return Records(found, StableEdge)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        edges, rows = [vars(edge) for edge in self.edges], [vars(row) for row in self.rows]
        return {"paths": dict(self.paths), "edges": edges, "rows": rows}

    def _columns(self) -> Mapping[str, Column]:
        columns = columns_of(StabilityRow, self.rows)
        settings = {name: Column(str, [str(row.settings[name]) for row in self.rows]) for name in self.paths}
        columns.pop("settings")
        return {"target": columns.pop("target")} | settings | columns

    def summary(self) -> Sheet:
        """The edges, as a table that prints well and that notebooks show in HTML."""
        rows = []
        for edge in self.edges:
            target = edge.target if isinstance(edge.target, str) else " + ".join(edge.target)
            at = (
                "all" if edge.at[name] == path else _listed(edge.at[name])
                for name, path in self.paths.items()
            )
            rows.append([target, edge.influencer, f"{edge.share:.0%}", *at])
        tried = " x ".join(f"{name} {_listed(values)}" for name, values in self.paths.items())
        title = f"{plural(len(rows), 'influence')} in {plural(len(self.settings), 'setting')}: {tried}"
        stable = plural(sum(edge.share == 1 for edge in self.edges), "influence")
        note = (
            f"{stable} found in every setting. Else: with which values it is found, whatever the others are."
        )
        return Sheet(title, ["target", "influencer", "share", *self.paths], rows, len(rows), [note])


def _listed(values: Iterable[Any]) -> str:
    """Values of a setting: None is none."""
    return ", ".join("none" if value is None else str(value) for value in values)


def sensitivity(
    model: SummaryModel | InfluenceGraph,
    events: Any,
    *,
    gamma: Iterable[float] | None = (0.1, 0.5, 1.0),
    lookback: Iterable[int | None] | None = (1, 5, 10),
    sample_weight: Any = None,
    progress: Progress = None,
) -> Stability:
    """Learn a model or a graph with every combination of some settings, and see what stays.

    An influencer that is there whatever the settings are is easier to believe than one that comes and goes.
    All settings are learned side by side: each pass over the data serves all of them, and what several
    settings ask for is counted once.

    Parameters
    ----------
    model : SummaryModel or InfluenceGraph
        What to learn; all its other settings are kept, and it is not fitted itself.
    events, sample_weight
        As for ``fit``.
    gamma : numbers, optional
        Penalties for complexity to try; None: only the model's own.
    lookback : numbers, optional
        Look-backs to try, of which None is the whole past; None instead of a list: only the model's own.
    progress : function or True, optional
        Called as ``progress(done, total)`` when models are finished; True writes that to the standard error.

    >>> from summarkov import BSuMM
    >>> events = [["A", "B", "C", "A", "B"], ["C", "C", "A", "B"]] * 10
    >>> sensitivity(BSuMM("B"), events, gamma=[0.5, 1.0], lookback=[1, 2])
    2 influences in 4 settings: lookback 1, 2 x gamma 0.5, 1.0
    target  influencer  share  lookback  gamma
    B       A            100%  all       all
    B       B             50%  2         all
    1 influence found in every setting. Else: with which values it is found, whatever the others are.
    """
    template = model.model if isinstance(model, InfluenceGraph) else model
    if not isinstance(template, SummaryModel):
        raise SettingError(f"model must be a model or a graph, not {type(model).__name__}")
    paths = {
        name: _path(template, name, values)
        for name, values in (("lookback", lookback), ("gamma", gamma))
        if values is not None
    }
    source = template._learned_from(events, sample_weight=sample_weight, n_jobs=model.n_jobs)
    plain: list[SummaryModel] = [template]
    if isinstance(model, InfluenceGraph):
        plain = model.make_models(source.labels, Layout.of(source).attributes)
    found = [(settings, each.copy(**settings)) for each in plain for settings in _combinations(paths)]
    learn([each for _, each in found], source, progress_counter(progress, len(found)))
    rows = []
    for settings, one in found:
        target = one.target_[0] if len(one.target_) == 1 else one.target_
        rows.append(StabilityRow(target, settings, one.influencers_, one.score_, one.log_likelihood_))
    return Stability(paths, tuple(rows))


def _path(template: SummaryModel, name: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """The values of one setting, checked as far as the model does not."""
    known = template.get_params(deep=False)
    kind = type(template).__name__
    if name not in known:
        raise SettingError(f"{kind} has no {name} to vary; give {name}=None")
    if name == "gamma" and known.get("criterion", "bic") not in _WITH_GAMMA:
        raise SettingError(f"criterion={known['criterion']!r} has no gamma to vary; give gamma=None")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SettingError(f"{name} must be a list of values to try, not {values!r}")
    path = tuple(values)
    if not path or len(set(path)) < len(path):
        raise SettingError(f"{name} must be a list of different values to try, not {list(path)!r}")
    return path


def _combinations(paths: Mapping[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*paths.values()):
        yield dict(zip(paths, values, strict=True))
