"""From documents to events: a topic or concept per sentence, one sequence per document.

Everything here ends in :class:`summarkov.events.EventSequences`, and remembers which sentence each event is.
"""

from summarkov.text.documents import Document, Sentence, read_documents, split_sentences
from summarkov.text.events import Before, Grounds, Passage, Passages, TextEvents, read_text_events
from summarkov.text.labels import Concepts, text_events
from summarkov.text.topics import TopicModel, load_topics

__all__ = [
    "Before",
    "Concepts",
    "Document",
    "Grounds",
    "Passage",
    "Passages",
    "Sentence",
    "TextEvents",
    "TopicModel",
    "load_topics",
    "read_documents",
    "read_text_events",
    "split_sentences",
    "text_events",
]
