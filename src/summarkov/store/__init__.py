"""Files: written all or nothing, read with suspicion."""

from summarkov.store.document import Node, read_document
from summarkov.store.files import write_atomically

__all__ = ["Node", "read_document", "write_atomically"]
