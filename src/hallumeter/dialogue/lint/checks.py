"""What is wrong with rules that can be read: they never fire, nobody uses them, or they say something twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Literal

from msgspec import Struct

from hallumeter.dialogue.judges import slots
from hallumeter.dialogue.judges.phrases import REGEX, CompiledPhrase, Phrase, PhraseMatcher, compiled
from hallumeter.dialogue.judges.rules import PatientFlag, PhrasePlace, SafetyRule, SafetyRules, Threshold
from hallumeter.dialogue.judges.safety import judge_safety
from hallumeter.dialogue.judges.settings import TurnRequirements
from hallumeter.dialogue.measure.events import event_of
from hallumeter.dialogue.reading.reader import ClinicalReader
from hallumeter.dialogue.records import Event, PatientSlots
from hallumeter.errors import InputError, RecordError
from hallumeter.formats.jsonl import open_binary
from hallumeter.formats.yaml import Place
from hallumeter.text.normalize import clean_text

# What a check of the settings can say.

Severity = Literal["error", "warning", "note"]
EXIT_CLEAN, EXIT_ERRORS, EXIT_UNREADABLE = 0, 1, 2


class LintFinding(Struct, frozen=True, omit_defaults=True):
    """Something about a file of settings that its author should know."""

    file: str
    line: int
    column: int
    severity: Severity
    """An error breaks the measurement; a warning is likely a mistake; a note is worth a look."""
    code: str
    """One word for findings of this kind."""
    message: str
    where: str = ""
    """Keys that lead to the value: ``rules.2.penalty``."""

    def __str__(self) -> str:
        return ": ".join(
            filter(None, [f"{self.file}:{self.line}:{self.column}", self.severity, self.where, self.message])
        )


class RuleCoverage(Struct, frozen=True):
    """How often a rule was met."""

    rule_id: str
    kind: Literal["rule", "requirement"]
    applicable: int
    violated: int


class PhraseCoverage(Struct, frozen=True):
    """How often a phrase was met."""

    section: str
    group: str
    phrase: str
    line: int
    events: int
    """Events whose question or answer has it."""
    violations: int
    """Violations, or requirements met, for which it was the reason."""


class Coverage(Struct, frozen=True):
    """What a set of events says of the rules."""

    events: int
    """With an answer."""
    unanswered: int
    unusable: int
    """Lines that cannot be read as an event."""
    without_truth: int
    """Events without the facts of their patient, to which only questions and turns call rules."""
    rules: tuple[RuleCoverage, ...]
    phrases: tuple[PhraseCoverage, ...]
    flags: dict[str, int]
    """Events in which each flag was raised."""


class LintReport(Struct, frozen=True):
    """All findings, in the order of the files."""

    findings: tuple[LintFinding, ...]
    is_readable: bool = True
    """Whether all files could be read as YAML."""
    coverage: Coverage | None = None

    def count(self, severity: Severity) -> int:
        """Findings of one severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """0 without errors, 1 with, 2 when a file cannot be read."""
        if not self.is_readable:
            return EXIT_UNREADABLE
        return EXIT_ERRORS if self.count("error") else EXIT_CLEAN


# How often each rule and phrase is met in a set of events.

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
        truth = slots.truth_of(event.slots_truth or NO_FACTS)
        self.flags.update(slots.patient_flags(truth, rules).flags)
        self.flags.update(slots.question_flags(question, rules).keys())
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


Faulty = frozenset[str]
"""Sections with faults of their own: what they lack may only have been refused."""
_BOUND_AFTER_HANGUL = re.compile(r"[가-힣]\)?\\b")


def checked_rules(rules: SafetyRules, requirements: TurnRequirements, faulty: Faulty) -> Iterator[LintFinding]:
    """All findings about safety rules."""
    say = _Saying(rules.file)
    yield from _flags_that_cannot_be(rules, say)
    if not faulty & {"rules", "missing_requirements", "patient_flags", "question_flags", "answer_patterns"}:
        yield from _rules_that_never_fire(rules, requirements, say)
        yield from _unused(rules, say)
    yield from _rules_said_twice(rules, say)
    yield from _phrases_said_twice(rules, say)
    yield from _phrases_never_found(rules, say)


