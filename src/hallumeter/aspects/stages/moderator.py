"""The last word on a sentence: rules Z, B, M, C, A, D and E, each of which works on what the one before left."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from hallumeter.aspects.records import outputs
from hallumeter.aspects.records.aspect import TextSpan
from hallumeter.aspects.resource_files import shipped_patterns
from hallumeter.aspects.sentiment_words import sentence_label
from hallumeter.aspects.settings import TOLERANCE, LanguagePatterns, reaches

from .terms import SqueezedText, term_key

# The label that the summary of a debate names, where it names exactly one.

MIXED = "mixed"
_CLAUSE_ENDS = re.compile(r"[.;:!?\n。！？]+")


def debate_label(summary: outputs.DebateSummary, patterns: Sequence[LanguagePatterns]) -> str | None:
    """The label of a summary: what it states, else what its tuples agree on, else what its text names.

    Tuples of several polarities make it mixed. A text that names several labels, or denies one, says nothing:
    "rather negative than positive" is not positive, and "not positive" is not either.
    """
    stated = sentence_label(summary.sentence_polarity)
    if stated is not None:
        return stated
    of_tuples = dict.fromkeys(filter(None, (sentence_label(one.polarity) for one in summary.final_tuples)))
    if of_tuples:
        return next(iter(of_tuples)) if len(of_tuples) == 1 else MIXED
    texts = [summary.consensus, summary.rationale, *summary.key_agreements, *summary.key_disagreements]
    return _named(filter(None, texts), patterns)


def _named(texts: Iterable[str], patterns: Sequence[LanguagePatterns]) -> str | None:
    """The one label that texts name; mixed may be explained by both of its sides."""
    named: dict[str, None] = {}
    for clause in (clause for text in texts for clause in _CLAUSE_ENDS.split(text)):
        labels = _labels_in(clause, patterns)
        if labels is None:
            return None
        named.update(dict.fromkeys(labels))
    if named.keys() >= {MIXED, "positive", "negative"}:
        return MIXED
    return next(iter(named)) if len(named) == 1 else None


def _labels_in(clause: str, patterns: Sequence[LanguagePatterns]) -> list[str] | None:
    """The labels that a clause names; None when it denies something about them."""
    text = SqueezedText(clause)
    labels = [
        label
        for label in (MIXED, "positive", "negative", "neutral")
        if any(_stands(text, words) for one in patterns for words in _words(one, label))
    ]
    is_denied = bool(labels) and any(_stands(text, words) for one in patterns for words in one.denials)
    return None if is_denied else labels


def _stands(text: SqueezedText, words: str) -> bool:
    return bool(text.places(term_key(words)))


def _words(patterns: LanguagePatterns, label: str) -> tuple[str, ...]:
    return {
        MIXED: patterns.mixed_words,
        "positive": patterns.positive_words,
        "negative": patterns.negative_words,
    }.get(label, patterns.neutral_words)


GUARD = 0.2
"""Stage 2 is not preferred when it is so much less confident than stage 1."""
SAME_PLACE = 0.8
CLEARLY_SURER = 0.1
SURE_ENOUGH = 0.55
"""A label with this confidence is not taken back by a debate."""
_CRITICAL = ("negation", "irony", "contrast")


def moderate(
    stage1_ate: outputs.StageOpinion,
    stage2_ate: outputs.StageOpinion | None,
    *,
    stage1_atsa: outputs.StageOpinion | None = None,
    stage2_atsa: outputs.StageOpinion | None = None,
    validator: outputs.ValidatorOpinion | None = None,
    debate_summary: outputs.DebateSummary | None = None,
) -> outputs.ModeratorOutput:
    """Decide with the words for labels that ship; see `Moderator`.

    >>> decided = moderate(outputs.StageOpinion("positive", 0.6), outputs.StageOpinion("negative", 0.55))
    >>> decided.final_label, decided.confidence, decided.applied_rules
    ('mixed', 0.6, ('B', 'M'))
    """
    return Moderator(tuple(shipped_patterns().values())).moderate(
        stage1_ate,
        stage2_ate,
        stage1_atsa=stage1_atsa,
        stage2_atsa=stage2_atsa,
        validator=validator,
        debate_summary=debate_summary,
    )


class Moderator:
    """Settles the label of a sentence; the patterns hold the words by which a debate's text names labels."""

    def __init__(self, patterns: Sequence[LanguagePatterns] = ()) -> None:
        self._patterns = patterns

    def moderate(
        self,
        stage1_ate: outputs.StageOpinion,
        stage2_ate: outputs.StageOpinion | None,
        *,
        stage1_atsa: outputs.StageOpinion | None = None,
        stage2_atsa: outputs.StageOpinion | None = None,
        validator: outputs.ValidatorOpinion | None = None,
        debate_summary: outputs.DebateSummary | None = None,
    ) -> outputs.ModeratorOutput:
        """Decide.

        Args:
            stage1_ate: What stage 1 says about the sentence.
            stage2_ate: The same of stage 2; None when it is switched off.
            stage1_atsa: The surest sentiment of stage 1; without any, Rules A and D are left out.
            stage2_atsa: The same of stage 2.
            validator: What the validator of the last stage says; without it Rule C is left out.
            debate_summary: What the debate came to; without it Rule E is left out.
        """
        case = _Case(stage1_ate)
        if not case.nothing_is_said(stage1_ate, stage2_ate):
            case.prefer_stage2(stage1_ate, stage2_ate)
            case.mix(stage1_ate, stage2_ate)
            case.let_validator_veto(validator)
            candidate = stage1_atsa if stage2_atsa is None else stage2_atsa
            case.raise_confidence(candidate, stage1_atsa)
            case.compare_with_surest(candidate)
            if debate_summary is not None:
                case.let_debate_settle(debate_label(debate_summary, self._patterns))
        return case.closed()


