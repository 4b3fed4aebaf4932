"""An explanation in the words of the documents."""

from __future__ import annotations

from dataclasses import dataclass

from summarkov.explain import Explanation
from summarkov.text.passages import Before, Passages


@dataclass(frozen=True)
class Grounds:
    """Why a label has its probability at a place of a document, with the sentences that speak for it.

    ``why`` is the model's explanation; ``before`` are the sentences of the active influencers in the document
    itself, the oldest first; ``passages`` are places where the label followed in the same state.
    """

    why: Explanation
    before: tuple[Before, ...]
    passages: Passages

    def __str__(self) -> str:
        lines = [str(self.why)]
        for each in self.before:
            place = f"{each.sentence.document}, sentence {each.sentence.number}"
            lines.append(f"  {each.label}, {each.lag} back ({place}): {each.sentence.text}")
        return "\n".join(lines)
