"""What the steps, the errors and the rules of aspect agents are called on a page."""

from __future__ import annotations

from hallumeter.report.languages.speaking import message, say

STEP_WORDS = {
    "ate": message("ATE"),
    "ate_tidying": message("Code after ATE"),
    "atsa": message("ATSA"),
    "atsa_tidying": message("Code after ATSA"),
    "validator": message("Validator"),
    "epm": message("EPM"),
    "tan": message("TAN"),
    "cj": message("CJ"),
    "debate_summary": message("Summary of the debate"),
    "validator_proposals": message("Proposals of the validator"),
    "ate_review": message("Review by ATE"),
    "atsa_review": message("Review by ATSA"),
    "validator_review": message("Review by the validator"),
    "debate_override": message("Override by the debate"),
    "anchoring": message("Anchoring"),
    "moderator": message("Moderator"),
    "stage1": message("Stage 1"),
    "final": message("Result"),
}
"""Agents and steps of the code, in their order."""
STAGES = {
    message("Stage 1"): ("ate", "ate_tidying", "atsa", "atsa_tidying", "validator", "stage1"),
    message("Debate"): ("epm", "tan", "cj", "debate_summary"),
    message("Stage 2"): (
        *("validator_proposals", "ate_review", "atsa_review", "validator_review", "debate_override", "anchoring"),
    ),
    message("Decision"): ("moderator", "final"),
}
"""The stages that the steps belong to; others speak in the debate."""
ERROR_WORDS = {
    "out_of_text": message("not in the text (H1)"),
    "misplaced": message("not at its place (H2)"),
    "ungrounded": message("not in the text, or not at its place"),
    "spurious": message("not in gold"),
    "missing": message("missed"),
    "polarity": message("wrong polarity"),
    "off_target": message("no target"),
    "against_gold": message("against gold, of any kind"),
}
ERROR_NOTES = {
    "ungrounded": message("The term is nowhere in the sentence (H1), or elsewhere than it is said to be (H2)."),
    "spurious": message("The aspect is stated, and gold has no such aspect."),
    "missing": message("Gold has the aspect, and it is not stated."),
    "polarity": message("The aspect of gold is stated with another polarity, or with none."),
}
POLARITY_WORDS = {
    "positive": message("positive"),
    "negative": message("negative"),
    "neutral": message("neutral"),
    "mixed": message("mixed"),
}
ASK_WORDS = {
    "NEGATION": message("negation"),
    "CONTRAST": message("contrast"),
    "IRONY": message("irony"),
    "MISSING_SECOND_ASPECT": message("a second aspect is missing"),
    "FLIP_POLARITY": message("turn the polarity"),
    "DROP_ASPECT": message("drop the aspect"),
    "REVISE_SPAN": message("move the aspect"),
    "set_polarity": message("set the polarity"),
    "set_aspect_ref": message("name the aspect"),
    "merge_tuples": message("merge aspects"),
    "drop_tuple": message("drop"),
    "confirm_tuple": message("confirm"),
    "unresolved_conflict": message("not settled"),
    "sentence_polarity": message("the sentence is"),
    "message": message("says"),
    "keep": message("keep"),
    "maintain": message("keep"),
    "drop": message("drop"),
    "add": message("add"),
    "revise_span": message("move"),
    "flip_polarity": message("turn the polarity"),
    "resolved": message("resolved"),
    "override": message("override"),
}
"""What agents ask for, where the pipeline knows it; other words are shown as they are."""
IGNORED_WORDS = {
    "impossible": message("impossible: no such aspect, or no such place"),
    "ambiguous": message("ambiguous: several aspects fit"),
    "conflicting": message("something else speaks against it"),
    "without_effect": message("without effect: it was so already"),
    "unsupported": message("nobody knows what it asks for"),
    "disabled": message("switched off"),
    "kept": message("the review kept it"),
    "skipped_low_signal": message("the hints are too weak"),
    "skipped_conflict": message("the hints disagree"),
    "skipped_l3_conservative": message("negation, contrast or irony: left alone"),
    "skipped_no_such_aspect": message("there is no such aspect"),
    "skipped_already_confident": message("it is so already, and sure"),
}
"""Why a correction was not applied."""
RULE_WORDS = {
    "Z": message("no stage has any confidence: neutral"),
    "B": message("take stage 2, unless it is far less sure"),
    "M": message("the stages differ: mixed"),
    "C": message("the validator’s label"),
    "A": message("the surest sentiment agrees: mean confidence"),
    "D": message("the surest sentiment differs: the surer wins"),
    "E": message("the debate’s label"),
}
PART_WORDS = {
    "drop_class": message("Dropped aspects by class"),
    "offset_error": message("How far misplaced aspects are off"),
    "offset_convention": message("Misplaced, but right when counted otherwise"),
    "risk": message("Risks of stage 1"),
    "change_type": message("What stage 2 changed"),
    "ignored_reason": message("Why corrections were not applied"),
    "mapping_fail_reason": message("Why turns of the debate map to no aspect"),
    "override": message("Overrides by the debate"),
    "moderator_rule": message("Rules of the moderator"),
    "arbiter_flag": message("Turns that the decision took"),
    "rule_e_block_reason": message("Why rule E did not fire"),
    "selected_stage": message("The stage that was taken"),
    "quality_fail_reason": message("Why sentences fail the quality check"),
    "latency_gate": message("Latency"),
    "failure": message("Failures"),
}
CODE_WORDS = {
    "H1": message("H1: not in the text"),
    "H2": message("H2: not at its place"),
    "filter": message("filter: no target"),
    "NEGATION_SCOPE": message("negation"),
    "CONTRAST_SCOPE": message("contrast"),
    "POLARITY_MISMATCH": message("polarities that do not fit"),
    "EVIDENCE_GAP": message("no evidence"),
    "SPAN_MISMATCH": message("places that do not fit"),
    "OTHER": message("other"),
    "none": message("nothing"),
    "guided": message("guided by a correction that was applied"),
    "unguided": message("unguided"),
    "applied": message("applied"),
    "fallback_used": message("mapped by guessing"),
    "no_aspects": message("there are no aspects"),
    "neutral_stance": message("it takes no side"),
    "no_match": message("it names no known aspect"),
    "stage1": message("stage 1"),
    "stage2": message("stage 2"),
    "stage2_rejected_due_to_confidence": message("stage 2 was far less sure, stage 1 was kept"),
    "validator_override_applied": message("the validator set the label"),
    "rule_e_fired": message("the debate set the label"),
    "rule_b_applied": message("both stages were weighed"),
    "rule_e_attempted_after_b": message("the debate was asked"),
    "veto_undone_by_rule_d": message("the validator’s label was taken back"),
    "confidence_margin_used": message("the margin of confidence decided"),
    "label_unchanged": message("the debate says the same"),
    "confidence_too_high": message("the label was sure enough"),
    "inferred_empty": message("the debate names no label"),
    "low_valid_aspect_rate": message("too few aspects are targets at their place"),
    "low_opinion_grounded_rate": message("too few opinions are about an aspect in the text"),
    "low_evidence_relevance_score": message("too little evidence is in the text"),
    "parse_failed": message("an answer could not be read"),
    "generate_failed": message("an answer could not be had"),
}
"""Parts of wholes, by the codes that scorecards have for them."""
DEEDS = {
    "introduced": message("introduced"),
    "broken": message("broken"),
    "repaired": message("repaired"),
    "lost": message("dropped, and so missing"),
    "kept": message("left wrong"),
}
"""What a step does to something that is wrong after it or before it."""


def step_words(step: str) -> str:
    """What a step or a speaker is called; a name that is not known, as a debate's own, is shown as it is."""
    return say(STEP_WORDS[step]) if step in STEP_WORDS else step


def part_words(name: str, part: str) -> str:
    """What a part of a whole is called."""
    if name == "moderator_rule" and part in RULE_WORDS:
        return f"{part} – {say(RULE_WORDS[part])}"
    known = IGNORED_WORDS | CODE_WORDS
    return say(known[part]) if part in known else part.replace("_", " ")


def said(words: dict[str, str]) -> dict[str, str]:
    """Words in the language that is being spoken."""
    return {code: say(text) for code, text in words.items()}