class _Case:
    """A sentence while the rules work on it."""

    def __init__(self, stage1: outputs.StageOpinion) -> None:
        self._label = stage1.label
        self._confidence = stage1.confidence
        self._stage = "stage1"
        self._flags = outputs.ArbiterFlags()
        self._rules: list[str] = []
        self._notes: list[str] = []
        self._reason = "stage1_only"

    def nothing_is_said(self, stage1: outputs.StageOpinion, stage2: outputs.StageOpinion | None) -> bool:
        """Rule Z."""
        is_nothing = all(one is None or one.confidence <= TOLERANCE for one in (stage1, stage2))
        if is_nothing:
            self._label, self._confidence = "neutral", 0.0
            self._apply("Z", "no stage has any confidence", "zero_confidence")
        return is_nothing

    def prefer_stage2(self, stage1: outputs.StageOpinion, stage2: outputs.StageOpinion | None) -> None:
        """Rule B."""
        if stage2 is None:
            self._apply("B", "there is no stage 2", "stage1_only")
            return
        drop = round(stage1.confidence - stage2.confidence, 10)
        is_guarded = reaches(drop, GUARD)
        self._flags = replace(
            self._flags,
            rule_b_applied=True,
            stage2_rejected_due_to_confidence=is_guarded,
            confidence_margin_used=drop if is_guarded else None,
        )
        if is_guarded:
            self._apply("B", f"stage 2 is less confident by {drop:g}, stage 1 is kept", "drop_guard")
            return
        self._label, self._confidence, self._stage = stage2.label, stage2.confidence, "stage2"
        self._apply("B", "stage 2 is preferred", "stage2_preferred")

    def mix(self, stage1: outputs.StageOpinion, stage2: outputs.StageOpinion | None) -> None:
        """Rule M."""
        if stage2 is None or stage1.label == stage2.label:
            return
        self._label, self._confidence = MIXED, max(stage1.confidence, stage2.confidence)
        self._apply("M", f"the stages say {stage1.label} and {stage2.label}", "stages_differ")

    def let_validator_veto(self, validator: outputs.ValidatorOpinion | None) -> None:
        """Rule C."""
        if validator is None or not validator.suggested_label:
            return
        if not (_is_critical(validator) or reaches(validator.confidence, self._confidence)):
            return
        self._label = validator.suggested_label
        self._confidence = max(self._confidence, validator.confidence)
        self._flags = replace(self._flags, validator_override_applied=True)
        self._apply("C", f"the validator says {self._label}", "validator_override")

    def raise_confidence(self, candidate: outputs.StageOpinion | None, stage1: outputs.StageOpinion | None) -> None:
        """Rule A."""
        if candidate is None or stage1 is None or self._flags.stage2_rejected_due_to_confidence:
            return
        if candidate.label == self._label and reaches(shared_part(candidate.span, stage1.span), SAME_PLACE):
            self._confidence = (self._confidence + candidate.confidence) / 2
            self._apply("A", "the surest sentiment stands at the same place and agrees")

    def compare_with_surest(self, candidate: outputs.StageOpinion | None) -> None:
        """Rule D."""
        if candidate is None or candidate.label == self._label:
            return
        is_taken = reaches(candidate.confidence - self._confidence, CLEARLY_SURER)
        if not is_taken:
            self._apply("D", f"the surest sentiment says {candidate.label} and is not clearly surer")
            return
        self._flags = replace(self._flags, veto_undone_by_rule_d=self._flags.validator_override_applied)
        self._label, self._confidence = candidate.label, candidate.confidence
        self._apply("D", f"the surest sentiment says {self._label} and is clearly surer", "surest_sentiment")

    def let_debate_settle(self, label: str | None) -> None:
        """Rule E."""
        blocked = None
        if label is None:
            blocked = "inferred_empty"
        elif label == self._label:
            blocked = "label_unchanged"
        elif self._label != MIXED and reaches(self._confidence, SURE_ENOUGH):
            blocked = "confidence_too_high"
        self._flags = replace(
            self._flags,
            rule_e_attempted_after_b=True,
            rule_e_fired=blocked is None,
            rule_e_block_reason=blocked,
        )
        if label is not None and blocked is None:
            self._label = label
            self._apply("E", f"the debate says {label}", "debate_label")

    def closed(self) -> outputs.ModeratorOutput:
        """What was decided."""
        return outputs.ModeratorOutput(
            self._label,
            self._confidence,
            "; ".join(self._notes),
            tuple(self._rules),
            self._flags,
            self._stage,
            self._reason,
        )

    def _apply(self, rule: str, text: str, reason: str | None = None) -> None:
        self._rules.append(rule)
        self._notes.append(f"{rule}: {text}")
        self._reason = reason or self._reason


def shared_part(first: TextSpan | None, second: TextSpan | None) -> float:
    """Overlap of two spans over the stretch that both cover together; 0 where one is missing or empty.

    >>> shared_part(TextSpan(0, 10), TextSpan(1, 9)), shared_part(TextSpan(0, 2), None)
    (0.8, 0.0)
    """
    if first is None or second is None:
        return 0.0
    overlap = min(first.end, second.end) - max(first.start, second.start)
    stretch = max(first.end, second.end) - min(first.start, second.start)
    return overlap / stretch if overlap > 0 else 0.0


def _is_critical(validator: outputs.ValidatorOpinion) -> bool:
    issues = [issue.strip().lower() for issue in validator.issues]
    return any(issue.startswith(_CRITICAL) or "severity:high" in issue for issue in issues)
