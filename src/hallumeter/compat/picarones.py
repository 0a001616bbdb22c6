"""Picarones' own names: its hallucination metrics for OCR, HTR and vision models.

>>> found = compute_hallucination_metrics("le roi de france", "le roi, de france.")
>>> found.net_insertion_rate, found.anchor_score, found.is_hallucinating
(0.5, 0.0, True)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hallumeter.transcripts.anchoring import (
    LENGTH_RATIO_CAP,
    AnchoringSettings,
    anchored_blocks,
    blocks_of,
)

__all__ = [
    "HallucinatedBlock",
    "HallucinationMetrics",
    "aggregate_hallucination_metrics",
    "compute_hallucination_metrics",
]

_DECIMALS = 6


@dataclass
class HallucinatedBlock:
    """A stretch of a response without support in the ground truth."""

    start_token: int
    end_token: int
    """The last token, inclusive."""
    text: str
    """Its tokens in lower case, joined by one space."""
    length: int

    def as_dict(self) -> dict[str, Any]:
        """The fields as a dict that JSON can carry."""
        return asdict(self)


@dataclass
class HallucinationMetrics:
    """What Picarones says of one document."""

    net_insertion_rate: float
    length_ratio: float
    """Capped at 9.99; the badge looks at the uncapped ratio."""
    anchor_score: float
    hallucinated_blocks: list[HallucinatedBlock]
    is_hallucinating: bool
    gt_word_count: int = 0
    hyp_word_count: int = 0
    net_inserted_words: int = 0
    anchor_threshold_used: float = 0.5
    length_ratio_threshold_used: float = 1.2
    ngram_size_used: int = 3

    def as_dict(self) -> dict[str, Any]:
        """The fields as a dict that JSON can carry, rates rounded to six decimals."""
        fields = asdict(self)
        for name in ("net_insertion_rate", "length_ratio", "anchor_score"):
            fields[name] = round(fields[name], _DECIMALS)
        return fields

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> HallucinationMetrics:
        """Read a dict back, whole or partial; other fields are ignored, and values are kept as they are, None too."""
        known = {name: d[name] for name in cls.__dataclass_fields__ if name in d}
        blocks = [HallucinatedBlock(**block) for block in d.get("hallucinated_blocks", [])]
        return cls(**{**_WHEN_MISSING, **known, "hallucinated_blocks": blocks})


_WHEN_MISSING: dict[str, Any] = {
    "net_insertion_rate": 0.0,
    "length_ratio": 1.0,
    "anchor_score": 1.0,
    "is_hallucinating": False,
}


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
    settings = AnchoringSettings(max(n, 1), length_ratio_threshold, anchor_threshold, block_tolerance, min_block_length)
    found, texts = anchored_blocks(reference, hypothesis, settings=settings)
    score = found.anchor_score if n >= 1 else _odd_anchor_score(_tokenize(reference), _tokenize(hypothesis), n)
    is_too_long = length_ratio_threshold < found.length_ratio < math.inf
    return HallucinationMetrics(
        net_insertion_rate=found.net_insertion_rate,
        length_ratio=min(found.length_ratio, LENGTH_RATIO_CAP),
        anchor_score=score,
        hallucinated_blocks=[
            HallucinatedBlock(first, last, text, last - first + 1)
            for (first, last), text in zip(found.blocks, texts, strict=True)
        ],
        is_hallucinating=score < anchor_threshold or is_too_long,
        gt_word_count=found.reference_words,
        hyp_word_count=found.response_words,
        net_inserted_words=found.unknown_words,
        anchor_threshold_used=anchor_threshold,
        length_ratio_threshold_used=length_ratio_threshold,
        ngram_size_used=n,
    )


def _odd_anchor_score(reference: list[str], response: list[str], n: int) -> float:
    """The anchor score of n-grams without words, which Picarones counts like any other."""
    known, written = set(_ngrams(reference, n)), _ngrams(response, n)
    return sum(ngram in known for ngram in written) / len(written)


# Names of the original that begin with an underscore, for programs that import them all the same.


def _tokenize(text: str) -> list[str]:
    """Lower-cased runs of what is not white space."""
    return text.lower().split()


def _ngrams(tokens: list[str], n: int) -> list[tuple[str, ...]]:
    """Tokens in a row, n at a time; all of them together when there are fewer."""
    if len(tokens) < n:
        return [tuple(tokens)] * bool(tokens)
    return [tuple(tokens[place : place + n]) for place in range(len(tokens) - n + 1)]


def _detect_hallucinated_blocks(
    hyp_tokens: list[str], gt_token_set: Collection[str], tolerance: int = 3, min_block_length: int = 4
) -> list[HallucinatedBlock]:
    """Stretches of tokens outside a vocabulary; fewer known tokens in a row than the tolerance do not end one."""
    unknown = [place for place, token in enumerate(hyp_tokens) if token not in gt_token_set]
    found = blocks_of(unknown, len(hyp_tokens), tolerance=tolerance, shortest=min_block_length) if unknown else []
    return [
        HallucinatedBlock(first, last, " ".join(hyp_tokens[first : last + 1]), last - first + 1)
        for first, last in found
    ]


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
