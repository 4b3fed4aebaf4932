"""From documents to events: a topic or concept per sentence, one sequence per document.

Everything here ends in :class:`summarkov.events.EventSequences`, and remembers which sentence each event is.
"""

from summarkov.text.concepts import Concepts
from summarkov.text.documents import Document, read_documents
from summarkov.text.extract import text_events
from summarkov.text.grounds import Grounds
from summarkov.text.passages import Before, Passage, Passages
from summarkov.text.provenance import TextEvents, read_text_events
from summarkov.text.quoted import Sentence
from summarkov.text.sentences import split_sentences
from summarkov.text.stored_topics import load_topics
from summarkov.text.topics import TopicModel

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
