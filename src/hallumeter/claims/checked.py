"""One checked answer: its claims, what was said of them, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Literal

import msgspec
from msgspec import Struct

from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import claim_text, unsupported_span
from hallumeter.records.response import Passage, Response
from hallumeter.text.normalize import one_line, printable_lines

Status = Literal["supported", "unsupported", "unmeasured", "refused"]
OnRefusal = Literal["unmeasured", "pass", "fail"]
ON_REFUSAL: tuple[OnRefusal, ...] = ("unmeasured", "pass", "fail")
"""What becomes of an answer that refuses."""
FAILED = "FAILED"
"""Stands in place of a label where there is no verdict."""
UNSUPPORTED = (Label.REFUTED.value, Label.NOT_ENOUGH_INFO.value)
UNCHECKED = "no_evidence"
"""The reason of a verdict that had nothing to check against."""
LONGEST_TEXT = 200
MOST_CLAIMS = 10
"""Unsupported claims that a text shows."""
MARKS = ("»", "«")
"""Around unsupported words where there is no colour."""


class CheckedClaim(Struct, frozen=True, kw_only=True):
    """A claim of the answer, and what the judge said of it."""

    text: str
    start: int | None
    """First character of the claim in the response."""
    end: int | None
    label: str
    """``SUPPORTED``, ``REFUTED``, ``NOT_ENOUGH_INFO``, ``UNDECIDED``, or ``FAILED`` where there is no verdict."""
    probability: float | None = None
    """How probable it is, in the judge's eyes, that the evidence does not support the claim."""
    reason: str | None = None
    """A code such as ``number_mismatch``."""
    note: str | None = None
    """The same in words, with the values that differ."""
    quote: str | None = None
    """What the evidence says."""
    evidence_id: str | None = None
    """The passage that the quotation is from."""
    wrong: str | None = None
    """The unsupported words; None for a claim that is supported or was not decided."""
    wrong_start: int | None = None
    """Where they begin in the response."""
    wrong_end: int | None = None
    failure: str | None = None
    """Why there is no verdict."""

    @property
    def is_unsupported(self) -> bool:
        """Whether the evidence was looked at and does not support the claim."""
        return self.label in UNSUPPORTED and self.reason != UNCHECKED

    @property
    def is_decided(self) -> bool:
        """Whether the judge looked at evidence and could tell."""
        return self.is_unsupported or self.label == Label.SUPPORTED.value

    @property
    def why(self) -> str | None:
        """Why the claim is not supported, in words if the judge has some."""
        return self.note or self.failure or (self.reason and self.reason.replace("_", " "))


class Check(Struct, frozen=True, kw_only=True):
    """What `hallumeter.check` found in one answer; true when the evidence supports all of it.

    It is never true because something was not measured. `status` says which it is: ``supported``; ``unsupported``, if
    at least one claim is; ``unmeasured``, with the reason in `why`; or ``refused``, which `on_refusal` decides.
    """

    status: Status
    why: str | None
    """Why nothing was measured, or which words refuse; None where the claims speak for themselves."""
    findings: tuple[CheckedClaim, ...]
    """Every claim, in the order of the response."""
    judge: str
    signature: str
    """The judge with its settings, thresholds included."""
    response: str
    question: str | None
    evidence: tuple[Passage, ...]
    on_refusal: OnRefusal = "unmeasured"

    @property
    def passed(self) -> bool:
        """Whether every claim is supported; a refusal passes only if it was said that it should."""
        return self.status == "supported" or (self.status == "refused" and self.on_refusal == "pass")

    def __bool__(self) -> bool:
        return self.passed

    @property
    def unsupported(self) -> tuple[CheckedClaim, ...]:
        """The claims that the evidence does not support."""
        return tuple(claim for claim in self.findings if claim.is_unsupported)

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        if self.why is not None:
            return f"{self.status}, {one_line(self.why)} ({self.judge})"
        claims = f"{len(self.findings)} {'claim' if len(self.findings) == 1 else 'claims'}"
        counted = claims if self.status == "supported" else f"{len(self.unsupported)} of {claims}"
        return f"{self.status}, {counted} ({self.judge})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return {"status": found.pop("status"), "passed": self.passed, **found}

    def marked(self, marks: tuple[str, str] = MARKS) -> str:
        """The response with `marks` around the unsupported words."""
        pieces = (f"{marks[0]}{text}{marks[1]}" if claim else text for text, claim in _pieces(self))
        return "".join(pieces)

    def __repr__(self) -> str:
        lines = [f"Check: {self.headline}"]
        if self.response.strip():
            lines += [f"  {line}" for line in printable_lines(self.marked()).split("\n")]
        return "\n".join([*lines, *explained(self.findings)])

    def _repr_html_(self) -> str:
        """The marked response for a notebook; everything in it is escaped."""
        pieces = (
            f'<mark title="{escape(claim.why or claim.label)}">{escape(text)}</mark>' if claim else escape(text)
            for text, claim in _pieces(self)
        )
        items = "".join(_item(claim) for claim in self.findings if not _is_fine(claim))
        listed = f"<ul>{items}</ul>" if items else ""
        return (
            f"<div><p><b>{self.status}</b>{escape(self.headline.removeprefix(self.status))}</p>"
            f'<blockquote style="white-space: pre-wrap">{"".join(pieces)}</blockquote>{listed}</div>'
        )


