"""Scores of a judge, and of what needs no judge, on the units that people labelled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.errors import SettingsError
from hallumeter.records.claim import Finding
from hallumeter.records.decisions import Level
from hallumeter.records.judging import claim_text
from hallumeter.records.response import Passage, Response
from hallumeter.text.terms import content_words

from .run import LabelledRun
from .sources import LabelSettings

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


# What a user can choose about baselines.

MOST_RESPONSES = 200
"""Labelled responses on which judges are asked again, unless the user says otherwise."""


class BaselineSettings(Struct, frozen=True, kw_only=True):
    """How judges are held against baselines."""

    labels: LabelSettings = LabelSettings()
    """Where the truth comes from; its `judge` chooses one, None takes every judge of the run."""
    limit: int = MOST_RESPONSES
    """Ask judges again with other evidence on at most so many labelled responses; 0 asks none."""
    is_any_judge_asked: bool = False
    """Ask judges outside this machine, and functions of the user's, as well."""
    seed: int = 0
    confidence: float = 0.95
    workers: int = 1
    concurrency: int = 16
    timeout_seconds: float = 60.0
    cache: Path | None = None
    """The folder of the verdict cache; None for none."""

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise SettingsError(f"limit is {self.limit}; expected a number of responses from 0")
        if not 0 < self.confidence < 1:
            raise SettingsError(f"confidence is {self.confidence:g}; expected a number between 0 and 1")
        for name in ("workers", "concurrency"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}; expected a whole number from 1")


# Evidence of other responses: alike in length, from the same slice where it can be, and drawn by the seed.

ALIKE = 8
"""Pieces of evidence of about the same length that are exchanged among each other."""


