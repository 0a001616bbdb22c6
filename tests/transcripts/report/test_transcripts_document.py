"""A document on transcriptions: engines in order, pages counted, the worst readings kept, and what is left out said."""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

import msgspec
import pytest

from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.page import PageRow
from hallumeter.records.ranking import EnginePair, RankedEngine, Ranking
from hallumeter.records.response import Passage, Response
from hallumeter.report.document import (
    BreakdownSection,
    Document,
    IntegritySection,
    MetricSection,
    MetricText,
    OverviewSection,
    RecordFindings,
)
from hallumeter.report.sections import PageCensus, PageSection, RankingSection, ReadingSection, StretchView
from hallumeter.report.selection import Limits
from hallumeter.transcripts.report.pages import CHARACTERS_SHOWN, count_pages
from hallumeter.transcripts.report.ranking import difference_words, neighbours, p_words, reading_coverage_words
from report_samples import sample_document
from transcript_samples import (
    TRUTHS,
    Part,
    made_up_readings,
    page_row,
    ranking_of,
    reading,
    rows_of,
    transcripts_document,
    transcripts_summary,
    written_readings,
)

SectionType = TypeVar("SectionType")


def section(document: Document, kind: type[SectionType]) -> SectionType:
    return next(one for one in document.sections if isinstance(one, kind))


def row(page: str, engine: str, **changes: object) -> PageRow:
    return page_row(reading(page, engine, [Part("run", "some words here", "some words here")]), **changes)


def engine_metric(name: str, engine: str, value: float | None) -> MetricSummary:
    return MetricSummary(
        metric=name,
        by={"engine": engine},
        judge=None,
        count=None,
        total=4.0,
        value=value,
        interval=None,
        interval_method=None,
        direction="lower",
        undefined=None if value is not None else "no page",
        undecided=0,
        failed=0,
        bounds=None,
        signature=name,
    )


def test_a_report_on_pages_has_engines_and_pages_instead_of_judges_and_claims() -> None:
    kinds = [type(one) for one in transcripts_document().sections]
    assert kinds == [OverviewSection, ReadingSection, RankingSection, PageSection, MetricSection, IntegritySection]


def test_a_document_on_claims_has_no_section_on_pages() -> None:
    kinds = {type(one) for one in sample_document().sections}
    assert not kinds & {RankingSection, PageSection, ReadingSection}


def test_equal_inputs_give_equal_bytes_and_a_document_survives_being_written_and_read() -> None:
    document = transcripts_document()
    encoded = msgspec.json.encode(document)
    assert encoded == msgspec.json.encode(transcripts_document())
    assert msgspec.json.decode(encoded, type=Document) == document


def test_other_groups_than_engines_keep_their_own_section() -> None:
    rows = rows_of(written_readings())
    summary = transcripts_summary(rows)
    by_script = [msgspec.structs.replace(summary.metrics[0], by={"script": name}) for name in ("Latin", "Hangul")]
    document = transcripts_document(summary=transcripts_summary(rows, metrics=(*summary.metrics, *by_script)))
    assert section(document, BreakdownSection).by == ("script",)
    assert not any(one.by == ("engine",) for one in document.sections if isinstance(one, BreakdownSection))


def test_engines_stand_in_the_order_of_the_ranking_even_where_the_error_rate_says_otherwise() -> None:
    rows = rows_of(written_readings())
    ranking = ranking_of(rows)
    turned = msgspec.structs.replace(ranking, engines=tuple(reversed(ranking.engines)))
    document = transcripts_document(summary=transcripts_summary(rows, ranking=turned))
    assert [engine.engine for engine in section(document, RankingSection).engines] == ["vlm-b", "ocr-a"]


def test_without_a_ranking_engines_stand_by_their_error_rate_and_those_without_one_last() -> None:
    metrics = (
        engine_metric("cer", "none", None),
        engine_metric("cer", "worse", 0.4),
        engine_metric("cer", "better", 0.1),
        engine_metric("cer", "also better", 0.1),
    )
    summary = transcripts_summary(rows_of(written_readings()), metrics=metrics, ranking=None)
    engines = section(transcripts_document(summary=summary, own=()), RankingSection).engines
    assert [engine.engine for engine in engines] == ["also better", "better", "worse", "none"]
    assert all(engine.pages is None and engine.mean_rank is None for engine in engines)


