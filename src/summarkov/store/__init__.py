"""JSON documents, such as models: written with a checksum, and read with suspicion."""

from summarkov.store.document import Node, Place, check_seal, finite, read_document, write_sealed

__all__ = ["Node", "Place", "check_seal", "finite", "read_document", "write_sealed"]
