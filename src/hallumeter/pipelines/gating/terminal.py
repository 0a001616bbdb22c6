"""What a gate found, for a person: the rule, the value, and the records behind a broken one."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.text import Text

from hallumeter.report.terminal import plain_console, plain_table, trimmed_text
from hallumeter.report.wording import NO_VALUE, format_count, format_number, format_pair
from hallumeter.text.printable import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

    from hallumeter.records.decisions.gate import BoundCheck, GateResult, Place

MOST_RECORDS = 5
MOST_CLAIMS = 5
_STYLES = {"passed": "green", "broken": "bold red", "unmeasured": "yellow"}


def gate_text(result: GateResult, *, width: int | None = None, has_color: bool = False) -> str:
    """A table of bounds, then what breaks them."""
    stream = io.StringIO()
    console = plain_console(stream, width=width, has_color=has_color)
    table = plain_table(printable(f"{result.run} held to {result.policy}"))
    for name in ("metric", "slice", "rule"):
        table.add_column(name, no_wrap=name != "rule")
    for name in ("looked at", "value"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("unmeasured", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for check in result.checks:
        table.add_row(
            check.metric,
            printable(slice_words(check)),
            check.rule,
            _number(check.value),
            _number(check.point),
            format_pair(check.interval),
            f"{check.unmeasured:.1%}" if check.unmeasured else "",
            Text(check.status, style=_STYLES[check.status]),
        )
    console.print(table)
    for check in result.checks:
        _print_check(console, check)
    if result.outcome == "broken":
        _print_claims(console, result)
    console.print(Text(f"Gate: {result.outcome}", style=_STYLES[result.outcome]))
    return trimmed_text(stream)


def slice_words(check: BoundCheck) -> str:
    """The slice that a check speaks of."""
    return ", ".join(f"{field}={value}" for field, value in check.by.items())


def check_words(check: BoundCheck) -> str:
    """A check in one line."""
    where = f" ({slice_words(check)})" if check.by else ""
    value = "not measured" if check.value is None else f"{_number(check.value)}"
    reason = f"; {check.reason}" if check.reason else ""
    return one_line(f"{check.metric}{where}: {check.status}: {value}, the rule is {check.rule}{reason}")


def place_words(place: Place | None) -> str:
    """A file and a line."""
    if place is None:
        return ""
    return place.file if place.line is None else f"{place.file}:{place.line}"


def _number(value: float | None) -> str:
    return NO_VALUE if value is None else format_number(value)


def _print_check(console: Console, check: BoundCheck) -> None:
    if check.reason:
        console.print(Text(printable(f"{check.metric}: {check.reason}"), style="dim"))
    if not check.offenders:
        return
    where = f" ({slice_words(check)})" if check.by else ""
    console.print(printable(f"{check.metric}{where} is broken by {check.offenders_total:,} records, the worst first:"))
    for record in check.offenders[:MOST_RECORDS]:
        counted = f"{format_count(record.count)} of {format_count(record.total)}"
        console.print(printable(f"  {record.record_id}  {counted}  {place_words(record.place)}".rstrip()))


def _print_claims(console: Console, result: GateResult) -> None:
    if not result.claims:
        return
    console.print(f"{result.claims_total:,} claims are not supported, such as:")
    for claim in result.claims[:MOST_CLAIMS]:
        text = f"  {place_words(claim.place) or claim.record_id}: {claim.text}"
        console.print(one_line(text), no_wrap=True, overflow="ellipsis")
