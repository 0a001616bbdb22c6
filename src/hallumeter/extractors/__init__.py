"""From a response to the things in it that can be true or false, and whether there are any."""

from .abstention import Abstention, AbstentionDetector, detect_abstention
from .alignment import Aligner
from .atomic_facts import FactExtractor, FactSettings
from .by_name import EXTRACTORS, extractor_named
from .given_claims import claims_from
from .protocol import ExtractionFailure, Extractor
from .statements import ClauseExtractor, SentenceExtractor, statement_spans

__all__ = [
    "EXTRACTORS",
    "Abstention",
    "AbstentionDetector",
    "Aligner",
    "ClauseExtractor",
    "ExtractionFailure",
    "Extractor",
    "FactExtractor",
    "FactSettings",
    "SentenceExtractor",
    "claims_from",
    "detect_abstention",
    "extractor_named",
    "statement_spans",
]