def test_an_engine_that_the_ranking_leaves_out_stands_below_without_a_place() -> None:
    rows = rows_of(made_up_readings(3))
    ranking = ranking_of(rows)
    fewer = msgspec.structs.replace(ranking, engines=ranking.engines[1:])
    document = transcripts_document(made_up_readings(3), summary=transcripts_summary(rows, ranking=fewer))
    engines = section(document, RankingSection).engines
    assert [engine.place for engine in engines] == [1, 2, None]
    assert (engines[2].engine, engines[2].mean_rank) == (ranking.engines[0].engine, None)


def test_pages_and_empty_outputs_are_counted_for_each_engine() -> None:
    engines = {engine.engine: engine for engine in section(transcripts_document(), RankingSection).engines}
    assert (engines["ocr-a"].pages, engines["ocr-a"].empty_outputs) == (4, 1)
    assert (engines["vlm-b"].pages, engines["vlm-b"].empty_outputs) == (4, 0)


def test_without_the_table_of_pages_their_number_is_read_off_the_summary() -> None:
    engines = {engine.engine: engine for engine in section(transcripts_document(own=()), RankingSection).engines}
    assert (engines["ocr-a"].pages, engines["ocr-a"].empty_outputs) == (4, 1)


@pytest.mark.parametrize(("share", "expected"), [(0.2, False), (0.2001, True), (None, False)])
def test_an_engine_is_warned_of_when_more_than_a_fifth_of_its_pages_hallucinate(
    share: float | None, expected: bool
) -> None:
    metrics = (engine_metric("hallucinating_page_rate", "a", share),)
    summary = transcripts_summary(rows_of(written_readings()), metrics=metrics, ranking=None)
    (engine,) = section(transcripts_document(summary=summary, own=()), RankingSection).engines
    assert engine.is_warned is expected


@pytest.mark.parametrize(("pages", "expected"), [(4, False), (5, True)])
def test_an_engine_with_fewer_than_five_pages_is_not_warned_of(pages: int, expected: bool) -> None:
    parts = [Part("block", "a b c d e f g h"), Part("run", "x", "x")]
    rows = [page_row(reading(f"p{number}", "a", parts)) for number in range(pages)]
    metrics = (engine_metric("hallucinating_page_rate", "a", 1.0),)
    summary = transcripts_summary(rows, metrics=metrics, ranking=None)
    (engine,) = section(transcripts_document(summary=summary, own=rows, records=[]), RankingSection).engines
    assert engine.is_warned is expected


def test_columns_have_short_headings_and_the_catalog_gives_the_others_theirs() -> None:
    texts = {"loop_rate": MetricText("loops", "share of words in loops", "How much is repeated?")}
    ranked = section(transcripts_document(metric_texts=texts), RankingSection)
    assert [column.heading for column in ranked.columns] == [
        *("CER", "Hallucinating pages", "Invented", "Inserted", "Left out", "Anchor", "WER", "MER", "WIL", "Gini"),
    ]
    assert [column.heading for column in ranked.further] == ["loops", "length_ratio_mean", "empty_output_rate"]
    assert ranked.further[0].question == "How much is repeated?"


def test_of_very_many_pairs_only_neighbours_are_kept_and_the_rest_is_counted() -> None:
    # 101 engines make 101 * 100 / 2 = 5,050 pairs, more than are kept; 100 of them are neighbours.
    names = [f"e{number:03d}" for number in range(101)]
    pairs = tuple(EnginePair(a, b, 3, 0.1, 0.5, 1.0) for place, a in enumerate(names) for b in names[place + 1 :])
    ranking = Ranking(
        "cer",
        3,
        0,
        tuple(RankedEngine(name, 1.0 + place) for place, name in enumerate(names)),
        1.0,
        0.5,
        9.0,
        (),
        pairs,
    )
    summary = transcripts_summary(rows_of(written_readings()), ranking=ranking)
    ranked = section(transcripts_document(summary=summary), RankingSection)
    assert ranked.ranking is not None
    assert [(pair.first, pair.second) for pair in ranked.ranking.pairs[:2]] == [("e000", "e001"), ("e001", "e002")]
    assert (len(ranked.ranking.pairs), ranked.pairs_left_out) == (100, 4950)


