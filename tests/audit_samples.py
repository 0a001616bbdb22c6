"""A small audit as its run would be read: three judges, spans inside claims, quotations, reasons, failures, costs."""

from __future__ import annotations

from typing import Literal

from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.manifest import JudgeEntry
from hallumeter.records.measurement import Counts, MetricSummary, Summary
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.catalog import metric_texts
from hallumeter.report.document import Document, RecordFindings
from report_samples import manifest, sample_document

RULES, MODEL, OTHER = "rules", "openai:small", "anthropic:large"
RESPONSE = "Acme had revenue of 999 million dollars in 2021. It sits in Lyon. Zq\x00x."
EVIDENCE = "Acme reported revenue of 1.2 billion dollars. " + "Other words stand here. " * 200 + "It sits in Seoul."
NOTE = "response says 999 million, evidence says 1.2 billion"


def place(text: str, words: str) -> tuple[int, int]:
    """Where the words stand."""
    start = text.index(words)
    return start, start + len(words)


def verdict(
    claim: int, judge: str, label: Label, reason: str | None = None, *, cost: float | None = None, **places: str
) -> Verdict:
    """A verdict that points to `words` of the response and to `quoted` of the evidence, where they are given."""
    start, end = place(RESPONSE, places["words"]) if "words" in places else (None, None)
    quotes = (Quote("report", *place(EVIDENCE, places["quoted"])),) if "quoted" in places else ()
    note = places.get("note")
    facts = {"reason": reason, "start": start, "end": end, "evidence": quotes, "note": note, "cost_usd": cost}
    return Verdict("q1", f"q1#{claim}", judge, label, **facts)  # type: ignore[arg-type]


VERDICTS = (
    verdict(
        *(0, RULES, Label.REFUTED, "money_mismatch"),
        words="999 million dollars",
        quoted="1.2 billion dollars",
        note=NOTE,
    ),
    verdict(0, MODEL, Label.REFUTED, "number_mismatch", cost=0.0002, words="999 million"),
    verdict(0, OTHER, Label.SUPPORTED),
    verdict(1, RULES, Label.REFUTED, "name_mismatch", words="Lyon", quoted="Seoul"),
    verdict(1, MODEL, Label.NOT_ENOUGH_INFO, cost=0.0003),
    verdict(1, OTHER, Label.REFUTED, "my_own"),
    verdict(2, RULES, Label.UNDECIDED, "too_short"),
    verdict(3, RULES, Label.NOT_ENOUGH_INFO, "words_not_found"),
    verdict(3, MODEL, Label.UNDECIDED, "quote_not_found"),
)
FAILURES = (
    Failure("q1", "q1#2", "judge", MODEL, "timeout", "no reply in 60 s", 5),
    Failure("q1", "q1#2", "judge", OTHER, "malformed_reply", "found <b>prose</b>\x00", 3),
    Failure("q1", "q1#3", "judge", OTHER, "rate_limited", "429"),
)


def audited() -> list[RecordFindings]:
    """One answer with four claims, the last of them without a place, and one answer without claims."""
    sentences = ("Acme had revenue of 999 million dollars in 2021.", "It sits in Lyon.", "Zq\x00x.")
    spans: list[tuple[int, int] | tuple[None, None]] = [*(place(RESPONSE, words) for words in sentences), (None, None)]
    texts = (*sentences, "Acme is large.")
    findings = tuple(
        Finding(
            Claim("q1", f"q1#{number}", start=start, end=end, text=texts[number]),
            tuple(one for one in VERDICTS if one.claim_id == f"q1#{number}"),
        )
        for number, (start, end) in enumerate(spans)
    )
    asked = Response("q1", "What did Acme earn?", RESPONSE, (Passage("report", EVIDENCE),), model="m")
    return [RecordFindings(asked, findings), RecordFindings(Response("q2", "Why?", "Hello!", model="m"), ())]


def panel_row(
    name: str, judge: str, value: float | None, interval: tuple[float, float] | None = None, **by: str
) -> MetricSummary:
    """A row of an agreement statistic."""
    direction: Literal["lower", "higher"] = "lower" if name == "alpha_gain_without" else "higher"
    undefined = "nobody agreed" if value is None else None
    facts = (name, by, judge, None, 40.0, value, interval, "cluster_bootstrap", direction, undefined, 0, 0, None)
    return MetricSummary(*facts, signature=f"{name}|judge:{judge}|v:1")


def panel_rows(*gains: tuple[str, float | None, tuple[float, float] | None]) -> tuple[MetricSummary, ...]:
    """Alpha of all, 0.41, and for each judge the alpha without it and the gain."""
    rows = [panel_row("krippendorff_alpha", "all judges", 0.41, (0.3, 0.52))]
    for judge, gain, interval in gains:
        rows.append(panel_row("alpha_without", judge, None if gain is None else 0.41 + gain, (0.5, 0.73)))
        rows.append(panel_row("alpha_gain_without", judge, gain, interval))
    return tuple(rows)


def audit_summary(*rows: MetricSummary) -> Summary:
    """A summary of that audit with these rows."""
    return Summary(1, "audit", Counts(2, 4, 9, 3, 1, 3, 1), rows)


def audit_document(*rows: MetricSummary) -> Document:
    """The report of that audit."""
    judges = tuple(JudgeEntry(name, f"{name}|prompt:1") for name in (RULES, MODEL, OTHER))
    return sample_document(
        audited(),
        summary=audit_summary(*rows),
        manifest=manifest(judges=judges),
        metric_texts=metric_texts(),
        failures=FAILURES,
    )