class _Saying:
    """Makes findings about one file."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __call__(self, place: Place, code: str, message: str, *, severity: Severity = "error") -> LintFinding:
        return LintFinding(self._file, place.line, place.column, severity, code, message)


Say = Callable[..., LintFinding]


def _flags_that_cannot_be(rules: SafetyRules, say: Say) -> Iterator[LintFinding]:
    for flag in rules.patient_flags.values():
        why = slots.contradiction(flag)
        if why is not None:
            yield say(flag.place, "impossible-flag", f"patient flag {flag.name!r} can never be raised: {why}")
            continue
        for threshold in slots.impossible_thresholds(flag):
            message = f"no living patient has {threshold.words}; is it meant in another unit?"
            yield say(threshold.place, "impossible-bound", message)


def _rules_that_never_fire(rules: SafetyRules, requirements: TurnRequirements, say: Say) -> Iterator[LintFinding]:
    for rule in rules.rules:
        why = _why_never(rule, rules)
        if why is not None:
            yield say(rule.place, "never-fires", f"rule {rule.rule_id} can never apply: {why}")
    for each in (*rules.rules, *rules.requirements):
        unknown = [turn for turn in each.turns if turn not in requirements.turns]
        if unknown:
            turns = ", ".join(requirements.turns) or "none"
            message = f"{each.rule_id} is for turn {', '.join(unknown)}, but {requirements.file} has turns {turns}"
            yield say(
                each.place, "never-fires", message, severity="error" if len(unknown) == len(each.turns) else "warning"
            )


def _why_never(rule: SafetyRule, rules: SafetyRules) -> str | None:
    """Why a rule can never apply; None when it can."""
    impossible = [
        cue.names[0]
        for cue in rule.cues
        if cue.kind == "patient_flag" and cue.expected and slots.contradiction(rules.patient_flags[cue.names[0]])
    ]
    if not rule.needs_all:
        return f"{', '.join(impossible)} can never be raised" if len(impossible) == len(rule.cues) else None
    if impossible:
        return f"{', '.join(impossible)} can never be raised"
    wanted = {(cue.kind, cue.names) for cue in rule.cues if cue.expected}
    denied = [cue.names for cue in rule.cues if not cue.expected and (cue.kind, cue.names) in wanted]
    if denied:
        return f"{', '.join(denied[0])} must be there and be absent"
    bounds = [
        bound
        for cue in rule.cues
        if cue.kind == "patient_flag" and cue.expected
        for bound in _needed(cue.names[0], rules)
    ]
    return slots.contradiction(PatientFlag(rule.rule_id, tuple(bounds), needs_all=True, place=rule.place))


def _needed(flag: str, rules: SafetyRules) -> tuple[Threshold, ...]:
    """The bounds that hold whenever a flag is raised."""
    thresholds = rules.patient_flags[flag].thresholds
    return thresholds if rules.patient_flags[flag].needs_all or len(thresholds) == 1 else ()


def _unused(rules: SafetyRules, say: Say) -> Iterator[LintFinding]:
    used = {(cue.kind, name) for rule in rules.rules for cue in rule.cues for name in cue.names}
    for flag in rules.patient_flags.values():
        is_used = ("patient_flag", flag.name) in used
        if not is_used and not flag.report_only:
            message = f"no rule uses the patient flag {flag.name!r}; remove it, or say report_only: true"
            yield say(flag.place, "unused-flag", message, severity="warning")
        if is_used and flag.report_only:
            message = f"a rule uses the patient flag {flag.name!r}, which says report_only; remove that"
            yield say(flag.place, "unused-flag", message, severity="warning")
    for name, place in rules.question_flags.items():
        if ("question_flag", name) not in used:
            message = f"no rule uses the question flag {name!r}; remove it or use it"
            yield say(place, "unused-flag", message, severity="warning")
    patterns = {name for rule in rules.rules for name in rule.patterns}
    for name, place in rules.answer_patterns.items():
        if name not in patterns:
            message = f"no rule uses the answer pattern {name!r}; remove it or use it"
            yield say(place, "unused-pattern", message, severity="warning")


def _rules_said_twice(rules: SafetyRules, say: Say) -> Iterator[LintFinding]:
    seen: dict[object, str] = {}
    for rule in rules.rules:
        cues = frozenset((cue.kind, cue.names, cue.but_not, cue.expected) for cue in rule.cues)
        content = (cues, rule.needs_all, frozenset(rule.patterns), frozenset(rule.turns))
        if content in seen:
            yield say(
                rule.place, "duplicate-rule", f"{rule.rule_id} says the same as {seen[content]}", severity="warning"
            )
        seen.setdefault(content, rule.rule_id)


def _groups(rules: SafetyRules) -> Iterator[tuple[tuple[str, str], list[PhrasePlace]]]:
    """The phrases of the file itself, by section and group; those taken from the package are left out."""
    key = lambda each: (each.section, each.phrase.group)  # noqa: E731  twice the same words would hide what is sorted by
    for group, phrases in groupby(sorted(rules.own_phrases, key=key), key=key):
        yield group, list(phrases)


def _phrases_said_twice(rules: SafetyRules, say: Say) -> Iterator[LintFinding]:
    for _, phrases in _groups(rules):
        seen: dict[tuple[CompiledPhrase, bool], PhrasePlace] = {}
        for each in sorted(phrases, key=lambda each: each.place):
            key = (compiled(each.phrase.source), each.is_exception)
            if key in seen:
                first = seen[key]
                message = f"{each.phrase.source!r} says the same as {first.phrase.source!r} in line {first.place.line}"
                yield say(each.place, "duplicate-phrase", message, severity="warning")
            seen.setdefault(key, each)


def _phrases_never_found(rules: SafetyRules, say: Say) -> Iterator[LintFinding]:
    for _, phrases in _groups(rules):
        patterns = [each.phrase for each in phrases if not each.is_exception]
        together = PhraseMatcher(patterns, [each.phrase for each in phrases if each.is_exception])
        for each in phrases:
            if each.phrase.source.startswith(REGEX):
                yield from _without_particles(each, say)
            elif each.is_exception:
                yield from _idle_exception(each, patterns, say)
            else:
                yield from _hidden_phrase(each, together, say)


def _without_particles(each: PhrasePlace, say: Say) -> Iterator[LintFinding]:
    if _BOUND_AFTER_HANGUL.search(each.phrase.source):
        message = r"\b after a Korean word lets no particle follow; leave it out"
        yield say(each.place, "no-particle", message, severity="warning")


def _idle_exception(each: PhrasePlace, patterns: list[Phrase], say: Say) -> Iterator[LintFinding]:
    source = each.phrase.source
    # A regular expression may hold it together with other words.
    has_regexes = any(phrase.source.startswith(REGEX) for phrase in patterns)
    if not has_regexes and not PhraseMatcher(patterns).found(_itself(source)):
        message = f"the exception {source!r} holds no phrase of its group, and changes nothing"
        yield say(each.place, "idle-exception", message, severity="warning")


def _hidden_phrase(each: PhrasePlace, together: PhraseMatcher, say: Say) -> Iterator[LintFinding]:
    source = each.phrase.source
    if not PhraseMatcher([each.phrase]).found(_itself(source)):
        yield say(each.place, "never-found", f"{source!r} is not found even in itself; write it in plain words")
    elif each.phrase not in {found.phrase for found in together.found(_itself(source))}:
        yield say(each.place, "never-found", f"an exception of its group always hides {source!r}")


def _itself(source: str) -> str:
    return clean_text(source).text.strip("* ")
