"""Files: written all or nothing, read with suspicion."""

from summarkov.store.document import Node, read_document
from summarkov.store.files import write_atomically
from summarkov.store.seal import check_seal, write_sealed

__all__ = ["Node", "check_seal", "read_document", "write_atomically", "write_sealed"]
