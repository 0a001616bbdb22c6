"""The judge that ships inside the package: trees over measured features, and a small network that reads the words.

Signals of the claims of a response become one probability each, calibrated by the kind of the text. The kind is read
from the input itself: is the evidence a record, has it speaker turns, is there a question, is there one claim alone?
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.judges.rules.evidence import prepared_evidence
from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.claims.judges.rules.minimal_pairs import supporting_quote
from hallumeter.claims.judges.rules.statement import (
    CONFIRMED,
    CONTRADICTIONS,
    MISMATCHES,
    Finding,
    denies,
    is_doubt,
    is_mismatch,
    without_marks,
)
from hallumeter.claims.judges.rules.turns import is_dialogue
from hallumeter.claims.settings import check_operating_point
from hallumeter.errors import SettingsError
from hallumeter.records.claim import Claim, Failure, Label, Verdict, unchecked_language_note
from hallumeter.records.judging import JudgeSpec, JudgeTask, claim_text, place_in_response
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.text.terms import Terms, everyday_language, is_stop_word, language_of, terms_of

from .features import Measured, marked, measured_of
from .model_files import (
    DEFAULT,
    FINDING,
    FINDING_REASONS,
    KINDS,
    TEXT_SIGNALS,
    Tier,
    checked_tier,
    shipped_model,
    trees,
)
from .network import ReadClaim, chunks_of, read_claims
from .units import units_of
from .word_pieces import tokens_of

# The kind of a text, and the probability of its claims.

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

_FARTHEST = 20.0
"""Logit beyond which a probability would be 0 or 1 to a computer; it never is."""
_DECIMALS = 9
"""Decimals of a probability. The last digits of more are rounded in another way by every kind of processor."""


def probabilities_of(tier: Tier, signals: Signals, *, kind: str) -> list[float]:
    """How probable it is of each claim that it is unsupported, calibrated for its kind of text."""
    logits = tier.constant + sum(weight * signals[name] for name, weight in tier.weights.items())
    calibrated = tier.curve(kind)(np.full(len(signals["trees"]), logits))
    return [
        round(1.0 / (1.0 + math.exp(-logit)), _DECIMALS)
        for logit in np.clip(calibrated, -_FARTHEST, _FARTHEST).tolist()
    ]


# Languages in which the model was trained and checked, and in which a record is.

CHECKED = ("en",)
_LEAST_WORDS = 12
_LEAST_SHARE = 0.1
_ENOUGH = 4000
"""Characters that tell a language."""


@lru_cache(maxsize=16)
def unchecked_language(text: str) -> str | None:
    """The language of a text when it is none in which the model was checked; None when it is, or too short to tell.

    It is ``another`` when it cannot be named.

    >>> unchecked_language("The tower stands in Paris."), unchecked_language("La tour est dans le centre de Paris.")
    (None, 'fr')
    """
    terms = terms_of(text)
    language = language_of(terms)
    if language == "ko":
        return language
    if language not in CHECKED:  # French, or a language that shares its small words
        return everyday_language(terms) or language
    small = sum(map(is_stop_word, terms.folded))
    if len(terms) < _LEAST_WORDS or small >= _LEAST_SHARE * len(terms):
        return None
    return everyday_language(terms) or "another"


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


# Why a claim is called unsupported, and which part of it is.

BASELESS = "baseless"
"""When no rule can say more."""


class Reason(Struct, frozen=True):
    """Why, where in the claim, and against which part of the evidence."""

    code: str
    is_contradiction: bool
    start: int
    end: int
    note: str | None = None
    quotes: tuple[Quote, ...] = ()


def fast_reason(measured: Measured) -> Reason:
    """By what the rules found; else by the longest part without a word of the evidence; else the whole claim."""
    found = _contradiction(measured.findings, None) or _less_sure(measured.findings, None)
    return _by_rule(measured, found) if found is not None else _baseless(measured, measured.overlap.run)


def full_reason(measured: Measured, read: ReadClaim, *, stretch: float) -> Reason:
    """By what the network says of the tokens, joined with what the rules found there.

    A contradiction is the reason wherever it stands; what is less sure only in the place that the network marks.
    """
    place = _stretch(measured, _probabilities(read.unsupported) - stretch)
    found = _contradiction(measured.findings, place) or _less_sure(measured.findings, place)
    if found is None:
        return _baseless(measured, place)
    # A contradiction is marked by the value that is wrong alone; what is missing, with the words that go with it.
    is_wider = not denies(found) and place is not None and _touch(found, place)
    return _by_rule(measured, found, place if is_wider else None)


def _contradiction(findings: Sequence[Finding], place: tuple[int, int] | None) -> Finding | None:
    """What the evidence denies, with words of the claim and of the evidence to show; best where the place is."""
    named = [each for each in findings if denies(each)]
    near = [each for each in named if place is not None and _touch(each, place)]
    return next(iter(near or named), None)


def _less_sure(findings: Sequence[Finding], place: tuple[int, int] | None) -> Finding | None:
    """What the evidence seems to say otherwise, else what it does not have, in this place if one is given."""
    here = [each for each in findings if not is_doubt(each) and (place is None or _touch(each, place))]
    shown = [each for each in here if is_mismatch(each) and each.quotes and each.start < each.end]
    missing = [each for each in here if not is_mismatch(each)]
    return next(iter(shown + missing), None)


def _by_rule(measured: Measured, found: Finding, place: tuple[int, int] | None = None) -> Reason:
    start, end = _snapped(measured, place or (found.start, found.end))
    return Reason(found.reason, denies(found), start, end, found.note, found.quotes)


def _baseless(measured: Measured, place: tuple[int, int] | None) -> Reason:
    """No rule can say more than that nothing in the evidence supports this part, or the whole claim."""
    text = measured.statement.text
    start, end = _snapped(measured, place or (0, len(text)))
    note = f"no support in the evidence for “{text[start:end]}”"
    return Reason(BASELESS, is_contradiction=False, start=start, end=end, note=note)


def _snapped(measured: Measured, place: tuple[int, int]) -> tuple[int, int]:
    """The whole words and values of a place; the place itself where there are none."""
    statement = measured.statement
    values = [(quantity.start, quantity.end) for quantity in statement.quantities]
    return whole_words(statement.text, *place, values=values) or place


def _touch(finding: Finding, place: tuple[int, int]) -> bool:
    return finding.start < place[1] and place[0] < finding.end


def _stretch(measured: Measured, weights: NDArray[np.float32]) -> tuple[int, int] | None:
    """The words of the tokens that are most surely unsupported; None when there are none, or only marks."""
    found = best_stretch(weights)
    if found is None:
        return None
    spans = tokens_of(measured.statement.text).spans
    place = spans[found[0]][0], spans[found[1] - 1][1]
    return _snapped(measured, place) if whole_words(measured.statement.text, *place) else None


def _probabilities(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), np.float32)


FULL, FAST = "full", "fast"
TIERS = (FULL, FAST)
BALANCED = "balanced"


class Weighed(Struct, frozen=True):
    """A claim, what was measured of it, and how probable it is that it is unsupported."""

    measured: Measured
    probability: float
    kind: str
    """Of the text that it is a claim of."""
    read: ReadClaim | None
    """What the network says; None in the fast tier."""


class EmbeddedJudge:
    """Judges by a small model that was trained on claims that people had judged; needs no network and no download.

    Args:
        tier: ``fast`` decides by trees over what is measured of a claim, ``full`` also by a network that reads the
            claim beside its evidence.
        preset: Whether few of the claims that are called unsupported should be supported after all (``precise``), few
            of the unsupported ones be missed (``sensitive``), or both weigh the same (``balanced``).
        threshold: The probability from which a claim is called unsupported, instead of that of a preset.

    Raises:
        SettingsError: There is no such tier or preset, the threshold is no probability, or a file of the model is
            missing or damaged.
    """

    def __init__(self, tier: str = FULL, preset: str = BALANCED, threshold: float | None = None) -> None:
        if tier not in TIERS:
            raise SettingsError(f"the embedded judge has no tier {tier!r}; expected embedded or embedded:{FAST}")
        check_operating_point(preset, threshold)
        self.tier = tier
        self.preset = preset
        self._threshold = threshold
        self._decision: Tier = checked_tier(tier)
        self.name = f"embedded:{tier}@{shipped_model().version}"

    @property
    def spec(self) -> JudgeSpec:
        """Its name with tier and version, and all that its labels depend on: thresholds and calibration."""
        chosen = (("threshold", self._thresholds()), ("calibration", self._decision.calibration))
        preset = (("preset", self.preset),) if self._threshold is None else ()
        return JudgeSpec(self.name, (*preset, *chosen), is_parallel=True)

    def threshold(self, kind: str) -> float:
        """The probability from which a claim of a text of this kind is called unsupported."""
        return self._decision.threshold(self.preset, kind) if self._threshold is None else self._threshold

    def _thresholds(self) -> str:
        """The threshold, and after it those of the kinds of text that have another."""
        usual = self.threshold(DEFAULT)
        others = [f"{kind}:{self.threshold(kind):g}" for kind in KINDS if self.threshold(kind) != usual]
        return ",".join([f"{usual:g}", *others])

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

    @property
    def refits(self) -> dict[str, tuple[tuple[float, float], ...]]:
        """By kind of text: shift and slope of the logit in refits of the calibration on resampled claims."""
        alternatives = self._decision.alternatives
        found = {kind: alternatives.get(kind, alternatives.get(DEFAULT, ())) for kind in KINDS}
        return {kind: refits for kind, refits in found.items() if refits}

    def kind_of(self, task: JudgeTask) -> str | None:
        """The kind of text by which the claims of a task are calibrated; None where the model does not weigh them."""
        response = task.response
        text = response.response or ""
        if languages_differ(text, response.evidence) or unchecked_language(text) is not None:
            return None
        said = [terms_of(without_marks(claim_text(claim, response))) for claim in task.claims]
        return traits_with(response, claims=sum(any(terms.keys) for terms in said)).kind

    def weighed(self, response: Response, measured: Sequence[Measured]) -> list[Weighed]:
        """How probable it is of each claim that it is unsupported."""
        if not measured:
            return []
        reads = None if self.tier == FAST else read_by_network(response, measured)
        traits = traits_of(response, measured)
        signals = signals_of(tree_logits(measured), reads, traits=traits, reasons=list(map(reasons_of, measured)))
        probabilities = probabilities_of(self._decision, signals, kind=traits.kind)
        by_claim: Sequence[ReadClaim | None] = reads or [None] * len(measured)
        return [
            Weighed(each, said, traits.kind, read)
            for each, said, read in zip(measured, probabilities, by_claim, strict=True)
        ]

    def _verdict(self, claim: Claim, response: Response, weighed: Weighed) -> Verdict:
        probability = weighed.probability
        is_unsupported = probability >= self.threshold(weighed.kind)
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


def tree_logits(measured: Sequence[Measured]) -> NDArray[np.float64]:
    """What the trees say of some claims."""
    return trees().logits(np.stack([each.features for each in measured]))


def read_by_network(response: Response, measured: Sequence[Measured]) -> list[ReadClaim]:
    """What the network says of some claims of a response."""
    claims = [marked(each) for each in measured]
    return read_claims(chunks_of(claims, units_of(response.evidence), question=response.question or ""), len(claims))


def _label(reason: Reason | None) -> Label:
    if reason is None:
        return Label.SUPPORTED
    return Label.REFUTED if reason.is_contradiction else Label.NOT_ENOUGH_INFO


def _why_not(measured: Measured) -> tuple[Label, str]:
    """Of a claim that says nothing, or one without evidence."""
    return (Label.NOT_ENOUGH_INFO, "no_evidence") if measured.statement.keys else (Label.UNDECIDED, "too_short")


# Marks: from numbers of tokens to the whole words and values that are unsupported.

_JOINTS = "'’-‐‑_&@."
"""Signs that make one word of what stands on both sides: l’eau, so-called, AT&T, U.S, file_name."""
_JOINTS_OF_DIGITS = ",:/–"
"""The same between two digits: 1,200, 9:30, 3/4, 1990–1995."""
_SIGNS = "%‰°"
"""Beside a number these belong to it, as signs of currencies do."""


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


def whole_words(text: str, start: int, end: int, *, values: Sequence[tuple[int, int]] = ()) -> tuple[int, int] | None:
    """The words and values that a part of a text touches, without marks and brackets at their ends.

    Args:
        text: The text.
        start: Where the part begins.
        end: Where it ends.
        values: Places that belong together, such as numbers with their units.

    Returns:
        Where the first of them begins and the last ends; None when the part touches none.

    >>> text = "Its (low) density. (It's 5-fold.)"
    >>> start, end = whole_words(text, 11, 20)
    >>> text[start:end]
    'density'
    >>> start, end = whole_words(text, 23, 26)
    >>> text[start:end]
    "It's 5-fold"
    """
    touched = [(first, last) for first, last in values if first < end and start < last]
    words = [place for place in range(start, end) if _is_written(text, place)]
    touched += [(words[0], words[-1] + 1)] if words else []
    if not touched:
        return None
    place = min(first for first, _ in touched), max(last for _, last in touched)
    return _to_words_and_values(text, place, values)


def _to_words_and_values(text: str, place: tuple[int, int], values: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Grow a place until no word and no value stands half in it: a value may reach into the next word."""
    start, end = _to_words(text, *place)
    for first, last in values:
        if first < end and start < last:
            start, end = min(start, first), max(end, last)
    return (start, end) if (start, end) == place else _to_words_and_values(text, (start, end), values)


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and _is_joined(text, start):
        start -= 1
    while end < len(text) and _is_joined(text, end):
        end += 1
    return start, end


def _is_joined(text: str, place: int) -> bool:
    """Whether the characters before and at a place are of one word."""
    before, after = text[place - 1], text[place]
    if _is_written(text, place - 1) and _is_written(text, place):
        return True
    if _is_letter(before):
        return place + 1 < len(text) and _is_joint(before, after, text[place + 1])
    return place > 1 and _is_joint(text[place - 2], before, after)


def _is_joint(before: str, sign: str, after: str) -> bool:
    if sign in _JOINTS:
        return _is_letter(before) and _is_letter(after)
    return sign in _JOINTS_OF_DIGITS and before.isdecimal() and after.isdecimal()


def _is_written(text: str, place: int) -> bool:
    """Whether a character is of a word: a letter, a digit, a mark on one, or a sign of a number beside a digit."""
    character = text[place]
    if _is_letter(character):
        return True
    if character not in _SIGNS and unicodedata.category(character) != "Sc":
        return False
    return text[max(0, place - 1) : place].isdecimal() or text[place + 1 : place + 2].isdecimal()


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
