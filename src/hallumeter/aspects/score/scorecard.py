"""From what the pipeline said about a sentence to its scorecard."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hallumeter.aspects import grounding
from hallumeter.aspects.metrics.tuples import pairs_of, tidy_term
from hallumeter.aspects.records import scorecard
from hallumeter.aspects.records.aspect import AspectSentiment, AspectTuple
from hallumeter.aspects.records.outputs import AspectExtraction, AspectSentiments, Correction, PipelineOutput
from hallumeter.aspects.stages.draft import Draft
from hallumeter.aspects.stages.opinions import sentence_opinion
from hallumeter.aspects.stages.terms import INVALID, REPAIRED

from . import quality

Gold = Mapping[str, tuple[AspectTuple, ...]]


# What stage 2 changed, who asked for it, and why what was asked for did not happen.

OVERRIDE = "DEBATE_OVERRIDE"
APPLIED = "applied"
SKIPPED = "skipped_"
UNTOLD = "untold"
"""The reason of a proposal that was ignored without one."""


def stage_delta(
    output: PipelineOutput, *, do_labels_differ: bool, pairs: tuple[tuple[AspectTuple, ...], ...] | None
) -> scorecard.StageDelta:
    """What changed between the stages; `pairs` are the tuples of both, None when there is no second.

    A change is guided when any correction of the log was applied, an override of the debate included. Where a
    validator proposed something and there is no log, nobody knows what became of it.
    """
    log = output.correction_applied_log
    is_changed = output.analysis_flags.correction_occurred or do_labels_differ
    proposals = [entry for entry in log if entry.proposal_type != OVERRIDE]
    ignored = [entry for entry in proposals if not entry.applied]
    is_guided = any(entry.applied for entry in log)
    is_logged = bool(log) or not output.stage1.validator.correction_proposals
    return scorecard.StageDelta(
        changed=is_changed,
        change_type=("guided" if is_guided else "unguided") if is_changed else "none",
        related_proposal_ids=_applied_ids(log),
        pairs_changed=None if pairs is None else set(pairs_of(pairs[0])) != set(pairs_of(pairs[1])),
        proposals=len(proposals) if is_logged else None,
        proposals_applied=len(proposals) - len(ignored) if is_logged else None,
        ignored_reasons=dict(Counter(entry.ignored_reason or UNTOLD for entry in ignored)) if is_logged else None,
    )


def debate_score(output: PipelineOutput) -> scorecard.DebateScore | None:
    """How the debate was mapped to aspects, and which overrides were weighed; None without a debate."""
    context = output.debate_review_context
    if context is None and output.debate is None and not output.override_log:
        return None
    overrides: dict[str, int] = dict(Counter(_outcome(each.decision, each.reason) for each in output.override_log))
    if not output.override_log:
        entries = [entry for entry in output.correction_applied_log if entry.proposal_type == OVERRIDE]
        overrides = dict(Counter(_outcome(APPLIED if each.applied else "", each.reason) for each in entries))
    if context is None:
        return scorecard.DebateScore(override_stats=overrides)
    stats = context.mapping_stats
    return scorecard.DebateScore(
        scorecard.MappingCounts(stats.direct, stats.fallback, stats.none),
        stats.coverage,
        context.mapping_fail_reasons,
        overrides,
    )


def _applied_ids(log: tuple[Correction, ...]) -> tuple[str, ...]:
    """The proposals of stage 1 that were applied, by their place among all, and the overrides by their aspect."""
    found = []
    number = 0
    for entry in log:
        is_override = entry.proposal_type == OVERRIDE
        if entry.applied:
            found.append(
                f"override:{entry.target_aspect or ''}" if is_override else quality.proposal_id("stage1", number)
            )
        number += not is_override
    return tuple(found)


def _outcome(decision: str, reason: str) -> str:
    """``applied``, or ``skipped_`` and why.

    >>> _outcome("skipped", "low_signal"), _outcome("skipped", "skipped_conflict"), _outcome("applied", "flip")
    ('skipped_low_signal', 'skipped_conflict', 'applied')
    """
    if decision == APPLIED:
        return APPLIED
    return reason if reason.startswith(SKIPPED) else f"{SKIPPED}{reason or UNTOLD}"


_UNUSABLE = ("unusable_reply", "wrong_answer")
"""Codes of failures in which a reply came and could not be understood."""


def make_scorecard(
    output: PipelineOutput,
    *,
    allowlist: Iterable[str] = (),
    profile: str | None = None,
    gold: Gold | None = None,
) -> scorecard.Scorecard:
    """Score one sentence.

    Args:
        output: All that the pipeline said about it.
        allowlist: Terms that are targets, beside those that ship.
        profile: The profile of the run; without it the one that the output names.
        gold: Gold by `text_id`, which goes before the gold of the output.
    """
    return ScorecardMaker(grounding.target_words(allowlist), profile=profile, gold=gold).make(output)


class ScorecardMaker:
    """Scores sentences, all by the same lists and the same profile."""

    def __init__(self, words: grounding.TargetWords, *, profile: str | None = None, gold: Gold | None = None) -> None:
        """Take what is the same for all sentences."""
        self._words = words
        self._grounder = grounding.AspectGrounder(words)
        self._profile = profile
        self._gold = gold or {}

    def make(self, output: PipelineOutput) -> scorecard.Scorecard:
        """Score one sentence; of one whose pipeline broke off only that is known."""
        meta = output.meta
        profile = self._profile or meta.profile or quality.DEFAULT_PROFILE
        gold = self._gold.get(output.text_id, output.gold_tuples)
        named = scorecard.ScorecardMeta(
            meta.run_id or None,
            output.text_id,
            meta.mode,
            output.input_text,
            meta.case_type,
            meta.split,
            meta.language_code or None,
            meta.domain_id,
            cfg_hash=meta.cfg_hash,
            profile=profile,
        )
        latency = quality.latency_score(output.usage.latency_ms, profile)
        if output.failed is not None:
            # Whether a reply could not be understood, or did not come; the reason names who, a code, and what
            # happened.
            is_unusable = any(code in output.failed for code in _UNUSABLE)
            return scorecard.Scorecard(
                meta.run_id or None,
                profile,
                named,
                inputs=scorecard.ScorecardInputs(gold_tuples=gold),
                latency=latency,
                flags=scorecard.ScoreFlags(
                    parse_failed=is_unusable, generate_failed=not is_unusable, failure=output.failed
                ),
                runtime=_runtime(output, None),
            )
        return _Scored(output, self._grounder, self._words, gold=gold).card(named, profile, latency)


class _Scored:
    """One sentence while it is scored."""

    def __init__(
        self,
        output: PipelineOutput,
        grounder: grounding.AspectGrounder,
        words: grounding.TargetWords,
        *,
        gold: tuple[AspectTuple, ...] | None,
    ) -> None:
        self._output = output
        self._words = words
        self._gold = gold
        stage1 = output.stage1
        self._stage1: grounding.GroundedAspects = grounder.ground(output.input_text, stage1.ate.aspects)
        self._has_stage2 = output.stage2 is not None or output.patched_stage2_atsa is not None
        self._last_ate: AspectExtraction = output.patched_stage2_ate or stage1.ate
        self._last_atsa: AspectSentiments = output.patched_stage2_atsa or stage1.atsa
        untold = output.meta.untold
        self._tells_aspects = "stage1.ate" not in untold
        self._tells_sentiments = "stage1.atsa" not in untold
        is_same = self._last_ate.aspects == stage1.ate.aspects
        self._last = self._stage1 if is_same else grounder.ground(output.input_text, self._last_ate.aspects)

    def card(self, meta: scorecard.ScorecardMeta, profile: str, latency: scorecard.LatencyScore) -> scorecard.Scorecard:
        output = self._output
        result = self._final_result()
        labels = self._labels()
        differ = labels[0] is not None and labels[1] is not None and labels[0].label != labels[1].label
        both = None
        if result.stage1_tuples is not None and result.stage2_tuples is not None:
            both = (result.stage1_tuples, result.stage2_tuples)
        ate = self._aspect_score() if self._tells_aspects else None
        sentiments = self._last_atsa.aspect_sentiments
        atsa = None
        if self._tells_sentiments or output.patched_stage2_atsa is not None:
            atsa = grounding.judge_sentiments(output.input_text, sentiments, kept=self._last.kept_terms)
        is_targetless = quality.is_expected_targetless(
            output.input_text, self._words, has_aspect=bool(self._stage1.filtered)
        )
        policy = quality.policy_score(is_targetless=is_targetless, label=result.label)
        return scorecard.Scorecard(
            meta.run_id,
            profile,
            meta,
            ate,
            atsa,
            quality.validator_scores(output),
            self._moderator(),
            *labels,
            debate=debate_score(output),
            stage_delta=stage_delta(output, do_labels_differ=differ, pairs=both),
            inputs=self._inputs(result, sentiments),
            stage_policy_score=policy,
            summary=None if ate is None or atsa is None else quality.quality_summary(policy, ate, atsa),
            latency=latency,
            flags=scorecard.ScoreFlags(fallback_used=any(each.is_backfilled for each in sentiments)),
            runtime=_runtime(output, scorecard.ParsedOutput(result, output.analysis_flags)),
            aux_signals={
                name: scorecard.ScoredSignal(each.task, each.label, each.confidence, each.model_id, each.disagrees_with)
                for name, each in output.aux_signals.items()
            },
        )

    def _labels(self) -> tuple[scorecard.StageLabel | None, scorecard.StageLabel | None]:
        """What both stages say about the sentence; None for a stage that was not there."""
        stage1, patched = self._output.stage1, self._output.patched_stage2_atsa
        first = _label(Draft(stage1.ate.aspects, stage1.atsa.aspect_sentiments)) if self._tells_sentiments else None
        if patched is None:
            return first, None
        if self._tells_sentiments and patched.aspect_sentiments == stage1.atsa.aspect_sentiments:
            return first, first
        return first, _label(Draft(self._last_ate.aspects, patched.aspect_sentiments))

    def _final_result(self) -> scorecard.FinalTuples:
        """The final result; tuples that it does not list are those of the sentiments."""
        given, stage1 = self._output.final_result, self._output.stage1.atsa.aspect_sentiments
        before = _tuples(() if given is None else given.stage1_tuples, stage1)
        after = _tuples(() if given is None else given.stage2_tuples, self._last_atsa.aspect_sentiments)
        has_after = self._output.patched_stage2_atsa is not None or (given is not None and bool(given.stage2_tuples))
        closing = _tuples(() if given is None else given.final_tuples, self._last_atsa.aspect_sentiments)
        if given is not None and not given.final_tuples and given.final_aspects:
            closing = tuple(AspectTuple(each.term, each.polarity, span=each.span) for each in given.final_aspects)
        has_before = self._tells_sentiments or bool(before)
        has_closing = has_before or has_after or bool(closing)
        return scorecard.FinalTuples(
            None if given is None else given.label,
            None if given is None else _known(given.confidence),
            before if has_before else None,
            after if has_after else None,
            closing if has_closing else None,
        )

    def _aspect_score(self) -> scorecard.AspectScore:
        judgements = self._stage1.judgements
        number = len(judgements)
        found = {tidy_term(term) for term in self._stage1.kept_terms} if self._gold else set()
        wanted = dict.fromkeys(each.aspect_term for each in self._gold or () if each.aspect_term)
        return scorecard.AspectScore(
            judgements,
            tuple(term for term in wanted if tidy_term(term) not in found),
            sum(bool(each.is_valid_target) for each in judgements) / number if number else None,
            sum(bool(each.span_ok) for each in judgements) / number if number else None,
            bool(self._stage1.dropped_terms),
        )

    def _moderator(self) -> scorecard.ModeratorScore | None:
        found = self._output.moderator
        if found is None:
            return None
        return scorecard.ModeratorScore(
            found.final_label,
            _known(found.confidence),
            found.rationale,
            found.applied_rules,
            found.arbiter_flags,
            found.selected_stage,
            found.decision_reason,
        )

    def _inputs(
        self, result: scorecard.FinalTuples, sentiments: Sequence[AspectSentiment]
    ) -> scorecard.ScorecardInputs:
        text = grounding.composed(self._output.input_text)
        named = [grounding.composed(each.aspect_term) for each in result.final_tuples or () if each.aspect_term]
        stated = tuple(
            [
                scorecard.SentimentInput(
                    None
                    if each.aspect_term is None
                    else scorecard.AspectTermInput(each.aspect_term.term, each.aspect_term.span),
                    each.polarity,
                    each.confidence,
                    each.evidence,
                    each.is_implicit,
                )
                for each in sentiments
            ]
        )
        filtered = self._stage1.filtered
        debug = scorecard.AspectDebug(self._output.stage1.ate.aspects, filtered, self._stage1.right_under)
        has_result = result.final_tuples is not None
        return scorecard.ScorecardInputs(
            debug if self._tells_aspects else None,
            tuple(aspect for aspect in filtered if aspect.action == scorecard.KEEP),
            stated,
            scorecard.StageLabel(result.label, result.confidence),
            self._gold,
            sum(term not in text for term in named) if has_result else None,
            len(named) if has_result else None,
        )


def _label(draft: Draft) -> scorecard.StageLabel:
    opinion = sentence_opinion(draft)
    return scorecard.StageLabel(opinion.label, opinion.confidence)


def _tuples(given: tuple[AspectTuple, ...], sentiments: Sequence[AspectSentiment]) -> tuple[AspectTuple, ...]:
    if given:
        return given
    return tuple(
        AspectTuple(each.term, each.polarity, span=None if each.aspect_term is None else each.aspect_term.span)
        for each in sentiments
    )


def _runtime(output: PipelineOutput, parsed: scorecard.ParsedOutput | None) -> scorecard.ScoreRuntime:
    usage, meta = output.usage, output.meta
    return scorecard.ScoreRuntime(
        output.text_id,
        meta.split,
        None,
        meta.seed,
        usage.tokens_in,
        usage.tokens_out,
        usage.cost_usd,
        usage.latency_ms,
        usage.calls,
        usage.retries,
        usage.repairs,
        None,
        meta.demo_ids,
        sum(REPAIRED in note for note in output.notes),
        sum(INVALID in note for note in output.notes),
        parsed,
    )


def _known(number: float) -> float | None:
    """A number that was read; what could not be read is no number."""
    return None if math.isnan(number) else number
