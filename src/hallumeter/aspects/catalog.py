"""The metrics of aspects: how each is computed and summarised. Their words are in `metrics.<language>.toml`."""

import math
from functools import partial

from hallumeter.records.metric import Metric
from hallumeter.records.ranking import Direction
from hallumeter.text.metric_texts import with_texts

from .metrics.blame import blame_rates
from .metrics.rates import case_difference, case_rate, rate_of, risk_resolution

_with_texts = partial(with_texts, "hallumeter.aspects")
_metric = partial(Metric, range=(0, 1), is_poolable=True, interval="cluster_bootstrap")


def _rate(
    metric_id: str,
    count: str,
    total: str,
    *,
    direction: Direction = "lower",
    limits: tuple[float, float | None] = (0, 1),
) -> Metric:
    """A metric that divides one count of scorecards by another."""
    compute = partial(rate_of, count=count, total=total)
    return _metric(id=metric_id, reads="aspects", compute=compute, direction=direction, range=limits)


# Do the aspects of a sentence stand in it, and where?

GROUNDING_METRICS = _with_texts(
    _rate("aspect_hallucination_rate", "flagged", "told"),
    _rate("aspect_hallucination_rate_h1", "h1_samples", "classified"),
    _rate("aspect_hallucination_rate_h2", "h2_samples", "classified"),
    _rate("filter_rejection_rate", "filter_samples", "classified"),
    _rate("aspect_drop_rate", "dropped", "aspects"),
    _rate("out_of_text_aspect_rate", "h1_aspects", "classified_aspects"),
    _rate("misplaced_aspect_rate", "h2_aspects", "classified_aspects"),
    _rate("off_target_aspect_rate", "filter_aspects", "classified_aspects"),
    _rate("mean_offset_error", "offset_errors", "offsets", limits=(0, None)),
    _rate("offset_convention_rate", "offsets_explained", "offsets", direction="none"),
    _rate("span_ok_rate", "spans_ok", "judged_aspects", direction="higher"),
    _rate("valid_aspect_rate", "valid_targets", "judged_aspects", direction="higher"),
    _rate("final_out_of_text_rate", "final_out_of_text", "final_known"),
    _rate("attribution_rate", "attributed", "attributable", direction="higher"),
    _rate("opinion_grounded_rate", "grounded", "groundable", direction="higher"),
    _rate("evidence_relevance_rate", "evidence_relevant", "evidence_judged", direction="higher"),
    _rate("explicit_grounding_rate", "explicit", "bucketed", direction="higher"),
    _rate("implicit_grounding_rate", "implicit", "bucketed", direction="none"),
    _rate("explicit_grounding_failure_rate", "explicit_failure", "bucketed"),
    _rate("unsupported_polarity_rate", "unsupported", "bucketed"),
    _rate("legacy_unsupported_polarity_rate", "legacy_unsupported", "legacy_judged"),
    _rate("quality_pass_rate", "quality_passed", "quality_judged", direction="higher"),
)

# What the stages of aspect agents do: risks, corrections, debates.

STAGE_METRICS = _with_texts(
    _rate("risk_flagged_rate", "risk_flagged", "validated", direction="none"),
    Metric(
        id="risk_resolution_rate",
        reads="aspects",
        compute=risk_resolution,
        direction="higher",
        range=(-math.inf, 1),
        interval="cluster_bootstrap",
    ),
    _rate("validator_clear_rate", "risk_cleared", "risk_flagged_twice", direction="higher"),
    _rate("risk_affected_change_rate", "risk_changed", "risk_flagged_delta", direction="none"),
    _rate("risk_resolved_with_change_rate", "resolved_with_change", "changed_twice", direction="higher"),
    _rate("risk_resolved_without_change_rate", "resolved_without_change", "unchanged_twice"),
    _rate("residual_risk_severity", "residual_severity", "validated_twice", limits=(0, None)),
    _rate("negation_contrast_failure_rate", "negation_contrast", "validated", limits=(0, None)),
    _rate("changed_samples_rate", "changed", "delta_known", direction="none"),
    _rate("pairs_changed_rate", "pairs_changed", "pairs_known", direction="none"),
    _rate("guided_change_rate", "guided", "delta_known", direction="none"),
    _rate("guided_share_of_changes", "guided", "changed", direction="higher"),
    _rate("unguided_drift_rate", "unguided", "delta_known"),
    _rate("ignored_proposal_rate", "risk_unchanged", "risk_flagged_delta"),
    _rate("proposal_application_rate", "proposals_applied", "proposals", direction="none"),
    _rate("debate_mapping_coverage", "turns_mapped", "turns", direction="higher"),
    _rate("debate_mapping_direct_rate", "turns_direct", "turns", direction="higher"),
    _rate("debate_mapping_fallback_rate", "turns_fallback", "turns"),
    _rate("debate_mapping_none_rate", "turns_none", "turns"),
    _rate("debate_fail_no_match_rate", "turns_no_match", "turns"),
    _rate("debate_fail_neutral_stance_rate", "turns_neutral", "turns"),
    _rate("debate_fail_no_aspects_rate", "turns_no_aspects", "turns"),
    _rate("debate_fail_fallback_used_rate", "turns_fallback_used", "turns"),
    _rate("override_application_rate", "overrides_applied", "overrides", direction="none"),
)

