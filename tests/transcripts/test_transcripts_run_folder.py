"""What a transcripts run holds: places that can be cut out, counts that agree with each other, the same bytes again."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hallumeter
from hallumeter import Transcript, TranscriptSettings
from hallumeter.text.spelling import parse_spelling
from hallumeter.transcripts.alignment import Stretch
from hallumeter.transcripts.page import _count_loops, _note
from transcript_folders import INVENTIVE, TRUTH, files_of, lines_of

WORDS = st.sampled_from(
    [
        "le",
        "roi",
        "de",
        "France",
        "1422",
        "Jehan,",
        "maiſtre",
        "e\u0301te\u0301",
        "한국어",
        "漢字",
        "العربية",
        "🙂",
        ".",
        "—",
    ]
)
PIECES = st.lists(st.one_of(WORDS, WORDS, st.text(max_size=6)), max_size=25)
SPACES = st.sampled_from([" ", "\n", "  ", "\t", "\u3000", "\r\n"])
KINDS = {"run", "insertion", "block", "loop", "omission"}


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Words of many scripts between white space of all kinds, sometimes one part over and over."""
    pieces = draw(PIECES)
    if draw(st.booleans()):
        pieces = [*pieces, *draw(PIECES)[:4] * draw(st.integers(0, 9))]
    return "".join(piece + draw(SPACES) for piece in pieces)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Texts that share something, or nothing."""
    reference, added = draw(texts()), draw(texts())
    response = draw(st.sampled_from([reference + added, added + reference, added, reference[3:], "", reference]))
    return reference, response


@settings(max_examples=40)
@given(st.lists(pairs(), min_size=1, max_size=3), st.sampled_from(["", "caseless", "diplomatic+punctuation"]))
def test_places_cut_the_texts_exactly(given_pairs: list[tuple[str, str]], steps: str) -> None:
    spelling = parse_spelling([steps] if steps else [])
    run = hallumeter.transcripts(given_pairs, settings=TranscriptSettings(spelling=spelling))
    for response, findings in run._folder.findings():
        [truth] = response.evidence
        assert response.response is not None
        reached = 0
        for finding in findings:
            claim, [verdict] = finding.claim, finding.verdicts
            assert claim.kind in KINDS
            for quote in verdict.evidence:
                assert quote.evidence_id == "truth"
                assert quote.start is not None
                assert quote.end is not None
                assert 0 <= quote.start < quote.end <= len(truth.text)
            if claim.kind == "omission":
                [quote] = verdict.evidence
                assert (claim.start, claim.end) == (None, None)
                assert claim.text == truth.text[quote.start : quote.end]
                assert claim.text == claim.text.strip() != ""
                continue
            assert claim.start is not None
            assert claim.end is not None
            assert reached <= claim.start < claim.end <= len(response.response), "stretches overlap or run backwards"
            reached = claim.end
            text = response.response[claim.start : claim.end]
            assert text == text.strip()
            assert claim.text == (None if claim.kind == "run" else text)
            assert (verdict.start, verdict.end) == (claim.start, claim.end)


@settings(max_examples=25)
@given(st.lists(pairs(), min_size=1, max_size=4))
def test_weights_are_words_that_add_up_to_the_counts_of_the_summary(given_pairs: list[tuple[str, str]]) -> None:
    run = hallumeter.transcripts(given_pairs)
    weights: Counter[str] = Counter()
    for finding in run.findings():
        assert finding.claim.weight == int(finding.claim.weight) > 0
        weights[finding.claim.kind] += int(finding.claim.weight)
    whole = {row.metric: row for row in run.summary.metrics if not row.by}
    inserted = weights["insertion"] + weights["block"] + weights["loop"]
    assert whole["true_insertion_rate"].total == inserted + weights["run"]
    assert whole["true_insertion_rate"].count == inserted
    assert whole["loop_rate"].count == weights["loop"]
    assert whole["invented_rate"].count == weights["block"] + weights["loop"]
    if whole["omission_rate"].total:
        assert whole["omission_rate"].count == weights["omission"]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two engines on three pages; one of them invents, repeats, leaves out, and is silent on a fourth."""
    folder = tmp_path_factory.mktemp("run") / "run"
    given_pages = [
        Transcript(page, engine, TRUTH[page], text[page], {"century": 15})
        for page in TRUTH
        for engine, text in (("faithful", TRUTH), ("inventive", INVENTIVE))
    ]
    given_pages += [Transcript("p4", "inventive", TRUTH["p1"], ""), Transcript("p5", "faithful", "", "")]
    hallumeter.transcripts(given_pages, out=folder)
    return folder


