"""Without ground truth: what another reading of the page confirms, and when it cannot tell."""

from __future__ import annotations

import json
import random
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import hallumeter
from hallumeter import Run, SettingsError
from hallumeter.cli.main import main
from hallumeter.models.tesseract import TesseractReader
from hallumeter.records.measurement import MetricSummary
from hallumeter.transcripts.commands import measure_transcripts
from hallumeter.transcripts.report.presentation import page_facts
from hallumeter.transcripts.report.text import transcripts_text
from hallumeter.transcripts.settings import Columns, TranscriptSettings
from hallumeter.transcripts.witness import opened_witness
from transcript_folders import TRUTH, files_of, lines_of, write_pages, write_rows

Draw = Callable[[Path, Sequence[str]], Path]

PAGES = {
    "english": [
        "Know all men by these presents that we",
        "have granted to the abbot of the house",
        "twelve acres of land in the parish",
    ],
    "french": ["Nous faisons savoir à tous présents", "et à venir que nous avons donné", "douze arpents de terre"],
    "korean": ["나라의 말이 중국과 달라 문자와", "서로 통하지 아니하므로 어리석은", "백성이 이르고자 할 바가 있어도"],
}
INVENTED = {
    "english": "and all the castles beyond the northern river for ever",
    "french": "avec tous les châteaux du royaume et leurs forêts anciennes",
    "korean": "그리하여 임금님은 새로운 궁궐을 크게 지으시고 잔치를 베푸셨다",
}
LOOP = {"english": "of the king ", "french": "de par le roi ", "korean": "임금이 말하기를 "}
UNREADABLE = ("blank", "noise")


