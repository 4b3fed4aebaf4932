"""Sets of labels that keep a promise: the options that ask for them, and how they are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summarkov.arrow import pa
from summarkov.cli.files import known_labels
from summarkov.cli.options import settings_in
from summarkov.cli.printing import Page, first_of, shorten, shown
from summarkov.errors import SettingError
from summarkov.wording import number, plural, visible, whole

if TYPE_CHECKING:
    from summarkov.cli.reading import Opening
    from summarkov.models import LabelSets
    from summarkov.read.write import Rows

_sets = settings_in("Sets of labels that keep a promise")
#: The most labels of a set to print.
_MOST = 20


@dataclass(frozen=True)
class Promise:
    """Which sets of labels to tell, if any. Every field is an option."""

    sets: Path | None = _sets(
        "FILE",
        "Say of which labels the next event is one, as often as --coverage promises. FILE has events that "
        "the model was not learned from, read as those to predict are.",
    )
    coverage: float | None = _sets("P", "With --sets: what is promised, above 0 and below 1. Default 0.9.")

    def calibrate(self, fitted: Any, opening: Opening, unknown: Any) -> Calibrated | None:
        """Find the sets of a model, if they are asked for."""
        from summarkov.models import LabelSets
        from summarkov.models.predictor import OTHER, Predictor

        if self.sets is None:
            if self.coverage is not None:
                raise SettingError("--coverage goes with --sets FILE; name events to calibrate sets on")
            return None
        outcomes = fitted.outcomes_ if isinstance(fitted, Predictor) else (OTHER,)
        if OTHER in outcomes or len(outcomes) < len(fitted.labels_) - len(fitted.layout_.attributes):
            raise SettingError(
                "--sets is for models of all labels: a graph, or a model of --model joint, that was learned "
                "without --target"
            )
        made = LabelSets(fitted) if self.coverage is None else LabelSets(fitted, self.coverage)
        with known_labels():
            made.fit(opening.as_learned(fitted.layout_).read(self.sets, fitted.labels_), unknown=unknown)
        return Calibrated(made, shown(self.sets), unknown == "ignore")


@dataclass(frozen=True)
class Calibrated:
    """Sets of labels, and the file that they were calibrated on."""

    sets: LabelSets
    file: str
    leaves_out: bool  # events of labels that the model does not know

    def document(self, **more: Any) -> dict[str, Any]:
        """What is promised, as JSON has it, and what else is told."""
        return {
            "coverage": self.sets.coverage,
            "threshold": self.sets.threshold_,
            "file": self.file,
            "sequences": whole(self.sets.n_sequences_),
            **more,
        }

    def after(self, history: Any, unknown: Any) -> tuple[str, ...]:
        """The set after one history: labels, or the events of one sequence."""
        past = [history] if isinstance(history, list) else history
        (found,) = self.sets.predict_next(past, unknown=unknown)
        return tuple(map(str, found.labels))

    def with_sets(self, parts: Iterable[Rows], *, as_text: bool) -> Iterator[Rows]:
        """Rows of probabilities, with a column of the sets."""
        import numpy as np

        from summarkov.models.predictor import column_names

        names = column_names(self.sets.model.outcomes_)
        for part in parts:
            found = self.sets.labels_of(np.column_stack([part[name] for name in names]))
            column = (
                [", ".join(map(str, each)) for each in found]
                if as_text
                else pa.array(found, pa.list_(pa.string()))
            )
            yield {**part, "set": column}

    def print_after(self, console: Page, labels: tuple[str, ...]) -> None:
        """A set, and what is promised of it."""
        console.print()
        if self._is_promised:
            each = first_of([shorten(x, 30) for x in labels], _MOST)
            which = "this one" if len(labels) == 1 else f"one of these {len(labels)}"
            console.print(f"The next event is {which}, with {self._coverage} promised: {each}")
        self.print_promise(console)

    def print_promise(self, console: Page) -> None:
        """What is promised of the sets; or that too few sequences allow for no promise."""
        name, found = visible(self.file), plural(self.sets.n_sequences_, "sequence")
        if not self._is_promised:
            console.print(
                f"Every set is all labels: to promise {self._coverage} takes {number(self.sets.n_needed)} "
                f"sequences, and {name} has {found} with events; give more, or a smaller --coverage."
            )
            return
        console.print(
            f"The promise of {self._coverage} is about an event{self._known} drawn at random from a new "
            f"sequence, if new "
            f"sequences come about as those of {name} did. It was calibrated on {found}."
        )

    def measured(self, events: Any, unknown: Any) -> dict[str, float]:
        """The share of events in their sets, and the mean number of labels in these."""
        return {
            "held": self.sets.held(events, unknown=unknown),
            "mean_size": self.sets.mean_size(events, unknown=unknown),
        }

    def print_measured(self, console: Page, held: float, mean_size: float) -> None:
        """How often the sets held what came, and how large they are."""
        console.print()
        console.print(
            f"Sets with {self._coverage} promised held {held:.1%} of the events, each sequence counting "
            f"once, and have {mean_size:.1f} of {len(self.sets.model.outcomes_)} labels on average."
        )
        self.print_promise(console)

    @property
    def _known(self) -> str:
        return " of a known label" if self.leaves_out else ""

    @property
    def _is_promised(self) -> bool:
        return self.sets.threshold_ > 0

    @property
    def _coverage(self) -> str:
        return f"{100 * self.sets.coverage:.10g}%"