def test_neighbours_are_found_whichever_way_a_pair_is_written() -> None:
    pair = EnginePair("b", "a", 3, 0.1, 0.5, 0.5)
    ranking = Ranking("cer", 3, 0, (RankedEngine("a", 1.2), RankedEngine("b", 1.8)), 1.0, 0.5, 1.0, (), (pair,))
    assert neighbours(ranking) == [pair]


def test_the_census_counts_every_status() -> None:
    rows = [
        row("p1", "a", is_hallucinating=True),
        row("p1", "b", status="empty_output", is_hallucinating=None),
        row("p2", "a", status="empty_reference", is_hallucinating=None),
        row("p2", "b", status="both_empty", is_hallucinating=None),
        row("p3", "a", status="undecided", is_hallucinating=None, is_exact=False),
    ]
    assert count_pages(rows).census == PageCensus(
        pages=3,
        engines=2,
        readings=5,
        empty_outputs=1,
        empty_references=2,
        undecided=1,
        upper_bounds=1,
        hallucinating=1,
        without_badge=4,
    )


def test_with_too_many_rows_whole_pages_are_drawn_so_that_engines_keep_the_same_pages() -> None:
    rows = [row(f"p{number:03d}", engine) for number in range(200) for engine in "abc"]
    counted = count_pages(iter(rows), kept=100)
    kept = counted.section
    assert len(kept.rows) == 99
    assert (kept.pages, kept.rows_left_out, kept.pages_left_out) == (33, 501, 167)
    assert counted.census.readings == 600
    assert [one.engine for one in kept.rows] == list("abc") * 33
    pages = [one.page for one in kept.rows[::3]]
    assert pages == sorted(pages)
    # By a hash of the name, not from the top: of 33 drawn from 200, all in the first half would be a wonder.
    assert 5 < sum(page < "p100" for page in pages) < 28
    assert count_pages(iter(rows), kept=100).section == kept


def test_the_worst_readings_come_first_by_words_invented_and_left_out() -> None:
    records = [
        reading("p", "clean", [Part("run", "one two three", "one two three")]),
        reading("p", "many small insertions", [Part("insertion", "a b c"), Part("run", "one", "one")]),
        reading("p", "left out", [Part("omission", reference="one two three four five")]),
        reading("p", "looping", [Part("loop", "a b " * 20)]),
        reading("p", "block and omission", [Part("block", "a b c d"), Part("omission", reference="one two")]),
    ]
    views = section(transcripts_document(records), ReadingSection).readings
    assert [view.engine for view in views] == [
        *("looping", "block and omission", "left out", "many small insertions", "clean"),
    ]
    assert {view.picked for view in views} == {"worst"}


def test_a_few_readings_are_drawn_at_random_from_those_that_are_not_the_worst() -> None:
    document = transcripts_document(made_up_readings(3), limits=Limits(worst=4, random=6))
    shown = section(document, ReadingSection)
    assert [view.picked for view in shown.readings] == ["worst"] * 4 + ["random"] * 6
    assert shown.total == 60
    assert reading_coverage_words(shown) == (
        "The 4 readings with most words invented or left out, and 6 drawn at random, of 60. Each engine has an equal "
        "share of them. To read all of them, type: hallumeter view RUN, where RUN is the folder of this report."
    )


