"""What a sentence has on a page beyond other records: its way through the agents; and what it need not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from hallumeter.report.document import FindingView, RecordView

    from .trace import SentenceTrace


def sentence_view(view: RecordView, trace: SentenceTrace | None) -> RecordView:
    """A sentence with its trace, without what is told twice.

    The evidence of an aspect is the sentence itself: it is kept where an aspect is said to stand elsewhere.
    """
    findings = tuple(_without_own_place(finding) for finding in view.findings)
    is_quoted = any(verdict.quotes for finding in findings for verdict in finding.verdicts)
    return replace(
        view,
        findings=findings,
        evidence=view.evidence if is_quoted else (),
        fields={name: value for name, value in view.fields.items() if name != "run_id" or value != view.model},
        trace=trace,
    )


def _without_own_place(finding: FindingView) -> FindingView:
    place = (finding.start, finding.end)
    verdicts = tuple(
        replace(verdict, quotes=tuple(quote for quote in verdict.quotes if (quote.start, quote.end) != place))
        for verdict in finding.verdicts
    )
    return replace(finding, verdicts=verdicts)
