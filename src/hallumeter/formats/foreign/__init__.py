"""Result files of other tools: one module per tool."""

from .documents import Document, read_document
from .record import UNKNOWN, ForeignRecord, Reading, Score, ScoreKind, Span, Spans
from .tools import TOOLS, ForeignFiles, Tool, read_foreign

__all__ = [
    "TOOLS",
    "UNKNOWN",
    "Document",
    "ForeignFiles",
    "ForeignRecord",
    "Reading",
    "Score",
    "ScoreKind",
    "Span",
    "Spans",
    "Tool",
    "read_document",
    "read_foreign",
]
