"""What is measured of a claim beside its evidence: the numbers that the trees decide on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.claims.judges.rules.evidence import prepared_evidence
from hallumeter.claims.judges.rules.judge import asked, compared
from hallumeter.claims.judges.rules.overlap import Overlap, overlap_of
from hallumeter.claims.judges.rules.statement import CONFIRMED, Finding, Statement, is_doubt, is_mismatch, wrong
from hallumeter.records.response import Response

from .encoder import one_thread
from .network import ALIKE, DOUBTED, KNOWN, UNKNOWN, MarkedClaim, directions
from .units import Units, units_of
from .word_pieces import Tokens, tokens_of

# How well the evidence has something like each word of a claim, by the table of words.

_REMEMBERED = 8


class EvidenceWords(Struct, frozen=True):
    """The distinct tokens of the evidence."""

    known: frozenset[int]
    directions: NDArray[np.float64]
    """One row for each."""
    pairs: frozenset[tuple[int, int]]
    """Tokens that stand one after the other."""


@lru_cache(maxsize=_REMEMBERED)
def evidence_words(units: Units) -> EvidenceWords:
    """The tokens of all units."""
    lines = [tokens_of(unit.text).ids for unit in units.units]
    known = frozenset(token for line in lines for token in line)
    pairs = frozenset(pair for line in lines for pair in pairwise(line))
    return EvidenceWords(known, directions(np.asarray(sorted(known), np.int64)), pairs)


class Likeness(Struct, frozen=True):
    """For each token of a claim how much the evidence has something like it."""

    best: NDArray[np.float64]
    """The largest cosine with a token of the evidence; 1 when it has the token itself."""
    rarity: NDArray[np.float64]
    """How rare the token is in English text at large, by its place in the table, which is ordered by frequency."""
    is_known_pair: NDArray[np.bool_]
    """Whether it stands after the same token in the evidence."""


def likeness_of(tokens: Tokens, words: EvidenceWords) -> Likeness:
    """Compare the tokens of a claim with those of the evidence."""
    ids = np.asarray(tokens.ids, np.int64)
    best = np.zeros(len(ids))
    if words.known and tokens.ids:
        # The product is small: more threads would take longer, and disturb the other processes.
        with one_thread():
            best = (directions(ids) @ words.directions.T).max(axis=1)
        best[[token in words.known for token in tokens.ids]] = 1.0
    pairs = [False, *(pair in words.pairs for pair in pairwise(tokens.ids))]
    rarity = np.log1p(np.maximum(0, ids - 998))
    return Likeness(best, rarity, np.asarray(pairs[: len(ids)], np.bool_))


FINDINGS = (
    ("number_mismatch", "unit_mismatch", "money_mismatch", "percent_mismatch"),
    ("number_not_found",),
    ("date_mismatch",),
    ("date_not_found",),
    ("name_mismatch",),
    ("name_not_found",),
    ("negation_mismatch", "comparison_mismatch", "answer_mismatch"),
    ("quotation_mismatch", "quotation_not_found"),
    ("hours_mismatch",),
    ("field_mismatch", "figure_mismatch"),
    ("field_empty",),
    ("negation_unclear", "uncertain"),
)
"""Reasons of findings, as they are counted."""
FURTHER_FINDINGS = (("role_mismatch", "plan_mismatch", "list_mismatch"), (CONFIRMED,))
"""The same, counted after all else: the trees know a feature by its place."""


class Measured(Struct, frozen=True):
    """A claim beside its evidence."""

    statement: Statement
    features: NDArray[np.float32]
    findings: list[Finding]
    """What the checks find wrong."""
    overlap: Overlap
    likeness: Likeness
    is_confirmed: bool = False
    """Whether the fields of a record that the claim names agree with it, and nothing is denied."""


def measured_of(response: Response, claims: Sequence[str]) -> list[Measured]:
    """Measure the claims of a response."""
    evidence = prepared_evidence(response.evidence)
    units = units_of(response.evidence)
    words = evidence_words(units)
    language, given = asked(response.response or "", response.question or "")
    statements = [Statement(claim, evidence, language=language, given=given) for claim in claims]
    return [_measured(statement, units, words) for statement in statements]


def _measured(statement: Statement, units: Units, words: EvidenceWords) -> Measured:
    """Measure one claim."""
    found = compared(statement)
    findings = wrong(found)
    overlap = overlap_of(statement)
    likeness = likeness_of(tokens_of(statement.text), words)
    features = np.asarray(
        [
            *_overlap_features(statement, overlap),
            *_order_features(statement, units),
            *_likeness_features(likeness),
            *_finding_features(statement, findings),
            *_kind_features(statement),
            *_counts(found, FURTHER_FINDINGS),
        ],
        np.float32,
    )
    is_confirmed = len(findings) < len(found) and not any(map(is_mismatch, findings))
    return Measured(statement, features, findings, overlap, likeness, is_confirmed)


def _overlap_features(statement: Statement, overlap: Overlap) -> list[float]:
    """How many of the claim's words the evidence has, and how few of its sentences have them."""
    shares = [score for _, score in statement.best]
    return [
        1.0 - overlap.share,
        1.0 - overlap.best,
        overlap.run_words,
        overlap.missing,
        overlap.missing / max(1, len(statement.keys)),
        1.0 - _covered(statement, 2),
        1.0 - _covered(statement, 4),
        shares[0] - shares[1] if len(shares) > 1 else 0.0,
        _given(statement),
    ]


