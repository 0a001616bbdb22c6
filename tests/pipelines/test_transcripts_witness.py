"""Without ground truth: what another reading of the page confirms, and when it cannot tell."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

import hallumeter
from hallumeter import Run, SettingsError
from hallumeter.cli.main import main
from hallumeter.policy import WitnessPolicy
from hallumeter.providers import TesseractReader
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
        TesseractReader(("eng", "fra", "kor"))
    except SettingsError as error:
        pytest.skip(str(error))
    engines = [scans / name for name in ("faithful", "inventive", "looping")]
    arguments = [*engines, "--witness", "tesseract:eng+fra+kor", "--image", scans / "images", "--out", scans / "run"]
    code, _, errors = transcribe(*arguments, "--workers", 2)
    assert code == 0, errors
    return hallumeter.load(scans / "run")


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
def test_an_invented_block_is_not_confirmed(witnessed: Run, page: str) -> None:
    found = verdicts(witnessed, f"{page}@inventive")
    assert found >= {("run", "SUPPORTED"), ("block", "NOT_ENOUGH_INFO")}
    assert "REFUTED" not in {label for _, label in found}
    [row] = [row for row in witnessed.pages() if (row.page, row.engine) == (page, "inventive")]
    assert (row.status, row.is_hallucinating) == ("ok", True)


@pytest.mark.parametrize("page", list(PAGES))
def test_a_loop_is_refuted_whatever_the_witness_says(witnessed: Run, page: str) -> None:
    assert ("loop", "REFUTED") in verdicts(witnessed, f"{page}@looping")


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
    rate = next(row for row in summary.metrics if row.metric == "hallucinating_page_rate" and not row.by)
    assert (rate.total, rate.undecided) == (9, 2)
    assert f"|witness:{judge.spec}|" in rate.signature
    assert "|trust:10-words-0.6-0.5|" in rate.signature
    assert all("|witness:" in row.signature for row in summary.metrics)
    assert {verdict.judge for finding in witnessed.findings() for verdict in finding.verdicts} == {"witness"}
    records = lines_of(witnessed.path / "records.jsonl")
    assert {record["evidence"][0]["evidence_id"] for record in records} == {"witness"}
    lacking = [failure.message for failure in witnessed.failures]
    assert lacking == [
        f"{page}: {engine} has no reading of it" for engine in ("inventive", "looping") for page in UNREADABLE
    ]


LONG = "Nous faisons savoir à tous présents et à venir que nous avons donné"
WITNESS = {
    "same": LONG,
    "short": "Nous faisons savoir",
    "other": "one two three four five six seven eight nine ten eleven",
}


def test_texts_in_a_folder_or_a_table_can_be_the_witness(tmp_path: Path) -> None:
    responses = {"same": LONG + " aux habitants de la ville de Tours", "short": LONG, "other": LONG + " a b c" * 20}
    witness, engine = write_pages(tmp_path / "witness", WITNESS), write_pages(tmp_path / "engine", responses)
    assert transcribe(engine, "--witness", witness, "--out", tmp_path / "run", "--workers", 1)[0] == 0
    run = hallumeter.load(tmp_path / "run")
    pages = {row.page: row for row in run.pages()}
    assert {page: (row.status, row.is_hallucinating) for page, row in pages.items()} == {
        "same": ("ok", True),
        "short": ("undecided", None),
        "other": ("undecided", True),
    }
    assert verdicts(run, "same") == {("run", "SUPPORTED"), ("block", "NOT_ENOUGH_INFO")}
    assert verdicts(run, "other") >= {("loop", "REFUTED"), ("omission", "UNDECIDED")}
    assert run.manifest.judges[0].spec == "witness"
    tables = []
    for name, texts in (("witness", WITNESS), ("engine", responses)):
        tables.append(
            write_rows(tmp_path / f"{name}.jsonl", [{"page": page, "text": texts[page]} for page in sorted(texts)])
        )
    assert transcribe(tables[1], "--witness", tables[0], "--out", tmp_path / "again")[0] == 0
    pages_of_both = [files_of(tmp_path / name)["pages.csv"] for name in ("run", "again")]
    assert pages_of_both[0] == pages_of_both[1]


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
    assert "an OCR engine such as tesseract needs --image" in refused("engine", "--witness", "tesseract")
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


@pytest.mark.parametrize(
    ("words", "confidence", "agreement", "said"),
    [
        (9, 0.9, 1.0, "the witness read 9 words, fewer than 10"),
        (0, None, None, "the witness read 0 words"),
        (10, 0.59, 1.0, "the witness is 0.59 sure of its reading, below 0.6"),
        (10, 0.9, 0.49, "the engine confirms 0.49 of the witness's words, below 0.5"),
        (10, 0.6, 0.5, None),
        (10, None, 1.0, None),
    ],
)
def test_a_witness_is_trusted_from_its_bounds_on(
    words: int, confidence: float | None, agreement: float | None, said: str | None
) -> None:
    why = WitnessPolicy().why_not(words=words, confidence=confidence, agreement=agreement)
    assert why == said if said is None else said in (why or "")