def by_id(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {line["record_id"]: line for line in lines}


def test_a_record_is_a_page_of_an_engine_with_its_reference_as_evidence(run_folder: Path) -> None:
    records = by_id(lines_of(run_folder / "records.jsonl"))
    assert list(records) == [
        *("p1@faithful", "p1@inventive", "p2@faithful", "p2@inventive", "p3@faithful", "p3@inventive"),
        *("p4@inventive", "p5@faithful"),
    ]
    first = records["p1@inventive"]
    assert first["response"] == INVENTIVE["p1"]
    assert first["evidence"] == [{"evidence_id": "truth", "text": TRUTH["p1"]}]
    assert first["model"] == "inventive"
    assert first["fields"] == {"century": 15, "page": "p1", "status": "ok"}
    assert records["p4@inventive"]["fields"]["status"] == "empty_output"
    assert records["p5@faithful"]["fields"]["status"] == "both_empty"


def test_labels_and_reasons_say_what_happened(run_folder: Path) -> None:
    claims = {line["claim_id"]: line for line in lines_of(run_folder / "claims.jsonl")}
    found = defaultdict(list)
    for verdict in lines_of(run_folder / "verdicts.jsonl"):
        claim = claims[verdict["claim_id"]]
        assert verdict["judge"] == "alignment"
        found[verdict["record_id"]].append((claim["kind"], verdict["label"], verdict["reason"]))
    assert found["p1@faithful"] == [("run", "SUPPORTED", None)]
    assert found["p1@inventive"] == [("run", "SUPPORTED", None), ("block", "REFUTED", "block")]
    assert ("loop", "REFUTED", "loop") in found["p2@inventive"]
    assert found["p3@inventive"] == [("run", "SUPPORTED", None), ("omission", "REFUTED", "omission")]
    assert found["p4@inventive"] == [("omission", "REFUTED", "omission")]
    assert "p5@faithful" not in found
    [block] = [claim for claim in claims.values() if claim["kind"] == "block"]
    assert (block["text"], block["weight"]) == ("dans son palais entouré de ses fidèles", 7)
    [omission] = [
        claim for claim in claims.values() if claim["record_id"] == "p3@inventive" and claim["kind"] == "omission"
    ]
    assert (omission["text"], omission["weight"]) == ("le dixième jour de mai", 5)


def test_a_loop_says_how_many_words_are_repeated_how_often(run_folder: Path) -> None:
    notes = [line["note"] for line in lines_of(run_folder / "verdicts.jsonl") if line["reason"] == "loop"]
    # By hand: "à tous présents et" twelve times, of which the page has one.
    assert notes
    assert all(note.startswith("4 words, 12") and note.endswith(" times") for note in notes)


def test_a_misread_word_is_noted_on_its_run() -> None:
    run = hallumeter.transcripts([("le maistre Jehan vint", "le maiftre Jehan vint")])
    [finding] = run.findings()
    assert (finding.claim.kind, finding.verdicts[0].note) == ("run", "1 of 4 words misread")
    [alone] = hallumeter.transcripts([("maistre", "maiftre")]).findings()
    assert alone.verdicts[0].note == "1 of 1 word misread"


@pytest.mark.parametrize(
    ("words", "note"),
    [(195, "9 words, 21.7 times"), (180, "9 words, 21.7 times"), (90, "part of a loop: 9 words, 21.7 times in all")],
)
def test_a_piece_of_a_loop_says_that_it_is_one(words: int, note: str) -> None:
    # By hand: 21 whole copies are 189 words, 180 without the copy that the page has.
    assert _note(Stretch("loop", words, 0, 9, None, None, period=9, copies=195 / 9)) == note


def test_pieces_of_a_loop_are_one_loop() -> None:
    piece, other = (Stretch("loop", 20, 0, 9, None, None, period=5, copies=copies) for copies in (9.0, 6.0))
    run = Stretch("run", 5, 0, 9, 0, 9)
    assert [_count_loops(found) for found in ((run,), (piece, run, piece), (piece, run, other))] == [0, 1, 2]


def test_counts_of_the_summary_agree_with_the_files(run_folder: Path) -> None:
    summary = json.loads((run_folder / "summary.json").read_text(encoding="utf-8"))
    counts = summary["counts"]
    for name in ("records", "claims", "verdicts", "failures"):
        assert counts[name] == len(lines_of(run_folder / f"{name}.jsonl"))
    assert (counts["judges"], counts["models"]) == (1, 2)
    assert summary["instrument"] == "transcripts"
    manifest = json.loads((run_folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["judges"] == [{"name": "alignment", "spec": "spelling none"}]
    assert manifest["settings"]["rank_by"] == "cer"


def test_measurements_pooled_are_the_summary(run_folder: Path) -> None:
    records = by_id(lines_of(run_folder / "records.jsonl"))
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for line in lines_of(run_folder / "measurements.jsonl"):
        assert (line["scope"], line["by"], line["judge"]) == ("record", {}, None)
        assert line["value"] == (line["count"] / line["total"] if line["total"] else None)
        assert (line["undefined"] is None) == (line["value"] is not None)
        for engine in ("", records[line["record_id"]]["model"]):
            sums[line["metric"], engine][0] += line["count"]
            sums[line["metric"], engine][1] += line["total"]
    compared = 0
    for row in json.loads((run_folder / "summary.json").read_text(encoding="utf-8"))["metrics"]:
        key = (row["metric"], row["by"].get("engine", ""))
        if key in sums:
            compared += 1
            assert [row["count"], row["total"]] == pytest.approx(sums[key])
    assert compared == 3 * len({metric for metric, _ in sums}) >= 3 * 12


def test_the_table_of_pages_agrees_with_the_measurements(run_folder: Path) -> None:
    measured = {
        (line["metric"], line["record_id"]): line["value"] for line in lines_of(run_folder / "measurements.jsonl")
    }
    for row in hallumeter.load(run_folder).pages():
        record_id = f"{row.page}@{row.engine}"
        for metric in ("cer", "wer", "mer", "true_insertion_rate", "omission_rate", "invented_rate", "loop_rate"):
            assert getattr(row, metric) == measured[metric, record_id]
        if row.status != "both_empty":  # Picarones' ratio of two empty texts is 1; a rate of nothing is undefined
            assert row.length_ratio == measured["length_ratio", record_id]


def test_the_same_input_gives_the_same_bytes(run_folder: Path, tmp_path: Path) -> None:
    given_pages = [
        Transcript(page, engine, TRUTH[page], text[page], {"century": 15})
        for page in TRUTH
        for engine, text in (("faithful", TRUTH), ("inventive", INVENTIVE))
    ]
    given_pages += [Transcript("p4", "inventive", TRUTH["p1"], ""), Transcript("p5", "faithful", "", "")]
    again = hallumeter.transcripts(given_pages, out=tmp_path / "again", settings=TranscriptSettings(workers=2))
    assert files_of(again.path) == files_of(run_folder)


def test_intervals_of_a_group_do_not_depend_on_pages_outside_it() -> None:
    """A page that an engine lacks must not be drawn for it when pages are resampled."""
    own: list[dict[str, object]] = [
        {"page": f"p{number}", "gt": "un deux trois quatre", "ocr": "un deux " + "cinq " * (number % 3), "part": "b"}
        for number in range(12)
    ]
    others: list[dict[str, object]] = [
        {"page": f"q{number}", "gt": "x", "ocr": "x", "part": "a"} for number in range(40)
    ]

    def rows(given_rows: list[dict[str, object]]) -> dict[str, object]:
        chosen = TranscriptSettings(by=("part",))
        metrics = hallumeter.transcripts(given_rows, settings=chosen).summary.metrics
        return {row.metric: row.interval for row in metrics if row.by.get("part") == "b"}

    alone = rows(own)
    assert rows([*others, *own]) == alone
    assert alone["wil"] is not None


def test_an_engine_and_a_page_are_told_apart_when_several_engines_share_pages() -> None:
    given_pages = [Transcript(page, engine, "un deux", "un deux") for page in ("a", "b") for engine in ("x", "y")]
    whole = {row.metric: row for row in hallumeter.transcripts(given_pages).summary.metrics if not row.by}
    assert "cluster:page" in whole["wil"].signature or whole["wil"].interval is None
    assert "cluster:page" in whole["hallucinating_page_rate"].signature
