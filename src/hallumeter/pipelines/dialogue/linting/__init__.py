"""Checks the settings of clinical judges, shows them, and copies them out to be edited."""

from .findings import Coverage, LintFinding, LintReport, PhraseCoverage, RuleCoverage
from .folder import init_settings, lint_settings, settings_summary
from .wording import lint_text, settings_text

__all__ = [
    "Coverage",
    "LintFinding",
    "LintReport",
    "PhraseCoverage",
    "RuleCoverage",
    "init_settings",
    "lint_settings",
    "lint_text",
    "settings_summary",
    "settings_text",
]
