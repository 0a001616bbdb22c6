"""From what was measured of the claims of a response to one probability for each: signals, kinds of text, calibration.

The kind of a text is read from the input itself: is the evidence a record, has it speaker turns, is there a question,
is there one claim alone?
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.claims.judges.rules.evidence import prepared_evidence
from hallumeter.claims.judges.rules.statement import CONFIRMED, CONTRADICTIONS, MISMATCHES
from hallumeter.claims.judges.rules.turns import is_dialogue
from hallumeter.records.response import Response

from .features import Measured
from .model_files import FINDING, FINDING_REASONS, TEXT_SIGNALS, Tier
from .network import ReadClaim

# What is known of a text as a whole, and the kind that follows from it.

_SHORT_EVIDENCE = 60
"""Words below which evidence is a sentence or two, as in a pair of claim and sentence, and no passage or article."""


class Traits(Struct, frozen=True):
    """What a response and its evidence are like; each is a signal, and together they say the kind of text."""

    is_structured: bool
    """The evidence is a record, or has one in it."""
    is_dialogue: bool
    """The evidence has speaker turns."""
    has_question: bool
    is_single: bool
    """There is one claim to weigh."""
    is_short_evidence: bool

    @property
    def kind(self) -> str:
        """One of `KINDS` of model_files; the first that fits."""
        if self.is_structured:
            return "record"
        if self.is_dialogue:
            return "dialogue"
        if self.has_question:
            return "qa"
        return "single" if self.is_single else "summary"


def traits_of(response: Response, measured: Sequence[Measured]) -> Traits:
    """The traits of a response of which some claims, at least one, were measured."""
    return traits_with(response, claims=len(measured))


def traits_with(response: Response, *, claims: int) -> Traits:
    """The traits of a response that has so many claims to weigh."""
    blocks = prepared_evidence(response.evidence).blocks
    return Traits(
        is_structured=any(block.leaf is not None for block in blocks),
        is_dialogue=any(is_dialogue(passage.text) for passage in response.evidence),
        has_question=any(map(str.isalnum, response.question or "")),
        is_single=claims == 1,
        is_short_evidence=sum(len(block.terms) for block in blocks) < _SHORT_EVIDENCE,
    )


# What a tier weighs: one number of each kind for every claim of a response.

Signals = dict[str, NDArray[np.float64]]
_LESS_SURE = frozenset(MISMATCHES) - CONTRADICTIONS
"""Kinds of mismatches that are too rare, or too often wrong, to refute a claim; they are weighed together."""


def signals_of(
    logits: NDArray[np.float64],
    reads: Sequence[ReadClaim] | None,
    *,
    traits: Traits,
    reasons: Sequence[frozenset[str]],
) -> Signals:
    """Every signal of each claim.

    Args:
        logits: What the trees say of each claim.
        reads: What the network says of each claim; None in the fast tier.
        traits: What the response and its evidence are like.
        reasons: Of each claim the reasons of what the rules found, as `reasons_of` gives them.
    """
    said = {"trees": logits, "trees_beside": _beside(logits)}
    if reads is not None:
        votes = np.asarray([read.vote for read in reads])
        said |= {"vote": votes, "vote_beside": _beside(votes)}
    for name in TEXT_SIGNALS:
        said[name] = np.full(len(logits), float(getattr(traits, name)))
    said["contradiction"] = np.asarray([float(not CONTRADICTIONS.isdisjoint(found)) for found in reasons])
    said["mismatch"] = np.asarray([float(not _LESS_SURE.isdisjoint(found)) for found in reasons])
    said["confirmed"] = np.asarray([float(CONFIRMED in found) for found in reasons])
    for reason in FINDING_REASONS:
        said[f"{FINDING}{reason}"] = np.asarray([float(reason in found) for found in reasons])
    return said


def reasons_of(measured: Measured) -> frozenset[str]:
    """The reasons of all that the rules found in a claim, and `CONFIRMED` when a record agrees with it."""
    found = frozenset(finding.reason for finding in measured.findings)
    return found | {CONFIRMED} if measured.is_confirmed else found


def _beside(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each claim the mean of the others, since errors come together; its own value when it is alone."""
    if len(values) < 2:
        return values
    return np.asarray((values.sum() - values) / (len(values) - 1))


# The probability.

_FARTHEST = 30.0
"""Logit beyond which a probability would be 0 or 1 to a computer; it never is."""


def probabilities_of(tier: Tier, signals: Signals, *, kind: str) -> list[float]:
    """How probable it is of each claim that it is unsupported, calibrated for its kind of text."""
    logits = tier.constant + sum(weight * signals[name] for name, weight in tier.weights.items())
    calibrated = tier.curve(kind)(np.full(len(signals["trees"]), logits))
    return [1.0 / (1.0 + math.exp(-logit)) for logit in np.clip(calibrated, -_FARTHEST, _FARTHEST).tolist()]
