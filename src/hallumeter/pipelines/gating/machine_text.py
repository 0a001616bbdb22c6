"""What a gate found, for machines: JUnit XML, annotations of GitHub, SARIF."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import msgspec

from hallumeter.text.printable import one_line, printable

from .terminal import check_words, place_words, slice_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.records.decisions.gate import BoundCheck, GateResult, OffendingClaim, Place

MOST_ANNOTATIONS = 10
"""Claims that are annotated; GitHub shows ten of a step."""
LONGEST_MESSAGE = 600
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SARIF_VERSION = "2.1.0"
_RULES = {"REFUTED": "the evidence says otherwise", "NOT_ENOUGH_INFO": "the evidence does not say so"}
_ANNOTATION = {"broken": "error", "unmeasured": "warning"}


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
    """Workflow commands: one for each bound that is not passed, then the first unsupported claims."""
    return "".join(f"{line}\n" for line in _commands(result))


def _commands(result: GateResult) -> Iterator[str]:
    for check in result.checks:
        if check.status in _ANNOTATION:
            yield f"::{_ANNOTATION[check.status]} title=hallumeter gate::{_command_data(check_words(check))}"
    if result.outcome == "broken":
        for claim in result.claims[:MOST_ANNOTATIONS]:
            yield f"::error {_where(claim.place)}title={claim.label.lower()}::{_command_data(_claim_words(claim))}"


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
    words = one_line(f"record {claim.record_id}: {_RULES[claim.label]}: {claim.text}{note}")
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
