"""Findings and settings as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hallumeter.text.printable import one_line

from .findings import Coverage, LintReport, Severity

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
