"""`hallumeter.transcripts`: from paths or from Python objects, kept or not."""

from __future__ import annotations

import gc
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

import hallumeter
from hallumeter import InputError, RecordError, Run, SettingsError, Transcript, TranscriptSettings
from hallumeter.text.spelling import Spelling, parse_spelling
from hallumeter.transcripts.commands import transcripts_of_jobs
from hallumeter.transcripts.inputs import opened_records
from hallumeter.transcripts.pages.page_xml import PageLevel
from hallumeter.transcripts.recompute import recompute
from hallumeter.transcripts.report.text import pages_table
from hallumeter.transcripts.settings import Columns
from transcript_folders import INVENTIVE, TRUTH, files_of, write_pages, write_rows

PAIRS = [(TRUTH[page], INVENTIVE[page]) for page in TRUTH]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def rates(run: Run) -> list[tuple[str, float | None]]:
    return [(row.metric, row.value) for row in run.summary.metrics if not row.by]


def test_paths_pairs_mappings_and_records_give_the_same_numbers(tmp_path: Path) -> None:
    truth, engine = write_pages(tmp_path / "truth", TRUTH), write_pages(tmp_path / "engine", INVENTIVE)
    table = write_rows(
        tmp_path / "t.jsonl", [{"page": page, "gt": TRUTH[page], "ocr": INVENTIVE[page]} for page in TRUTH]
    )
    expected = rates(hallumeter.transcripts(PAIRS))
    paths: list[str | Path] = [truth, str(engine)]
    assert rates(hallumeter.transcripts(paths)) == expected
    assert rates(hallumeter.transcripts(table)) == rates(hallumeter.transcripts(str(table))) == expected
    assert rates(hallumeter.transcripts({"reference": a, "response": b} for a, b in PAIRS)) == expected
    assert rates(hallumeter.transcripts({"gt": a, "ocr": b} for a, b in PAIRS)) == expected
    records = [Transcript(page, "engine", TRUTH[page], INVENTIVE[page]) for page in TRUTH]
    assert rates(hallumeter.transcripts(iter(records))) == expected


def test_mappings_are_read_like_rows_of_a_table() -> None:
    given: list[dict[str, object]] = [
        {"page": "a", "engine": "x", "reference": "un deux", "response": "un deux", "century": 15},
        {"page": "a", "engine": "y", "reference": "un deux", "response": "un", "fields": {"century": 16}},
        {"reference": "un", "response": "un"},
        {"page": "b", "reference": None, "response": "un"},
        {"page": "c", "response": "un"},
    ]
    run = hallumeter.transcripts(given, settings=TranscriptSettings(by=("century",)))
    assert [(row.page, row.engine) for row in run.pages()] == [("a", "x"), ("a", "y"), ("3", "response")]
    assert [failure.message.partition(";")[0] for failure in run.failures] == [
        "transcripts:4: no reference",
        "transcripts:5: no reference",
    ]
    groups = [tuple(row.by.values()) for row in run.summary.metrics if row.metric == "cer" and len(row.by) == 2]
    assert groups == [("x", "15"), ("y", "16"), ("response", "(none)")]


def test_columns_can_be_named_for_mappings_too() -> None:
    columns = Columns(page="n", reference="a", response="b")
    given = [{"n": 7, "a": "un", "b": "un", "response": "not this"}]
    [row] = hallumeter.transcripts(given, settings=TranscriptSettings(columns=columns)).pages()
    assert (row.page, row.cer) == ("7", 0.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "nothing given; expected paths, or transcripts"),
        ([("a", "b", "c")], "transcripts:1: expected a Transcript, a .* found tuple"),
        ([("a", None)], "transcripts:1: expected a Transcript, a .* found tuple"),
        ([("a", "b"), 7], "transcripts:2: expected a Transcript, a .* found int"),
        ([("a", "b"), "path.txt"], "paths and transcripts are mixed"),
        ([Transcript("", "x", "a", "b")], "transcripts:1: a page and an engine need names, found '', 'x'"),
        ([Transcript("p", "", "a", "b")], "transcripts:1: a page and an engine need names, found 'p', ''"),
    ],
)
def test_what_is_no_transcript_is_refused(given: list[object], said: str, temporary: Path) -> None:
    with pytest.raises(RecordError, match=said):
        hallumeter.transcripts(given)  # type: ignore[arg-type]
    assert list(temporary.iterdir()) == []


