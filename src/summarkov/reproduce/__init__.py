"""Every table and case study of the paper, beside the published figures."""

from summarkov.reproduce.report import Report, reproduce

__all__ = ["Report", "reproduce"]