def _covered(statement: Statement, count: int) -> float:
    """The weighted share of the claim's words that the best sentences have together."""
    best = [number for number, _ in statement.best[:count]]
    found = [key for key in statement.keys if any(statement.evidence.has(key, number) for number in best)]
    return sum(statement.weights[key] for key in found) / statement.total if statement.total else 0.0


def _given(statement: Statement) -> float:
    """The share of the claim's words that the question has."""
    return sum(key in statement.given for key in statement.keys) / max(1, len(statement.keys))


def _order_features(statement: Statement, units: Units) -> list[float]:
    """Whether neighbours in the claim are neighbours in the evidence."""
    keys = [key for key in statement.terms.keys if key]
    neighbours = list(pairwise(keys))
    together = near = 0
    for first, second in neighbours:
        shared = set(units.postings.get(first, ())) & set(units.postings.get(second, ()))
        together += bool(shared)
        near += first in units.postings and second in units.postings and not shared
    count = max(1, len(neighbours))
    return [1.0 - together / count, near / count, float(near)]


def _likeness_features(likeness: Likeness) -> list[float]:
    """How much the evidence has something like the claim's words, rare words before frequent ones."""
    best, rarity = likeness.best, likeness.rarity
    if not len(best):
        return [0.0] * 9
    weights = np.maximum(0.0, rarity - 5.0) + 0.05
    missing = best < 0.999
    order = np.sort(best * (rarity > 6.5) + (rarity <= 6.5))
    return [
        float(1.0 - (best * weights).sum() / weights.sum()),
        float((missing * weights).sum() / weights.sum()),
        float((missing * weights).sum()),
        float(((1.0 - best) * weights).max()),
        float(order[0]),
        float(order[min(1, len(order) - 1)]),
        float(order[min(3, len(order) - 1)]),
        float(1.0 - likeness.is_known_pair.mean()),
        float(_longest(missing)),
    ]


def _longest(flags: NDArray[np.bool_]) -> int:
    most = count = 0
    for flag in flags.tolist():
        count = count + 1 if flag else 0
        most = max(most, count)
    return most


def _finding_features(statement: Statement, findings: Sequence[Finding]) -> list[float]:
    """What the checks by rule find, and how much there was to check."""
    amounts = (statement.quantities, statement.dates, statement.names)
    return [*_counts(findings, FINDINGS), *(float(len(each)) for each in amounts)]


def _counts(findings: Sequence[Finding], groups: Sequence[tuple[str, ...]]) -> list[float]:
    reasons = [finding.reason for finding in findings]
    return [float(sum(reason in group for reason in reasons)) for group in groups]


def _kind_features(statement: Statement) -> list[float]:
    """The size of the claim, and whether there is a question.

    Not the size of the evidence: it only tells one kind of task from another, which the trees are not to go by.
    """
    return [math.log1p(len(statement.terms)), float(len(statement.given) > 0)]


# The kind of every token of a claim, by what was measured of it against all of the evidence.

_ALIKE = 0.45
"""Cosine from which two words are taken to be alike."""
_SAME = 0.999


def marked(measured: Measured) -> MarkedClaim:
    """A claim with the kinds of its tokens."""
    text = measured.statement.text
    tokens = tokens_of(text)
    wrong = [(finding.start, finding.end) for finding in measured.findings if not is_doubt(finding)]
    kinds = []
    for (start, end), likeness in zip(tokens.spans, measured.likeness.best.tolist(), strict=True):
        if any(first < end and start < last for first, last in wrong):
            kinds.append(DOUBTED)
        else:
            kinds.append(KNOWN if likeness >= _SAME else ALIKE if likeness >= _ALIKE else UNKNOWN)
    return MarkedClaim(text, tokens, tuple(kinds))