# The tuples beside gold, and what they take.


def _f1(stage: str, part: str = "") -> Metric:
    """Mean F1 of a stage: of all pairs, or of some of them."""
    ending, prefix = (f"_{part}_only", f"{part}_") if part else ("", "")
    return _rate(f"tuple_f1_{stage}{ending}", f"{prefix}f1_{stage}", f"{prefix}gold_{stage}", direction="higher")


def _micro(stage: str) -> Metric:
    """F1 of all pairs of a stage, pooled."""
    return _rate(f"tuple_f1_micro_{stage}", f"matched_{stage}", f"pairs_{stage}", direction="higher")


TUPLE_METRICS = _with_texts(
    _f1("s1"),
    _f1("s2"),
    _f1("final"),
    _rate("delta_f1", "delta_f1", "gold_both", direction="higher", limits=(-1, 1)),
    _f1("s1", "explicit"),
    _f1("s2", "explicit"),
    _f1("final", "explicit"),
    _rate("delta_f1_explicit_only", "explicit_delta_f1", "explicit_gold_both", direction="higher", limits=(-1, 1)),
    _f1("s1", "implicit"),
    _f1("s2", "implicit"),
    _f1("final", "implicit"),
    _rate("delta_f1_implicit_only", "implicit_delta_f1", "implicit_gold_both", direction="higher", limits=(-1, 1)),
    _micro("s1"),
    _micro("s2"),
    _micro("final"),
    _rate("fix_rate", "fixed", "wrong_before", direction="higher"),
    _rate("break_rate", "broken", "right_before"),
    _rate("net_gain", "net_gain", "gold_both", direction="higher", limits=(-1, 1)),
    _rate("override_delta_f1", "delta_f1_override", "gold_override", direction="higher", limits=(-1, 1)),
    _rate("severe_polarity_error_rate", "severe", "gold_final"),
    _rate("implicit_invalid_pred_rate", "implicit_invalid", "implicit_gold"),
    _rate("polarity_conflict_rate", "conflict_final", "tuples_final"),
    _rate("polarity_conflict_rate_s1", "conflict_s1", "tuples_s1"),
    _rate("hf_polarity_disagreement_rate", "signal_disagrees", "signal_compared", direction="none"),
    _rate("hf_disagreement_coverage_of_structural_risks", "signal_risk_disagrees", "signal_risk", direction="none"),
    _rate("parse_generate_failure_rate", "failed", "attempted"),
    _rate("polarity_repaired_rate", "polarity_repaired", "polarities_known"),
    _rate("polarity_invalid_rate", "polarity_invalid", "polarities_known"),
    _rate("latency_warn_rate", "latency_warned", "gated"),
    _rate("mean_latency_ms", "latency_ms", "latency_known", limits=(0, None)),
    _rate("mean_tokens", "tokens", "tokens_known", limits=(0, None)),
    _rate("mean_cost_usd", "cost_usd", "cost_known", limits=(0, None)),
)

# Repeated runs.


def _case(metric_id: str, compared: str) -> Metric:
    compute = partial(case_rate, same=f"same_{compared}", total=compared)
    return _metric(id=metric_id, reads="aspect_cases", compute=compute, direction="higher")


CASE_METRICS = _with_texts(
    _case("self_consistency_exact", "labels"),
    _metric(
        id="flip_flop_rate",
        reads="aspect_cases",
        compute=partial(case_difference, same="same_labels", total="labels"),
        direction="lower",
    ),
    _case("risk_set_consistency", "risks"),
    _case("tuple_agreement_rate", "tuples"),
)

# The steps of a pipeline: who introduces errors, who sees them, who repairs and who breaks.


def _blame(metric_id: str, name: str, *, direction: Direction) -> Metric:
    return _metric(id=metric_id, reads="blame", compute=partial(blame_rates, name=name), direction=direction)


ASPECT_BLAME_METRICS = _with_texts(
    _blame("step_introduction_rate", "introduction", direction="lower"),
    _blame("step_detection_rate", "detection", direction="higher"),
    _blame("step_false_alarm_rate", "false_alarm", direction="lower"),
    _blame("step_repair_rate", "repair", direction="higher"),
    _blame("step_regression_rate", "regression", direction="lower"),
)

ASPECT_METRICS = (*GROUNDING_METRICS, *STAGE_METRICS, *TUPLE_METRICS, *CASE_METRICS)
"""What is aggregated from scorecards."""
METRICS = (*ASPECT_METRICS, *ASPECT_BLAME_METRICS)
METRICS_BY_ID = {metric.id: metric for metric in METRICS}
