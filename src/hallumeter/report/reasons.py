"""Count why judges did not call claims supported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from hallumeter.records.claim import Label, Verdict
from hallumeter.records.measurement import MetricSummary

from .document import ReasonCount, ReasonSection
from .languages.speaking import message, say
from .segmentation import CONSENSUS
from .wording import ALL_JUDGES

# What the codes of reasons and failures mean, in plain words; the only place that knows.

REASON_WORDS = {
    # The evidence says otherwise.
    "number_mismatch": message("the response and the evidence give different numbers for the same thing"),
    "unit_mismatch": message("the number is the same, the unit is not"),
    "date_mismatch": message("the response and the evidence give different dates"),
    "money_mismatch": message("the response and the evidence give different amounts of money"),
    "percent_mismatch": message("the response and the evidence give different percentages"),
    "name_mismatch": message("the response names somebody or something else than the evidence"),
    "quotation_mismatch": message("words in quotation marks differ from those of the evidence"),
    "negation_mismatch": message("one of the two denies what the other says"),
    "comparison_mismatch": message("more became less, before became after, or the like"),
    "role_mismatch": message("two names have changed places: who did it, and to whom"),
    "plan_mismatch": message("the evidence plans it or holds it possible, the response tells it as done or certain"),
    "list_mismatch": message("the evidence's list does not have this item"),
    "hours_mismatch": message("the response gives other opening hours than the record"),
    "field_mismatch": message("a field of the record says otherwise"),
    "figure_mismatch": message("the record gives another figure"),
    "answer_mismatch": message("a question in the dialogue was answered otherwise"),
    # The evidence is silent.
    "baseless": message("the evidence says nothing of the kind"),
    "field_empty": message("the field of the record is empty: it says neither yes nor no"),
    "number_not_found": message("the evidence has no such number"),
    "date_not_found": message("the evidence has no such date"),
    "name_not_found": message("the evidence has no such name"),
    "quotation_not_found": message("the evidence does not have the words in quotation marks"),
    "words_not_found": message("too few of the words are in the evidence"),
    "no_evidence": message("there was no evidence to check against"),
    # The judge could not tell.
    "quote_not_found": message("the judge quoted words that are not in the evidence, so its verdict does not count"),
    "evidence_cut": message("the evidence was too long to be read to its end"),
    "windows_disagree": message("parts of long evidence led to different verdicts"),
    "instruction_in_evidence": message("the evidence holds instructions to the judge"),
    "too_short": message("the claim is too short to be checked"),
    "languages_differ": message("the response and the evidence are in two languages"),
    "negation_unclear": message(
        "only one of the response and the evidence denies something; it is unclear whether it matters"
    ),
    "uncertain": message("the judge was not sure enough"),
    # Answers in clinical dialogues.
    "invented_medication": message("the answer says that the patient takes a drug that is not on the list"),
    "invented_condition": message("the answer says that the patient has a condition that is not in the record"),
    "denied_medication": message("the answer denies a drug that is on the list"),
    "denied_condition": message("the answer denies a condition that is in the record"),
    "lab_mismatch": message("the answer gives another laboratory value than the record"),
    "vital_mismatch": message("the answer gives another vital sign than the record"),
    "age_mismatch": message("the answer gives another age than the record"),
    "sex_mismatch": message("the answer gives another sex than the record"),
    "rule_violated": message("the answer recommends or permits what a safety rule forbids"),
    "requirement_missing": message("the answer lacks what a safety rule demands"),
    "contradicts_earlier": message("the answer contradicts the patient or an earlier answer"),
    "not_asserted": message("it is mentioned, but not said of this patient"),
    "not_in_record": message("the patient's record does not speak of it"),
    "cannot_compare": message("the value cannot be compared with that of the record"),
    "indirect_use": message("the fact is used without being named"),
    "unused_fact": message("the answer does not use a fact that the turn asks for"),
    "element_missing": message("the answer lacks something that the turn must include"),
    # What the annotators of RAGTruth wrote down.
    "evident_conflict": message("RAGTruth: plainly contradicts the evidence"),
    "subtle_conflict": message("RAGTruth: shifts the meaning of the evidence"),
    "evident_baseless_info": message("RAGTruth: adds facts that the evidence does not have"),
    "subtle_baseless_info": message("RAGTruth: adds inferences or overtones that the evidence does not have"),
}
"""Why a judge did not call a claim supported."""

FAILURE_WORDS = {
    # Calls that may succeed when they are made again.
    "timeout": message("no reply in time"),
    "connection": message("the connection broke, or none could be made"),
    "rate_limited": message("the provider asked to slow down, more often than was tried"),
    "server_error": message("the provider failed"),
    "conflict": message("the provider reported a conflict"),
    "truncated_reply": message("the reply ended before it was complete"),
    # Calls that would fail the same way.
    "refused_request": message("the provider did not accept the request"),
    "content_filter": message("the provider's content filter stopped it"),
    "empty_reply": message("the reply was empty"),
    "malformed_reply": message("the reply could not be read, nor repaired"),
    "error_reply": message("the reply was an error message"),
    # What stops a whole run.
    "bad_key": message("the provider did not accept the key"),
    "unknown_model": message("the provider has no such model"),
    "no_quota": message("the account has no quota left"),
    "budget_reached": message("the budget was used up before its turn came"),
    "interrupted": message("the run was stopped before its turn came"),
    # Judges that are no language models.
    "not_recorded": message("the recorded verdicts hold none on this claim"),
    "no_evidence": message("there was no evidence to check against"),
    "judge_error": message("the judge itself broke"),
    # Rows of a file.
    "bad_encoding": message("a line is not UTF-8"),
    "bad_json": message("a line is not valid JSON"),
    "bad_line": message("a line cannot be read"),
    "duplicate_record": message("a record has the id of an earlier one; the first counts"),
    "duplicate_verdict": message("a judge gave a second verdict on a claim; the first counts"),
    "impossible_probability": message("a probability is none"),
    "impossible_span": message("a place lies outside its text"),
    "line_too_long": message("a line is too long"),
    "missing_field": message("a row lacks a field that it needs"),
    "missing_label": message("a row has no label"),
    "ragged_row": message("a row has more or fewer cells than the header"),
    "unknown_label": message("a label is none of the known ones"),
    "wrong_type": message("a field holds something else than it should"),
    # Answers in dialogues.
    "no_answer": message("the system gave no answer"),
    "empty_answer": message("the answer is empty"),
    "unread_language": message("the answer is in a language that is not read"),
    # Pages.
    "unmeasurable": message("the page could not be compared"),
    "unpaired": message("a page has no partner to be compared with"),
    "unreadable": message("a page cannot be read"),
}
"""What broke."""
NOT_GIVEN = message("no reason was given")


def reason_words(code: str | None) -> str | None:
    """What a judge's reason means; None for a code of the judge's own.

    >>> reason_words("unit_mismatch"), reason_words("vibes")
    ('the number is the same, the unit is not', None)
    """
    known = NOT_GIVEN if code is None else REASON_WORDS.get(code)
    return None if known is None else say(known)


def failure_words(code: str) -> str | None:
    """What broke; None for a code that is not known here.

    >>> failure_words("timeout")
    'no reply in time'
    """
    known = FAILURE_WORDS.get(code)
    return None if known is None else say(known)


EXPLAINED = (Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED)
"""The labels that need a reason, worst first."""
MOST_CODES = 1_000
"""Different reasons that are told apart while counting; a judge that writes sentences would fill the memory."""
ROWS_OF_A_LABEL = 15
TOP = 3
"""Reasons of a label that are named where there is little room."""


class ReasonTally(Struct):
    """Reasons, while they are being counted."""

    counts: Counter[tuple[Label, str | None, str]]
    """Verdicts by label, reason and judge."""
    beyond: int = 0
    """Verdicts whose reason came after the last one that was told apart."""

    def add(self, label: Label, reason: str | None, *, judge: str, verdicts: int = 1) -> None:
        """Count verdicts, if their label needs a reason."""
        if label not in EXPLAINED:
            return
        key = (label, reason, judge)
        if key in self.counts or len(self.counts) < MOST_CODES:
            self.counts[key] += verdicts
        else:
            self.beyond += verdicts


def count_reasons(verdicts: Iterable[Verdict]) -> tuple[ReasonCount, ...]:
    """Why claims were not called supported, by label, most frequent first; empty when no judge gave a reason."""
    tally = ReasonTally(Counter())
    for verdict in verdicts:
        tally.add(verdict.label, verdict.reason, judge=verdict.judge)
    section = reason_section(tally)
    return () if section is None else section.rows


def reason_section(tally: ReasonTally) -> ReasonSection | None:
    """The most frequent reasons of each label; None when no judge gave a reason.

    The settled verdict of a panel is left out: it has no reason beside those of its judges.
    """
    judges = {judge for _, _, judge in tally.counts}
    found: dict[tuple[Label, str | None], dict[str, int]] = {}
    for (label, reason, judge), verdicts in tally.counts.items():
        if judge != CONSENSUS or len(judges) == 1:
            found.setdefault((label, reason), {})[judge] = verdicts
    if all(reason is None for _, reason in found):
        return None
    rows = [
        ReasonCount(label, reason, sum(judges.values()), dict(sorted(judges.items())))
        for (label, reason), judges in found.items()
    ]
    rows.sort(key=lambda row: (EXPLAINED.index(row.label), row.reason is None, -row.verdicts, row.reason or ""))
    kept = [row for label in EXPLAINED for row in _shown(_of(rows, label))]
    left_out = sum(row.verdicts for row in rows) - sum(row.verdicts for row in kept) + tally.beyond
    return ReasonSection(tuple(kept), left_out)


def top_reasons(reasons: Sequence[ReasonCount]) -> list[ReasonCount]:
    """The most frequent reasons of each label, for where there is little room."""
    given = [row for row in reasons if row.reason is not None]
    return [row for label in EXPLAINED for row in _of(given, label)[:TOP]]


def _of(rows: Sequence[ReasonCount], label: Label) -> list[ReasonCount]:
    return [row for row in rows if row.label is label]


def _shown(rows: list[ReasonCount]) -> list[ReasonCount]:
    """The most frequent rows; the verdicts without a reason stand last, whatever else is cut."""
    return [row for place, row in enumerate(rows) if place < ROWS_OF_A_LABEL or row.reason is None]


# Why metrics have no value: one entry for each reason, because a missing judge leaves dozens of figures undefined.


class UndefinedGroup(Struct, frozen=True):
    """The figures that are undefined for the same reason."""

    reason: str
    figures: tuple[tuple[str, MetricSummary], ...]
    """Each with the name that readers know its metric by."""

    @property
    def names(self) -> list[str]:
        """The metrics, each once."""
        return list(dict.fromkeys(name for name, _ in self.figures))


def undefined_groups(figures: Iterable[tuple[str, MetricSummary]]) -> list[UndefinedGroup]:
    """What has no value, by reason in order of appearance; figures that have one are passed over."""
    found: dict[str, list[tuple[str, MetricSummary]]] = {}
    for name, summary in figures:
        if summary.value is None:
            found.setdefault(summary.undefined or say(NOT_GIVEN), []).append((name, summary))
    return [UndefinedGroup(reason, tuple(group)) for reason, group in found.items()]


def place_words(summary: MetricSummary) -> str:
    """Which group and which judge a figure speaks of; empty for one of the whole run that needs no judge."""
    groups = [f"{field} {group}" for field, group in summary.by.items()]
    return ", ".join([*groups, *([_judge_words(summary.judge)] if summary.judge else [])])


def _judge_words(judge: str) -> str:
    return say(ALL_JUDGES) if judge == ALL_JUDGES else judge
