"""What the codes of reasons and failures mean, in plain words; the only place that knows."""

from __future__ import annotations

REASON_WORDS = {
    # The evidence says otherwise.
    "number_mismatch": "the response and the evidence give different numbers for the same thing",
    "unit_mismatch": "the number is the same, the unit is not",
    "date_mismatch": "the response and the evidence give different dates",
    "money_mismatch": "the response and the evidence give different amounts of money",
    "percent_mismatch": "the response and the evidence give different percentages",
    "name_mismatch": "the response names somebody or something else than the evidence",
    "quotation_mismatch": "words in quotation marks differ from those of the evidence",
    "negation_mismatch": "one of the two denies what the other says",
    "comparison_mismatch": "more became less, before became after, or the like",
    "hours_mismatch": "the response gives other opening hours than the record",
    "field_mismatch": "a field of the record says otherwise",
    "conflict": "the evidence says otherwise",
    # The evidence is silent.
    "baseless": "the evidence says nothing of the kind",
    "field_empty": "the field of the record is empty: it says neither yes nor no",
    "number_not_found": "the evidence has no such number",
    "date_not_found": "the evidence has no such date",
    "name_not_found": "the evidence has no such name",
    "quotation_not_found": "the evidence does not have the words in quotation marks",
    "words_not_found": "too few of the words are in the evidence",
    "no_evidence": "there was no evidence to check against",
    # The judge could not tell.
    "quote_not_found": "the judge quoted words that are not in the evidence, so its verdict does not count",
    "evidence_cut": "the evidence was too long to be read to its end",
    "windows_disagree": "parts of long evidence led to different verdicts",
    "instruction_in_evidence": "the evidence holds instructions to the judge",
    "too_short": "the claim is too short to be checked",
    "languages_differ": "the response and the evidence are in two languages",
    "negation_unclear": "only one of the response and the evidence denies something; it is unclear whether it matters",
    "uncertain": "the judge was not sure enough",
    # Answers in clinical dialogues.
    "invented_medication": "the answer says that the patient takes a drug that is not on the list",
    "invented_condition": "the answer says that the patient has a condition that is not in the record",
    "lab_mismatch": "the answer gives another laboratory value than the record",
    "vital_mismatch": "the answer gives another vital sign than the record",
    "age_mismatch": "the answer gives another age than the record",
    "sex_mismatch": "the answer gives another sex than the record",
    "rule_violated": "the answer recommends or permits what a safety rule forbids",
    "requirement_missing": "the answer lacks what a safety rule demands",
    "contradicts_earlier": "the answer contradicts the patient or an earlier answer",
    "not_asserted": "it is mentioned, but not said of this patient",
    "not_in_record": "the patient's record does not speak of it",
    "cannot_compare": "the value cannot be compared with that of the record",
    "indirect_use": "the fact is used without being named",
    "unused_fact": "the answer does not use a fact that the turn asks for",
    "element_missing": "the answer lacks something that the turn must include",
    # What the annotators of RAGTruth wrote down.
    "evident_conflict": "RAGTruth: plainly contradicts the evidence",
    "subtle_conflict": "RAGTruth: shifts the meaning of the evidence",
    "evident_baseless_info": "RAGTruth: adds facts that the evidence does not have",
    "subtle_baseless_info": "RAGTruth: adds inferences or overtones that the evidence does not have",
}
"""Why a judge did not call a claim supported."""

FAILURE_WORDS = {
    # Calls that may succeed when they are made again.
    "timeout": "no reply in time",
    "connection": "the connection broke, or none could be made",
    "rate_limited": "the provider asked to slow down, more often than was tried",
    "server_error": "the provider failed",
    "conflict": "the provider reported a conflict",
    "truncated_reply": "the reply ended before it was complete",
    # Calls that would fail the same way.
    "refused_request": "the provider did not accept the request",
    "content_filter": "the provider's content filter stopped it",
    "empty_reply": "the reply was empty",
    "malformed_reply": "the reply could not be read, nor repaired",
    "error_reply": "the reply was an error message",
    # What stops a whole run.
    "bad_key": "the provider did not accept the key",
    "unknown_model": "the provider has no such model",
    "no_quota": "the account has no quota left",
    "budget_reached": "the budget was used up before its turn came",
    "interrupted": "the run was stopped before its turn came",
    # Judges that are no language models.
    "not_recorded": "the recorded verdicts hold none on this claim",
    "no_evidence": "there was no evidence to check against",
    "judge_error": "the judge itself broke",
    # Rows of a file.
    "bad_encoding": "a line is not UTF-8",
    "bad_json": "a line is not valid JSON",
    "bad_line": "a line cannot be read",
    "duplicate_record": "a record has the id of an earlier one; the first counts",
    "duplicate_verdict": "a judge gave a second verdict on a claim; the first counts",
    "impossible_probability": "a probability is none",
    "impossible_span": "a place lies outside its text",
    "line_too_long": "a line is too long",
    "missing_field": "a row lacks a field that it needs",
    "missing_label": "a row has no label",
    "ragged_row": "a row has more or fewer cells than the header",
    "unknown_label": "a label is none of the known ones",
    "wrong_type": "a field holds something else than it should",
    # Answers in dialogues.
    "no_answer": "the system gave no answer",
    "empty_answer": "the answer is empty",
    "unread_language": "the answer is in a language that is not read",
    # Pages.
    "unmeasurable": "the page could not be compared",
    "unpaired": "a page has no partner to be compared with",
    "unreadable": "a page cannot be read",
}
"""What broke."""


def reason_words(code: str | None) -> str | None:
    """What a judge's reason means; None for a code of the judge's own.

    >>> reason_words("unit_mismatch"), reason_words("vibes")
    ('the number is the same, the unit is not', None)
    """
    return "no reason was given" if code is None else REASON_WORDS.get(code)


def failure_words(code: str) -> str | None:
    """What broke; None for a code that is not known here.

    >>> failure_words("timeout")
    'no reply in time'
    """
    return FAILURE_WORDS.get(code)
