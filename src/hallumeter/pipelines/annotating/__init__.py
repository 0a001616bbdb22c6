"""Asking people for the labels that say most about a run."""

from .agreement import AnnotatorAgreement
from .exporting import labels_table
from .matching import MatchedPassage, excerpt, matched_passages
from .session import LabelSession, Progress
from .settings import AnnotateSettings
from .shelf import AskedClaim

__all__ = [
    "AnnotateSettings",
    "AnnotatorAgreement",
    "AskedClaim",
    "LabelSession",
    "MatchedPassage",
    "Progress",
    "excerpt",
    "labels_table",
    "matched_passages",
]
