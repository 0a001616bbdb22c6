"""The judge that ships inside the package: trees over measured features, and a small network that reads the words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.claims.judges.rules.minimal_pairs import supporting_quote
from hallumeter.claims.judges.rules.statement import Finding, is_doubt, is_mismatch
from hallumeter.errors import SettingsError
from hallumeter.records.claim import Claim, Failure, Label, Verdict, unchecked_language_note
from hallumeter.records.judging import JudgeSpec, JudgeTask, claim_text, place_in_response
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.text.terms import Terms, is_stop_word, language_of, terms_of

from .features import Measured, marked, measured_of
from .model_files import Tier, checked_tier, shipped_model, trees
from .network import ReadClaim, chunks_of, read_claims, tokens_of
from .units import units_of

# The part of a claim that is unsupported, from what is said of its tokens.


def best_stretch(weights: NDArray[np.floating]) -> tuple[int, int] | None:
    """First and one past the last place of the stretch with the largest sum; None when no weight is above zero.

    >>> best_stretch(np.array([-1.0, 2.0, -0.5, 1.0, -3.0, 1.5]))
    (1, 4)
    """
    best = 0.0
    found: tuple[int, int] | None = None
    total, first = 0.0, 0
    for place, weight in enumerate(weights.tolist()):
        if total <= 0.0:
            total, first = 0.0, place
        total += weight
        if total > best:
            best, found = total, (first, place + 1)
    return found


# Languages in which the model was trained and checked, and in which a record is.

CHECKED = ("en",)
_LEAST_WORDS = 12
_LEAST_SHARE = 0.1
_ENOUGH = 4000
"""Characters that tell a language."""


@lru_cache(maxsize=16)
def unchecked_language(text: str) -> str | None:
    """The language of a text when it is none in which the model was checked; None when it is, or too short to tell.

    >>> unchecked_language("The tower stands in Paris."), unchecked_language("La tour est dans le centre de Paris.")
    (None, 'fr')
    """
    terms = terms_of(text)
    language = language_of(terms)
    if language not in CHECKED:
        return language
    small = sum(map(is_stop_word, terms.folded))
    return "another" if len(terms) >= _LEAST_WORDS and small < _LEAST_SHARE * len(terms) else None


@lru_cache(maxsize=16)
def languages_differ(response: str, passages: tuple[Passage, ...]) -> bool:
    """Whether a response and its evidence are plainly in two languages, so that no word of one stands in the other."""
    said, given = terms_of(response), terms_of(" ".join(passage.text[:_ENOUGH] for passage in passages)[:_ENOUGH])
    if min(len(said), len(given)) < _LEAST_WORDS:
        return False
    return language_of(said) != language_of(given) and not _shared(said, given)


def _shared(said: Terms, given: Terms) -> bool:
    """Whether two texts have enough words in common to be of one language, numbers left out."""
    words = {key for key in said.keys if key and not key[0].isdecimal()}
    return len(words & set(given.keys)) > _LEAST_SHARE * len(words)


# What a tier weighs: one number of each kind for every claim of a response.

Signals = dict[str, NDArray[np.float64]]


def signals_of(logits: NDArray[np.float64], reads: Sequence[ReadClaim] | None, *, is_structured: bool) -> Signals:
    """What the trees say, and in the full tier the network, of a claim and of those beside it: errors come together."""
    said = _tree_signals(logits, is_structured=is_structured)
    return said if reads is None else said | _network_signals(reads)


def _tree_signals(logits: NDArray[np.float64], *, is_structured: bool) -> Signals:
    structured = np.full(len(logits), float(is_structured))
    return {"trees": logits, "trees_beside": _beside(logits), "is_structured": structured}


def _network_signals(reads: Sequence[ReadClaim]) -> Signals:
    votes = np.asarray([read.vote for read in reads])
    return {"vote": votes, "vote_beside": _beside(votes)}


def _beside(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each claim the mean of the others; its own value when it is alone."""
    if len(values) < 2:
        return values
    return np.asarray((values.sum() - values) / (len(values) - 1))


# Why a claim is called unsupported, and which part of it is.

CONFLICT, BASELESS = "conflict", "baseless"
"""When no rule can say more: the evidence says otherwise, or it says nothing of the kind."""
FIELD_MISMATCHES = ("hours_mismatch", "field_mismatch")


class Reason(Struct, frozen=True):
    """Why, where in the claim, and against which part of the evidence."""

    code: str
    is_conflict: bool
    start: int
    end: int
    note: str | None = None
    quotes: tuple[Quote, ...] = ()


def fast_reason(measured: Measured) -> Reason:
    """By what the rules found; else by the longest part without a word of the evidence; else the whole claim."""
    found = _telling(measured.findings, None)
    if found is not None:
        return _by_rule(found)
    start, end = measured.overlap.run or (0, len(measured.statement.text))
    return Reason(BASELESS, is_conflict=False, start=start, end=end, note=_nothing_like(measured, start, end))


def full_reason(measured: Measured, read: ReadClaim, *, stretch: float) -> Reason:
    """By what the network says of the tokens, joined with what the rules found there."""
    place = _stretch(measured.statement.text, _probabilities(read.unsupported) - stretch)
    denied = [finding for finding in measured.findings if denies(finding)]
    found = _telling(denied or measured.findings, place) or next(iter(denied), None)
    if found is not None:
        reason = _by_rule(found)
        if place is not None and _touch(found, place):
            return structs.replace(reason, start=place[0], end=place[1])
        return reason
    start, end = place or (0, len(measured.statement.text))
    is_conflict = _is_conflict(measured.statement.text, read, (start, end))
    note = None if is_conflict else _nothing_like(measured, start, end)
    return Reason(CONFLICT if is_conflict else BASELESS, is_conflict, start, end, note)


def denies(finding: Finding) -> bool:
    """Whether the evidence says otherwise, by a rule or by a field of a record."""
    return is_mismatch(finding) or finding.reason in FIELD_MISMATCHES


def _by_rule(found: Finding) -> Reason:
    return Reason(found.reason, denies(found), found.start, found.end, found.note, found.quotes)


def _telling(findings: list[Finding], place: tuple[int, int] | None) -> Finding | None:
    """The finding that says most, in this place if one is given: what the evidence denies before what it lacks."""
    near = [finding for finding in findings if not is_doubt(finding) and (place is None or _touch(finding, place))]
    denied = [finding for finding in near if denies(finding)]
    return next(iter(denied or near), None)


def _touch(finding: Finding, place: tuple[int, int]) -> bool:
    return finding.start < place[1] and place[0] < finding.end


def _stretch(text: str, weights: NDArray[np.float32]) -> tuple[int, int] | None:
    """The characters of the tokens that are most surely unsupported, without space at their ends."""
    found = best_stretch(weights)
    if found is None:
        return None
    spans = tokens_of(text).spans
    return spans[found[0]][0], spans[found[1] - 1][1]


def _is_conflict(text: str, read: ReadClaim, place: tuple[int, int]) -> bool:
    inside = [start < place[1] and place[0] < end for start, end in tokens_of(text).spans]
    return bool(read.conflict[np.asarray(inside)].mean() > 0.0)


def _probabilities(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), np.float32)


def _nothing_like(measured: Measured, start: int, end: int) -> str:
    return f"evidence has nothing like “{measured.statement.text[start:end].strip()}”"


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
        probabilities = _claim_probabilities(self._decision, signals)
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


def _claim_probabilities(decision: Tier, signals: Signals) -> list[float]:
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
