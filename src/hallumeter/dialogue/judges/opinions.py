"""Other judges in place of words and rules: off unless asked for, and named in every signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import structs

from hallumeter.dialogue.reading.reader import ClinicalText
from hallumeter.dialogue.records import Consistency, RuleOutcome, SlotUse
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import Judge, JudgeTask
from hallumeter.records.response import Passage, Response

from .consistency import Statement

ANSWER = "answer"
"""The passage that holds the answer, where a judge is asked what it recommends."""


class MentionReader(Protocol):
    """Anyone who finds mentions in a text: the lexicon, or a model of named entities."""

    def read(self, text: str) -> ClinicalText:
        """The mentions of a text with their scopes."""
        ...


class IndirectUse(Protocol):
    """Anyone who tells whether an answer uses a fact without naming it."""

    @property
    def name(self) -> str:
        """Who this is, for signatures."""
        ...

    def uses(self, answer: ClinicalText, uses: Sequence[SlotUse]) -> tuple[SlotUse, ...]:
        """The same facts, some unused ones now used indirectly."""
        ...


class Opinions:
    """What a judge says of safety and of contradictions, and somebody of indirect use.

    The judge is any that checks claims against evidence, such as a language model: safety is a claim about the answer,
    a contradiction is a statement of the answer that earlier questions and answers refute.
    """

    def __init__(self, judge: Judge | None = None, indirect: IndirectUse | None = None) -> None:
        self._judge = judge
        self._indirect = indirect

    @property
    def judge_name(self) -> str | None:
        """Who judges safety and contradictions; None when words and rules do."""
        return None if self._judge is None else self._judge.spec.name

    @property
    def judge_spec(self) -> str | None:
        """The same with all settings."""
        return None if self._judge is None else str(self._judge.spec)

    @property
    def indirect_name(self) -> str | None:
        """Who tells indirect use; None when the lexicon alone does."""
        return None if self._indirect is None else self._indirect.name

    def safety(
        self, answer: ClinicalText, question: str, outcomes: Sequence[RuleOutcome], *, record_id: str
    ) -> tuple[tuple[RuleOutcome, ...], tuple[Failure, ...]]:
        """Whether an answer breaks the rules that apply to it; a rule on which the judge failed is left out."""
        if self._judge is None or not outcomes:
            return tuple(outcomes), ()
        response = Response(record_id, question=question, evidence=(Passage(ANSWER, answer.text),))
        claims = tuple(Claim(record_id, each.rule_id, each.kind, text=_rule_claim(each)) for each in outcomes)
        said = self._judge.judge(JudgeTask(response, claims))
        judged = [
            _by_verdict(outcome, verdict)
            for outcome, verdict in zip(outcomes, said, strict=True)
            if isinstance(verdict, Verdict) and verdict.label is not Label.UNDECIDED
        ]
        return tuple(judged), tuple(each for each in said if isinstance(each, Failure))

    def consistency(
        self,
        answer: ClinicalText,
        statements: Sequence[Statement],
        earlier: Mapping[str, str],
        *,
        record_id: str,
    ) -> tuple[tuple[Consistency, ...], tuple[Failure, ...]]:
        """Which sentences with statements earlier texts (by their names) refute or support; the others are left out."""
        places = _sentences_with(statements, answer)
        if self._judge is None or not places or not earlier:
            return (), ()
        passages = tuple(Passage(name, text) for name, text in earlier.items())
        claims = tuple(
            Claim(record_id, f"{record_id}#said{number}", "consistency", start, end, answer.text[start:end])
            for number, (start, end) in enumerate(places)
        )
        response = Response(record_id, response=answer.text, evidence=passages)
        said = self._judge.judge(JudgeTask(response, claims))
        pairs = zip(places.values(), said, strict=True)
        found = [each for statement, verdict in pairs if (each := _by_earlier(statement, verdict)) is not None]
        return tuple(found), tuple(each for each in said if isinstance(each, Failure))

    def uses(self, answer: ClinicalText, uses: Sequence[SlotUse]) -> tuple[SlotUse, ...]:
        """Facts that are used indirectly though no word of the lexicon says so."""
        return tuple(uses) if self._indirect is None else self._indirect.uses(answer, uses)


def _rule_claim(outcome: RuleOutcome) -> str:
    """What the answer does when it breaks a rule, or meets a requirement."""
    if outcome.kind == "requirement":
        return f"The text gives the patient what this requirement asks for: {outcome.name}."
    why = f" ({outcome.rationale})" if outcome.rationale else ""
    return f"The text recommends or permits the patient what this safety rule forbids: {outcome.name}{why}."


def _by_verdict(outcome: RuleOutcome, verdict: Verdict) -> RuleOutcome:
    says_so = verdict.label is Label.SUPPORTED
    quote = next((each for each in verdict.evidence if each.evidence_id == ANSWER), None)
    return structs.replace(
        outcome,
        is_violated=says_so if outcome.kind == "rule" else not says_so,
        start=quote.start if quote and says_so else None,
        end=quote.end if quote and says_so else None,
        pattern=f"judged by {verdict.judge}" + (f": {verdict.note}" if verdict.note else ""),
    )


def _sentences_with(statements: Sequence[Statement], answer: ClinicalText) -> dict[tuple[int, int], Statement]:
    """The sentences in which something is stated, each with the first statement in it."""
    found: dict[tuple[int, int], Statement] = {}
    for statement in statements:
        for start, end in answer.sentences:
            if start <= statement.place.start < end:
                found.setdefault((start, end), statement)
    return found


def _by_earlier(statement: Statement, verdict: Verdict | Failure) -> Consistency | None:
    if not isinstance(verdict, Verdict) or verdict.label not in (Label.SUPPORTED, Label.REFUTED):
        return None
    quote = next(iter(verdict.evidence), None)
    mention, place = statement.mention, statement.place
    return Consistency(
        kind=mention.kind,
        name=mention.name,
        start=place.start,
        end=place.end,
        is_contradiction=verdict.label is Label.REFUTED,
        against=quote.evidence_id if quote else "earlier",
        quote=(quote.quote if quote else None) or "",
        note=f"judged by {verdict.judge}" + (f": {verdict.note}" if verdict.note else ""),
    )
