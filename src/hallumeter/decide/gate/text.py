"""What a gate found: a table, Markdown, JUnit XML, annotations of GitHub, SARIF."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import msgspec

from hallumeter.records.decisions import BoundCheck, GateResult, OffendingClaim, Place
from hallumeter.report.table import Cell, Line, Table, code, escaped, left, markdown, right, terminal
from hallumeter.report.wording import NO_VALUE, format_count, format_number, format_pair, plural
from hallumeter.text.normalize import one_line, printable

# What a gate found, for a person: the rule, the value, and the records behind a broken one.

MOST_RECORDS = 5
MOST_CLAIMS = 5
STATUS_WORDS = {"passed": "passed", "broken": "FAILED", "unmeasured": "unmeasured"}
"""What people read; files for machines keep the names."""
_STYLES = {"passed": "green", "broken": "bold red", "unmeasured": "yellow"}


def gate_text(result: GateResult, *, width: int | None = None, has_color: bool = False) -> str:
    """A table of bounds, then what breaks them."""
    return terminal(_parts(result), width=width, has_color=has_color)


def gate_markdown(result: GateResult) -> str:
    """The same as Markdown, for the summary of a job or a comment on a pull request."""
    lines = [f"### Hallucination gate: {STATUS_WORDS[result.outcome]}", ""]
    for part in _parts(result):
        if isinstance(part, Table):
            lines += [f"{code(result.run)} held to {code(result.policy)}", "", *markdown(part), ""]
    lines += [f"- {escaped(_named(check))}: {escaped(check.reason)}" for check in result.checks if check.reason]
    return "\n".join(lines).rstrip() + "\n\n" + claims_markdown(result)


def claims_markdown(result: GateResult) -> str:
    """The surest of the claims that the evidence does not support, then notices."""
    lines = []
    if result.claims:
        shown = result.claims[:MOST_ANNOTATIONS]
        more = f", the {len(shown)} surest" if result.claims_total > len(shown) else ""
        lines += [f"**Unsupported claims: {result.claims_total:,}**{more}", ""]
        lines += [f"{place}. {_claim_markdown(claim)}" for place, claim in enumerate(shown, start=1)]
    lines += ["", *(f"- note: {escaped(one_line(notice))}" for notice in result.notices)]
    return "\n".join(lines).strip() + "\n"


def _claim_markdown(claim: OffendingClaim) -> str:
    where = place_words(claim.place) or claim.record_id
    why = claim.note or (claim.reason or "").replace("_", " ") or _RULES[claim.label]
    return f"{code(where)} {escaped(_shortened(claim.text))} — {escaped(_shortened(why))}"


def _parts(result: GateResult) -> Iterator[Table | Line]:
    has_slices = any(check.by for check in result.checks)
    has_missing = any(check.unmeasured for check in result.checks)
    columns = [*left("metric"), *(left("slice", wrap="words") if has_slices else []), *left("result")]
    columns += [*left("rule", wrap="words"), *right("checked", "value"), *left("interval")]
    columns += right("unmeasured") if has_missing else []
    rows: list[list[str | Cell]] = [
        [
            *(check.metric, *([slice_words(check) or "all"] if has_slices else [])),
            Cell(STATUS_WORDS[check.status], _STYLES[check.status]),
            *(check.rule, _number(check.value), _number(check.point), format_pair(check.interval)),
            *([f"{check.unmeasured:.1%}" if check.unmeasured else ""] if has_missing else []),
        ]
        for check in result.checks
    ]
    yield Table(columns, rows, f"{result.run} held to {result.policy}")
    if result.threshold is not None:
        yield Line(f"Labels are decided at the threshold {result.threshold:g}, from the probabilities of the run.")
    for check in result.checks:
        yield from _check_lines(check)
    if result.outcome == "broken" and result.claims:
        are = "is" if result.claims_total == 1 else "are"
        yield Line(f"{plural(result.claims_total, 'claim')} {are} not supported, such as:")
        for claim in result.claims[:MOST_CLAIMS]:
            text = f"{place_words(claim.place) or claim.record_id}: {claim.text}"
            yield Line(f"  {one_line(text)}", hang=4)
    yield Line(f"Gate: {STATUS_WORDS[result.outcome]}", _STYLES[result.outcome])


def slice_words(check: BoundCheck) -> str:
    """The slice that a check speaks of."""
    return ", ".join(f"{field}={value}" for field, value in check.by.items())


def _named(check: BoundCheck) -> str:
    """The metric, with its slice."""
    return f"{check.metric} ({slice_words(check)})" if check.by else check.metric


def check_words(check: BoundCheck) -> str:
    """A check in one line."""
    value = "not measured" if check.value is None else f"{_number(check.value)}"
    reason = f"; {check.reason}" if check.reason else ""
    return one_line(f"{_named(check)}: {check.status}: {value}, the rule is {check.rule}{reason}")


def place_words(place: Place | None) -> str:
    """A file and a line."""
    if place is None:
        return ""
    return place.file if place.line is None else f"{place.file}:{place.line}"


def _number(value: float | None) -> str:
    return NO_VALUE if value is None else format_number(value)


def _check_lines(check: BoundCheck) -> Iterator[Line]:
    if check.reason:
        yield Line(f"{check.metric}: {check.reason}", "dim")
    if not check.offenders:
        return
    records = "1 record" if check.offenders_total == 1 else f"{check.offenders_total:,} records"
    yield Line(f"{_named(check)} fails because of {records}, the worst first:")
    for record in check.offenders[:MOST_RECORDS]:
        counted = f"{format_count(record.count)} of {format_count(record.total)}"
        yield Line(f"  {record.record_id}  {counted}  {place_words(record.place)}".rstrip())


MOST_ANNOTATIONS = 10
"""Claims that are annotated; GitHub shows ten of a step."""
LONGEST_MESSAGE = 600
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SARIF_VERSION = "2.1.0"
_RULES = {"REFUTED": "the evidence says otherwise", "NOT_ENOUGH_INFO": "the evidence does not say so"}
_ANNOTATION = {"passed": "notice", "broken": "error", "unmeasured": "warning"}


def gate_json(result: GateResult) -> str:
    """Everything, as JSON."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"


