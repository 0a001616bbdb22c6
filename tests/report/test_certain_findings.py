"""The findings that a judge is most certain of."""

from __future__ import annotations

from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.response import Quote, Response
from hallumeter.report.findings import most_certain
from hallumeter.report.table import terminal
from hallumeter.report.terminal import finding_lines

TEXT = "The fair drew 999 million. It rained."
FAIR = Claim("r1", "c1", start=0, end=26)
RAIN = Claim("r1", "c2", start=27, end=37)


def said(claim: Claim, label: Label, probability: float | None, **more: object) -> Verdict:
    return Verdict(claim.record_id, claim.claim_id, "rules", label, probability, **more)  # type: ignore[arg-type]


def printed(*findings: Finding, has_color: bool = False) -> str:
    records = [(Response("r1", response=TEXT, model="m"), findings)]
    return terminal(finding_lines(most_certain(records, headline="rules"), has_color=has_color), width=60)


def test_a_finding_shows_the_wrong_words_why_the_evidence_and_where() -> None:
    verdict = said(
        FAIR,
        Label.REFUTED,
        0.934,
        start=14,
        end=25,
        note="response says 999 million, evidence says 1.2 billion",
        evidence=(Quote("e1", 0, 4, "It drew 1.2 billion."),),
    )
    assert printed(Finding(FAIR, (verdict,))).splitlines() == [
        " 1. The fair drew »999 million«.",
        "    why      response says 999 million, evidence says 1.2",
        "             billion",
        "    evidence “It drew 1.2 billion.”",
        "    where    r1 (m), probability 0.93",
    ]


def test_colour_marks_the_words_where_there_is_colour() -> None:
    verdict = said(FAIR, Label.REFUTED, 0.9, start=14, end=25)
    assert "\x1b[1;31m999 million\x1b[0m" in terminal(
        finding_lines(most_certain([(Response("r1", response=TEXT), [Finding(FAIR, (verdict,))])]), has_color=True),
        width=80,
        has_color=True,
    )


def test_a_note_that_repeats_the_marked_words_gives_way_to_the_reason() -> None:
    sentence = "It rained on every single day of the year but one."
    claim = Claim("r1", "c1", start=0, end=len(sentence))
    verdict = said(claim, Label.NOT_ENOUGH_INFO, 0.8, reason="baseless", note=f"no support for “{sentence}”")
    records = [(Response("r1", response=sentence), [Finding(claim, (verdict,))])]
    text = terminal(finding_lines(most_certain(records), has_color=False), width=80)
    assert f"»{sentence}«" in text
    assert "why      the evidence says nothing of the kind" in text


def test_the_most_certain_come_first_and_supported_ones_not_at_all() -> None:
    findings = [
        Finding(FAIR, (said(FAIR, Label.NOT_ENOUGH_INFO, 0.7),)),
        Finding(RAIN, (said(RAIN, Label.REFUTED, 0.9),)),
        Finding(FAIR, (said(FAIR, Label.SUPPORTED, 0.99),)),
        Finding(FAIR, (said(FAIR, Label.REFUTED, None),)),
        Finding(RAIN, (said(RAIN, Label.UNDECIDED, None),)),
    ]
    found = most_certain([(Response("r1", response=TEXT), findings)], headline="rules", most=3)
    assert [each.verdict.unsupported_probability for each in found] == [None, 0.9, 0.7]


def test_of_a_panel_a_judge_speaks_and_not_the_consensus() -> None:
    verdicts = (
        Verdict("r1", "c1", "consensus", Label.REFUTED),
        said(FAIR, Label.REFUTED, 0.9, note="so says the judge"),
    )
    [found] = most_certain([(Response("r1", response=TEXT), [Finding(FAIR, verdicts)])])
    assert found.verdict.note == "so says the judge"


def test_a_claim_that_could_not_be_placed_is_shown_by_its_text() -> None:
    claim = Claim("r1", "c3", text="A fact\x1b[31m.")
    verdict = said(claim, Label.REFUTED, 0.9)
    assert "»A fact·[31m.«" in printed(Finding(claim, (verdict,)))


def test_a_long_quotation_is_shortened_at_a_word() -> None:
    quote = Quote("e1", 0, 4, "word " * 100)
    text = " ".join(printed(Finding(RAIN, (said(RAIN, Label.NOT_ENOUGH_INFO, 0.9, evidence=(quote,)),))).split())
    assert "nearest “word word" in text
    assert "word …”" in text
