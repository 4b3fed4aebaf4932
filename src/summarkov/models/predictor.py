"""How what was learned is asked: what comes next, how well that is told; influences, as a table and drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from summarkov.engines import Layout
from summarkov.events.vocabulary import Label, Unknown
from summarkov.evidence import Explanation, Influence, SharedExplanation
from summarkov.evidence.influence import ranked
from summarkov.evidence.words import (
    cases,
    effect_word,
    follow_note,
    follows,
    follows_others,
    headline,
    limits,
    rates,
    times,
    verdict,
)
from summarkov.frames import MOST, Records, Sheet
from summarkov.models.distribution import (
    Distribution,
    Predictions,
    Residual,
    predict_each,
    predict_next,
    predict_rows,
)
from summarkov.models.fitted import one_sequence
from summarkov.models.measures import Evaluation, evaluate, measure
from summarkov.models.parameters import Parameters, Saved
from summarkov.settings import Progress, check_whole
from summarkov.show import STROKES, colour, width
from summarkov.typing import FloatArray
from summarkov.wording import percent, visible

if TYPE_CHECKING:
    import networkx as nx


class Predictor(Saved, Parameters):
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

    def _check_predicts(self) -> None:
        """Refuse to predict where that is not possible."""
        self.fitted.check_complete()

    # ------------------------------------------------------------------ how well it predicts

    def log_likelihood(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Log-likelihood of new events, summed over all positions.

        Of a graph it is that of the next event, one of all labels; with ``unknown="ignore"`` events of a
        label that it does not know are left out.
        """
        return measure(self.fitted, events, unknown, sample_weight, self.n_jobs).logs

    def score(
        self, events: Any, y: None = None, *, unknown: Unknown = "error", sample_weight: Any = None
    ) -> float:
        """Mean log-likelihood per event; larger is better, as scikit-learn expects."""
        return measure(self.fitted, events, unknown, sample_weight, self.n_jobs).score

    def brier_score(self, events: Any, *, unknown: Unknown = "error", sample_weight: Any = None) -> float:
        """Mean squared error of the probabilities; smaller is better.

        For one label it is the mean of (p - [it occurred])^2, for several labels, and for the next event of a
        graph, the sum over the outcomes of that.
        """
        found = measure(self.fitted, events, unknown, sample_weight, self.n_jobs).brier
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
        from summarkov.read import read_events

        self._check_predicts()
        return predict_each(self.fitted, read_events(events), unknown)

    def predict(self, events: Any, *, unknown: Unknown = "error") -> npt.NDArray[np.object_]:
        """The most likely outcome at every position. For a rare target that is mostly ``OTHER``."""
        return np.asarray(self.classes_[self.predict_proba(events, unknown=unknown).argmax(axis=1)])

    def predictions(self, events: Any, *, unknown: Unknown = "error") -> Predictions:
        """``predict_proba`` with the sequence, position and event of every row, for ``to_frame()``."""
        from summarkov.read import read_events

        self._check_predicts()
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
        self._check_predicts()
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
        ``passages``, the :class:`summarkov.text.TextEvents` that it was learned from,
        it shows the sentences behind every edge; they are then part of the page. ``title`` says what
        the events are. ``sequences`` is the number of sequences of the events that become part of the page,
        to be looked at one event after the other: none unless asked for. ``groups``, what
        :func:`compare_groups` returned, or several of these, are shown side by
        side.
        """
        from summarkov.show.page import to_html

        return to_html(
            self,
            path,
            events=events,
            passages=passages,
            title=title,
            sequences=sequences,
            groups=groups,
        )


class Edges(Records[Influence]):
    """Influences by evidence: the surest first, then labels on themselves, then faint ones.

    A tuple of :class:`Influence`: all that a search selected. ``passing`` are those that count as found.
    ``to_frame()`` has one row per influence, with the fields of it and ``rate_with``, ``rate_without``,
    ``precedence``, ``evidence``, ``set_aside`` and others that are derived from them.
    """

    def __new__(cls, records: Iterable[Influence] = (), record: type = Influence) -> Self:
        """Rank the influences."""
        return super().__new__(cls, ranked(records), record)

    @property
    def passing(self) -> Edges:
        """The influences that count as found: all but those with a reason in ``set_aside``."""
        return Edges(edge for edge in self if not edge.set_aside)

    def summary(self) -> Sheet:
        """The surest influences, as a table that prints well and that notebooks show in HTML."""
        what = "odds ratios, all else equal" if self._of_odds else "rate ratios with other influencers equal"
        return self.sheet(f"{headline(self)}, the surest first; {what}")

    @property
    def _of_odds(self) -> bool:
        """Whether these are edges of a joint model, whose ratios are odds ratios."""
        return any(edge.interval == "likelihood" for edge in self)

    def sheet(self, title: str, notes: Iterable[str] = ()) -> Sheet:
        """The surest influences, under a title."""
        columns = {
            "influencer": [edge.influencer for edge in self],
            "effect": [_effect(edge) for edge in self],
            "target": [edge.target for edge in self],
            "follows": [follows(edge) for edge in self],
            "after others": [follows_others(edge, counts=False) for edge in self],
            "odds ratio" if self._of_odds else "rate ratio": [times(edge) for edge in self],
            "95% interval": [limits(edge) for edge in self],
            "cases": [cases(edge) for edge in self],
        }
        if any(edge.frequency is not None for edge in self):
            columns["found again"] = [
                "" if edge.frequency is None else percent(edge.frequency) for edge in self
            ]
        shown = self[:MOST]
        rows = [list(row) for row in zip(*(cells[:MOST] for cells in columns.values()), strict=True)]
        notes = (*notes, *filter(None, [follow_note(self)]))
        colours = [[None, colour(edge), *[None] * (len(columns) - 2)] for edge in shown]
        return Sheet(title, list(columns), rows, len(self), notes, colours)


def _effect(edge: Influence) -> str:
    """The effect, and why an edge is faint."""
    word = effect_word(edge)
    return f"{word} ({edge.faint})" if edge.faint not in ("", word) else word


#: Fields of an edge that are text and go into graph files.
_TEXTS = ("effect", "interval", "order", "follow_rule", "not_comparable")


class GraphPredictor(Predictor):
    """A predictor that is a graph of influences, for other programs to draw: a graph, a joint model."""

    @property
    @abstractmethod
    def edges_(self) -> Edges:
        """Every influence, the surest first."""

    @property
    @abstractmethod
    def influencers_(self) -> dict[str, tuple[str, ...]]:
        """The influencers of every target."""

    @property
    @abstractmethod
    def label_counts_(self) -> dict[str, float]:
        """How often each label occurred in what was learned from."""

    @abstractmethod
    def explain(self, history: Any, label: Label, *, unknown: Unknown = "error") -> Any:
        """Say why a label has its probability after a history."""

    def explain_next(
        self, history: Any, *, most: int | None = None, unknown: Unknown = "error"
    ) -> Records[Any]:
        """Say which labels may come next after a history, the most likely first, and why.

        Of a graph, ``probability`` is that of the graph, so it sums to 1 over all labels if the graph has a
        model of each, and labels come one at a time. The interval is scaled likewise; support and base rate
        are those of the label's own model. :meth:`explain` tells of one label what would make it different.
        ``most`` is the largest number of labels to explain; without it, all of them.
        """
        most = None if most is None else check_whole("most", most, 1)
        past, targets = one_sequence(history), self.influencers_
        (p,) = predict_next(self.fitted, past, unknown).probabilities.tolist()
        shares = dict(zip(self.outcomes_, p, strict=True))
        chosen = sorted(targets, key=lambda label: (-shares[label], label))[:most]
        found = {label: self.explain(past, label, unknown=unknown) for label in chosen}
        if all(isinstance(each, SharedExplanation) for each in found.values()):
            return Records(found.values(), SharedExplanation)
        return Records((each.scaled(shares[label]) for label, each in found.items()), Explanation)

    def plot(self, **how: Any) -> Any:
        """Draw it on axes of matplotlib, which are returned; ``how`` as of :func:`summarkov.plot.graph`."""
        from summarkov.show.figures import graph

        return graph(self, **how)

    def to_networkx(self) -> nx.DiGraph:
        """Return a ``networkx.DiGraph``; edges have their effect and all numbers of ``edges_``."""
        import networkx

        found = networkx.DiGraph()
        for label, n in self.label_counts_.items():
            found.add_node(label, n=n)
        for edge in self.edges_:
            told = {
                k: v
                for k, v in vars(edge).items()
                if isinstance(v, float | int) or (v is not None and k in _TEXTS)
            }
            told |= {"is_thin": edge.is_thin, "set_aside": edge.set_aside}
            found.add_edge(edge.influencer, edge.target, **told)
        return found

    def to_graphml(self) -> str:
        """Return the graph as GraphML, for Gephi, Cytoscape, yEd and others."""
        import networkx

        graph, named = self.to_networkx(), networkx.DiGraph()
        node = {label: f"n{i}" for i, label in enumerate(graph)}
        for label, attributes in graph.nodes(data=True):
            # only plain text, for networkx looks up the very class of a value
            named.add_node(node[label], label=str(visible(label)), **attributes)
        for a, b, attributes in graph.edges(data=True):
            named.add_edge(node[a], node[b], **attributes)
        return "\n".join(networkx.generate_graphml(named)) + "\n"

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language.

        Amplifying edges are solid with an arrow, inhibiting ones dashed with a bar, mixed ones dotted with a
        diamond, unclear ones dotted with a ring, and faint ones are grey. They are labelled with the rate
        ratio, and with the ``frequency`` if it is known, and wider the larger the lower bound of the effect.
        """
        lines = [
            "digraph influence {",
            "  rankdir=LR;",
            '  node [shape=box, style=rounded, fontname="sans-serif"];',
            '  edge [fontname="sans-serif", fontsize=10];',
            *(f"  {_dot(label)};" for label in self.labels_),
        ]
        for edge in self.edges_:
            _, line, head, _ = STROKES[edge.shown_effect]
            sure = "" if edge.frequency is None else percent(edge.frequency)
            lines.append(
                f"  {_dot(edge.influencer)} -> {_dot(edge.target)} "
                f'[color="{colour(edge)}", fontcolor="{colour(edge)}", style={line}, arrowhead={head}, '
                f'penwidth={width(edge):.2f}, label="{f"{times(edge)} {sure}".strip()}", '
                f"tooltip={_dot(f'{rates(edge)}: {verdict(edge)}')}];"
            )
        return "\n".join([*lines, "}"]) + "\n"

    def to_mermaid(self) -> str:
        """Return the graph in Mermaid's language, which many wikis and Markdown viewers draw.

        Effects differ by colour and arrow: a head for amplifying, a cross for inhibiting, a ring for mixed.
        """
        node = {label: f"n{i}" for i, label in enumerate(self.labels_)}
        lines = ["flowchart LR", *(f'  {name}["{_mermaid(label)}"]' for label, name in node.items())]
        styles = []
        for i, edge in enumerate(self.edges_):
            text = f'|"{times(edge)}"|' if times(edge) else ""
            arrow, ink = STROKES[edge.shown_effect].arrow, colour(edge)
            lines.append(f"  {node[edge.influencer]} {arrow}{text} {node[edge.target]}")
            styles.append(f"  linkStyle {i} stroke:{ink},stroke-width:{width(edge):.1f}px,color:{ink}")
        return "\n".join([*lines, *styles]) + "\n"


def _dot(text: str) -> str:
    """A label or a sentence for DOT, between quotes."""
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))


def _mermaid(text: str) -> str:
    """A label between quotes: whatever is not a letter or digit of some script becomes an entity."""
    return "".join(c if c.isalnum() or c in " -_" else f"#{ord(c)};" for c in visible(text))
