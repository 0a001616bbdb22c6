"""What can be said of texts without a judge: how long they are, and how many of their words the evidence has."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.judges.claim_text import claim_text
from hallumeter.text.terms import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from hallumeter.records import Finding, Passage, Response

    IntArray = NDArray[np.int32]
    FloatArray = NDArray[np.float64]

NOT_KNOWN = float("nan")


class TextRow(Struct, frozen=True, eq=False):
    """A record of which something is labelled."""

    evidence: int | None
    """The number of its evidence; records may share one; None without evidence."""
    words: IntArray
    """Of the response; none where its text is not known."""
    length: float
    """Of the response in characters; NaN where its text is not known."""
    claim_ids: list[str]
    claim_words: list[IntArray]
    claim_lengths: list[float]


class EvidenceRow(Struct, frozen=True, eq=False):
    """The passages that a record, or several, can be checked against."""

    words: IntArray
    length: int
    passages: tuple[Passage, ...]


class Texts:
    """The texts of labelled records, as numbers; words that say nothing on their own do not count."""

    def __init__(self, *, keeps_responses: bool) -> None:
        self.rows: dict[str, TextRow] = {}
        self.evidence: list[EvidenceRow] = []
        self.responses: dict[str, tuple[Response, Sequence[Finding]]] = {}
        """As they are; kept where a judge may be asked again."""
        self._keeps_responses = keeps_responses
        self._known_evidence: dict[bytes, int] = {}
        self._vocabulary: dict[str, int] = {}

    def add(self, response: Response, findings: Sequence[Finding]) -> None:
        """Take in a record."""
        texts = [claim_text(finding.claim, response) for finding in findings]
        whole = response.response if response.response is not None else "\n".join(filter(None, texts))
        self.rows[response.record_id] = TextRow(
            evidence=self._evidence(response.evidence),
            words=self._numbers([whole]),
            length=float(len(whole)) if whole else NOT_KNOWN,
            claim_ids=[finding.claim.claim_id for finding in findings],
            claim_words=[self._numbers([text]) for text in texts],
            claim_lengths=[float(len(text)) if text else NOT_KNOWN for text in texts],
        )
        if self._keeps_responses:
            self.responses[response.record_id] = response, findings

    def overlaps(self, evidence_of: dict[str, int | None]) -> dict[str, tuple[float, FloatArray]]:
        """For each record the share of words that the evidence with this number has: of the response, of its claims.

        NaN without evidence, and for a text without a word that says something.
        """
        found: dict[str, tuple[float, FloatArray]] = {}
        sets = {number: frozenset(self.evidence[number].words.tolist()) for number in _given(evidence_of.values())}
        for record_id, row in self.rows.items():
            number = evidence_of[record_id]
            known = None if number is None else sets[number]
            shares = [_share(words, known) for words in (row.words, *row.claim_words)]
            found[record_id] = shares[0], np.array(shares[1:], dtype=np.float64)
        return found

    def _evidence(self, passages: tuple[Passage, ...]) -> int | None:
        texts = [passage.text for passage in passages if passage.text.strip()]
        if not texts:
            return None
        key = hashlib.blake2b("\0".join(texts).encode(errors="replace"), digest_size=16).digest()
        if key not in self._known_evidence:
            self._known_evidence[key] = len(self.evidence)
            length = sum(map(len, texts))
            kept = passages if self._keeps_responses else ()
            self.evidence.append(EvidenceRow(self._numbers(texts), length, kept))
        return self._known_evidence[key]

    def _numbers(self, texts: Iterable[str]) -> IntArray:
        words = content_words("\n".join(texts))
        known = self._vocabulary
        return np.array([known.setdefault(word, len(known)) for word in words], dtype=np.int32)


def _share(words: IntArray, known: frozenset[int] | None) -> float:
    if known is None or not len(words):
        return NOT_KNOWN
    return sum(word in known for word in words.tolist()) / len(words)


def _given(numbers: Iterable[int | None]) -> set[int]:
    return {number for number in numbers if number is not None}
