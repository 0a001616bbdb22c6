"""A folder of settings: made, checked, and summed up."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from hallumeter.dialogue.judges.rules import SafetyRules
from hallumeter.dialogue.judges.settings import (
    RULES_FILE,
    TURNS_FILE,
    Settings,
    read_safety_rules,
    read_turn_requirements,
    settings_paths,
    shipped_content,
)
from hallumeter.errors import InputError
from hallumeter.formats.yaml import YamlFile, read_bytes
from hallumeter.text.normalize import one_line

from .checks import Coverage, LintFinding, LintReport, Severity, checked_rules, coverage_of

# Findings and settings as text for the terminal.

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def lint_text(report: LintReport) -> str:
    """One line for each finding, the coverage when there is one, and a last line that counts."""
    lines = [one_line(str(finding)) for finding in report.findings]
    if report.coverage is not None:
        lines += ["", *_coverage_lines(report.coverage)]
    counts = [_counted(report.count(severity), severity) for severity in _SEVERITIES if report.count(severity)]
    lines += ([""] if lines else []) + [", ".join(counts) or "no findings"]
    return "\n".join(lines) + "\n"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"


def _coverage_lines(coverage: Coverage) -> Iterator[str]:
    yield f"coverage over {_counted(coverage.events, 'event')}" + "".join(
        f", {number:,} {what}"
        for number, what in (
            (coverage.unanswered, "without an answer"),
            (coverage.unusable, "lines that cannot be read"),
            (coverage.without_truth, "without facts of the patient"),
        )
        if number
    )
    width = max(4, *(len(rule.rule_id) for rule in coverage.rules), 0)
    yield f"  {'rule':{width}}  applicable  violated"
    for rule in coverage.rules:
        yield f"  {one_line(rule.rule_id):{width}}  {rule.applicable:10,}  {rule.violated:8,}"
    raised = [(name, count) for name, count in coverage.flags.items() if count]
    yield f"  flags raised: {', '.join(f'{one_line(name)} {count:,}' for name, count in raised) or 'none'}"
    met = sorted((each for each in coverage.phrases if each.events), key=lambda each: -each.events)
    for title, wanted in (("phrases found", "answer_patterns"), ("cues of questions found", "question_flags")):
        named = [f"{one_line(each.phrase)} {each.events:,}" for each in met if each.section == wanted]
        yield f"  {title}: {', '.join(named[:20]) or 'none'}{' ...' if len(named) > 20 else ''}"


def settings_text(summary: dict[str, Any]) -> str:
    """Where the settings come from and what they say."""
    lines = []
    for name, file in summary["files"].items():
        lines.append(f"{name}  {file['path'] or 'as shipped'}  {file['digest']}")
    lines += ["", "turns"]
    for key, turn in summary["turns"].items():
        slots = ", ".join(f"{slot} {weight:g}" for slot, weight in turn["required_slots"].items())
        included = f"; must include {', '.join(turn['must_include'])}" if turn["must_include"] else ""
        lines.append(f"  {key}  {turn['name']}: {slots}{included}")
    weights = ", ".join(f"{name} {weight:g}" for name, weight in summary["weights"].items())
    lines += ["", f"aggregate  {weights or 'none'}", "", "patient flags"]
    lines += [f"  {name}: {bounds}" for name, bounds in summary["patient_flags"].items()]
    lines += ["", "question flags and answer patterns"]
    for section in ("question_flags", "answer_patterns"):
        lines += [f"  {name}: {count} phrases" for name, count in summary[section].items()]
    lines += ["", "rules"]
    for rule in summary["rules"]:
        turns = f", turns {', '.join(rule['turns'])}" if rule["turns"] else ""
        lines.append(f"  {rule['id']}  {rule['weight']:g}  {rule['name']}{turns}")
        lines.append(f"      when {rule['when']}; violated by {', '.join(rule['violated_by'])}")
    for each in summary["requirements"]:
        lines.append(f"  {each['id']}  {each['weight']:g}  {each['name']}, turns {', '.join(each['turns'])}")
    return "".join(f"{one_line(line) if not line.startswith(' ') else _indented(line)}\n" for line in lines)


def _indented(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + one_line(line)


_MOST_NAMED = 12
"""Phrases of a group that are named as never found."""


def init_settings(folder: Path) -> tuple[list[Path], list[Path]]:
    """Copy the files that ship into a folder, which is made; files that are there stay as they are.

    Returns the paths that were written, and those that were there.

    Raises:
        InputError: The folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = {folder / name: _write_once(folder / name) for name in (TURNS_FILE, RULES_FILE)}
    except OSError as error:
        raise InputError(f"{folder}: settings cannot be written there ({error.strerror or error})") from error
    return [path for path, is_new in paths.items() if is_new], [path for path, is_new in paths.items() if not is_new]


