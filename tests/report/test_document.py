"""Building the document: bounded, repeatable, and open about what it leaves out."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

import msgspec
import pytest

from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.manifest import InputFile
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.document import (
    BreakdownSection,
    DistributionSection,
    Document,
    FailureCount,
    IntegritySection,
    JudgeSection,
    LabelTally,
    MetricSection,
    ModelTally,
    RecordFindings,
    RecordSection,
    ShareBin,
)
from hallumeter.report.selection import PASSAGE_CHARACTERS, Limits
from report_samples import FAILURES, finding, manifest, metric, sample_document, summary

SectionType = TypeVar("SectionType")


def section(document: Document, kind: type[SectionType]) -> SectionType:
    return next(one for one in document.sections if isinstance(one, kind))


def response(record_id: str, unsupported: int = 0, supported: int = 0, **facts: object) -> RecordFindings:
    labels = [Label.REFUTED] * unsupported + [Label.SUPPORTED] * supported
    found = tuple(finding(None, None, label, claim_id=f"c{place}") for place, label in enumerate(labels))
    return RecordFindings(Response(record_id, response="x", **facts), found)  # type: ignore[arg-type]


def shown(document: Document, picked: str) -> list[str]:
    return [view.record_id for view in section(document, RecordSection).records if view.picked == picked]


def test_equal_inputs_give_equal_bytes() -> None:
    first, second = sample_document(), sample_document()
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


def test_a_document_survives_being_written_and_read() -> None:
    document = sample_document()
    assert msgspec.json.decode(msgspec.json.encode(document), type=Document) == document


def test_no_time_of_the_run_gets_into_the_document() -> None:
    assert b"2031" not in msgspec.json.encode(sample_document())


def test_the_title_names_the_first_files_and_counts_the_others() -> None:
    files = tuple(InputFile(f"part{number}.jsonl", None, 1) for number in range(5))
    assert sample_document([], manifest=manifest(inputs=files)).title == "Audit: part0.jsonl, part1.jsonl, 3 more"
    assert sample_document([], manifest=manifest(inputs=())).title == "Audit"


def test_the_worst_responses_come_first_by_number_then_share_then_order() -> None:
    records = [
        response("clean", 0, 9),
        response("one of nine", 1, 8),
        response("one of two", 1, 1),
        response("two of nine", 2, 7),
        response("one of two again", 1, 1),
    ]
    document = sample_document(records, limits=Limits(worst=4, random=0))
    assert shown(document, "worst") == ["two of nine", "one of two", "one of two again", "one of nine"]


def test_of_responses_without_an_unsupported_claim_those_with_unmeasured_ones_come_first() -> None:
    unmeasured = RecordFindings(Response("unmeasured", response="x"), (finding(0, 1, None),))
    document = sample_document([response("clean", 0, 3), unmeasured])
    assert shown(document, "worst") == ["unmeasured", "clean"]


def test_random_responses_are_drawn_from_those_that_are_not_the_worst() -> None:
    records = [response(f"bad{number}", 5) for number in range(3)] + [
        response(f"good{number}", 0, 1) for number in range(9)
    ]
    document = sample_document(records, limits=Limits(worst=3, random=4))
    drawn = shown(document, "random")
    assert shown(document, "worst") == ["bad0", "bad1", "bad2"]
    assert len(set(drawn)) == 4
    assert all(name.startswith("good") for name in drawn)
    assert drawn == sorted(drawn)


def test_every_response_that_is_not_among_the_worst_has_the_same_chance_to_be_drawn() -> None:
    # 400 draws of 2 out of 5 give each an expected 160, with a standard deviation of sqrt(400 * 0.4 * 0.6) = 9.8.
    records = [response("bad", 1), *(response(f"good{number}", 0, 1) for number in range(5))]
    drawn = Counter(
        name
        for seed in range(400)
        for name in shown(sample_document(records, limits=Limits(worst=1, random=2, seed=seed)), "random")
    )
    assert drawn.total() == 800
    assert all(abs(drawn[f"good{number}"] - 160) < 40 for number in range(5))


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_responses() -> None:
    def stream(size: int) -> Iterator[RecordFindings]:
        # A text of its own for each: what they share, or the interpreter keeps for later, would hide what is kept.
        return (response(f"r{number}", number % 3, 1, question=f"{number:020}" * 1000) for number in range(size))

    def peak(size: int) -> int:
        tracemalloc.start()
        sample_document(stream(size), limits=Limits(worst=20, random=20))
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(100)
    assert peak(3000) < 1.5 * peak(300)


def test_records_beyond_the_limit_of_size_are_left_out_and_counted() -> None:
    records = [response(f"r{number}", 1, question="?" * 900) for number in range(10)]
    records.insert(3, response("huge", 9, question="?" * 50_000))
    document = sample_document(records, limits=Limits(worst=6, random=2, bytes=6000))
    coverage = section(document, RecordSection).coverage
    assert "huge" not in shown(document, "worst")
    assert coverage.responses == 11
    assert coverage.worst + coverage.random + coverage.too_large == 8
    assert len(msgspec.json.encode(section(document, RecordSection).records)) < 6500
    assert coverage.too_large >= 1


def test_a_passage_that_many_responses_share_counts_once_toward_the_limit_of_size() -> None:
    passage = Passage("e", "evidence " * 300)
    records = [response(f"r{number}", 1, evidence=(passage,)) for number in range(10)]
    assert section(sample_document(records, limits=Limits(bytes=10_000)), RecordSection).coverage.too_large == 0


def test_a_long_passage_is_cut_and_says_so_and_its_quotation_stays() -> None:
    text = "가" * PASSAGE_CHARACTERS + "the end"
    quote = Quote("e", PASSAGE_CHARACTERS + 4, PASSAGE_CHARACTERS + 7)
    record = RecordFindings(
        Response("r", response="x", evidence=(Passage("e", text),)), (finding(0, 1, quotes=(quote,)),)
    )
    view = section(sample_document([record]), RecordSection).records[0]
    assert view.evidence[0].characters == PASSAGE_CHARACTERS + 7
    assert len(view.evidence[0].text) == PASSAGE_CHARACTERS
    assert view.findings[0].verdicts[0].quotes[0].quote == "end"


def test_a_quotation_that_its_passage_cannot_give_is_kept_as_it_came() -> None:
    quotes = (Quote("e", 0, 99), Quote("nowhere", 0, 1), Quote("e"), Quote("e", 0, 1, "given"))
    record = RecordFindings(
        Response("r", response="x", evidence=(Passage("e", "short"),)), (finding(0, 1, quotes=quotes),)
    )
    assert section(sample_document([record]), RecordSection).records[0].findings[0].verdicts[0].quotes == quotes


def test_a_claim_without_words_takes_them_from_the_response() -> None:
    record = RecordFindings(Response("r", response="The sky is red."), (finding(4, 7), finding(None, None)))
    views = section(sample_document([record]), RecordSection).records[0].findings
    assert [(view.text, view.is_aligned) for view in views] == [("sky", True), (None, False)]


def test_verdicts_on_a_response_whose_words_are_not_known_are_kept() -> None:
    record = RecordFindings(Response("r"), (finding(0, 4, text="blue"),))
    view = section(sample_document([record]), RecordSection).records[0]
    assert view.segments is None
    assert view.response is None
    assert not view.findings[0].is_aligned
    assert view.tally == LabelTally(refuted=1)


def test_shares_are_counted_in_bins_that_keep_exact_tenths_and_zero_apart() -> None:
    # 0/3 none; 1/10 at the upper edge of the first bin; 3/10 of the third; 1/3 in the fourth; 1/1 in the last.
    records = [response("a", 0, 3), response("b", 1, 9), response("c", 3, 7), response("d", 1, 2), response("e", 1)]
    records.append(RecordFindings(Response("f", response="x"), (finding(0, 1, Label.UNDECIDED),)))
    spread = section(sample_document(records), DistributionSection)
    assert [share.responses for share in spread.bins] == [1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    assert spread.bins[0] == ShareBin(0.0, 0.0, 1)
    assert (spread.bins[3].above, spread.bins[3].to) == (0.2, 0.3)
    assert spread.without_decided_claim == 1


def test_labels_are_counted_by_model_with_unknown_models_last() -> None:
    records = [response("a", 1, 2), response("b", 1, model="z"), response("c", 0, 1, model="m")]
    assert section(sample_document(records), DistributionSection).models == (
        ModelTally("m", 1, LabelTally(supported=1)),
        ModelTally("z", 1, LabelTally(refuted=1)),
        ModelTally(None, 1, LabelTally(supported=2, refuted=1)),
    )


def test_more_models_than_can_be_listed_are_counted() -> None:
    records = [response(str(number), 1, model=f"m{number}") for number in range(60)]
    spread = section(sample_document(records), DistributionSection)
    assert (len(spread.models), spread.models_left_out) == (50, 10)


def test_the_headline_follows_the_consensus_and_the_judges_have_their_own_rows() -> None:
    document = sample_document()
    assert {row.summary.judge for row in section(document, MetricSection).rows} == {"consensus"}
    judges = section(document, JudgeSection)
    assert [row.judge for row in judges.judges] == ["human", "word-overlap", "numbers-and-names", "consensus"]
    overlap = judges.judges[1]
    assert [row.summary.count for row in overlap.rows] == [93]
    # From the table of counts in the README of the samples.
    assert overlap.tally == LabelTally(supported=360, not_enough_info=93, undecided=28)
    assert [row.text.alias for row in judges.agreement] == ["κ"]


def test_the_headline_follows_the_first_judge_that_the_summary_names() -> None:
    metrics = (metric("mihr", 1, 2, judge="b"), metric("mihr", 2, 2, judge="a"), metric("far", 0, 0, judge=None))
    document = sample_document([], summary=summary(metrics=metrics))
    assert document.headline == "b"
    assert [row.summary.judge for row in section(document, MetricSection).rows] == ["b", None]


def test_claims_are_marked_and_counted_with_the_label_of_the_headline_judge() -> None:
    verdicts = tuple(
        Verdict("r", "c", judge, label)
        for judge, label in (("a", Label.SUPPORTED), ("b", Label.REFUTED), ("d", Label.SUPPORTED))
    )
    found = (
        Finding(Claim("r", "c", start=0, end=1), verdicts),
        Finding(Claim("r", "c2", start=1, end=2), verdicts[:1]),
    )
    rows = (metric("mihr", 1, 1, judge="b"),)
    document = sample_document([RecordFindings(Response("r", response="xyz"), found)], summary=summary(metrics=rows))
    view = section(document, RecordSection).records[0]
    assert [one.label for one in view.findings] == [Label.REFUTED, None]
    assert [piece.label for piece in view.segments or ()] == [Label.REFUTED, None, None]
    assert section(document, IntegritySection).tally == LabelTally(refuted=1, no_verdict=1)


def test_metrics_of_agreement_are_no_judges_and_stand_apart() -> None:
    rows = (
        metric("kappa", None, None, judge="all judges"),
        metric("mihr", 1, 2, judge="a"),
        metric("mihr", 1, 2, judge="b"),
    )
    document = sample_document([], summary=summary(metrics=rows), manifest=manifest(judges=()))
    judges = section(document, JudgeSection)
    assert document.headline == "a"
    assert [row.judge for row in judges.judges] == ["a", "b"]
    assert judges.judges[0].tally is None
    assert [row.summary.judge for row in judges.agreement] == ["all judges"]


def test_a_headline_that_the_marks_cannot_follow_is_said() -> None:
    settings = manifest(settings={"consensus": "dawid-skene"})
    told = "claims are marked by the majority of the judges; the headline rests on their dawid-skene consensus"
    assert told in sample_document([response("r", 1)], manifest=settings).notices
    assert told not in sample_document(manifest=settings).notices
    assert told not in sample_document([], manifest=settings).notices
    assert told not in sample_document([response("r", 1)]).notices


def test_the_confidence_of_the_intervals_is_the_one_of_the_run() -> None:
    assert sample_document([]).confidence == 0.95
    assert sample_document([], manifest=manifest(settings={"confidence": 0.9})).confidence == 0.9


def test_costs_are_added_up_and_unknown_ones_are_counted_not_taken_as_free() -> None:
    costs = (0.25, 0.5, None)
    verdicts = [Verdict("r", f"c{place}", "paid", Label.SUPPORTED, cost_usd=cost) for place, cost in enumerate(costs)]
    found = tuple(Finding(Claim("r", verdict.claim_id), (verdict,)) for verdict in verdicts)
    judges = section(sample_document([RecordFindings(Response("r"), found)]), JudgeSection).judges
    paid = next(row for row in judges if row.judge == "paid")
    assert (paid.cost_usd, paid.verdicts_without_cost) == (0.75, 1)
    assert next(row for row in judges if row.judge == "human").cost_usd is None


def test_each_set_of_fields_that_makes_several_groups_has_a_section_of_its_own() -> None:
    metrics = (
        metric("mihr", 1, 2, by={"model": "a"}),
        metric("mihr", 1, 2, by={"model": "b"}),
        metric("mihr", 1, 2, by={"model": "a", "task": "QA"}),
        metric("mihr", 1, 2, by={"model": "b", "task": "QA"}),
        metric("mihr", 1, 2, by={"task": "QA"}),
        metric("mihr", 1, 2, by={"model": "a"}, judge="other"),
        metric("kappa", None, None, by={"model": "a"}),
        metric("mihr", 1, 2),
    )
    document = sample_document([], summary=summary(metrics=metrics))
    breakdowns = [one for one in document.sections if isinstance(one, BreakdownSection)]
    assert [(one.by, len(one.rows), one.rows_left_out) for one in breakdowns] == [
        (("model",), 2, 2),
        (("model", "task"), 2, 0),
    ]


def test_groups_have_their_metrics_in_the_order_of_the_headline() -> None:
    groups = [metric(name, 1, 2, by={"m": group}) for name in ("far", "mihr") for group in "ab"]
    whole_first = (metric("mihr", 1, 2), metric("far", 1, 2), *groups)
    breakdown = section(sample_document([], summary=summary(metrics=whole_first)), BreakdownSection)
    assert [row.summary.metric for row in breakdown.rows] == ["mihr", "mihr", "far", "far"]


def test_a_metric_without_a_text_is_shown_under_its_own_name() -> None:
    document = sample_document([], summary=summary(metrics=(metric("homemade", 1, 2),)))
    assert section(document, MetricSection).rows[0].text.alias == "homemade"


def test_what_is_not_a_number_is_counted_in_the_ledger() -> None:
    ledger = section(sample_document(), IntegritySection)
    assert ledger.failure_counts == (
        FailureCount("judge", "word-overlap", "timeout", 1),
        FailureCount("read", None, "bad_line", 1),
    )
    assert ledger.failures == FAILURES
    assert [row.text.alias for row in ledger.undefined] == ["FAR"]
    assert (ledger.tally.no_verdict, ledger.not_aligned) == (1, 1)


def test_failures_beyond_the_first_are_counted_by_kind() -> None:
    failures = (Failure(f"r{number}", None, "judge", "m", "timeout", "no reply") for number in range(1000))
    ledger = section(sample_document([], failures=failures, limits=Limits(failures=3)), IntegritySection)
    assert (len(ledger.failures), ledger.failures_total) == (3, 1000)
    assert ledger.failure_counts == (FailureCount("judge", "m", "timeout", 1000),)


def test_a_response_tells_what_broke_while_it_was_measured_but_not_without_end() -> None:
    failures = [Failure("r", None, "judge", "m", "timeout", f"try {number}") for number in range(100)]
    view = section(sample_document([response("r", 1)], failures=failures), RecordSection).records[0]
    assert [failure.message for failure in view.failures] == [f"try {number}" for number in range(20)]


def test_a_run_without_responses_has_no_list_of_them() -> None:
    kinds = {type(one) for one in sample_document([]).sections}
    assert RecordSection not in kinds
    assert DistributionSection not in kinds


def test_a_lone_surrogate_is_replaced_wherever_it_stands_and_positions_stay() -> None:
    bad = "a\ud800b"
    record = RecordFindings(
        Response(bad, question=bad, response=bad, evidence=(Passage(bad, bad),), model=bad, fields={bad: bad}),
        (finding(1, 3, claim_id=bad, text=bad, quotes=(Quote(bad, 0, 3, bad),), note=bad),),
    )
    document = sample_document(
        [record],
        summary=summary(notices=(bad,), metrics=(metric(bad, 1, 2, by={bad: bad}),)),
        manifest=manifest(inputs=(InputFile(bad, None, 1),), settings={bad: [bad]}),
        failures=[Failure(bad, bad, bad, bad, bad, bad)],
    )
    written = msgspec.json.encode(document).decode()
    assert "\ud800" not in written
    view = section(document, RecordSection).records[0]
    assert view.response == "a\ufffdb"
    assert [piece.text for piece in view.segments or ()] == ["a", "\ufffdb"]


@pytest.mark.parametrize("name", ["unsupported", "decided", "unmeasured", "claims"])
def test_a_tally_adds_up(name: str) -> None:
    tally = LabelTally(supported=1, refuted=2, not_enough_info=4, undecided=8, no_verdict=16)
    assert getattr(tally, name) == {"unsupported": 6, "decided": 7, "unmeasured": 24, "claims": 31}[name]
    assert sum(tally.by_label.values()) == 31