def gate_junit(result: GateResult) -> str:
    """One test case per bound: a broken one fails, an unmeasured one is an error."""
    counts = {status: sum(check.status == status for check in result.checks) for status in ("broken", "unmeasured")}
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(
        f"<testsuite name={_attribute(f'hallumeter gate {result.policy}')} tests={_attribute(len(result.checks))} "
        f"failures={_attribute(counts['broken'])} errors={_attribute(counts['unmeasured'])}>"
    )
    for check in result.checks:
        name = " ".join(filter(None, [check.metric, slice_words(check), check.rule]))
        case = f"  <testcase classname={_attribute(result.run)} name={_attribute(name)}"
        if check.status == "passed":
            lines.append(f"{case}/>")
            continue
        element = "failure" if check.status == "broken" else "error"
        details = "\n".join(_offenders(check))
        lines.append(
            f"{case}><{element} message={_attribute(check_words(check))}>{_escaped(details)}</{element}></testcase>"
        )
    lines.append("</testsuite>")
    return "\n".join(lines) + "\n"


def gate_github(result: GateResult) -> str:
    """Workflow commands: one for each bound, a notice where it is kept, then the surest unsupported claims.

    Claims are errors where a bound is broken, warnings where there is no bound, and left out where all are kept.
    """
    return "".join(f"{line}\n" for line in _commands(result))


def _commands(result: GateResult) -> Iterator[str]:
    for check in result.checks:
        yield annotation(_ANNOTATION[check.status], "title=hallumeter gate", check_words(check))
    if result.outcome == "broken" or not result.checks:
        level = "error" if result.outcome == "broken" else "warning"
        for claim in result.claims[:MOST_ANNOTATIONS]:
            yield annotation(level, f"{_where(claim.place)}title={claim.label.lower()}", _claim_words(claim))


def annotation(level: str, properties: str, text: str) -> str:
    """A workflow command of GitHub that shows a text at a place."""
    return f"::{level} {properties}::{_command_data(text)}"


def gate_sarif(result: GateResult) -> str:
    """SARIF 2.1.0: one result for each unsupported claim, an error where the gate is broken, else a note."""
    level = "error" if result.outcome == "broken" else "note"
    log = {
        "$schema": SARIF_SCHEMA,
        "version": SARIF_VERSION,
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "hallumeter",
                        "rules": [
                            {"id": label, "shortDescription": {"text": words}} for label, words in _RULES.items()
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "warning", "message": {"text": one_line(text)}} for text in _notifications(result)
                        ],
                    }
                ],
                "results": [_sarif_result(claim, level) for claim in result.claims],
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _notifications(result: GateResult) -> Iterator[str]:
    yield from (check_words(check) for check in result.checks if check.status != "passed")
    yield from result.notices
    if result.claims_total > len(result.claims):
        yield f"{result.claims_total - len(result.claims):,} more unsupported claims are left out"


def _sarif_result(claim: OffendingClaim, level: str) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": claim.label,
        "level": level,
        "message": {"text": _claim_words(claim)},
        "partialFingerprints": {"claim": claim.claim_id},
    }
    if claim.place is not None:
        physical: dict[str, object] = {"artifactLocation": {"uri": quote(claim.place.file)}}
        if claim.place.line is not None:
            physical["region"] = {"startLine": claim.place.line}
        result["locations"] = [{"physicalLocation": physical}]
    return result


def _claim_words(claim: OffendingClaim) -> str:
    note = f" ({claim.note or claim.reason})" if claim.note or claim.reason else ""
    return _shortened(f"record {claim.record_id}: {_RULES[claim.label]}: {claim.text}{note}")


def _shortened(text: str) -> str:
    words = one_line(text)
    return words if len(words) <= LONGEST_MESSAGE else f"{words[: LONGEST_MESSAGE - 1]}…"


def _offenders(check: BoundCheck) -> Iterator[str]:
    for record in check.offenders:
        yield printable(
            f"{record.record_id}  {record.count:g} of {record.total:g}  {place_words(record.place)}".rstrip()
        )


def _where(place: Place | None) -> str:
    if place is None:
        return ""
    line = f",line={place.line}" if place.line is not None else ""
    return f"file={_command_property(place.file)}{line},"


def _command_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _command_property(text: str) -> str:
    return _command_data(one_line(text)).replace(":", "%3A").replace(",", "%2C")


def _attribute(value: object) -> str:
    return quoteattr(one_line(str(value)))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