def exchanged(lengths: Sequence[int], slices: Mapping[int, str], *, rng: np.random.Generator) -> dict[int, int] | None:
    """For each piece of evidence another: all are used once, and none is its own; None when there is only one.

    Within a slice, pieces are sorted by length, cut into groups of about `ALIKE`, and passed on within the group in a
    random circle. A slice with a single piece is joined with the other such slices.

    >>> lengths = [10, 900, 12, 880]
    >>> exchanged(lengths, dict.fromkeys(range(4), ""), rng=np.random.default_rng(0)) is not None
    True
    """
    if len(lengths) < 2:
        return None
    by_slice: dict[str, list[int]] = {}
    for number in range(len(lengths)):
        by_slice.setdefault(slices[number], []).append(number)
    groups = [members for members in by_slice.values() if len(members) > 1]
    alone = [number for members in by_slice.values() if len(members) == 1 for number in members]
    if len(alone) == 1:
        groups[0] += alone
    elif alone:
        groups.append(alone)
    found: dict[int, int] = {}
    for members in groups:
        # Chance decides among equals before the stable sort.
        drawn = [members[place] for place in rng.permutation(len(members))]
        for part in np.array_split(sorted(drawn, key=lengths.__getitem__), max(1, len(members) // ALIKE)):
            circle = rng.permutation(part)
            found |= dict(zip(circle.tolist(), np.roll(circle, 1).tolist(), strict=True))
    return found


# What can be said of texts without a judge: how long they are, and how many of their words the evidence has.

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


Kind = Literal["probability", "label", "count"]
UNMEASURED = float("nan")


class Features(Struct, frozen=True, eq=False):
    """What texts say, one number for each unit of a level; NaN where it is not known. High is suspicious."""

    length: FloatArray
    overlap: FloatArray
    """The share of words that the evidence lacks."""
    shuffled_overlap: FloatArray
    """The share that the evidence of another response lacks."""


class Exchange(Struct, frozen=True):
    """Whose evidence stands in for whose."""

    own: dict[str, int | None]
    """Records, and the numbers of their evidence."""
    other: dict[str, int | None]
    """The same of what stands in."""
    is_possible: bool
    """False when all records have the same evidence, or none."""


class Units(Struct, frozen=True, eq=False):
    """Everything of one level beside its truth, all units of the run; NaN is not known."""

    level: Level
    kind: Kind
    scores: FloatArray
    """The judge's."""
    is_flagged: NDArray[np.bool_]
    truth: FloatArray
    clusters: NDArray[np.int64]
    features: Features


def exchange_of(run: LabelledRun, texts: Texts, *, seed: int) -> Exchange:
    """Draw other evidence for every labelled record."""
    own = {record_id: row.evidence for record_id, row in texts.rows.items()}
    slice_of = dict(zip(run.record_ids, run.slices, strict=True))
    slices: dict[int, str] = {}
    for record_id, number in own.items():
        if number is not None:
            slices.setdefault(number, "\0".join(slice_of[record_id]))
    lengths = [each.length for each in texts.evidence]
    drawn = exchanged(lengths, slices, rng=np.random.default_rng(seed))
    partners = drawn or {}
    other = {record_id: None if number is None else partners.get(number) for record_id, number in own.items()}
    return Exchange(own, other, drawn is not None)


def features_of(run: LabelledRun, texts: Texts, exchange: Exchange) -> dict[Level, Features]:
    """What the texts of labelled records say, in the order of the claims and of the records of the run."""
    overlaps, shuffled = texts.overlaps(exchange.own), texts.overlaps(exchange.other)
    claims, records = len(run.claim_ids), len(run.record_ids)
    of_claims, of_records = (np.full((3, size), UNMEASURED) for size in (claims, records))
    firsts = np.searchsorted(run.owners, np.arange(records))
    for number, record_id in enumerate(run.record_ids):
        row = texts.rows.get(record_id)
        if row is None:
            continue
        own = slice(firsts[number], firsts[number] + len(row.claim_ids))
        whole, parts = overlaps[record_id]
        other_whole, other_parts = shuffled[record_id]
        of_records[:, number] = row.length, 1 - whole, 1 - other_whole
        of_claims[:, own] = row.claim_lengths, 1 - parts, 1 - other_parts
    return {"claim": Features(*of_claims), "response": Features(*of_records)}


def kind_of(run: LabelledRun) -> Kind:
    """Probabilities, where every decided claim of a labelled record has one; else labels."""
    is_labelled = ~np.isnan(run.response_truth)
    is_labelled[run.owners[~np.isnan(run.unsupported)]] = True
    of_interest = run.is_decided & is_labelled[run.owners]
    has_all = of_interest.any() and not np.isnan(run.probabilities[of_interest]).any()
    return "probability" if has_all else "label"


def claim_scores(run: LabelledRun, kind: Kind) -> FloatArray:
    """How unsupported the judge takes each claim to be; NaN where it is undecided or failed."""
    given = run.probabilities if kind == "probability" else run.is_flagged.astype(np.float64)
    return np.where(run.is_decided, given, UNMEASURED)


def response_scores(run: LabelledRun, kind: Kind) -> FloatArray:
    """The largest probability among the claims of each response, or how many of them are flagged; else NaN."""
    scores, size = claim_scores(run, kind), len(run.record_ids)
    known = ~np.isnan(scores)
    owners = run.owners[known]
    if kind == "probability":
        found = np.full(size, -np.inf)
        np.maximum.at(found, owners, scores[known])
    else:
        found = np.bincount(owners, weights=scores[known], minlength=size).astype(np.float64)
    found[np.bincount(owners, minlength=size) == 0] = UNMEASURED
    return found


def units_of(run: LabelledRun, features: dict[Level, Features]) -> tuple[Units, Units]:
    """The claims, and the responses."""
    kind, size = kind_of(run), len(run.record_ids)
    has_flag = np.bincount(run.owners, weights=run.is_flagged, minlength=size) > 0
    return (
        Units(
            "claim",
            kind,
            scores=claim_scores(run, kind),
            is_flagged=run.is_flagged,
            truth=run.unsupported,
            clusters=run.clusters[run.owners],
            features=features["claim"],
        ),
        Units(
            "response",
            "probability" if kind == "probability" else "count",
            scores=response_scores(run, kind),
            is_flagged=has_flag,
            truth=response_truth(run),
            clusters=run.clusters,
            features=features["response"],
        ),
    )


def response_truth(run: LabelledRun) -> FloatArray:
    """Whether something in a response is unsupported: as said of the whole, else by its claims if all are labelled.

    A response with some unlabelled claims is left out, whatever the others are: those with more labelled claims would
    else be hallucinated more often.
    """
    size, owners = len(run.record_ids), run.owners
    known = ~np.isnan(run.unsupported)
    worst = np.zeros(size)
    np.maximum.at(worst, owners[known], run.unsupported[known])
    claims, labelled = np.bincount(owners, minlength=size), np.bincount(owners[known], minlength=size)
    from_claims = np.where((claims > 0) & (labelled == claims), worst, UNMEASURED)
    found: FloatArray = np.where(np.isnan(run.response_truth), from_claims, run.response_truth)
    return found
