"""What a check of the settings can say."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

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