def test_the_worst_pages_of_every_engine_are_shown_however_bad_another_is() -> None:
    # The engines of these readings are worse and worse; 20 pages of each would fill the limit with the last alone.
    shown = section(transcripts_document(made_up_readings(5), limits=Limits(worst=15, random=0)), ReadingSection)
    assert Counter(view.engine for view in shown.readings) == dict.fromkeys({view.engine for view in shown.readings}, 3)
    assert len({view.engine for view in shown.readings}) == 5
    # What does not fit is missing from all alike.
    small = section(
        transcripts_document(made_up_readings(5), limits=Limits(worst=15, random=0, bytes=20_000)), ReadingSection
    )
    assert small.too_large > 0
    counts = Counter(view.engine for view in small.readings)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_an_engine_with_few_pages_leaves_its_share_to_the_others() -> None:
    readings = made_up_readings(2)
    first = readings[0].response.model
    few = [item for item in readings if item.response.model != first][:3]
    own = [item for item in readings if item.response.model == first]
    summary = transcripts_summary(rows_of(readings))
    document = transcripts_document([*own, *few], limits=Limits(worst=12, random=0), summary=summary)
    shown = section(document, ReadingSection)
    assert sum(view.engine == first for view in shown.readings) == 9


def test_readings_beyond_the_limit_of_size_are_counted() -> None:
    shown = section(transcripts_document(limits=Limits(bytes=9_000)), ReadingSection)
    assert 0 < len(shown.readings) < 8
    assert shown.too_large == 8 - len(shown.readings)
    assert f"{shown.too_large} more would make this file too large." in reading_coverage_words(shown)


def test_a_reading_keeps_the_places_of_its_stretches_on_both_sides() -> None:
    views = section(transcripts_document(), ReadingSection).readings
    view = next(view for view in views if (view.page, view.engine) == ("letter-1863", "vlm-b"))
    first, slipped, block, omission, *_, loop, last = view.stretches
    assert first == StretchView("run", 5.0, Label.SUPPORTED, 0, 32, 0, 32)
    assert slipped.note == "1 of 21 words misread"
    assert block.start is not None
    assert view.response[block.start : block.end].startswith("The enemy")
    assert block.reference_start is None
    assert (omission.start, omission.end) == (None, None)
    assert view.reference[omission.reference_start : omission.reference_end] == TRUTHS["letter-1863"][2]
    assert (loop.kind, loop.note) == ("loop", "5 words, 31 times")
    assert view.reference[last.reference_start : last.reference_end] == "Your affectionate brother, Thos. W. Reed"
    assert view.row is not None
    assert view.row.page == "letter-1863"
    moved = next(view for view in views if (view.page, view.engine) == ("registre-1742", "vlm-b")).stretches[0]
    assert moved.is_moved


def test_a_very_long_text_is_cut_and_its_length_is_told() -> None:
    text = "word " * 40_000
    record = reading("p", "e", [Part("loop", text.strip(), note="1 word, 40000 times")])
    (view,) = section(transcripts_document([record]), ReadingSection).readings
    assert len(view.response) == CHARACTERS_SHOWN
    assert view.response_characters == 199_999


def test_failures_of_a_reading_and_its_other_fields_stay_with_it() -> None:
    item = written_readings()[0]
    kept = msgspec.structs.replace(item.response, fields={**item.response.fields, "century": 19})
    failure = Failure("letter-1863@vlm-b", None, "measure", None, "too_long", "no alignment")
    document = transcripts_document([RecordFindings(kept, item.findings)], failures=[failure])
    (view,) = section(document, ReadingSection).readings
    assert view.fields == {"century": 19}
    assert view.failures == ("measure: too_long: no alignment",)