def _write_once(path: Path) -> bool:
    """Write a file that ships, unless one is there; whether it was written."""
    try:
        with path.open("xb") as stream:
            stream.write(shipped_content(path.name))
    except FileExistsError:
        return False
    return True


def lint_settings(folder: Path | None = None, events: Path | None = None) -> LintReport:
    """Check the settings of a folder, or those that ship; with `events` also count how often each rule is met.

    Events are counted only when the rules have no errors.

    Raises:
        InputError: There is no such folder or file.
    """
    turns, rules = settings_paths(folder) if folder is not None else (None, None)
    requirements, turns_file = read_turn_requirements(_content(turns, TURNS_FILE), TURNS_FILE)
    safety, rules_file = read_safety_rules(_content(rules, RULES_FILE), RULES_FILE)
    findings = [*_faults(turns_file), *_faults(rules_file)]
    if rules_file.root is not None:
        faulty = frozenset(str(fault.keys[0]) for fault in rules_file.faults if fault.keys)
        findings += checked_rules(safety, requirements, faulty)
    is_readable = turns_file.root is not None and rules_file.root is not None
    coverage = None
    if events is not None and is_readable and not rules_file.faults:
        coverage = coverage_of(events, safety)
        findings += _never_met(coverage, safety)
    findings.sort(key=lambda finding: (finding.file, finding.line, finding.column))
    return LintReport(tuple(findings), is_readable, coverage)


def _content(path: Path | None, name: str) -> bytes:
    return shipped_content(name) if path is None else read_bytes(path)


def _faults(file: YamlFile) -> Iterator[LintFinding]:
    for fault in file.faults:
        code = "syntax" if fault.is_syntax else "invalid"
        where = ".".join(map(str, fault.keys))
        yield LintFinding(fault.file, fault.place.line, fault.place.column, "error", code, fault.message, where)
    for note in file.notes:
        yield LintFinding(file.name, note.place.line, note.place.column, "note", "other-name", note.message)


def _never_met(coverage: Coverage, rules: SafetyRules) -> Iterator[LintFinding]:
    """What these events have nothing of."""
    places = {rule.rule_id: rule.place for rule in (*rules.rules, *rules.requirements)}
    for rule in coverage.rules:
        if not rule.applicable:
            place = places[rule.rule_id]
            message = f"{rule.rule_id} applies to none of the {coverage.events:,} events"
            yield LintFinding(rules.file, place.line, place.column, "note", "never-applied", message)
    for (section, group), phrases in groupby(coverage.phrases, key=lambda each: (each.section, each.group)):
        each = list(phrases)
        absent = [phrase for phrase in each if not phrase.events]
        if absent and section != "context_cues":
            named = ", ".join(repr(phrase.phrase) for phrase in absent[:_MOST_NAMED])
            more = f" and {len(absent) - _MOST_NAMED} more" if len(absent) > _MOST_NAMED else ""
            message = f"{len(absent)} of {len(each)} phrases of {group} are in none of the events: {named}{more}"
            yield LintFinding(rules.file, absent[0].line, 1, "note", "never-found", message)


def settings_summary(settings: Settings, folder: Path | None) -> dict[str, object]:
    """The settings as they hold, for people and programs."""
    requirements, rules = settings.requirements, settings.rules
    turns, rules_path = settings_paths(folder) if folder is not None else (None, None)
    return {
        "files": {
            TURNS_FILE: {"path": str(turns) if turns else None, "digest": requirements.digest},
            RULES_FILE: {"path": str(rules_path) if rules_path else None, "digest": rules.digest},
        },
        "turns": {
            key: {
                "name": turn.name,
                "required_slots": dict(turn.required_slots),
                "must_include": list(turn.must_include),
                "min_expected": turn.min_expected,
            }
            for key, turn in requirements.turns.items()
        },
        "weights": requirements.weights,
        "patient_flags": {
            name: (" and " if flag.needs_all else " or ").join(bound.words for bound in flag.thresholds)
            for name, flag in rules.patient_flags.items()
        },
        "question_flags": {name: _phrases(rules, "question_flags", name) for name in rules.question_flags},
        "answer_patterns": {name: _phrases(rules, "answer_patterns", name) for name in rules.answer_patterns},
        "rules": [
            {
                "id": rule.rule_id,
                "name": rule.name,
                "weight": rule.weight,
                "when": (" and " if rule.needs_all else " or ").join(
                    f"{'' if cue.expected else 'not '}{cue.kind} {'/'.join(cue.names)}" for cue in rule.cues
                ),
                "violated_by": list(rule.patterns),
                "turns": list(rule.turns),
            }
            for rule in rules.rules
        ],
        "requirements": [
            {"id": each.rule_id, "name": each.name, "weight": each.weight, "turns": list(each.turns)}
            for each in rules.requirements
        ],
    }


def _phrases(rules: SafetyRules, section: str, group: str) -> int:
    """How many phrases a group has."""
    return sum(each.section == section and each.phrase.group == group for each in rules.phrases)
