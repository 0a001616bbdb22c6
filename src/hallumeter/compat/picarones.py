"""Picarones' own names: its hallucination metrics for OCR, HTR and vision models.

>>> found = compute_hallucination_metrics("le roi de france", "le roi, de france.")
>>> found.net_insertion_rate, found.anchor_score, found.is_hallucinating
(0.5, 0.0, True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.transcripts.anchoring import LENGTH_RATIO_CAP, AnchoringSettings, anchoring

__all__ = [
    "HallucinatedBlock",
    "HallucinationMetrics",
    "aggregate_hallucination_metrics",
    "compute_hallucination_metrics",
]

_DECIMALS = 6


class HallucinatedBlock(Struct, frozen=True):
    """A stretch of a response without support in the ground truth."""

    start_token: int
    end_token: int
    """The last token, inclusive."""
    text: str
    """Its tokens in lower case, joined by one space."""
    length: int

    def as_dict(self) -> dict[str, object]:
        """The fields as a dict that JSON can carry."""
        return msgspec.structs.asdict(self)


class HallucinationMetrics(Struct, frozen=True):
    """What Picarones says of one document; what a partial record lacks has the defaults."""

    net_insertion_rate: float = 0.0
    length_ratio: float = 1.0
    """Capped at 9.99; the badge looks at the uncapped ratio."""
    anchor_score: float = 1.0
    hallucinated_blocks: list[HallucinatedBlock] = []
    is_hallucinating: bool = False
    gt_word_count: int = 0
    hyp_word_count: int = 0
    net_inserted_words: int = 0
    anchor_threshold_used: float = 0.5
    length_ratio_threshold_used: float = 1.2
    ngram_size_used: int = 3

    def as_dict(self) -> dict[str, object]:
        """The fields as a dict that JSON can carry, rates rounded to six decimals."""
        fields = msgspec.structs.asdict(self)
        for name in ("net_insertion_rate", "length_ratio", "anchor_score"):
            fields[name] = round(fields[name], _DECIMALS)
        return {**fields, "hallucinated_blocks": [block.as_dict() for block in self.hallucinated_blocks]}

    @classmethod
    def from_dict(cls, d: Mapping[str, object]) -> HallucinationMetrics:
        """Read a dict back, whole or partial; fields that Picarones does not know are ignored."""
        try:
            return msgspec.convert(dict(d), cls)
        except msgspec.ValidationError as error:
            raise RecordError(f"not hallucination metrics: {error}; give a dict like that of as_dict") from error


def compute_hallucination_metrics(  # noqa: PLR0917 - the order that users of Picarones know
    reference: str,
    hypothesis: str,
    n: int = 3,
    length_ratio_threshold: float = 1.2,
    anchor_threshold: float = 0.5,
    block_tolerance: int = 3,
    min_block_length: int = 4,
) -> HallucinationMetrics:
    """Measure one document."""
    settings = AnchoringSettings(n, length_ratio_threshold, anchor_threshold, block_tolerance, min_block_length)
    found = anchoring(reference, hypothesis, settings=settings)
    tokens = hypothesis.lower().split() if found.blocks else []
    return HallucinationMetrics(
        net_insertion_rate=found.net_insertion_rate,
        length_ratio=min(found.length_ratio, LENGTH_RATIO_CAP),
        anchor_score=found.anchor_score,
        hallucinated_blocks=[
            HallucinatedBlock(first, last, " ".join(tokens[first : last + 1]), last - first + 1)
            for first, last in found.blocks
        ],
        is_hallucinating=found.is_hallucinating,
        gt_word_count=found.reference_words,
        hyp_word_count=found.response_words,
        net_inserted_words=found.unknown_words,
        anchor_threshold_used=anchor_threshold,
        length_ratio_threshold_used=length_ratio_threshold,
        ngram_size_used=n,
    )


def aggregate_hallucination_metrics(results: Sequence[HallucinationMetrics]) -> dict[str, float | int]:
    """Means over documents, each with the same weight; an empty dict without documents."""
    if not results:
        return {}
    badged = sum(result.is_hallucinating for result in results)
    return {
        "anchor_score_mean": _mean([result.anchor_score for result in results]),
        "anchor_score_min": round(min(result.anchor_score for result in results), _DECIMALS),
        "length_ratio_mean": _mean([result.length_ratio for result in results]),
        "net_insertion_rate_mean": _mean([result.net_insertion_rate for result in results]),
        "hallucinating_doc_count": badged,
        "hallucinating_doc_rate": round(badged / len(results), _DECIMALS),
        "document_count": len(results),
    }


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), _DECIMALS)