def test_a_witness_is_named_and_what_nobody_could_tell_stays_undecided() -> None:
    verdict = Verdict("p@e", "block-0", "witness", Label.UNDECIDED)
    findings = (
        Finding(Claim("p@e", "block-0", kind="block", start=0, end=3, text="a b", weight=2.0), (verdict,)),
        Finding(Claim("p@e", "block-1", kind="block", start=4, end=5, text="c", weight=1.0), ()),
    )
    response = Response("p@e", response="a b c", evidence=(Passage("tesseract", "x"),), model="e")
    item = RecordFindings(response, findings)
    document = transcripts_document(
        [item], own=(), summary=transcripts_summary(rows_of(written_readings()), metrics=(), ranking=None)
    )
    (view,) = section(document, ReadingSection).readings
    assert (view.page, view.engine, view.witness, view.row) == ("p", "e", "tesseract", None)
    assert [stretch.label for stretch in view.stretches] == [Label.UNDECIDED, None]
    told = reading_coverage_words(section(document, ReadingSection))
    assert told == "Every page of every engine (1), most unconfirmed and left out first."


def test_a_run_without_pages_engines_or_readings_is_a_document_all_the_same() -> None:
    summary = transcripts_summary([row("p", "e")], metrics=(), ranking=None)
    document = transcripts_document([], summary=summary, own=())
    assert [type(one) for one in document.sections] == [IntegritySection]


def test_integrity_holds_the_census_and_the_failures() -> None:
    integrity = section(transcripts_document(), IntegritySection)
    assert integrity.census is not None
    assert (integrity.census.empty_outputs, integrity.failures_total) == (1, 1)
    assert section(sample_document(), IntegritySection).census is None


def pairs_of(adjusted: float | None, difference: float | None = -0.2) -> Ranking:
    engines = (RankedEngine("a", 1.1), RankedEngine("b", 1.9))
    return Ranking(
        "cer", 20, 0, engines, 5.0, 0.01, 0.5, (), (EnginePair("a", "b", 20, difference, adjusted, adjusted),)
    )


def test_two_engines_are_compared_in_one_sentence() -> None:
    basis = "CER on the 20 pages that all ranked engines have read"
    test = "typical difference on a page 0.200, Wilcoxon, p ="
    assert difference_words(pairs_of(0.012)) == f"a is better than b: {basis} ({test} 0.012)."
    assert difference_words(pairs_of(0.012, 0.2)) == f"b is better than a: {basis} ({test} 0.012)."
    assert difference_words(pairs_of(0.3)) == f"a and b are not shown to differ: {basis} ({test} 0.300)."
    assert difference_words(pairs_of(None, None)) == f"a and b do not differ on any page: {basis}."


def test_an_engine_with_the_higher_anchor_score_is_the_better_one() -> None:
    ranking = msgspec.structs.replace(pairs_of(0.012, 0.2), metric="anchor_score", direction="higher")
    assert difference_words(ranking).startswith("a is better than b: anchor score on the 20 pages")


def test_several_engines_are_compared_in_one_sentence() -> None:
    engines = tuple(RankedEngine(name, 1.0 + place) for place, name in enumerate("abcdefg"))
    ranking = Ranking("cer", 9, 0, engines, 30.0, 1e-6, 2.0, (tuple("abcdef"), tuple("cdefg")), ())
    told = "CER on the 9 pages that all ranked engines have read (Friedman, p < 0.001)."
    best = "a has the best mean rank and differs from"
    assert difference_words(ranking) == f"{best} 1 of the 6 others; it does not differ from b, c, d and 2 more: {told}"
    alone = msgspec.structs.replace(ranking, groups=(("b", "c"),))
    assert difference_words(alone) == f"{best} 6 of the 6 others: {told}"
    level = msgspec.structs.replace(ranking, groups=(tuple("abcdefg"),))
    assert "a has the best mean rank and leads; it does not differ from" in difference_words(level)
    weak = msgspec.structs.replace(ranking, p_value=0.4)
    assert difference_words(weak).startswith("No difference is shown: CER on the 9 pages")
    untested = msgspec.structs.replace(ranking, p_value=None, undefined="there is no page")
    assert difference_words(untested) == "Not tested: there is no page."
    assert difference_words(msgspec.structs.replace(ranking, engines=engines[:1])).startswith("One engine")


def test_p_values_are_never_written_as_zero_or_one() -> None:
    assert [p_words(value) for value in (0.05, 1e-12, 0.99999)] == ["p = 0.050", "p < 0.001", "p > 0.999"]
