"""One sentence through all stages: agents are asked in their order, and code does the rest."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TypeVar

from msgspec.structs import asdict, replace

from hallumeter.aspects.agents.protocol import AgentAnswer, AgentFault, AgentTask, Demonstration, Role
from hallumeter.aspects.agents.sentence_facts import reader_instructions
from hallumeter.aspects.readers.protocol import AspectReader
from hallumeter.aspects.records import outputs
from hallumeter.aspects.records.aspect import AspectSentiment, AspectTuple, StructuralRisk, TextSpan
from hallumeter.aspects.settings import LanguagePatterns, Sentence, StageSettings

from .changes import (
    Memory,
    anchored,
    held_back,
    refused_proposals,
    with_aspect_review,
    with_proposals,
    with_sentiment_review,
)
from .draft import Draft, ReadSentence, states_of
from .hints import TermIndex
from .moderator import Moderator
from .opinions import sentence_opinion, surest_opinion, validator_opinion
from .override import with_overrides
from .review_context import review_context, term_index, traced_aspect_review, traced_sentiment_review
from .tidying import gated_review, gated_validation, tidied_aspects, tidied_sentiments, with_second_aspect_settled

# What comes out in the end: aspects, tuples, and what happened to the sentence as a whole.

NOWHERE = TextSpan(0, 0)


def tuples_of(draft: Draft) -> tuple[AspectTuple, ...]:
    """The aspects with their polarities; one that is not named has an empty term."""
    return tuple(
        AspectTuple(sentiment.term, sentiment.polarity, span=_span(draft, sentiment)) for sentiment in draft.sentiments
    )


def aspects_at_the_end(draft: Draft) -> tuple[outputs.FinalAspect, ...]:
    """The sentiments as they are; one about nothing by name stands nowhere."""
    return tuple(
        outputs.FinalAspect(
            sentiment.term,
            _span(draft, sentiment) or NOWHERE,
            sentiment.polarity,
            sentiment.confidence,
            sentiment.evidence,
            sentiment.is_implicit or not sentiment.term,
        )
        for sentiment in draft.sentiments
    )


def result_of(
    stage1: Draft, stage2: Draft | None, *, moderator: outputs.ModeratorOutput | None, last: outputs.StageOpinion
) -> outputs.FinalResult:
    """The final result; without a moderator the label is that of the last stage that there was."""
    closing = stage1 if stage2 is None else stage2
    tuples = tuples_of(closing)
    label, confidence, rationale = last.label, last.confidence, last.rationale
    if moderator is not None:
        label, confidence, rationale = moderator.final_label, moderator.confidence, moderator.rationale
    return outputs.FinalResult(
        label,
        confidence,
        rationale,
        aspects_at_the_end(closing),
        tuples_of(stage1),
        () if stage2 is None else tuples,
        tuples,
    )


def flags_of(
    stage1: Draft, stage2: Draft | None, *, labels: tuple[str, str | None], confidence: float
) -> outputs.AnalysisFlags:
    """What happened to the sentence; `labels` are those of both stages."""
    return outputs.AnalysisFlags(
        correction_occurred=labels[1] is not None and labels[0] != labels[1],
        conflict_resolved=stage2 is not None and has_conflict(stage1) and not has_conflict(stage2),
        final_confidence_score=confidence,
        stage2_executed=stage2 is not None,
    )


def has_conflict(draft: Draft) -> bool:
    """Whether an aspect has several polarities."""
    polarities: dict[str, str] = {}
    return any(
        polarities.setdefault(sentiment.term, sentiment.polarity) != sentiment.polarity
        for sentiment in draft.sentiments
        if sentiment.term and sentiment.polarity is not None
    )


def _span(draft: Draft, sentiment: AspectSentiment) -> TextSpan | None:
    """Where a sentiment's term stands: where its aspect does, as reviews may have moved it, else as its agent said."""
    if sentiment.aspect_term is None or not sentiment.term:
        return None
    number = draft.aspect_of(sentiment)
    stands = None if number is None else draft.aspects[number].span
    return sentiment.aspect_term.span if stands is None else stands


