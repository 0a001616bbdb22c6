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
        fields = {name: getattr(self, name) for name in HallucinationMetrics.__dataclass_fields__}
        for name in ("net_insertion_rate", "length_ratio", "anchor_score"):
            fields[name] = round(fields[name], _DECIMALS)
        return {**fields, "hallucinated_blocks": [block.as_dict() for block in self.hallucinated_blocks]}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> HallucinationMetrics:
        """Read a dict back, whole or partial; other fields are ignored, and values are kept as they are, None too."""
        blocks = [HallucinatedBlock(**block) for block in d.get("hallucinated_blocks", [])]
        known = {name: d[name] for name in HallucinationMetrics.__dataclass_fields__ if name in d}
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
    are_whole = type(n) is int and type(block_tolerance) is int and type(min_block_length) is int
    are_numbers = type(length_ratio_threshold) in _NUMBERS and type(anchor_threshold) in _NUMBERS
    if not are_whole or not are_numbers or n < 1:
        limits = length_ratio_threshold, anchor_threshold
        return _measured_by_the_letter(reference, hypothesis, n, block_tolerance, min_block_length, limits=limits)
    settings = AnchoringSettings(n, length_ratio_threshold, anchor_threshold, block_tolerance, min_block_length)
    found, texts = anchored_blocks(reference, hypothesis, settings=settings)
    is_too_long = length_ratio_threshold < found.length_ratio < math.inf
    return HallucinationMetrics(
        net_insertion_rate=found.net_insertion_rate,
        length_ratio=min(found.length_ratio, LENGTH_RATIO_CAP),
        anchor_score=found.anchor_score,
        hallucinated_blocks=[
            HallucinatedBlock(first, last, text, last - first + 1)
            for (first, last), text in zip(found.blocks, texts, strict=True)
        ],
        is_hallucinating=found.anchor_score < anchor_threshold or is_too_long,
        gt_word_count=found.reference_words,
        hyp_word_count=found.response_words,
        net_inserted_words=found.unknown_words,
        anchor_threshold_used=anchor_threshold,
        length_ratio_threshold_used=length_ratio_threshold,
        ngram_size_used=n,
    )


_NUMBERS = (int, float)


def _measured_by_the_letter(
    reference: str, hypothesis: str, n: Any, tolerance: Any, shortest: Any, *, limits: tuple[Any, Any]
) -> HallucinationMetrics:
    """The same step by step, for settings that nobody means but that Picarones takes: n-grams of 0 words, a text."""
    longest, lowest = limits
    on_page, written = _tokenize(reference), _tokenize(hypothesis)
    characters, given = len(hypothesis.strip()), len(reference.strip())
    ratio = characters / given if given else (math.inf if characters else 1.0)
    vocabulary = set(on_page)
    unknown = sum(token not in vocabulary for token in written)
    known, ngrams = set(_ngrams(on_page, n)), _ngrams(written, n)
    score = sum(ngram in known for ngram in ngrams) / len(ngrams) if ngrams else float(not known)
    blocks = _detect_hallucinated_blocks(written, vocabulary, tolerance, shortest)
    return HallucinationMetrics(
        net_insertion_rate=unknown / len(written) if written else 0.0,
        length_ratio=min(ratio, LENGTH_RATIO_CAP),
        anchor_score=score,
        hallucinated_blocks=blocks,
        is_hallucinating=score < lowest or (ratio > longest and ratio != math.inf),
        gt_word_count=len(on_page),
        hyp_word_count=len(written),
        net_inserted_words=unknown,
        anchor_threshold_used=lowest,
        length_ratio_threshold_used=longest,
        ngram_size_used=n,
    )


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
    found: list[HallucinatedBlock] = []
    first: int | None = None
    known = 0
    for place, token in enumerate(hyp_tokens):
        if token not in gt_token_set:
            first, known = place if first is None else first, 0
        elif first is not None:
            known += 1
            if known >= tolerance:
                found += _long_block(hyp_tokens, first, place - known, min_block_length)
                first, known = None, 0
    if first is not None:
        found += _long_block(hyp_tokens, first, len(hyp_tokens) - 1, min_block_length)
    return found


def _long_block(tokens: list[str], first: int, last: int, shortest: int) -> list[HallucinatedBlock]:
    length = last - first + 1
    return [HallucinatedBlock(first, last, " ".join(tokens[first : last + 1]), length)] if length >= shortest else []


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
