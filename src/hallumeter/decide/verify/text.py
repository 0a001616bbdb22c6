"""A verification as text."""

from __future__ import annotations

from hallumeter.records.verification import Check, Verification
from hallumeter.text.normalize import one_line

_WORDS = {"equal": "equal", "different": "DIFFERENT", "not_verifiable": "not verifiable"}


def verification_text(found: Verification) -> str:
    """The outcome, then every check; of what is different both values."""
    lines = [f"{one_line(found.subject)}: {_WORDS[found.outcome]}"]
    width = max(len(check.name) for check in found.checks)
    for check in found.checks:
        lines += _check_lines(check, width)
    return "\n".join(lines) + "\n"


def _check_lines(check: Check, width: int) -> list[str]:
    counted = f"{check.equal:,} equal" + (f", {check.different:,} different" if check.different else "")
    told = [counted] if check.equal or check.different else []
    told += [] if check.why_not is None else [one_line(check.why_not)]
    outcome = "" if check.outcome == "equal" else f"{_WORDS[check.outcome]}: "
    lines = [f"  {check.name:{width}}  {outcome}{'; '.join(told) or 'nothing to compare'}"]
    for each in check.differences:
        where, found, computed = (one_line(text) for text in (each.where, each.found, each.computed))
        lines.append(f"    {where}: {found}, computed {computed}")
    if check.different > len(check.differences):
        lines.append(f"    ... and {check.different - len(check.differences):,} more")
    return lines
