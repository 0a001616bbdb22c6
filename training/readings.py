"""Examples as readings: the chunks of the judge, with a label for every token and every claim."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct, structs

from hallumeter.claims.extractors.statements import SentenceExtractor
from hallumeter.claims.judges.embedded.features import Measured, marked, measured_of
from hallumeter.claims.judges.embedded.network import LENGTH, Chunk, chunks_of
from hallumeter.claims.judges.embedded.units import units_of
from hallumeter.claims.judges.embedded.word_pieces import tokens_of
from hallumeter.records.response import Passage, Response

from .examples import Example, Span

UNKNOWN, SUPPORTED, BASELESS, CONFLICT = -1, 0, 1, 2


class LabelledClaim(Struct, frozen=True):
    """A claim of an example, and what people said of it."""

    text: str
    start: int
    end: int
    is_unsupported: bool | None
    """None when people judged the whole text and it has several claims."""


class Reading(Struct, frozen=True):
    """A chunk with its labels."""

    example: int
    """The example's number."""
    chunk: Chunk
    tokens: np.ndarray
    """A label for each token of the claims, part by part."""
    claims: tuple[bool | None, ...]
    """For each part whether its claim is unsupported."""
    unruled: tuple[int, ...]
    """The kinds of the claims' tokens if no rule had found anything."""
    is_any_unsupported: bool
    """Whether any claim of the whole example is."""
    is_whole: bool
    """All claims of the example stand in this chunk."""
    is_bag: bool
    """People judged all of it at once and marked no place."""


def passages_of(example: Example) -> tuple[Passage, ...]:
    """The evidence as the judge is given it."""
    return tuple(Passage(f"e{number}", text) for number, text in enumerate(example.evidence))


def claims_of(example: Example) -> list[LabelledClaim]:
    """The claims of a text with their labels: unsupported when a marked place touches them."""
    text = example.text
    if example.given:
        return [LabelledClaim(text[each.start : each.end], *structs.astuple(each)) for each in example.given]
    if example.is_one_claim:
        places = [(0, len(text))]
    else:
        found = SentenceExtractor().extract(Response("x", response=text))
        places = [(claim.start or 0, claim.end or 0) for claim in found]
    return [
        LabelledClaim(text[start:end], start, end, _label(example, start, end, is_only=len(places) == 1))
        for start, end in places
    ]


def _label(example: Example, start: int, end: int, *, is_only: bool) -> bool | None:
    if not example.has_spans:
        return example.is_unsupported if is_only else None
    if _is_touched(example.spans, start, end):
        return True
    return None if _is_touched(example.disputed, start, end) else False


def _is_touched(spans: tuple[Span, ...], start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in spans)


def response_of(example: Example) -> Response:
    """The text as the judge is given it."""
    return Response("x", response=example.text, question=example.question or None, evidence=passages_of(example))


def measured_claims(example: Example, texts: list[str]) -> list[Measured]:
    """What the judge measures of the claims."""
    return measured_of(response_of(example), texts)


def readings_of(example: Example, *, number: int, length: int = LENGTH) -> Iterator[Reading]:
    """The chunks of an example."""
    claims = claims_of(example)
    if not claims:
        return
    units = units_of(passages_of(example))
    texts = [claim.text for claim in claims]
    measured = measured_claims(example, texts)
    read = [marked(each) for each in measured]
    unruled = [marked(structs.replace(each, findings=[])).kinds for each in measured]
    chunks = chunks_of(read, units, question=example.question, length=length)
    for chunk in chunks:
        labels = [
            _token_labels(example, claims[part.claim])[part.first : part.first + part.count] for part in chunk.parts
        ]
        yield Reading(
            example=number,
            chunk=chunk,
            tokens=np.concatenate(labels),
            claims=tuple(claims[part.claim].is_unsupported for part in chunk.parts),
            unruled=tuple(
                kind for part in chunk.parts for kind in unruled[part.claim][part.first : part.first + part.count]
            ),
            is_any_unsupported=example.is_unsupported,
            is_whole=len(chunks) == 1,
            is_bag=len(chunks) == 1 and not example.has_spans and not example.given,
        )


def _token_labels(example: Example, claim: LabelledClaim) -> np.ndarray:
    spans = tokens_of(claim.text).spans
    if not example.has_spans:
        return np.full(len(spans), UNKNOWN, np.int8)
    labels = np.zeros(len(spans), np.int8)
    for place, (start, end) in enumerate(spans):
        if _is_touched(example.disputed, claim.start + start, claim.start + end):
            labels[place] = UNKNOWN
        for span in example.spans:
            if span.start < claim.start + end and claim.start + start < span.end:
                labels[place] = CONFLICT if span.is_conflict else max(labels[place], BASELESS)
    return labels
