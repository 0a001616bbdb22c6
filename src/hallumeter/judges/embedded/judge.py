"""The judge that ships inside the package: trees over measured features, and a small network that reads the words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import SettingsError
from hallumeter.judges.claim_text import claim_text, place_in_response
from hallumeter.judges.protocol import JudgeSpec, JudgeTask
from hallumeter.judges.rules.findings import is_mismatch
from hallumeter.judges.rules.judge import RulesJudge
from hallumeter.judges.rules.minimal_pairs import supporting_quote
from hallumeter.records import Claim, Failure, Label, Response, Verdict
from hallumeter.records.notes import unchecked_language_note

from .chunks import chunks_of
from .encoder import ReadClaim, read_claims
from .features import Measured, measured_of
from .languages import languages_differ, unchecked_language
from .marks import marked
from .model_files import Tier, checked_tier, shipped_model
from .reasons import Reason, fast_reason, full_reason
from .signals import Signals, signals_of
from .trees import trees
from .units import units_of

FULL, FAST = "full", "fast"
TIERS = (FULL, FAST)
MISMATCH = 0.35
"""The least probability of a claim in which a rule found a number, name, date or the like that the evidence denies."""
_FARTHEST = 30.0
"""Logit beyond which a probability would be 0 or 1 to a computer; it never is."""


class Weighed(Struct, frozen=True):
    """A claim, what was measured of it, and how probable it is that it is unsupported."""

    measured: Measured
    probability: float
    read: ReadClaim | None
    """What the network says; None in the fast tier."""


class EmbeddedJudge:
    """Judges by a small model that was trained on claims that people had judged; needs no network and no download.

    Args:
        tier: ``fast`` decides by trees over what is measured of a claim, ``full`` also by a network that reads the
            claim beside its evidence.

    Raises:
        SettingsError: There is no such tier, or a file of the model is missing or damaged.
    """

    def __init__(self, tier: str = FULL) -> None:
        if tier not in TIERS:
            raise SettingsError(f"the embedded judge has no tier {tier!r}; expected embedded or embedded:{FAST}")
        self.tier = tier
        self._decision: Tier = checked_tier(tier)
        self.name = f"embedded:{tier}@{shipped_model().version}"

    @property
    def spec(self) -> JudgeSpec:
        """Its name with tier and version, and the threshold that its labels depend on."""
        settings = (("threshold", f"{self._decision.threshold:g}"), ("mismatch", f"{MISMATCH:g}"))
        return JudgeSpec(self.name, settings, is_parallel=True)

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        """One verdict for each claim, in the order of the claims."""
        response = task.response
        if languages_differ(response.response or "", response.evidence):
            return [self._plain(claim, Label.UNDECIDED, "languages_differ") for claim in task.claims]
        language = unchecked_language(response.response or "")
        if language is not None:
            return [self._by_rules(verdict, language) for verdict in RulesJudge().judge(task)]
        measured = measured_of(response, [claim_text(claim, response) for claim in task.claims])
        weighed = iter(self.weighed(response, [each for each in measured if can_be_weighed(each)]))
        return [
            self._verdict(claim, response, next(weighed))
            if can_be_weighed(each)
            else self._plain(claim, *_why_not(each))
            for claim, each in zip(task.claims, measured, strict=True)
        ]

    def weighed(self, response: Response, measured: Sequence[Measured]) -> list[Weighed]:
        """How probable it is of each claim that it is unsupported."""
        if not measured:
            return []
        reads = None if self.tier == FAST else read_by_network(response, measured)
        signals = signals_of(tree_logits(measured), reads, is_structured=is_structured(measured))
        probabilities = _probabilities(self._decision, signals)
        by_claim: Sequence[ReadClaim | None] = reads or [None] * len(measured)
        return [
            Weighed(each, _at_least(each, said), read)
            for each, said, read in zip(measured, probabilities, by_claim, strict=True)
        ]

    def _verdict(self, claim: Claim, response: Response, weighed: Weighed) -> Verdict:
        probability = weighed.probability
        is_unsupported = probability >= self._decision.threshold
        reason = self._reason(weighed) if is_unsupported else None
        start, end = claim.start, claim.end
        if reason is not None:
            start, end = place_in_response(claim, response, (reason.start, reason.end))
        return Verdict(
            record_id=claim.record_id,
            claim_id=claim.claim_id,
            judge=self.name,
            label=_label(reason),
            unsupported_probability=probability,
            reason=reason.code if reason is not None else None,
            start=start,
            end=end,
            evidence=(reason.quotes if reason is not None else ()) or supporting_quote(weighed.measured.statement),
            note=reason.note if reason is not None else None,
            confidence=probability if is_unsupported else 1.0 - probability,
        )

    def _reason(self, weighed: Weighed) -> Reason:
        if weighed.read is None:
            return fast_reason(weighed.measured)
        return full_reason(weighed.measured, weighed.read, stretch=self._decision.stretch)

    def _plain(self, claim: Claim, label: Label, reason: str) -> Verdict:
        return Verdict(
            claim.record_id, claim.claim_id, self.name, label, reason=reason, start=claim.start, end=claim.end
        )

    def _by_rules(self, said: Verdict | Failure, language: str) -> Verdict | Failure:
        """What the rules say, for a language that the model does not know."""
        if isinstance(said, Failure):
            return structs.replace(said, judge=self.name)
        note = "; ".join(filter(None, [said.note, unchecked_language_note(language)]))
        return structs.replace(said, judge=self.name, note=note)


def can_be_weighed(measured: Measured) -> bool:
    """Whether a claim says anything and has evidence."""
    statement = measured.statement
    return bool(statement.keys and statement.evidence.sentences)


def is_structured(measured: Sequence[Measured]) -> bool:
    """Whether the evidence of some claims is a record, or has one in it."""
    return any(block.leaf is not None for block in measured[0].statement.evidence.blocks)


def tree_logits(measured: Sequence[Measured]) -> NDArray[np.float64]:
    """What the trees say of some claims."""
    return trees().logits(np.stack([each.features for each in measured]))


def read_by_network(response: Response, measured: Sequence[Measured]) -> list[ReadClaim]:
    """What the network says of some claims of a response."""
    claims = [marked(each) for each in measured]
    return read_claims(chunks_of(claims, units_of(response.evidence), question=response.question or ""), len(claims))


def _probabilities(decision: Tier, signals: Signals) -> list[float]:
    logits = decision.constant + sum(weight * signals[name] for name, weight in decision.weights.items())
    return [1.0 / (1.0 + math.exp(-logit)) for logit in np.clip(logits, -_FARTHEST, _FARTHEST).tolist()]


def _at_least(measured: Measured, probability: float) -> float:
    """Not less than what a mismatch calls for: both values are there to be seen."""
    return max(probability, MISMATCH) if any(map(is_mismatch, measured.findings)) else probability


def _label(reason: Reason | None) -> Label:
    if reason is None:
        return Label.SUPPORTED
    return Label.REFUTED if reason.is_conflict else Label.NOT_ENOUGH_INFO


def _why_not(measured: Measured) -> tuple[Label, str]:
    """Of a claim that says nothing, or one without evidence."""
    return (Label.NOT_ENOUGH_INFO, "no_evidence") if measured.statement.keys else (Label.UNDECIDED, "too_short")
