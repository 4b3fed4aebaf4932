"""``InfluenceGraph``: one model per label, fitted together; who influences whom."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from summarkov.engines import EventSource, Layout
from summarkov.errors import SettingError
from summarkov.events import EventSequences
from summarkov.events.vocabulary import END, Label, Unknown, label_text
from summarkov.evidence import Confidence, Explanation, OrderTest, SharedExplanation
from summarkov.evidence.course import Course, course_of
from summarkov.evidence.findings import Findings, Miss, findings_of
from summarkov.evidence.words import sentence, times
from summarkov.frames import Records, Sheet
from summarkov.models.bootstrap import bootstrap, order_of
from summarkov.models.fitted import Edges, FittedGraph, found_again, one_sequence
from summarkov.models.learning import best_scores, learn, progress_counter
from summarkov.models.model import SummaryModel
from summarkov.models.parameters import Predictor, codes_of, target_codes
from summarkov.models.prediction import check_drawable, predict_next
from summarkov.settings import Progress, check_seed, check_whole
from summarkov.show import STROKES, colour, width
from summarkov.simulate.draw import draw_sequences, draw_ticks
from summarkov.wording import visible

if TYPE_CHECKING:
    import networkx as nx


#: From this gain in score on, another look-back explains data clearly better (:meth:`other_lookbacks`).
CLEARLY = 10.0
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
            _, line, head = STROKES[edge.shown_effect]
            lines.append(
                f"  {_dot(edge.influencer)} -> {_dot(edge.target)} "
                f'[color="{colour(edge)}", fontcolor="{colour(edge)}", style={line}, arrowhead={head}, '
                f'penwidth={width(edge):.2f}, label="{f"{times(edge)} {found_again(edge)}".strip()}", '
                f"tooltip={_dot(sentence(edge, edge.influencer, edge.target, 'within its window'))}];"
            )
        return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    """A label or a sentence for DOT, between quotes."""
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))


@dataclass(eq=False, repr=False)
class InfluenceGraph(GraphPredictor):
    """A model for every label (or for chosen ``targets``), all fitted in shared passes over the data.

    The models of single labels need not sum to 1; for the next-event distribution and for simulation the
    graph divides by their sum. Where events happen together, each label has its own probability to be among
    those that come next, and nothing is divided.

    Parameters
    ----------
    model : SummaryModel
        The template: a model without a target, such as ``BSuMM(lookback=10)``.
    targets : labels, optional
        Learn the influencers of these labels only.
    n_jobs : int, optional
        Threads; None is one, -1 one per core. The result does not depend on it.

    Examples
    --------
    >>> from summarkov import BSuMM, read_events
    >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5, ends="cut off")
    >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit(events)
    >>> [(edge.influencer, edge.target, edge.effect) for edge in graph.edges_]
    [('A', 'B', 'amplifies'), ('C', 'A', 'amplifies'), ('B', 'C', 'amplifies')]
    """

    model: SummaryModel
    targets: Iterable[Label] | None = None
    n_jobs: int | None = None

    def fit(
        self, events: Any, y: None = None, *, sample_weight: Any = None, progress: Progress = None
    ) -> Self:
        """Learn all models. ``progress(done, total)`` is called as targets are finished; True writes it."""
        fit_together([self], events, sample_weight, progress)
        return self

    def _take(self, models: Sequence[SummaryModel]) -> None:
        self._models = {str(model.target): model for model in models}
        self._confidence: Confidence | None = None
        self._order: OrderTest | None = None
        self._course: Course | None = None

    def make_models(self, labels: Sequence[str], attributes: Sequence[str] = ()) -> list[SummaryModel]:
        """A copy of the template for each target, not fitted, in sorted order; attributes are no targets."""
        self._check_template()
        if self.targets is None:
            return [self.model.copy(target=label) for label in labels if label not in set(attributes)]
        return [self.model.copy(target=labels[code]) for code in target_codes(self.targets, labels)]

    def _check_template(self) -> None:
        if not isinstance(self.model, SummaryModel):
            given = "a class" if isinstance(self.model, type) else type(self.model).__name__
            raise SettingError(f"model must be a model such as BSuMM(), not {given}")
        if self.model.target is not None:
            raise SettingError("the template must have no target; use InfluenceGraph(model, targets=...)")

    # ------------------------------------------------------------------ what was learned

    @property
    def models_(self) -> dict[str, SummaryModel]:
        """The fitted model of every target."""
        self._check_fitted()
        return self._models

    @property
    def fitted(self) -> FittedGraph:
        """What was learned."""
        first = self._first.fitted
        models = {label: model.fitted for label, model in self.models_.items()}
        return FittedGraph(models, first.labels, first.layout)

    @property
    def label_counts_(self) -> dict[str, float]:
        """How often each label occurred in what was learned from."""
        fitted = self._first.fitted
        return dict(zip(self.labels_, (fitted.label_counts / fitted.scale).tolist(), strict=True))

    @property
    def influencers_(self) -> dict[str, tuple[str, ...]]:
        """The influencers of every target."""
        return {label: model.influencers_ for label, model in self.models_.items()}

    @property
    def edges_(self) -> Edges:
        """Every influence by evidence: the surest first, then labels on themselves, then faint ones."""
        edges = [edge for model in self.models_.values() for edge in model.fitted.influences]
        for found in (self.confidence_, self.order_, self.course_):
            edges = edges if found is None else found.added_to(edges)
        return Edges(edges)

    @property
    def _first(self) -> SummaryModel:
        return next(iter(self.models_.values()))

    def summary(self, by: str = "impact") -> Sheet:
        """What was found, the largest "impact" first, or by "ratio" the largest lower bound of the effect."""
        return self.findings_by(by).summary()

    def _sheet(self) -> Sheet:
        return self.summary()

    # ------------------------------------------------------------------ use

    def explain(
        self, history: Iterable[object] | EventSequences, label: Label, *, unknown: Unknown = "error"
    ) -> Explanation:
        """Say why a label has its probability after a history (its own model's, before normalising).

        ``history`` is a list of labels or ticks, or the events of one sequence: :meth:`SummaryModel.explain`.
        """
        name = label_text(label)
        if name not in self.models_:
            codes_of([name], list(self.models_))
        return self.models_[name].explain(history, unknown=unknown)

    def simulate(
        self, n_sequences: int, length: int | Sequence[int], random_state: int = 0
    ) -> EventSequences:
        """Draw sequences from the next-event distribution.

        It is normalised, so simulated data need not have exactly the influencers of the graph. Where events
        happen together, each label is drawn by itself, and sequences are of ticks.
        """
        check_drawable(self.layout_, (model.fitted.summary for model in self.models_.values()))
        if self.layout_.together:
            return draw_ticks(
                lambda past: self.predict_next(past).probabilities,
                self.labels_,
                tuple(self.models_),
                n_sequences,
                length,
                check_seed(random_state),
            )
        return draw_sequences(self.fitted.after, self.labels_, n_sequences, length, check_seed(random_state))

    # ------------------------------------------------------------------ how sure that is

    def other_lookbacks(self, events: Any) -> dict[int, float]:
        """By how much longer and shorter look-back windows would score better, all targets together.

        They are 2 and 4 times as long, and as short, as that of the graph, which must be a number. The end
        of a case is left out: longer windows tell how late it is, whatever happened in them. A gain
        above 10 is clear: noise never reached it. ``lookback="auto"`` learns one for each influencer.

        >>> from summarkov import BSuMM
        >>> cases = [["A", "x", "x", "B", "y", "y"] * 4, ["y", "x", "A", "x", "x", "B"] * 4] * 9
        >>> graph = InfluenceGraph(BSuMM(lookback=2)).fit(cases)
        >>> gains = graph.other_lookbacks(cases)
        >>> list(gains), max(gains, key=gains.get)
        ([1, 4, 8], 4)
        """
        given = getattr(self.model, "lookback", None)
        if not isinstance(given, int):
            raise SettingError(f"look-backs are compared with a number of events, not with {given!r}")
        others = sorted({max(1, given // 4), max(1, given // 2), 2 * given, 4 * given} - {given})
        here = [model for x, model in self.models_.items() if x != END]
        source = self.model._learned_from(events, n_jobs=self.n_jobs)
        found = best_scores([model.copy(lookback=k) for k in others for model in here], source)
        present = sum(model.score_ for model in here)
        sums = np.reshape(found, (len(others), -1)).sum(axis=1) - present
        return dict(zip(others, sums.tolist(), strict=True))

    def _tested(self, events: Any, sample_weight: Any) -> tuple[list[SummaryModel], EventSource]:
        return list(self.models_.values()), self._source(events, sample_weight=sample_weight)

    @property
    def confidence_(self) -> Confidence | None:
        """What :meth:`confidence` found; None if it was not asked since the graph was fitted."""
        return getattr(self, "_confidence", None)

    @property
    def order_(self) -> OrderTest | None:
        """What :meth:`order_test` found; None if it was not asked since the graph was fitted."""
        return getattr(self, "_order", None)

    @property
    def course_(self) -> Course | None:
        """What :meth:`order_test` counted beside: fixed successions, what holds beyond the previous step."""
        return getattr(self, "_course", None)

    @property
    def findings_(self) -> Findings:
        """What was found, as :meth:`summary` and the command line show it."""
        return self.findings_by("impact")

    def findings_by(self, by: str) -> Findings:
        """What was found, ordered by "impact" or "ratio"."""
        near = []
        for x, model in self.models_.items():
            step = next(iter(model.trace_), None)  # the best of all, whether or not it was removed again
            if step is not None and step.gain < 0 and step.label not in (x, *model.influencers_):
                near.append((-step.gain, Miss(step.label, x, f"its score is {-step.gain:.1f} too low")))
        near.sort(key=lambda pair: pair[0])
        how: dict[str, Any] = {"by": by, "is_tested": self.order_ is not None}
        return findings_of(self.edges_, self.course_, near=[miss for _, miss in near[:3]], **how)

    def confidence(
        self,
        events: Any,
        *,
        n: int = 100,
        random_state: int = 0,
        level: float = 0.95,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> Confidence:
        """How sure each edge is: learn ``n`` graphs from resampled data and see which edges they have.

        Sequences are drawn with replacement, as many as there are; with one weight for each instead of
        copies, so that all graphs are counted together. What was found is kept in ``confidence_``, shown with
        the graph and saved with it.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.
        n : int
            How many graphs.
        random_state : int
            Each graph has its own stream of random numbers, so the first 100 of 200 are those of 100.
        level : float
            Of the intervals of strengths, from their percentiles.
        progress : function or True, optional
            Called as ``progress(done, total)``; True writes that to the standard error.

        >>> from summarkov import BSuMM, InfluenceGraph, read_events
        >>> events = read_events([["A", "B", "C"] * 4, ["C", "A", "B"] * 4] * 5, ends="cut off")
        >>> graph = InfluenceGraph(BSuMM(lookback=1)).fit(events)
        >>> [edge.frequency for edge in graph.confidence(events, n=20).edges]
        [0.9, 1.0, 1.0]
        """
        models, source = self._tested(events, sample_weight)
        how: dict[str, Any] = {"n": n, "level": level, "progress": progress}
        self._confidence = found = bootstrap(models, source, seed=check_seed(random_state), **how)
        return found

    def order_test(
        self,
        events: Any,
        *,
        n: int = 99,
        within: Any = "auto",
        random_state: int = 0,
        sample_weight: Any = None,
        progress: Progress = None,
    ) -> OrderTest:
        """Test which edges depend on the order of events, and which only on what occurs in one sequence.

        For each edge, the influencer's events stay in place and all others rotate against them by a
        random number of steps inside blocks, ``n`` times. That keeps what each block is made of, and the
        runs of influencer and target, and destroys the order between them. For an influence on itself or on
        the end of a case the influencer's events are scattered over their block instead. The result is kept
        in ``order_``, merged into ``edges_``, shown with the graph and saved with it. See
        :class:`summarkov.evidence.EdgeOrder` for the verdicts.

        The first event of each sequence stays in place: nothing came before it that could have influenced it.
        So does the end of a case.

        Parameters
        ----------
        events, sample_weight
            What the graph was learned from.
        n : int
            How many shuffles of every edge. Edges near the decision, whose adjusted p-value is from 0.005 to
            less than 1 then, get nine times as many in addition. With more than 131,072 events 19 shuffles
            of a part of the sequences come first, with about 8,192 events of the influencer: an edge whose
            adjusted p-value is below 0.005 then needs no more.
        within : int, time, "auto" or None
            Events move only inside blocks of this number of positions of their sequence, or of this time,
            such as "7d". What changes more slowly than that stays in the shuffled data. "auto" is four times
            the longest look-back; None takes whole sequences.
        random_state : int
            The order in each sequence follows from it, the number of the shuffle and the name of the
            sequence, so that it is the same in memory, streamed and on a cluster, in whatever order sequences
            or files come. Where two sequences have the same name, it follows from their numbers instead.
        progress : function or True, optional
            Called as ``progress(done, total)``; True writes that to the standard error.

        >>> import summarkov as sm
        >>> made = [["A", "B", "C", "D"] * 8, ["D", "D", "A", "B", "C", "C"] * 8] * 20
        >>> events = sm.read_events(made, ends="cut off")
        >>> graph = sm.InfluenceGraph(sm.BSuMM(lookback=1)).fit(events)
        >>> [(edge.influencer, edge.target) for edge in graph.order_test(events).depends_on_order][:2]
        [('D', 'A'), ('A', 'B')]
        """
        models, source = self._tested(events, sample_weight)
        how: dict[str, Any] = {"within": within, "progress": progress}
        self._order = found = order_of(models, source, n, check_seed(random_state), **how)
        self._course = course_of(models, source)
        return found


def fit_together(
    graphs: Sequence[InfluenceGraph], events: Any, sample_weight: Any = None, progress: Progress = None
) -> None:
    """Fit several graphs to the same events: each pass over the data serves all of them.

    What graphs of equal summaries ask for, such as those that differ in ``alpha`` or ``gamma`` only, is
    counted once.
    """
    for graph in graphs:
        graph._check_template()
    source = graphs[0].model._learned_from(events, sample_weight=sample_weight, n_jobs=graphs[0].n_jobs)
    attributes = Layout.of(source).attributes
    each = [graph.make_models(source.labels, attributes) for graph in graphs]
    models = [model for some in each for model in some]
    learn(models, source, progress_counter(progress, len(models)))
    for graph, models in zip(graphs, each, strict=True):
        graph._take(models)
