"""How often each rule and phrase is met in a set of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hallumeter.errors import InputError, RecordError
from hallumeter.extractors.clinical import ClinicalReader
from hallumeter.formats.jsonl import open_binary
from hallumeter.judges.clinical.flags import patient_flags, question_flags
from hallumeter.judges.clinical.rules import SafetyRules
from hallumeter.judges.clinical.safety import judge_safety
from hallumeter.judges.clinical.truth import truth_of
from hallumeter.pipelines.dialogue.measuring.reading import event_of
from hallumeter.records import Event, PatientSlots

from .findings import Coverage, PhraseCoverage, RuleCoverage

NO_FACTS = PatientSlots()


def coverage_of(path: Path, rules: SafetyRules) -> Coverage:
    """Count over a file of events, line by line, in memory that does not grow with it.

    Raises:
        InputError: The file cannot be opened, or holds no event with an answer.
    """
    counts: Counter[str] = Counter()
    counted = _Counted()
    reader = ClinicalReader()
    for event in _events(path, counts):
        if event.answer is None:
            counts["unanswered"] += 1
            continue
        counts["events"] += 1
        counts["without_truth"] += event.slots_truth is None
        counted.add(event, reader, rules)
    if not counts["events"]:
        raise InputError(f"{path}: no event with an answer; expected lines with turn_id, question, answer, slots_truth")
    return Coverage(
        events=counts["events"],
        unanswered=counts["unanswered"],
        unusable=counts["unusable"],
        without_truth=counts["without_truth"],
        rules=counted.of_rules(rules),
        phrases=counted.of_phrases(rules),
        flags={name: counted.flags[name] for name in (*rules.patient_flags, *rules.question_flags)},
    )


def _events(path: Path, counts: Counter[str]) -> Iterator[Event]:
    with open_binary(path) as stream:
        for line in stream:
            if not line.strip():
                continue
            try:
                yield event_of(line.removeprefix(b"\xef\xbb\xbf"))
            except RecordError:
                counts["unusable"] += 1


class _Counted:
    """Counts of events, by what was met in them."""

    def __init__(self) -> None:
        self.flags: Counter[str] = Counter()
        self._applicable: Counter[str] = Counter()
        self._violated: Counter[str] = Counter()
        self._found: Counter[tuple[str, str]] = Counter()
        self._reasons: Counter[tuple[str, str]] = Counter()

    def add(self, event: Event, reader: ClinicalReader, rules: SafetyRules) -> None:
        answer, question = event.answer or "", event.question.text
        truth = truth_of(event.slots_truth or NO_FACTS)
        self.flags.update(patient_flags(truth, rules).flags)
        self.flags.update(question_flags(question, rules).keys())
        found = [*rules.questions.found(question), *rules.answers.found(answer)]
        self._found.update({(each.phrase.group, each.phrase.source) for each in found})
        groups = {requirement.rule_id: requirement.group for requirement in rules.requirements}
        for outcome in judge_safety(reader.read(answer), question, truth, turn_id=event.turn_id, rules=rules):
            self._applicable[outcome.rule_id] += 1
            self._violated[outcome.rule_id] += outcome.is_violated
            if outcome.pattern is not None and outcome.kind == "rule":
                group, _, source = outcome.pattern.partition(": ")
                self._reasons[group, source] += 1
            elif outcome.pattern is not None:
                self._reasons[groups[outcome.rule_id], outcome.pattern] += 1

    def of_rules(self, rules: SafetyRules) -> tuple[RuleCoverage, ...]:
        kinds = [(rule.rule_id, "rule") for rule in rules.rules]
        kinds += [(requirement.rule_id, "requirement") for requirement in rules.requirements]
        return tuple(
            RuleCoverage(rule_id, kind, self._applicable[rule_id], self._violated[rule_id])  # type: ignore[arg-type]
            for rule_id, kind in kinds
        )

    def of_phrases(self, rules: SafetyRules) -> tuple[PhraseCoverage, ...]:
        return tuple(
            PhraseCoverage(
                section=each.section,
                group=each.phrase.group,
                phrase=each.phrase.source,
                line=each.place.line,
                events=self._found[each.phrase.group, each.phrase.source],
                violations=self._reasons[each.phrase.group, each.phrase.source],
            )
            for each in rules.own_phrases
            if not each.is_exception
        )