def transcribe(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["transcripts", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result.exit_code, result.stdout, result.stderr


def refused(*arguments: object) -> str:
    code, out, errors = transcribe(*arguments)
    assert (code, out) == (2, "")
    [line] = errors.splitlines()
    return line.removeprefix("hallumeter: ")


@pytest.fixture(scope="module")
def scans(draw: Draw, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images of three pages, of a blank one and of noise; and what three engines wrote for them."""
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("scans")
    (folder / "images").mkdir()
    for page, lines in PAGES.items():
        draw(folder / "images" / f"{page}.png", lines)
    image.new("L", (800, 600), 255).save(folder / "images" / "blank.png")
    noise = random.Random(0).randbytes(800 * 600)
    image.frombytes("L", (800, 600), noise).save(folder / "images" / "noise.png")
    faithful = {page: "\n".join(lines) for page, lines in PAGES.items()} | dict.fromkeys(UNREADABLE, TRUTH["p1"])
    write_pages(folder / "faithful", faithful)
    write_pages(folder / "inventive", {page: f"{faithful[page]}\n{INVENTED[page]}" for page in PAGES})
    write_pages(folder / "looping", {page: f"{faithful[page]}\n{LOOP[page] * 15}" for page in PAGES})
    return folder


@pytest.fixture(scope="module")
def witnessed(scans: Path) -> Run:
    """The run of Tesseract as a witness."""
    try:
        TesseractReader(("kor", "fra", "eng"))
    except SettingsError as error:
        pytest.skip(str(error))
    engines = [scans / name for name in ("faithful", "inventive", "looping")]
    arguments = [*engines, "--witness", "tesseract:kor+fra+eng", "--image", scans / "images", "--out", scans / "run"]
    code, _, errors = transcribe(*arguments, "--workers", 2)
    assert code == 0, errors
    return hallumeter.load(scans / "run")


def badge_rate(run: Run, **by: str) -> MetricSummary:
    [row] = [row for row in run.summary.metrics if row.metric == "hallucinating_page_rate" and row.by == by]
    return row


def verdicts(run: Run, record_id: str) -> set[tuple[str, str]]:
    return {
        (finding.claim.kind, verdict.label.value)
        for finding in run.findings()
        for verdict in finding.verdicts
        if finding.claim.record_id == record_id
    }


@pytest.mark.parametrize("page", list(PAGES))
def test_a_faithful_reading_is_confirmed_by_tesseract(witnessed: Run, page: str) -> None:
    assert verdicts(witnessed, f"{page}@faithful") == {("run", "SUPPORTED")}
    [row] = [row for row in witnessed.pages() if (row.page, row.engine) == (page, "faithful")]
    assert (row.status, row.is_hallucinating) == ("ok", False)


@pytest.mark.parametrize("page", list(PAGES))
def test_tesseract_is_sure_enough_of_print_to_speak_against_an_invented_block(witnessed: Run, page: str) -> None:
    found = verdicts(witnessed, f"{page}@inventive")
    assert found >= {("run", "SUPPORTED"), ("block", "NOT_ENOUGH_INFO")}
    assert "REFUTED" not in {label for _, label in found}
    [row] = [row for row in witnessed.pages() if (row.page, row.engine) == (page, "inventive")]
    assert (row.status, row.is_hallucinating) == ("ok", True)


@pytest.mark.parametrize("page", list(PAGES))
def test_a_loop_is_refuted_whatever_the_witness_says(witnessed: Run, page: str) -> None:
    assert ("loop", "REFUTED") in verdicts(witnessed, f"{page}@looping")
    [row] = [row for row in witnessed.pages() if (row.page, row.engine) == (page, "looping")]
    assert (row.status, row.is_hallucinating) == ("ok", True)


@pytest.mark.parametrize("page", UNREADABLE)
def test_a_witness_that_sees_nothing_abstains(witnessed: Run, page: str) -> None:
    assert {label for _, label in verdicts(witnessed, f"{page}@faithful")} == {"UNDECIDED"}
    [row] = [row for row in witnessed.pages() if row.page == page]
    assert (row.status, row.is_hallucinating) == ("undecided", None)


def test_a_run_with_a_witness_says_so_everywhere(witnessed: Run) -> None:
    summary = witnessed.summary
    assert "compared with a witness, not with ground truth: rates are disagreement, not error" in summary.notices
    [judge] = witnessed.manifest.judges
    assert judge.name == "witness"
    assert judge.spec.startswith("tesseract-")
    rate = badge_rate(witnessed)
    assert (rate.count, rate.total, rate.undecided) == (6, 9, 2)
    assert rate.bounds == (6 / 11, 8 / 11)
    assert f"|witness:{judge.spec}|" in rate.signature
    assert "|trust:10-words-0.8-0.5-6-copies|" in rate.signature
    assert all("|witness:" in row.signature for row in summary.metrics)
    assert {verdict.judge for finding in witnessed.findings() for verdict in finding.verdicts} == {"witness"}
    records = lines_of(witnessed.path / "records.jsonl")
    assert {record["evidence"][0]["evidence_id"] for record in records} == {"witness"}
    lacking = [failure.message for failure in witnessed.failures]
    assert lacking == [
        f"{page}: {engine} has no reading of it" for engine in ("inventive", "looping") for page in UNREADABLE
    ]


LONG = "Nous faisons savoir à tous présents et à venir que nous avons donné"
ADDED = " aux habitants de la ville de Tours"
OTHER = "one two three four five six seven eight nine ten eleven"
LETTERHEAD = "Préfecture du département de la Seine bureau des archives anciennes Paris rue de Rivoli"
LETTER = f"{LETTERHEAD} Monsieur le maire j'ai l'honneur de vous adresser ci joint copie du rapport que messieurs"
WITNESS = {
    "faithful": LONG,
    "little_added": LONG,
    "much_added": LONG,
    "looping": OTHER,
    "short": "Nous faisons savoir",
    "whole_invented": OTHER,
    "letterhead": LETTERHEAD,
}
RESPONSES = {
    "faithful": LONG,
    "little_added": f"{LONG} aux habitants de Tours",
    "much_added": LONG + ADDED,
    "looping": LONG + " a b c" * 20,
    "short": LONG,
    "whole_invented": LONG + ADDED,
    "letterhead": f"{LETTER} les ingénieurs viennent enfin d'achever sur l'état général des ponts et chaussées",
}
"""By hand: `little_added` has 4 words of 17 that the witness lacks, `much_added` 7 of 20; the engine has all 14 words
of the letterhead, and they are fewer than half of its 41."""
SILENT = "the witness does not say how sure it is of its reading"
LITTLE = "the witness read fewer than 10 words"
SKIPPED = "the witness confirms too little of what the engine wrote, and may have skipped a part of the page"


def witnessed_texts(folder: Path, *arguments: object) -> Run:
    """The run of all the pages with texts as their witness."""
    witness, engine = write_pages(folder / "witness", WITNESS), write_pages(folder / "engine", RESPONSES)
    code, _, errors = transcribe(engine, "--witness", witness, "--out", folder / "run", "--workers", 1, *arguments)
    assert code == 0, errors
    return hallumeter.load(folder / "run")


def told(run: Run) -> dict[str, tuple[str, bool | None]]:
    return {row.page: (row.status, row.is_hallucinating) for row in run.pages()}


def test_the_report_tells_how_to_read_disagreement(tmp_path: Path) -> None:
    page = (witnessed_texts(tmp_path).path / "report.html").read_text(encoding="utf-8")
    guide = page[page.index("<h2>How to read this") :]
    guide = guide[: guide.index("</dl>")]
    assert "Either of them may be the one that misread." in guide
    assert "turn what the engine wrote into the ground truth" not in guide


def undecided_notices(run: Run) -> list[str]:
    return sorted(notice for notice in run.summary.notices if "undecided" in notice)


def test_texts_that_do_not_say_how_sure_they_are_clear_a_page_or_abstain(tmp_path: Path) -> None:
    run = witnessed_texts(tmp_path)
    assert told(run) == {
        "faithful": ("ok", False),
        "little_added": ("ok", False),
        "much_added": ("undecided", None),
        "looping": ("ok", True),
        "short": ("undecided", None),
        "whole_invented": ("undecided", None),
        "letterhead": ("undecided", None),
    }
    assert undecided_notices(run) == [f"1 undecided: {LITTLE}", f"3 undecided: {SILENT}"]
    assert verdicts(run, "faithful") == {("run", "SUPPORTED")}
    assert verdicts(run, "little_added") == {("run", "SUPPORTED"), ("block", "UNDECIDED")}
    assert verdicts(run, "much_added") == {("run", "SUPPORTED"), ("block", "UNDECIDED")}
    assert verdicts(run, "looping") == {("loop", "REFUTED"), ("block", "UNDECIDED"), ("omission", "UNDECIDED")}
    statuses = {each["record_id"]: each["fields"]["status"] for each in lines_of(run.path / "records.jsonl")}
    assert statuses == {page: status for page, (status, _) in told(run).items()}
    assert run.manifest.judges[0].spec == "witness"


def test_a_witness_that_its_user_vouches_for_speaks_against_what_it_does_not_have(tmp_path: Path) -> None:
    run = witnessed_texts(tmp_path, "--witness-confidence", 0.95)
    assert told(run) == {
        "faithful": ("ok", False),
        "little_added": ("ok", False),
        "much_added": ("ok", True),
        "looping": ("ok", True),
        "short": ("undecided", None),
        "whole_invented": ("ok", True),
        "letterhead": ("undecided", None),
    }
    assert undecided_notices(run) == [f"1 undecided: {SKIPPED}", f"1 undecided: {LITTLE}"]
    assert verdicts(run, "much_added") == {("run", "SUPPORTED"), ("block", "NOT_ENOUGH_INFO")}
    assert verdicts(run, "whole_invented") == {("block", "NOT_ENOUGH_INFO"), ("omission", "NOT_ENOUGH_INFO")}
    assert verdicts(run, "letterhead") == {("run", "SUPPORTED"), ("block", "UNDECIDED")}
    assert run.manifest.settings["witness_confidence"] == 0.95


@pytest.mark.parametrize(("confidence", "status"), [("0.8", "ok"), ("0.79", "undecided"), ("0", "undecided")])
def test_a_witness_is_vouched_for_from_the_bound_on(tmp_path: Path, confidence: str, status: str) -> None:
    run = witnessed_texts(tmp_path, "--witness-confidence", confidence)
    assert told(run)["much_added"][0] == status
    assert told(run)["faithful"] == ("ok", False)


def test_undecided_pages_widen_the_badge_rate_and_no_other(tmp_path: Path) -> None:
    silent, sure = witnessed_texts(tmp_path / "a"), witnessed_texts(tmp_path / "b", "--witness-confidence", 0.95)
    # By hand: of the seven pages three are told, one of them hallucinated; then five, three of them.
    for run, (count, total, undecided) in ((silent, (1, 3, 4)), (sure, (3, 5, 2))):
        for rate in (badge_rate(run), badge_rate(run, engine="engine")):
            assert (rate.count, rate.total, rate.undecided) == (count, total, undecided)
            assert rate.bounds == (count / 7, (count + undecided) / 7)
        others = [row for row in run.summary.metrics if row.metric != rate.metric]
        assert {row.undecided for row in others} == {0}
        assert all(row.bounds in (None, (row.value, row.value)) for row in others)
    assert "witness-confidence" not in badge_rate(silent).signature
    assert "|trust:10-words-0.8-0.5-6-copies|witness-confidence:0.95|" in badge_rate(sure).signature


def test_the_badge_rate_of_undecided_pages_alone_may_be_anything(tmp_path: Path) -> None:
    witness, engine = write_pages(tmp_path / "w", {"p": "Nous"}), write_pages(tmp_path / "e", {"p": LONG})
    assert transcribe(engine, "--witness", witness, "--out", tmp_path / "run", "--workers", 1)[0] == 0
    rate = badge_rate(hallumeter.load(tmp_path / "run"))
    assert (rate.value, rate.total, rate.undecided, rate.bounds) == (None, 0, 1, (0.0, 1.0))
    assert rate.undefined == "no page could be told"


def test_two_engines_on_the_same_pages_share_out_what_is_undecided(tmp_path: Path) -> None:
    witness = write_pages(tmp_path / "witness", {"p": LONG, "q": LONG})
    engines = [
        write_pages(tmp_path / "a", {"p": LONG, "q": LONG}),
        write_pages(tmp_path / "b", {"p": LONG, "q": OTHER}),
    ]
    assert transcribe(*engines, "--witness", witness, "--out", tmp_path / "run", "--workers", 1)[0] == 0
    run = hallumeter.load(tmp_path / "run")
    rates = [badge_rate(run), badge_rate(run, engine="a"), badge_rate(run, engine="b")]
    assert [(rate.count, rate.total, rate.undecided) for rate in rates] == [(0, 3, 1), (0, 2, 0), (0, 1, 1)]
    assert [rate.bounds for rate in rates] == [(0.0, 1 / 4), (0.0, 0.0), (0.0, 1 / 2)]


def test_anchoring_alone_leaves_no_badge_to_decide(tmp_path: Path) -> None:
    run = witnessed_texts(tmp_path, "--measures", "anchoring")
    assert set(told(run).values()) == {("ok", None)}
    assert {row.undecided for row in run.summary.metrics} == {0}


def test_a_table_can_be_the_witness_as_a_folder_can(tmp_path: Path) -> None:
    witnessed_texts(tmp_path)
    tables = [
        write_rows(tmp_path / f"{name}.jsonl", [{"page": page, "text": texts[page]} for page in sorted(texts)])
        for name, texts in (("witness", WITNESS), ("engine", RESPONSES))
    ]
    assert transcribe(tables[1], "--witness", tables[0], "--out", tmp_path / "again")[0] == 0
    pages_of_both = [files_of(tmp_path / name)["pages.csv"] for name in ("run", "again")]
    assert pages_of_both[0] == pages_of_both[1]


def test_who_wrote_nothing_where_the_witness_read_nothing_is_cleared(tmp_path: Path) -> None:
    witness, engine = write_pages(tmp_path / "witness", {"p": ""}), write_pages(tmp_path / "engine", {"p": " \n"})
    code, out, errors = transcribe(engine, "--witness", witness, "--format", "csv", "--workers", 1)
    assert code == 0
    assert out.splitlines()[1].startswith("p,engine,both_empty,false,")
    assert "undecided" not in errors


def test_an_empty_output_is_one_with_a_witness_too(tmp_path: Path) -> None:
    witness, engine = write_pages(tmp_path / "witness", {"p": LONG}), write_pages(tmp_path / "engine", {"p": ""})
    code, out, errors = transcribe(engine, "--witness", witness, "--format", "csv", "--workers", 1)
    assert code == 0
    assert out.splitlines()[1].startswith("p,engine,empty_output,,")
    assert "undecided" not in errors


def test_what_is_no_witness_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "engine", {"p": LONG})
    write_pages(tmp_path / "images", {"p": LONG})
    write_pages(tmp_path / "texts", {"p": LONG})
    image = pytest.importorskip("PIL.Image")
    for witness in ("tesseract", "tesseract:fra+eng"):
        assert refused("engine", "--witness", witness) == "tesseract reads images; give --image DIR too"
    assert refused("engine", "--witness", "nothing").startswith("nothing: no such folder or table of readings")
    assert "is a path, so --image is not needed" in refused("engine", "--witness", "texts", "--image", "images")
    assert "no reader of page images is called 'oracle'" in refused(
        "engine", "--witness", "oracle", "--image", "images"
    )
    if shutil.which("tesseract"):
        assert refused("engine", "--image", "images").startswith(
            "images: holds no image; expected files that end in .png"
        )
        assert refused("engine", "--image", "nothing") == "nothing: no such folder of images"
        image.new("L", (50, 50), 255).save("images/q.png")
        assert refused("engine", "--image", "images") == "images: no image has the name of a page in engine"
        image.new("L", (50, 50), 255).save("images/p.png")
        assert refused("nothing", "--image", "images") == "nothing: no such file or folder"
        write_rows(tmp_path / "t.jsonl", [{"page": "p", "text": "t"}])
        assert refused("t.jsonl", "--image", "images").startswith("t.jsonl: expected a folder of pages beside images")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install tesseract-ocr" in refused("engine", "--image", "images", "--out", "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="the program tesseract is not installed")
def test_images_are_matched_with_pages_in_folders_below_and_damage_is_named(draw: Draw, tmp_path: Path) -> None:
    images = tmp_path / "images"
    (images / "volume1").mkdir(parents=True)
    draw(images / "volume1" / "0007.png", PAGES["english"])
    shutil.copy(images / "volume1" / "0007.png", images / "volume1" / "0007.tif")
    (images / "0008.jpg").write_bytes(b"no image")
    (images / ".hidden.png").write_bytes(b"no image")
    text = "\n".join(PAGES["english"])
    write_pages(tmp_path / "engine" / "volume1", {"0007": text, "0009": text})
    write_pages(tmp_path / "engine", {"0008": text})
    (tmp_path / "engine" / "notes.pdf").touch()
    code, out, errors = transcribe(tmp_path / "engine", "--image", images, "--format", "csv", "--workers", 1)
    assert code == 0
    assert [line.split(",")[:4] for line in out.splitlines()[1:]] == [["volume1/0007", "engine", "ok", "false"]]
    said = errors.splitlines()
    assert said[0] == "volume1/0009: engine has a reading of it, but there is no image"
    assert "0008.jpg: " in said[1]
    assert any(line.startswith(f"note: {tmp_path / 'engine'}: 1 file left out, such as notes.pdf") for line in said)
    assert any("0007.tif: 0007.png is an image of page 'volume1/0007' already" in line for line in said)


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="the program tesseract is not installed")
def test_one_file_and_one_image_belong_together(draw: Draw, tmp_path: Path) -> None:
    scan = draw(tmp_path / "scan.png", PAGES["english"])
    (tmp_path / "vlm.txt").write_text("\n".join(PAGES["english"]), encoding="utf-8")
    code, out, _ = transcribe(tmp_path / "vlm.txt", "--image", scan, "--format", "json")
    assert code == 0
    rate = next(row for row in json.loads(out)["metrics"] if row["metric"] == "hallucinating_page_rate")
    assert (rate["count"], rate["total"]) == (0, 1)


def test_readings_of_a_witness_are_paired_as_those_of_ground_truth_are(tmp_path: Path) -> None:
    text = "le roi de france est venu a paris avec la reine et ses gens"
    for folder, name in (("witness", "scan_1"), ("engine", "out_a")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "pairs.csv").write_text("page,reference,engine\nf. 1,scan_1.txt,out_a.txt\n", encoding="utf-8")
    for pair_by in ("order", tmp_path / "pairs.csv"):
        code, out, _ = transcribe(
            tmp_path / "engine", "--witness", tmp_path / "witness", "--pair-by", pair_by, "--format", "json"
        )
        assert code == 0
        assert [page["status"] for page in json.loads(out)["pages"]] == ["ok"]


def test_a_group_of_mets_may_be_the_witness(tmp_path: Path) -> None:
    text = "le roi de france est venu a paris avec la reine et ses gens"
    for folder in ("OCR-A", "OCR-B"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.txt").write_text(text, encoding="utf-8")
    groups = "".join(
        f'<fileGrp USE="{name}"><file ID="{name}"><FLocat xlink:href="{name}/1.txt"/></file></fileGrp>'
        for name in ("OCR-A", "OCR-B")
    )
    spaces = 'xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink"'
    mets = tmp_path / "mets.xml"
    mets.write_text(f"<mets {spaces}><fileSec>{groups}</fileSec></mets>", encoding="utf-8")
    code, out, errors = transcribe(tmp_path / "OCR-A", "--witness", f"{mets}#OCR-B")
    assert code == 0, errors
    assert "1 cleared" in out


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="the program tesseract is not installed")
def test_an_archive_of_readings_stands_beside_images(draw: Draw, tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    draw(tmp_path / "scans" / "p1.png", PAGES["english"])
    with zipfile.ZipFile(tmp_path / "vlm.zip", "w") as archive:
        archive.writestr("p1.txt", "\n".join(PAGES["english"]))
    code, out, errors = transcribe(tmp_path / "vlm.zip", "--image", tmp_path / "scans")
    assert code == 0, errors
    assert "1 cleared" in out


def test_engines_are_not_ranked_by_a_witness(tmp_path: Path) -> None:
    text = "le roi de france est venu a paris avec la reine et ses gens"
    other = "le roi de france est venu puis il mangea un grand repas au chateau de Blois"
    for name, content in {"witness": text, "a": text, "b": other}.items():
        (tmp_path / name).mkdir()
        for number in range(12):
            (tmp_path / name / f"p{number}.txt").write_text(f"{content} {number}", encoding="utf-8")
    with opened_witness(
        [tmp_path / "a", tmp_path / "b"], witness=str(tmp_path / "witness"), images=None, columns=Columns()
    ) as jobs:
        measured = measure_transcripts(jobs, TranscriptSettings())
    assert measured.summary.ranking is None
    printed = transcripts_text(measured.summary, measured.rows, "markdown")
    assert "- a: 12 cleared, 0 flagged, 0 undecided\n" in printed
    bounds = "if the witness is right, 0.000 to 1.000 of its pages are hallucinated"
    assert f"b: 0 cleared, 0 flagged, 12 undecided; {bounds}" in printed
    told = [fact.message for fact in page_facts(measured.summary, None, 0.95)]
    assert not any(word in text for text in told for word in ("better", "rank", "lowest CER", "signs of"))


@pytest.mark.parametrize(
    ("stated", "status"), [("0.95", "ok"), ("0.5", "undecided"), ("", "undecided"), ("x", "undecided")]
)
def test_a_witness_file_says_how_sure_it_is(tmp_path: Path, stated: str, status: str) -> None:
    words = ["le", "roi", "de", "france", "est", "venu", "a", "paris", "avec", "la", "reine", "et", "ses", "gens"]
    strings = "".join(f'<String CONTENT="{word}" WC="{stated}"/>' for word in words)
    alto = f"<alto><Layout><Page><TextBlock><TextLine>{strings}</TextLine></TextBlock></Page></Layout></alto>"
    share = f"; x_wconf {float(stated) * 100:g}" if stated.startswith("0") else ""
    spans = " ".join(f"<span class='ocrx_word' title='bbox 0 0 1 1{share}'>{word}</span>" for word in words)
    hocr = f"<html><body><div class='ocr_page'><span class='ocr_line'>{spans}</span></div></body></html>"
    invented = " ".join(words) + " puis il mangea un grand repas au chateau"
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "p.txt").write_text(invented, encoding="utf-8")
    for name, content in {"alto/p.xml": alto, "hocr/p.hocr": hocr}.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(content, encoding="utf-8")
        with opened_witness([tmp_path / "engine"], witness=str(path.parent), images=None, columns=Columns()) as jobs:
            [row] = measure_transcripts(jobs, TranscriptSettings()).rows
        assert (row.status, row.is_hallucinating) == (status, True if status == "ok" else None)
