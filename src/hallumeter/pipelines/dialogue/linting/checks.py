"""What is wrong with rules that can be read: they never fire, nobody uses them, or they say something twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from hallumeter.formats.yaml_nodes import Place
from hallumeter.judges.clinical.flags import contradiction, impossible_thresholds
from hallumeter.judges.clinical.phrases import REGEX, CompiledPhrase, Phrase, PhraseMatcher, compiled
from hallumeter.judges.clinical.rules import PatientFlag, PhrasePlace, SafetyRule, SafetyRules, Threshold
from hallumeter.judges.clinical.settings import TurnRequirements
from hallumeter.text.normalize import clean_text

from .findings import LintFinding, Severity

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
        why = contradiction(flag)
        if why is not None:
            yield say(flag.place, "impossible-flag", f"patient flag {flag.name!r} can never be raised: {why}")
            continue
        for threshold in impossible_thresholds(flag):
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
        if cue.kind == "patient_flag" and cue.expected and contradiction(rules.patient_flags[cue.names[0]])
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
    return contradiction(PatientFlag(rule.rule_id, tuple(bounds), needs_all=True, place=rule.place))


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
