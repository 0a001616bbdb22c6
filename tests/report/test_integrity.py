"""What is not a number: cut evidence, languages that nobody checked, and where to find each."""

from __future__ import annotations

from test_html import Page

from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict, cut_evidence_note, unchecked_language_note
from hallumeter.records.response import Passage, Response
from hallumeter.report.document import Document, IntegritySection, RecordFindings
from hallumeter.report.page.render import render_html
from hallumeter.report.sections import CutCounts, LanguageCount
from hallumeter.report.selection import PASSAGE_CHARACTERS
from report_samples import sample_document
from transcript_samples import transcripts_document

CUT = cut_evidence_note(shown=1, windows=3, shown_characters=8_000, characters=21_000)


def integrity(document: Document) -> IntegritySection:
    return next(section for section in document.sections if isinstance(section, IntegritySection))


def noted(record_id: str, *verdicts: tuple[Label, str | None, str | None], evidence: str = "") -> RecordFindings:
    findings = tuple(
        Finding(
            Claim(record_id, f"c{place}", start=0, end=1),
            (Verdict(record_id, f"c{place}", "judge", label, reason=reason, note=note),),
        )
        for place, (label, reason, note) in enumerate(verdicts)
    )
    passages = (Passage("e", evidence),) if evidence else ()
    return RecordFindings(Response(record_id, response="x", evidence=passages), findings)


def test_evidence_that_was_not_seen_to_its_end_is_counted_by_verdict() -> None:
    record = noted(
        "r",
        (Label.SUPPORTED, None, f"it says so; {CUT}"),
        (Label.UNDECIDED, "evidence_cut", CUT),
        (Label.SUPPORTED, None, "it says so"),
    )
    broken = Failure("r", "c9", "judge", "judge", "truncated_reply", "the reply is no whole JSON")
    document = sample_document([record], failures=[broken])
    assert integrity(document).cuts == CutCounts(cut_verdicts=2, undecided_by_cut=1, cut_replies=1)
    words = Page(render_html(document)).words
    assert "2 verdicts are by judges that have not seen all of the evidence." in words
    assert "1 of them stayed undecided because of it." in words
    assert "1 reply broke off and counts as a failure." in words


def test_passages_that_the_report_cuts_are_counted_once_each() -> None:
    long = "x" * (PASSAGE_CHARACTERS + 1)
    records = [noted(name, (Label.SUPPORTED, None, None), evidence=long) for name in ("a", "b")]
    document = sample_document([*records, noted("c", (Label.SUPPORTED, None, None), evidence="short")], failures=())
    assert integrity(document).cuts == CutCounts(cut_passages=1)


def test_where_nothing_was_cut_the_page_says_so() -> None:
    words = Page(render_html(sample_document([noted("r", (Label.SUPPORTED, None, None))], failures=()))).words
    assert "Nothing was cut: the judges saw all of the evidence, all replies are complete" in words
    assert "Languages that the judge’s model was not checked in" not in words


def test_responses_in_unchecked_languages_are_counted_by_language() -> None:
    french, korean = unchecked_language_note("fr"), unchecked_language_note("ko")
    records = [
        noted("a", (Label.SUPPORTED, None, french), (Label.REFUTED, None, f"dates differ; {french}")),
        noted("b", (Label.SUPPORTED, None, french)),
        noted("c", (Label.SUPPORTED, None, korean)),
    ]
    document = sample_document(records)
    assert integrity(document).languages == (LanguageCount("fr", 2), LanguageCount("ko", 1))
    words = Page(render_html(document)).words
    assert "French: 2 answers Korean: 1 answer" in words


def test_pages_are_counted_as_pages() -> None:
    assert integrity(transcripts_document()).cuts.cut_readings == 0