def test_what_cannot_be_used_at_all_is_an_error_of_the_input(temporary: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such file or folder"):
        hallumeter.transcripts(["nowhere", "else"])
    with pytest.raises(InputError, match="no page could be measured; the first fault: transcripts:1: no reference"):
        hallumeter.transcripts([{"response": "a"}])
    with pytest.raises(RecordError, match="transcripts:2: no reference"):
        hallumeter.transcripts([{"gt": "a", "ocr": "a"}, {"ocr": "a"}], settings=TranscriptSettings(is_strict=True))
    with pytest.raises(InputError, match="exists already"):
        hallumeter.transcripts(PAIRS, out=write_pages(tmp_path / "mine", TRUTH))
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rank_by": "colour"}, "rank by 'colour': expected one of cer"),
        ({"measures": "anchoring", "rank_by": "cer"}, "is not measured by anchoring alone"),
        ({"workers": 0}, "workers 0: expected at least 1"),
        ({"confidence": 1.0}, "confidence is 1"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        TranscriptSettings(**settings)  # type: ignore[arg-type]


def test_a_temporary_run_is_there_as_long_as_it_is_used(temporary: Path) -> None:
    run = hallumeter.transcripts(PAIRS)
    path = run.path
    assert path.is_relative_to(temporary)
    assert (path / "report.html").exists()
    del run
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_what_is_still_being_read_keeps_a_temporary_run(temporary: Path) -> None:
    def read_on(items: Iterator[object]) -> int:
        gc.collect()
        return sum(1 for _ in items)

    assert read_on(hallumeter.transcripts(PAIRS).pages()) == 3
    assert read_on(hallumeter.transcripts(PAIRS).findings()) > 3
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_a_kept_run_is_the_folder_that_was_asked_for(tmp_path: Path, temporary: Path) -> None:
    run = hallumeter.transcripts(PAIRS, out=tmp_path / "run")
    assert run.path == tmp_path / "run"
    again = hallumeter.transcripts(PAIRS, out=str(tmp_path / "again"))
    del run
    gc.collect()
    assert files_of(tmp_path / "run") == files_of(again.path)
    assert list(temporary.iterdir()) == []


def test_pages_with_two_references_are_measured_against_the_first_only() -> None:
    given = [Transcript("p", "x", "un deux", "un deux"), Transcript("p", "y", "trois", "trois")]
    run = hallumeter.transcripts(given)
    assert [(row.engine, row.cer) for row in run.pages()] == [("x", 0.0)]
    [failure] = run.failures
    assert failure.message == "transcripts:2: page 'p' has another reference already; left out"


def test_broken_characters_do_not_break_a_run() -> None:
    given = [
        Transcript("p\ud800", "e\udfff", "un \ud800 deux", "un \ud800 deux trois quatre cinq six", {"k": "\ud800"})
    ]
    run = hallumeter.transcripts(given)
    [row] = run.pages()
    assert (row.page, row.engine) == ("p?", "e?")
    [block] = [finding.claim for finding in run.findings() if finding.claim.kind == "block"]
    assert block.text == "trois quatre cinq six"


def test_whoever_watches_is_told_how_many_pages_are_done() -> None:
    told = []
    chosen = TranscriptSettings()
    transcripts_of_jobs(
        opened_records(PAIRS, columns=chosen.columns),
        settings=chosen,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_field_called_like_one_of_ours_does_not_hide_ours() -> None:
    given = [{"page": "p", "gt": "un deux", "ocr": "", "status": "good"}]
    run = hallumeter.transcripts(given, settings=TranscriptSettings(by=("status",)))
    [record] = run._folder.records()
    assert record.fields == {"page": "p", "status": "empty_output"}
    assert {"engine": "response", "status": "good"} in [row.by for row in run.summary.metrics]


def test_pages_and_engines_with_an_at_sign_keep_names_of_their_own() -> None:
    given = [Transcript(page, engine, "un deux", "un deux") for page, engine in (("a@b", "c"), ("a", "b@c"))]
    assert {finding.claim.record_id for finding in hallumeter.transcripts(given).findings()} == {"a%40b@c", "a@b@c"}


def test_whoever_watches_is_not_told_of_pages_without_a_partner() -> None:
    told = []
    chosen = TranscriptSettings()
    given = [{"page": "p", "gt": "un", "ocr": "un"}, {"page": "q", "gt": "un"}]
    transcripts_of_jobs(
        opened_records(given, columns=chosen.columns),
        settings=chosen,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 1)]


def test_a_run_that_is_cut_short_closes_its_pages_before_the_database() -> None:
    chosen = TranscriptSettings()

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with opened_records(PAIRS * 50, columns=chosen.columns) as jobs:
        with pytest.raises(KeyboardInterrupt):
            transcripts_of_jobs(nullcontext(jobs), settings=chosen, progress=stop)
        assert jobs.pages.gi_frame is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(("steps", "is_told"), [((), True), (("caseless",), True), (("nfc",), False)])
def test_another_unicode_form_is_told_once(steps: tuple[str, ...], is_told: bool) -> None:
    pieces = unicodedata.normalize("NFD", "été")
    run = hallumeter.transcripts(
        [("été", pieces), (pieces, "été"), ("été", "été"), (pieces, "")],
        settings=TranscriptSettings(spelling=Spelling(steps)),
    )
    told = [notice for notice in run.summary.notices if "Unicode form" in notice]
    expected = "some pages are in another Unicode form than their ground truth; --normalize nfc makes them alike: 2"
    assert told == [expected] * is_told


@pytest.mark.parametrize(("steps", "is_told"), [((), True), (("caseless",), True), (("dinglehopper",), False)])
def test_letters_of_the_private_use_area_are_told_once(steps: tuple[str, ...], is_told: bool) -> None:
    run = hallumeter.transcripts(
        [("Na\uf502bar", "Nachbar"), ("Na\uf502t", "Nacht"), ("Na\uf502t", "Na\uf502t"), ("Tag", "Nacht")],
        settings=TranscriptSettings(spelling=Spelling(steps)),
    )
    told = [notice for notice in run.summary.notices if "private use" in notice]
    assert [notice.endswith("resolves them (1 more likewise)") for notice in told] == [True] * is_told


def test_a_short_page_that_is_wholly_invented_is_badged() -> None:
    page = "Icy commence le prologue de maistre Jehan Froissart"
    run = hallumeter.transcripts([(page, "Photo unavailable"), (page, "Icy commence"), (page, "")])
    [badges] = [row for row in run.summary.metrics if row.metric == "hallucinating_page_rate" and not row.by]
    assert (badges.count, badges.total) == (1, 2)


REFUSAL = "I'm sorry, but I can't transcribe this image. Please upload a clearer one."


def test_a_refused_page_is_counted_apart_and_not_as_hallucinated() -> None:
    page = "Icy commence le prologue de maistre Jehan Froissart"
    run = hallumeter.transcripts([(page, REFUSAL), (page, page), (page, f"{page} [illegible] [illegible] [illegible]")])
    found: dict[str, tuple[object, object]] = {
        row.metric: (row.count, row.total) for row in run.summary.metrics if not row.by
    }
    assert found["hallucinating_page_rate"] == (0, 2)
    assert found["invented_rate"] == (0, 32)
    assert (found["refusal_page_rate"], found["apology_page_rate"], found["note_page_rate"]) == ((1, 3), (1, 3), (1, 3))
    refused = [record for record in run._folder.records() if record.fields["status"] == "refused"]
    assert [record.response for record in refused] == [REFUSAL]
    assert any("refusals, counted apart" in notice for notice in run.summary.notices)
    kinds = {
        (finding.claim.kind, finding.verdicts[0].reason, finding.verdicts[0].label.value) for finding in run.findings()
    }
    assert {("remark", kind, "NOT_ENOUGH_INFO") for kind in ("refusal", "apology", "note")} <= kinds


def test_notes_count_as_invented_when_that_is_asked_for() -> None:
    page = "Icy commence le prologue de maistre Jehan Froissart"
    run = hallumeter.transcripts([(page, REFUSAL), (page, page)], settings=TranscriptSettings(count_notes=True))
    found = {row.metric: row for row in run.summary.metrics if not row.by}
    assert (found["hallucinating_page_rate"].count, found["hallucinating_page_rate"].total) == (1, 2)
    assert (found["refusal_page_rate"].count, found["refusal_page_rate"].total) == (1, 2)
    assert "|notes:counted|" in found["invented_rate"].signature
    assert "words about the page, which count as invented text" in pages_table(
        run.summary, list(run.pages()), width=100
    )


def test_folders_without_common_names_are_paired_by_order(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"a": "un deux", "b": "trois quatre"})
    engine = write_pages(tmp_path / "engine", {"scan 1": "un deux", "scan 2": "trois quatre"})
    run = hallumeter.transcripts([truth, engine], settings=TranscriptSettings(pair_by="order"))
    assert [row.value for row in run.summary.metrics if row.metric == "cer" and not row.by] == [0]
    write_pages(tmp_path / "engine", {"scan 3": "cinq"})
    with pytest.raises(InputError, match="engine: has 3 pages and the ground truth 2; pages can be paired"):
        hallumeter.transcripts([truth, engine], settings=TranscriptSettings(pair_by="order"))


def test_a_page_without_a_partner_is_told_with_the_nearest_names(tmp_path: Path) -> None:
    truth = write_pages(tmp_path / "truth", {"page_0001": "un", "page_0002": "deux", "x": "y"})
    engine = write_pages(tmp_path / "engine", {"page_0001": "un", "page-0002": "deux", "zzz": ""})
    told = [failure.message for failure in hallumeter.transcripts([truth, engine]).failures]
    assert (
        "page-0002: engine has a reading of it, but there is no reference; the nearest without one: page_0002" in told
    )
    assert "zzz: engine has a reading of it, but there is no reference" in told


def test_a_page_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(SettingsError, match="page level 'glyph': expected one of region, line, word"):
        TranscriptSettings(page_level="glyph")  # type: ignore[arg-type]


DINGLEHOPPER = Path(__file__).parent / "pages" / "files" / "dinglehopper"


def test_a_profile_names_itself_in_signature_and_manifest_and_chooses_the_level(tmp_path: Path) -> None:
    given = [DINGLEHOPPER / f"lorem-ipsum-scan-bad.{kind}.xml" for kind in ("gt.page", "ocr.tesseract.alto")]
    run = hallumeter.transcripts(
        given, settings=TranscriptSettings(spelling=Spelling(("dinglehopper",))), out=tmp_path / "run"
    )
    cer = next(row for row in run.summary.metrics if row.metric == "cer" and not row.by)
    assert (cer.count, cer.total) == (8, 591)  # 0.01353637901861252 of 591 by dinglehopper 0.11.0
    assert "|spelling:dinglehopper|" in cer.signature
    assert (run.manifest.settings["spelling"], run.manifest.settings["page_level"]) == ("dinglehopper", "region")


def test_picarones_scores_stay_picarones_under_its_own_profile() -> None:
    page, reading = "vne ſœur iour", "une soeur jour"
    plain = dict(rates(hallumeter.transcripts([(page, reading)])))
    own = dict(
        rates(hallumeter.transcripts([(page, reading)], settings=TranscriptSettings(spelling=Spelling(("picarones",)))))
    )
    assert (plain["net_insertion_rate"], own["net_insertion_rate"], own["cer"]) == (1, 1, 0)


def test_the_level_of_page_xml_is_in_the_signature_and_stays_there_when_numbers_are_made_again(tmp_path: Path) -> None:
    line = "<TextLine><TextEquiv><Unicode>of the line</Unicode></TextEquiv></TextLine>"
    region = f"<TextRegion>{line}<TextEquiv><Unicode>of the region</Unicode></TextEquiv></TextRegion>"
    for name in ("truth", "engine"):
        (tmp_path / name).mkdir()
    (tmp_path / "truth" / "1.xml").write_text(f"<PcGts><Page>{region}</Page></PcGts>", encoding="utf-8")
    (tmp_path / "engine" / "1.txt").write_text("of the region", encoding="utf-8")
    paths = [tmp_path / "truth", tmp_path / "engine"]
    levels: tuple[PageLevel | None, ...] = (None, "region")
    by_line, by_region = (
        hallumeter.transcripts(paths, settings=TranscriptSettings(page_level=level), out=tmp_path / str(level))
        for level in levels
    )
    assert by_line.summary["cer"].value != by_region.summary["cer"].value == 0
    assert "page-level" not in str(by_line.summary["cer"].signature)
    assert "|page-level:region|" in str(by_region.summary["cer"].signature)
    again = tmp_path / "again"
    again.mkdir()
    assert recompute(tmp_path / "region", again) == {}
    assert (again / "summary.json").read_bytes() == (tmp_path / "region" / "summary.json").read_bytes()


TABLE = "Name Age\nAnna 7\nBert 9"
AS_MARKDOWN = "| Name | Age |\n|------|-----|\n| Anna | 7 |\n| Bert | 9 |"


def test_rules_and_bars_are_errors_of_characters_until_they_are_left_out() -> None:
    as_written = hallumeter.transcripts([(TABLE, AS_MARKDOWN)])
    without = hallumeter.transcripts(
        [(TABLE, AS_MARKDOWN)], settings=TranscriptSettings(spelling=parse_spelling(["layout"]))
    )
    rows = [next(iter(run.pages())) for run in (as_written, without)]
    assert [row.is_hallucinating for row in rows] == [False, False]
    assert [row.invented_rate for row in rows] == [0, 0]
    assert rows[0].cer is not None
    assert rows[0].cer > 1
    assert (rows[1].cer, rows[1].wer) == (0, 0)
    told = "rules or layout marks"
    assert [any(told in notice for notice in run.summary.notices) for run in (as_written, without)] == [True, False]
    assert any("layout" in metric.signature for metric in without.summary.metrics)


def test_no_note_tells_to_join_what_cannot_be_joined() -> None:
    settings = TranscriptSettings(spelling=parse_spelling(["dinglehopper"]))
    run = hallumeter.transcripts([(TABLE, AS_MARKDOWN)], settings=settings)
    assert not any("--normalize layout" in notice for notice in run.summary.notices)
