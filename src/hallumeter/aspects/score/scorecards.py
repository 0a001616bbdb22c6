"""Scorecards, ours and others'."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET, structs

from hallumeter.aspects.grounding import AspectGrounder, CountedText, composed, drop_class_of, placement_of
from hallumeter.aspects.records import scorecard
from hallumeter.aspects.records.aspect import Aspect, AspectTuple, TextSpan
from hallumeter.errors import RecordError

from .quality import risk_id_of, severity_of, with_gate
from .reading import LineReader, tolerant_record

_SEVERITIES = ("low", "mid", "high")
_BLOCKS = tuple(name for name in scorecard.Scorecard.__struct_fields__ if name not in ("run_id", "profile"))
_REFERENCE = b'"aspect_ref"'
_OF_OUTPUTS = ("process_trace", "final_result")
"""What outputs have and no scorecard has."""
_OWN_BLOCKS = ("ate", "atsa", "validator", "stage_delta", "inputs", "ate_score", "atsa_score")
_FEW_BLOCKS = "meta, ate, atsa, validator, moderator, stage_delta, inputs, flags or runtime"


def scorecard_reader() -> LineReader[scorecard.Scorecard]:
    """Reads lines of `scorecards.jsonl`; an object that has no block of a scorecard is none."""
    return LineReader(scorecard.Scorecard, renamed=_checked, is_complete=_has_meta)


def scorecard_of(row: Mapping[str, object]) -> scorecard.Scorecard:
    """The scorecard that a row means, with everything that its text tells beyond it.

    >>> scorecard_of({"ate": None, "ate_score": {"hallucination_flag": True}}).is_flagged
    True
    """
    return completed(tolerant_record(row, scorecard.Scorecard))


def _has_meta(card: scorecard.Scorecard, line: bytes) -> bool:
    """Whether a line is a scorecard beyond doubt: ours all say which sentence they are of, and name their terms."""
    if card.meta is None or any(f'"{name}"'.encode() in line for name in _OF_OUTPUTS):
        return False
    judged = () if card.sentiment_score is None else card.sentiment_score.sentiment_judgements
    felt = () if card.inputs is None else card.inputs.aspect_sentiments
    is_named = all(each.aspect_term is not None for each in judged) and all(
        each.aspect_term is not None for each in felt
    )
    return is_named or _REFERENCE not in line


def _checked(row: dict[str, object]) -> dict[str, object]:
    if row.keys().isdisjoint(_BLOCKS):
        raise RecordError(f"no scorecard; expected an object with blocks such as {_FEW_BLOCKS}")
    if row.keys().isdisjoint(_OWN_BLOCKS) and not row.keys().isdisjoint(_OF_OUTPUTS):
        raise RecordError("an output of agents, and no scorecard; make scorecards with `hallumeter aspects score`")
    return row


def completed(card: scorecard.Scorecard) -> scorecard.Scorecard:
    """A scorecard that lacks what ours have: classes of drops, whole names of risks, tuples at the end, a gate."""
    runtime, validator, inputs, latency = card.runtime, card.validator, card.inputs, card.latency
    result = card.final_result
    if runtime is not None and runtime.parsed_output is not None and result is not None:
        mended = _with_tuples(result)
        if mended is not result:
            result = mended
            parsed = structs.replace(runtime.parsed_output, final_result=mended)
            runtime = structs.replace(runtime, parsed_output=parsed)
    if validator is not None and not all(_is_named(risk) for each in validator for risk in each.structural_risks):
        validator = tuple(_with_names(each) for each in validator)
    if inputs is not None and card.text is not None:
        inputs = _with_places(inputs, card.text, result)
    if latency is not None and latency.gate_status is None and latency.total_ms is not None:
        latency = with_gate(latency, card.chosen_profile)
    mended_blocks = {"inputs": inputs, "runtime": runtime, "validator": validator, "latency": latency}
    is_whole = all(block is getattr(card, name) for name, block in mended_blocks.items())
    return card if is_whole else structs.replace(card, **mended_blocks)


def _with_places(
    inputs: scorecard.ScorecardInputs, text: str, result: scorecard.FinalTuples | None
) -> scorecard.ScorecardInputs:
    """What the text tells of aspects, where the scorecard does not."""
    debug = inputs.ate_debug
    is_classified = debug is None or all(each.drop_class for each in debug.filtered if each.action == scorecard.DROP)
    if debug is not None and not is_classified:
        counted = CountedText(text)
        filtered = tuple(_classified(each, counted) for each in debug.filtered)
        inputs = structs.replace(inputs, ate_debug=structs.replace(debug, filtered=filtered))
    if debug is not None and debug.right_under is None and inputs.ate_debug is not None:
        aspects = [Aspect(each.term or "", _span(each)) for each in debug.filtered]
        right = AspectGrounder().ground(text, aspects).right_under
        inputs = structs.replace(inputs, ate_debug=structs.replace(inputs.ate_debug, right_under=right))
    if inputs.final_out_of_text is None and result is not None and result.final_tuples is not None:
        named = [composed(each.aspect_term) for each in result.final_tuples if each.aspect_term]
        missing = sum(term not in composed(text) for term in named)
        inputs = structs.replace(inputs, final_out_of_text=missing, final_aspects=len(named))
    return inputs


def _span(aspect: scorecard.FilteredAspect) -> TextSpan | None:
    return TextSpan(*aspect.span) if isinstance(aspect.span, tuple) else aspect.span


def _classified(aspect: scorecard.FilteredAspect, counted: CountedText) -> scorecard.FilteredAspect:
    if aspect.action != scorecard.DROP or aspect.drop_class is not None:
        return aspect
    term, place = aspect.term or "", _span(aspect)
    found = drop_class_of(counted, term, place)
    placement = None if found == "filter" else placement_of(counted, term, place)
    return structs.replace(aspect, drop_class=found, placement=placement)


def _with_tuples(result: scorecard.FinalTuples) -> scorecard.FinalTuples:
    given = result.final_aspects
    if result.final_tuples or given is UNSET or given is None:
        return result
    tuples = tuple(_tuple(each) for each in given)
    return result if tuples == result.final_tuples else structs.replace(result, final_tuples=tuples)


def _tuple(aspect: scorecard.FinalAspectInput) -> AspectTuple:
    named = aspect.aspect_term
    term = named.term if isinstance(named, scorecard.AspectTermInput) else named
    return AspectTuple(term or aspect.term or "", aspect.polarity)


def _is_named(risk: scorecard.ScoredRisk) -> bool:
    known = risk.risk_id
    return known is not None and risk_id_of(known) == known and risk.severity in _SEVERITIES


def _with_names(validator: scorecard.ValidatorScore) -> scorecard.ValidatorScore:
    risks = tuple(
        structs.replace(risk, risk_id=risk_id_of(risk.risk_id or risk.type or ""), severity=severity_of(risk.severity))
        for risk in validator.structural_risks
    )
    return structs.replace(validator, structural_risks=risks)