def checked_claim(claim: Claim, said: Verdict | Failure | None, response: Response) -> CheckedClaim:
    """A claim joined with what the judge said of it."""
    text = claim_text(claim, response)
    if not isinstance(said, Verdict):
        why = "the judge said nothing of it" if said is None else said.message
        return CheckedClaim(text=text, start=claim.start, end=claim.end, label=FAILED, failure=why)
    label = said.label.value
    is_wrong = label in UNSUPPORTED and said.reason != UNCHECKED
    wrong = unsupported_span(claim, said, len(response.response or "")) if is_wrong else None
    quote = next((each for each in said.evidence if each.quote), None)
    return CheckedClaim(
        text=text,
        start=claim.start,
        end=claim.end,
        label=label,
        probability=said.unsupported_probability,
        reason=said.reason,
        note=said.note,
        quote=None if quote is None else quote.quote,
        evidence_id=None if quote is None else quote.evidence_id,
        wrong=None if not is_wrong else (response.response or "")[wrong[0] : wrong[1]] if wrong else text,
        wrong_start=wrong[0] if wrong else None,
        wrong_end=wrong[1] if wrong else None,
    )


def explained(findings: tuple[CheckedClaim, ...]) -> Iterator[str]:
    """The lines on every claim that is not supported: its label, why, and what the evidence says."""
    shown = [claim for claim in findings if not _is_fine(claim)]
    for claim in shown[:MOST_CLAIMS]:
        subject = f" “{_cut(claim.text)}”" if len(findings) > 1 and len(shown) > 1 else ""
        why = f": {_cut(claim.why)}" if claim.why else ""
        yield f"    {claim.label}{subject}{why}"
        if claim.quote:
            yield f"    evidence {one_line(claim.evidence_id or '')}: {_cut(claim.quote)}"
    if len(shown) > MOST_CLAIMS:
        yield f"    ... and {len(shown) - MOST_CLAIMS} more"


def _is_fine(claim: CheckedClaim) -> bool:
    return claim.label == Label.SUPPORTED.value


def _pieces(check: Check) -> Iterator[tuple[str, CheckedClaim | None]]:
    """The response in pieces, each with the claim that is wrong in it; marks never overlap."""
    text, done = check.response, 0
    placed = [claim for claim in check.unsupported if claim.wrong_start is not None and claim.wrong_end is not None]
    for claim in sorted(placed, key=lambda each: each.wrong_start or 0):
        start, end = max(done, claim.wrong_start or 0), min(len(text), claim.wrong_end or 0)
        if start < end:
            yield text[done:start], None
            yield text[start:end], claim
            done = end
    yield text[done:], None


def _item(claim: CheckedClaim) -> str:
    why = f": {escape(claim.why)}" if claim.why else ""
    quote = f"<br>evidence {escape(claim.evidence_id or '')}: <q>{escape(claim.quote)}</q>" if claim.quote else ""
    return f"<li><b>{escape(claim.label)}</b> {escape(claim.text)}{why}{quote}</li>"


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"