Answer = TypeVar("Answer", bound=AgentAnswer)
Ask = Callable[[AgentTask], AgentAnswer]
CORRECTORS: tuple[Role, ...] = ("epm", "tan", "cj")
"""Who debates, in this order."""


def processed(
    sentence: Sentence,
    settings: StageSettings,
    ask: Ask,
    *,
    reader: AspectReader,
    demos: tuple[Demonstration, ...] = (),
) -> outputs.PipelineOutput:
    """Take a sentence through stage 1, the debate, stage 2, the patches and the moderator.

    `ask` hands a question to an agent. An `AgentFault` that it raises ends the sentence: what was done before is
    kept, `failed` says why, and there is no final result. Usage and signals of other classifiers are left to the
    caller; equal answers lead to equal outputs.
    """
    run = _Run(sentence, settings, ask, reader=reader, demos=demos)
    try:
        run.read()
        run.debate()
        run.review()
    except AgentFault as fault:
        run.fail(fault)
    else:
        run.close()
    return run.output


class _Run:
    """A sentence on its way; `output` grows with every step."""

    def __init__(
        self,
        sentence: Sentence,
        settings: StageSettings,
        ask: Ask,
        *,
        reader: AspectReader,
        demos: tuple[Demonstration, ...],
    ) -> None:
        self._given = sentence
        self._settings = settings
        self._switches = settings.switches
        self._ask = ask
        self._words = ReadSentence(sentence.text, reader)
        self._patterns = settings.patterns.get(sentence.language, LanguagePatterns())
        self._question = AgentTask(
            role="ate",
            text=sentence.text,
            language=sentence.language,
            domain=sentence.domain,
            demos=demos,
            seed=settings.seed,
        )
        self._states: list[outputs.StepState] = []
        self._notes: list[str] = []
        self._held_back: tuple[outputs.Correction, ...] = ()
        self._draft = Draft()
        self._patched: Draft | None = None
        self._index: TermIndex | None = None
        self._stage1 = outputs.StageOne()
        self.output = outputs.PipelineOutput(
            sentence.text_id,
            sentence.text,
            gold_tuples=sentence.gold_tuples,
            meta=_meta(sentence, settings, demos),
        )

    def read(self) -> None:
        """Stage 1: three agents who see the text alone, and what code makes of their answers."""
        aspects = self._asked("ate", outputs.AspectExtraction).aspects
        self._states.append(outputs.StepState("ate", states_of(Draft(aspects))))
        self._draft = Draft(aspects)
        tidied = tidied_aspects(aspects, self._words)
        self._move_to("ate_tidying", Draft(tidied.aspects), tidied.notes)
        self._keep_stage1(outputs.StageOne(outputs.AspectExtraction(tidied.aspects)))
        sentiments = self._asked("atsa", outputs.AspectSentiments).aspect_sentiments
        self._move_to("atsa", replace(self._draft, sentiments=sentiments))
        kept = tidied_sentiments(sentiments, tidied.aspects, self._words)
        self._move_to("atsa_tidying", replace(self._draft, sentiments=kept.sentiments), kept.notes)
        self._keep_stage1(replace(self._stage1, atsa=outputs.AspectSentiments(kept.sentiments)))
        if self._switches.enable_validator:
            self._validate(tidied.risk)

    def debate(self) -> None:
        """The debate, and what stage 2 is told of it."""
        if not self._switches.enable_debate:
            return
        self._question = replace(self._question, stage1=self._stage1)
        for role in CORRECTORS:
            # Who speaks is what code knows, not what a speaker says of himself.
            turn = replace(self._asked(role, outputs.DebateTurn), agent=role)
            self._question = replace(self._question, history=(*self._question.history, turn))
            self._keep_debate(None)
        summary = self._asked("debate_summary", outputs.DebateSummary)
        # A summary whose evidence stands in the text.
        given = summary.sentence_evidence_spans
        found = tuple(words for words in given if words.strip() and words in self._given.text)
        if not found:
            self._notes.append("debate_summary: no evidence of it stands in the text")
        elif len(found) < len(given):
            self._notes.append(f"debate_summary: {len(given) - len(found)} pieces of evidence are not in the text")
        debate = self._keep_debate(summary if found == given else replace(summary, sentence_evidence_spans=found))
        self._index = term_index(self._stage1, self._patterns, self._words)
        context = review_context(debate, self._stage1, index=self._index, guidance=self._patterns.guidance)
        self.output = replace(self.output, debate_review_context=context)

    def review(self) -> None:
        """Stage 2: reviews of stage 1, and patches in their fixed order."""
        proposals = self._stage1.validator.correction_proposals
        if not self._switches.enable_stage2:
            self.output = replace(self.output, correction_applied_log=(*refused_proposals(proposals), *self._held_back))
            return
        context = self.output.debate_review_context
        self._question = replace(self._question, stage1=self._stage1, history=(), context=context)
        ate = traced_aspect_review(self._asked("ate_review", outputs.AspectReview), context, self._index)
        self.output = replace(self.output, stage2=outputs.StageTwo(ate))
        atsa = traced_sentiment_review(self._asked("atsa_review", outputs.SentimentReview), context, self._index)
        stage2 = outputs.StageTwo(ate, atsa)
        self.output = replace(self.output, stage2=stage2)
        if not self._switches.enable_validator:
            self._patch(ate, atsa)
            return
        answer = self._asked("validator_review", outputs.StructuralReview)
        validator, notes = gated_review(answer, self._words, draft=self._stage1_draft)
        self._notes += notes
        self._patch(ate, atsa)
        settled = with_second_aspect_settled(validator, self._stage1.validator, self._draft)
        self.output = replace(self.output, stage2=replace(stage2, validator=settled))

    def close(self) -> None:
        """The moderator's word, and the final result."""
        stage1, stage2 = self._stage1_draft, self._patched
        first = sentence_opinion(stage1)
        second = None if stage2 is None else sentence_opinion(stage2)
        moderator = None
        if self._switches.enable_moderator:
            debate, validation = self.output.debate, self._last_validation
            moderator = Moderator((self._patterns,)).moderate(
                first,
                second,
                stage1_atsa=surest_opinion(stage1),
                stage2_atsa=None if stage2 is None else surest_opinion(stage2),
                validator=None if validation is None else validator_opinion(validation, stage1, self._words),
                debate_summary=None if debate is None else debate.summary,
            )
        result = result_of(stage1, stage2, moderator=moderator, last=second or first)
        labels = (first.label, None if second is None else second.label)
        self.output = replace(
            self.output,
            moderator=moderator,
            final_result=result,
            analysis_flags=flags_of(stage1, stage2, labels=labels, confidence=result.confidence),
            states=tuple(self._states),
            notes=tuple(self._notes),
        )

    def fail(self, fault: AgentFault) -> None:
        """Say why the sentence ends here; what was done stays."""
        self.output = replace(
            self.output,
            failed=f"{self._question.role}: {fault.code}: {fault.message}",
            states=tuple(self._states),
            notes=tuple(self._notes),
        )

    @property
    def _stage1_draft(self) -> Draft:
        return Draft(self._stage1.ate.aspects, self._stage1.atsa.aspect_sentiments)

    @property
    def _last_validation(self) -> outputs.StructuralValidation | outputs.StructuralReview | None:
        if not self._switches.enable_validator:
            return None
        return self._stage1.validator if self.output.stage2 is None else self.output.stage2.validator

    def _validate(self, risk: StructuralRisk | None) -> None:
        answer = self._asked("validator", outputs.StructuralValidation)
        validation, notes = gated_validation(answer, self._words, risk=risk, draft=self._draft)
        self._notes += notes
        kept = validation.correction_proposals
        self._held_back = held_back(one for one in answer.correction_proposals if one not in kept)
        self._keep_stage1(replace(self._stage1, validator=validation))

    def _patch(self, ate: outputs.AspectReview, atsa: outputs.SentimentReview) -> None:
        proposed = with_proposals(self._draft, self._stage1.validator.correction_proposals, self._words)
        self._move_to("validator_proposals", proposed.draft)
        memory = Memory()
        aspects = with_aspect_review(self._draft, ate, sentence=self._words, memory=memory)
        self._move_to("ate_review", aspects.draft)
        sentiments = with_sentiment_review(self._draft, atsa, sentence=self._words, memory=memory)
        self._move_to("atsa_review", sentiments.draft)
        self.output = replace(
            self.output,
            correction_applied_log=(*proposed.log, *self._held_back),
            review_applied_log=(*aspects.log, *sentiments.log),
        )
        context = self.output.debate_review_context
        if context is not None and self._switches.enable_debate_override:
            self._override(context)
        tied = anchored(self._draft)
        self._move_to("anchoring", tied.draft, tied.notes)
        self._patched = self._draft
        self.output = replace(
            self.output,
            patched_stage2_ate=outputs.AspectExtraction(self._draft.aspects),
            patched_stage2_atsa=outputs.AspectSentiments(self._draft.sentiments),
        )

    def _override(self, context: outputs.ReviewContext) -> None:
        risks = self._stage1.validator.structural_risks
        done = with_overrides(self._draft, context, thresholds=self._settings.override, risks=risks)
        self._move_to("debate_override", done.draft)
        log = (*self.output.correction_applied_log, *done.log)
        self.output = replace(self.output, correction_applied_log=log, override_log=done.decisions)

    def _asked(self, role: Role, kind: type[Answer]) -> Answer:
        self._question = replace(self._question, role=role)
        answer = self._ask(self._question)
        if not isinstance(answer, kind):
            raise AgentFault("wrong_answer", f"expected {kind.__name__}, found {type(answer).__name__}")
        return answer

    def _move_to(self, step: outputs.Step, draft: Draft, notes: tuple[str, ...] = ()) -> None:
        """Go on with another draft; a step that changed nothing leaves no state."""
        self._notes += notes
        if draft != self._draft:
            self._states.append(outputs.StepState(step, states_of(draft)))
            self._draft = draft

    def _keep_stage1(self, stage1: outputs.StageOne) -> None:
        self._stage1 = stage1
        self.output = replace(self.output, stage1=stage1)

    def _keep_debate(self, summary: outputs.DebateSummary | None) -> outputs.DebateOutput:
        debate = outputs.DebateOutput(
            (outputs.DebateRound(1, self._question.history),), summary, topic=self._given.text
        )
        self.output = replace(self.output, debate=debate)
        return debate


def _meta(sentence: Sentence, settings: StageSettings, demos: tuple[Demonstration, ...]) -> outputs.OutputMeta:
    return outputs.OutputMeta(
        run_id=settings.run_id,
        seed=settings.seed,
        mode=settings.mode,
        language_code=sentence.language,
        domain_id=sentence.domain,
        case_type=sentence.case_type,
        split=sentence.split,
        profile=settings.profile,
        cfg_hash=settings.cfg_hash,
        input_hash=sha256(sentence.text.encode("utf-8", "surrogatepass")).hexdigest(),
        instructions=tuple(TextSpan(start, end) for start, end in reader_instructions(sentence.text)),
        demo_ids=tuple(demo.demo_id for demo in demos),
        disabled=tuple(name for name, is_on in asdict(settings.switches).items() if not is_on),
        fields=sentence.fields,
    )
