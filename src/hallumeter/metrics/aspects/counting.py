"""From a scorecard to its counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records.aspects.columns import ASPECT_COUNTS, AspectCounts
from hallumeter.records.aspects.scorecard_blocks import DROP

from .buckets import grounding_bucket, is_unsupported_by_the_older_rule
from .stage_counts import count_stages
from .tuple_counts import count_failed_gold, count_tuples

if TYPE_CHECKING:
    from hallumeter.records.aspects.scorecard import Scorecard

    from .stage_counts import Counts

_CLASSES = {"H1": "h1", "H2": "h2", "filter": "filter"}
_PLACES = {name: place for place, name in enumerate(ASPECT_COUNTS)}
HF = "hf"
SPAN_COUNTS = ("placed", "code_points", "utf16_units", "utf8_bytes", "nfd_code_points", "nfc_code_points")
"""Spans that could be right, and those that are, by way of counting."""


def count_scorecard(card: Scorecard) -> AspectCounts:
    """Everything that a scorecard adds to the sums.

    What is not known adds nothing, neither to a count nor to its total.

    >>> from hallumeter.records.aspects.scorecard import Scorecard
    >>> from hallumeter.records.aspects.scorecard_blocks import AspectScore
    >>> counts = count_scorecard(Scorecard(ate=AspectScore(hallucination_flag=True)))
    >>> counts.flagged == counts.samples == 1, counts.classified == 0
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
        _count_sentiments(card, counts)
        count_stages(card, counts)
        _count_bucket(card, counts)
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
    counts["flagged"] = int(card.is_flagged)
    counts["aspects"] = len(filtered)
    counts["dropped"] = len(dropped)
    classes = [_CLASSES.get(aspect.drop_class or "") for aspect in dropped]
    if _tells_drops(card) and None not in classes and (dropped or not counts["flagged"]):
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


def _count_sentiments(card: Scorecard, counts: Counts) -> None:
    score = card.sentiment_score
    judgements = () if score is None else score.sentiment_judgements
    attributions = [each.attribution_score for each in judgements if each.attribution_score is not None]
    grounded = [each.opinion_grounded for each in judgements if each.opinion_grounded is not None]
    relevant = [each.evidence_relevant for each in judgements if each.evidence_relevant is not None]
    counts["attributable"], counts["attributed"] = len(attributions), sum(attributions)
    counts["groundable"], counts["grounded"] = len(grounded), sum(grounded)
    counts["evidence_judged"], counts["evidence_relevant"] = len(relevant), sum(relevant)


def _count_bucket(card: Scorecard, counts: Counts) -> None:
    bucket = grounding_bucket(card)
    if bucket is not None:
        counts["bucketed"] = counts[bucket] = 1
    is_unsupported = is_unsupported_by_the_older_rule(card)
    if is_unsupported is not None:
        counts["legacy_judged"] = 1
        counts["legacy_unsupported"] = int(is_unsupported)


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
