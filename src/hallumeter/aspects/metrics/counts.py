"""From a scorecard to its counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.aspects.records.columns import ASPECT_COUNTS, AspectCounts
from hallumeter.aspects.records.scorecard import (
    DROP,
    INSUFFICIENT,
    KEEP,
    SENTENCE_LABELS,
    Scorecard,
    SentimentInput,
    SentimentJudgement,
    StageDelta,
    ValidatorScore,
)

from .tuples import (
    VALID_POLARITIES,
    Pair,
    Stated,
    TupleMatch,
    has_conflict,
    has_severe_error,
    match_explicit,
    match_implicit,
    match_stated,
    pairs_of,
    stated_by,
    tidy_polarity,
    tidy_term,
)

# What a scorecard tells of risks, changes and the debate, in counts.

Counts = dict[str, float]
SEVERITY_WEIGHTS = {"high": 3, "mid": 2, "low": 1}
"""What a risk weighs that is left; one of unknown severity weighs as ``mid``."""
_NEGATION_CONTRAST = ("NEGATION_SCOPE", "CONTRAST_SCOPE")


def count_stages(card: Scorecard, counts: Counts) -> None:
    """Add what is known of both stages."""
    before, after = card.validator_of("stage1"), card.validator_of("stage2")
    if before is not None:
        counts["validated"] = 1
        counts["risk_flagged"] = int(bool(before.structural_risks))
        counts["negation_contrast"] = _negation_contrast(before) + _negation_contrast(after)
    if before is not None and after is not None:
        _count_resolution(before, after, counts)
    if card.stage_delta is not None:
        _count_delta(card.stage_delta, before, after, counts=counts)
    _count_debate(card, counts)


def _count_resolution(before: ValidatorScore, after: ValidatorScore, counts: Counts) -> None:
    counts["validated_twice"] = 1
    counts["risks_before"] = len(before.structural_risks)
    counts["risks_after"] = len(after.structural_risks)
    counts["residual_severity"] = sum(SEVERITY_WEIGHTS.get(risk.severity or "", 2) for risk in after.structural_risks)
    if before.structural_risks:
        counts["risk_flagged_twice"] = 1
        counts["risk_cleared"] = int(not after.structural_risks)


def _count_delta(
    delta: StageDelta, before: ValidatorScore | None, after: ValidatorScore | None, *, counts: Counts
) -> None:
    if delta.changed is not None:
        counts["delta_known"] = 1
        counts["changed"] = int(delta.changed)
        counts["guided"] = int(delta.changed and delta.change_type == "guided")
        counts["unguided"] = int(delta.changed and delta.change_type == "unguided")
        if before is not None and before.structural_risks:
            counts["risk_flagged_delta"] = 1
            counts["risk_changed"] = int(delta.changed)
            counts["risk_unchanged"] = int(not delta.changed)
        if before is not None and after is not None:
            is_resolved = int(len(after.structural_risks) < len(before.structural_risks))
            counts["changed_twice" if delta.changed else "unchanged_twice"] = 1
            counts["resolved_with_change" if delta.changed else "resolved_without_change"] = is_resolved
    if delta.pairs_changed is not None:
        counts["pairs_known"] = 1
        counts["pairs_changed"] = int(delta.pairs_changed)
    if delta.proposals is not None:
        counts["proposals"] = delta.proposals
        counts["proposals_applied"] = delta.proposals_applied or 0


def _count_debate(card: Scorecard, counts: Counts) -> None:
    debate = card.debate
    if debate is None:
        return
    stats, reasons, overrides = debate.mapping_stats, debate.mapping_fail_reasons or {}, debate.override_stats or {}
    if stats is not None:
        counts["turns"] = stats.direct + stats.fallback + stats.none
        counts["turns_direct"], counts["turns_fallback"], counts["turns_none"] = (
            stats.direct,
            stats.fallback,
            stats.none,
        )
        counts["turns_mapped"] = stats.direct + stats.fallback
        if counts["turns"]:
            counts["turns_no_match"] = reasons.get("no_match", 0)
            counts["turns_neutral"] = reasons.get("neutral_stance", 0)
            counts["turns_no_aspects"] = reasons.get("no_aspects", 0)
            counts["turns_fallback_used"] = reasons.get("fallback_used", 0)
    applied = overrides.get("applied", 0)
    skipped = sum(number for name, number in overrides.items() if name.startswith("skipped_"))
    counts["overrides"] = applied + skipped
    counts["overrides_applied"] = applied
    counts["override_samples"] = int(applied > 0)


def _negation_contrast(validator: ValidatorScore | None) -> int:
    risks = () if validator is None else validator.structural_risks
    return sum(risk.risk_id in _NEGATION_CONTRAST for risk in risks)


# On what the polarity of a sentence rests: words of the text, no named aspect, or nothing.

Bucket = Literal["implicit", "explicit", "explicit_failure", "unsupported"]


def grounding_bucket(card: Scorecard) -> Bucket | None:
    """The one bucket of a sentence, by its first final tuple; None when nothing is known of its result."""
    selected = _selected(card)
    label = card.final_label
    if selected is None:
        if label is None and not _has_result(card):
            return None
        return "implicit" if label in SENTENCE_LABELS else "unsupported"
    term, polarity = selected
    if not term:
        return "implicit" if polarity in VALID_POLARITIES else "unsupported"
    score = card.sentiment_score
    for judgement in score.sentiment_judgements if score is not None else ():
        if tidy_term(judgement.aspect_term or "") == term:
            if not fails(judgement) and judgement.opinion_grounded:
                return "explicit"
            return "implicit" if label in SENTENCE_LABELS and not _has_kept_aspect(card) else "explicit_failure"
    return "unsupported"


def is_unsupported_by_the_older_rule(card: Scorecard) -> bool | None:
    """Whether all judgements fail, or one of an aspect of the final tuples does; None without a judgement."""
    score = card.sentiment_score
    judgements = () if score is None else score.sentiment_judgements
    if not judgements:
        return None
    failing = [judgement for judgement in judgements if fails(judgement)]
    if len(failing) == len(judgements):
        return True
    named = {tidy_term(each.aspect_term) for each in _final_tuples(card)}
    return any(tidy_term(judgement.aspect_term or "") in named for judgement in failing)


def fails(judgement: SentimentJudgement) -> bool:
    """Whether a sentiment is not grounded, or has an issue beyond being too little told."""
    return judgement.opinion_grounded is False or any(issue != INSUFFICIENT for issue in judgement.issues)


def _has_result(card: Scorecard) -> bool:
    """Whether anything tells of the result, even that it has neither a tuple nor a label."""
    result = card.final_result
    has_tuples = result is not None and result.final_tuples is not None
    return has_tuples or card.moderator is not None or card.sentiment_score is not None


def _selected(card: Scorecard) -> tuple[str, str] | None:
    """Term and polarity of the first final tuple, else of the first sentiment."""
    found: tuple[AspectTuple, ...] | tuple[SentimentInput, ...] = _final_tuples(card)
    if found:
        return tidy_term(found[0].aspect_term), tidy_polarity(found[0].polarity)
    sentiments = () if card.inputs is None else card.inputs.aspect_sentiments
    return (tidy_term(sentiments[0].term), tidy_polarity(sentiments[0].polarity)) if sentiments else None


def _final_tuples(card: Scorecard) -> tuple[AspectTuple, ...]:
    result = card.final_result
    return () if result is None else result.final_tuples or ()


def _has_kept_aspect(card: Scorecard) -> bool:
    return any(aspect.action == KEEP for aspect in card.filtered)


# What a scorecard tells of its tuples, alone and beside gold, in counts.

_STAGES = ("s1", "s2", "final")
_KINDS = ("gold", "f1", "pairs", "matched", "explicit_gold", "explicit_f1", "implicit_gold", "implicit_f1")
_COPIED = {
    (source, target): [(f"{kind}_{source}", f"{kind}_{target}") for kind in _KINDS]
    for source in ("s1", "s2")
    for target in ("s2", "final")
}
"""The counts of a stage, and those of another that states the same."""
_NAMES = {stage: tuple(f"{kind}_{stage}" for kind in _KINDS) for stage in _STAGES}


def count_tuples(card: Scorecard, counts: Counts) -> None:
    """Add what the tuples of the stages are worth."""
    result = card.final_result
    if result is None:
        return
    stages = _stated({"s1": result.stage1_tuples, "s2": result.stage2_tuples, "final": result.final_tuples})
    for name in ("s1", "final"):
        if name in stages:
            counts[f"tuples_{name}"] = 1
            counts[f"conflict_{name}"] = int(has_conflict(stages[name]))
    given = None if card.inputs is None else card.inputs.gold_tuples
    if given is None:
        return
    wanted = stated_by(given)
    gold = wanted.pairs
    counts["gold"] = 1
    counts["unequal_gold"] = int(_is_unequal(wanted))
    _count_transition(_matches(stages, gold, counts), counts)
    final = stages.get("final")
    if final is not None:
        counts["unequal_final"] = int(_is_unequal(final))
        counts["severe"] = int(has_severe_error(final, gold))
        if any(not term for term, _ in gold):
            counts["implicit_gold"] = 1
            counts["implicit_invalid"] = int(_is_invalid(final))


def count_failed_gold(card: Scorecard, counts: Counts) -> None:
    """A sentence that failed cannot be compared, and has no valid polarity for gold that names no aspect."""
    stated = None if card.inputs is None else card.inputs.gold_tuples
    if stated is None:
        return
    counts["failed_gold"] = 1
    if any(not term for term, _ in pairs_of(stated)):
        counts["implicit_gold"] = counts["implicit_invalid"] = 1


def _stated(stages: dict[str, tuple[AspectTuple, ...] | None]) -> dict[str, Stated]:
    """What the stages that are known state; of stages that say the same, one and the same."""
    found: dict[str, Stated] = {}
    for name, tuples in stages.items():
        if tuples is not None:
            stated = stated_by(tuples)
            found[name] = next((each for each in found.values() if each == stated), stated)
    return found


def _matches(stages: dict[str, Stated], gold: Sequence[Pair], counts: Counts) -> dict[str, TupleMatch]:
    """Match every stage that is known with gold; stages that say the same are matched once."""
    has_explicit = any(term for term, _ in gold)
    has_implicit = not all(term for term, _ in gold)
    found: dict[str, TupleMatch] = {}
    first: dict[int, str] = {}
    for name, stated in stages.items():
        same = first.setdefault(id(stated), name)
        if same != name:
            found[name] = found[same]
            counts.update({target: counts[source] for source, target in _COPIED[same, name] if source in counts})
            continue
        match = found[name] = match_stated(stated, gold)
        known, f1, pairs, matched, explicit_known, explicit_f1, implicit_known, implicit_f1 = _NAMES[name]
        counts[known] = 1
        counts[f1] = match.f1
        counts[pairs] = match.predicted + match.gold
        counts[matched] = 2 * match.matched
        if has_explicit:
            is_all_named = not has_implicit and stated.is_all_named
            counts[explicit_known] = 1
            counts[explicit_f1] = match.f1 if is_all_named else match_explicit(stated, gold).f1
        if has_implicit:
            counts[implicit_known] = 1
            counts[implicit_f1] = match_implicit(stated, gold).f1
    return found


def _count_transition(matches: dict[str, TupleMatch], counts: Counts) -> None:
    """From stage 1 to stage 2: what was put right, and what was put wrong."""
    if "s1" not in matches or "s2" not in matches:
        return
    was, became = matches["s1"].is_perfect, matches["s2"].is_perfect
    counts["gold_both"] = 1
    counts["delta_f1"] = counts["f1_s2"] - counts["f1_s1"]
    counts["right_before" if was else "wrong_before"] = 1
    counts["kept" if was and became else "broken" if was else "fixed" if became else "still"] = 1
    counts["net_gain"] = int(became) - int(was)
    for part in ("explicit", "implicit"):
        if f"{part}_f1_s1" in counts:
            counts[f"{part}_gold_both"] = 1
            counts[f"{part}_delta_f1"] = counts[f"{part}_f1_s2"] - counts[f"{part}_f1_s1"]
    if counts.get("override_samples"):
        counts["gold_override"] = 1
        counts["delta_f1_override"] = counts["delta_f1"]


def _is_unequal(stated: Stated) -> bool:
    """Whether tuples do not match themselves, as they should; those that are all named are equal to themselves."""
    return not stated.is_all_named and not match_stated(stated, list(stated.pairs)).is_perfect


def _is_invalid(stated: Stated) -> bool:
    """Whether no polarity is valid, or one is missing."""
    polarities = [polarity for _, polarity in stated.pairs]
    return "" in polarities or not any(polarity in VALID_POLARITIES for polarity in polarities)


_CLASSES = {"H1": "h1", "H2": "h2", "filter": "filter"}
_PLACES = {name: place for place, name in enumerate(ASPECT_COUNTS)}
HF = "hf"
SPAN_COUNTS = ("placed", "code_points", "utf16_units", "utf8_bytes", "nfd_code_points", "nfc_code_points")
"""Spans that could be right, and those that are, by way of counting."""


def count_scorecard(card: Scorecard) -> AspectCounts:
    """Everything that a scorecard adds to the sums.

    What is not known adds nothing, neither to a count nor to its total.

    >>> from hallumeter.aspects.records.scorecard import Scorecard
    >>> from hallumeter.aspects.records.scorecard import AspectScore
    >>> counts = count_scorecard(Scorecard(ate=AspectScore(hallucination_flag=True)))
    >>> counts.flagged == counts.told == 1, counts.classified == 0
    (True, True)
    """
    return AspectCounts(*count_row(card))


def count_row(card: Scorecard) -> list[float]:
    """The same as a row of numbers, in the order of `ASPECT_COUNTS`."""
    counts: Counts = {"attempted": 1}
    _count_usage(card, counts)
    if card.is_failed:
        counts["failed"] = 1
        count_failed_gold(card, counts)
    else:
        counts["samples"] = 1
        _count_aspects(card, counts)
        score = card.sentiment_score
        judgements = () if score is None else score.sentiment_judgements
        attributions = [each.attribution_score for each in judgements if each.attribution_score is not None]
        grounded = [each.opinion_grounded for each in judgements if each.opinion_grounded is not None]
        relevant = [each.evidence_relevant for each in judgements if each.evidence_relevant is not None]
        counts["attributable"], counts["attributed"] = len(attributions), sum(attributions)
        counts["groundable"], counts["grounded"] = len(grounded), sum(grounded)
        counts["evidence_judged"], counts["evidence_relevant"] = len(relevant), sum(relevant)
        count_stages(card, counts)
        bucket = grounding_bucket(card)
        if bucket is not None:
            counts["bucketed"] = counts[bucket] = 1
        is_unsupported = is_unsupported_by_the_older_rule(card)
        if is_unsupported is not None:
            counts["legacy_judged"] = 1
            counts["legacy_unsupported"] = int(is_unsupported)
        count_tuples(card, counts)
        _count_signal(card, counts)
        _count_opinions(card, counts)
    row = [0.0] * len(_PLACES)
    for name, number in counts.items():
        row[_PLACES[name]] = number
    return row


def _count_aspects(card: Scorecard, counts: Counts) -> None:
    filtered = card.filtered
    dropped = [aspect for aspect in filtered if aspect.action == DROP]
    counts["told"] = int(_tells_drops(card))
    counts["flagged"] = int(card.is_flagged)
    counts["aspects"] = len(filtered)
    counts["dropped"] = len(dropped)
    classes = [_CLASSES.get(aspect.drop_class or "") for aspect in dropped]
    if counts["told"] and None not in classes and (dropped or not counts["flagged"]):
        counts["classified"] = 1
        counts["classified_aspects"] = len(filtered)
        for name in dict.fromkeys(classes):
            counts[f"{name}_samples"] = 1
            counts[f"{name}_aspects"] = classes.count(name)
    for aspect in dropped:
        placement = aspect.placement
        if aspect.drop_class == "H2" and placement is not None and placement.offset_error is not None:
            counts["offsets"] = counts.get("offsets", 0) + 1
            counts["offset_errors"] = counts.get("offset_errors", 0) + abs(placement.offset_error)
            counts["offsets_explained"] = counts.get("offsets_explained", 0) + bool(placement.conventions)
    _count_judgements(card, counts)


def _tells_drops(card: Scorecard) -> bool:
    """Whether anything is known of what the filter did: silence is no clean sentence."""
    score = card.aspect_score
    has_flag = score is not None and score.hallucination_flag is not None
    return has_flag or (card.inputs is not None and card.inputs.ate_debug is not None)


def _count_judgements(card: Scorecard, counts: Counts) -> None:
    score, inputs = card.aspect_score, card.inputs
    for judgement in score.aspect_judgements if score is not None else ():
        if judgement.span_ok is not None and judgement.is_valid_target is not None:
            counts["judged_aspects"] = counts.get("judged_aspects", 0) + 1
            counts["spans_ok"] = counts.get("spans_ok", 0) + judgement.span_ok
            counts["valid_targets"] = counts.get("valid_targets", 0) + judgement.is_valid_target
    if inputs is None:
        return
    if inputs.ate_debug is not None:
        right_under = inputs.ate_debug.right_under or {}
        counts.update({name: right_under[name] for name in SPAN_COUNTS if name in right_under})
    if inputs.final_out_of_text is not None:
        counts["final_known"] = 1
        counts["final_out_of_text"] = int(inputs.final_out_of_text > 0)


def _count_signal(card: Scorecard, counts: Counts) -> None:
    signal = (card.aux_signals or {}).get(HF)
    if signal is None:
        return
    counts["signalled"] = 1
    compared = signal.disagrees_with or {}
    disagrees = compared.get("stage2_final")
    if disagrees is None:
        disagrees = compared.get("stage1_final")
    if disagrees is not None:
        counts["signal_compared"] = 1
        counts["signal_disagrees"] = int(disagrees)
        if any(each.structural_risks for each in card.validator or ()):
            counts["signal_risk"] = 1
            counts["signal_risk_disagrees"] = int(disagrees)


def _count_usage(card: Scorecard, counts: Counts) -> None:
    """What the sentence took, which was paid for whether it failed or not."""
    runtime, latency = card.runtime, card.latency
    if runtime is not None and runtime.tokens_in is not None and runtime.tokens_out is not None:
        counts["tokens_known"] = 1
        counts["tokens"] = runtime.tokens_in + runtime.tokens_out
    if runtime is not None and runtime.cost_usd is not None:
        counts["cost_known"] = 1
        counts["cost_usd"] = runtime.cost_usd
    if latency is not None and latency.total_ms is not None:
        counts["latency_known"] = 1
        counts["latency_ms"] = latency.total_ms


def _count_opinions(card: Scorecard, counts: Counts) -> None:
    runtime, latency, summary = card.runtime, card.latency, card.summary
    if runtime is not None:
        _count_repairs(runtime.polarities_repaired, runtime.polarities_invalid, counts)
    if latency is not None and latency.gate_status is not None:
        counts["gated"] = 1
        counts["latency_warned"] = int(latency.gate_status == "WARN")
    if summary is not None and summary.quality_pass is not None:
        counts["quality_judged"] = 1
        counts["quality_passed"] = int(summary.quality_pass)


def _count_repairs(repaired: int | None, invalid: int | None, counts: Counts) -> None:
    if repaired is not None and invalid is not None:
        counts["polarities_known"] = 1
        counts["polarity_repaired"] = int(repaired > 0)
        counts["polarity_invalid"] = int(invalid > 0)
