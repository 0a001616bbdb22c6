"""Transcripts in shards give the files of a run in one piece, byte for byte."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

import hallumeter
from sharded_runs import check_equal, run, sound

NEWSPAPERS = Path(hallumeter.__file__).parent / "samples" / "newspapers"
WORDS = ("le", "roi", "de", "france", "et", "navarre", "1789", "Paris", "la", "reine", "des", "indes", "mil", "sept")


def test_folders_of_pages(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    shutil.copytree(NEWSPAPERS, pages)
    names = sorted(path.name for path in (pages / "truth").iterdir())
    (pages / "truth" / names[2]).write_bytes(b"\xff\xfe\x00")
    (pages / "smollm2" / "only-here.txt").write_text("a page", encoding="utf-8")
    (pages / "smollm2" / names[4]).write_bytes("caf\u00e9 \u00e0 Paris".encode("latin-1"))
    (pages / "newspaper-ocr" / "notes.pdf").write_bytes(b"%PDF")
    check_equal(tmp_path, ["transcripts", *[pages / name for name in ("truth", "smollm2", "newspaper-ocr")]], shards=3)
    verified = sound("verify", tmp_path / "shards")
    assert "pages.csv" in verified.stdout
    again = sound("transcripts", *(pages / name for name in ("truth", "smollm2", "newspaper-ocr")), "--out",
                  tmp_path / "shards", "--shards", 3, "--resume")  # fmt: skip
    assert "nothing is left to do" in again.stderr


def rows(count: int) -> list[dict[str, object]]:
    """Readings of pages in any order, some twice, some of no page, some with another reference."""
    draw = random.Random(7)
    found: list[dict[str, object]] = []
    for number in range(count):
        truth = " ".join(draw.choices(WORDS, k=draw.randrange(3, 30)))
        decade = draw.choice(["1780", "1790", None])
        for engine in draw.sample(["zulu", "alpha", "mike"], draw.randint(1, 3)):
            text = [word for word in truth.split() if draw.random() < 0.9] + draw.choices(WORDS, k=draw.choice([0, 9]))
            response = draw.choice([" ".join(text)] * 8 + ["", "I cannot read this page."])
            row: dict[str, object] = {
                "page": f"p{number}",
                "engine": engine,
                "reference": truth,
                "response": response,
                "decade": decade,
            }
            found += [row] * draw.choice([1, 1, 1, 2])
    draw.shuffle(found)
    found.insert(3, {"page": "p1", "engine": "kilo", "reference": "something else", "response": "le roi"})
    found.insert(9, {"page": "p2", "engine": "alpha", "reference": None, "response": None})
    return found


@pytest.mark.parametrize("words", [("--by", "decade"), ("--measures", "anchoring", "--normalize", "nfc")])
def test_a_table_of_pages(tmp_path: Path, words: tuple[str, ...]) -> None:
    table = tmp_path / "pages.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows(40)) + "{broken\n", encoding="utf-8")
    check_equal(tmp_path, ["transcripts", table, *words], shards=5)


def test_a_witness_instead_of_ground_truth(tmp_path: Path) -> None:
    check_equal(tmp_path, ["transcripts", NEWSPAPERS / "smollm2", "--witness", NEWSPAPERS / "newspaper-ocr"], shards=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--by", "colour"), "no page has the field 'colour'; fields found: engine, page"),
        (("--image", str(NEWSPAPERS)), "leave out --engine and --shards"),
    ],
)
def test_what_cannot_be_done_in_shards_is_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    refused = run(
        "transcripts", NEWSPAPERS / "truth", NEWSPAPERS / "smollm2", *words, "--shards", 2, "--out", tmp_path / "run"
    )
    assert refused.exit_code == 2
    assert message in " ".join(refused.stderr.split())
    assert not (tmp_path / "run" / "plan.json").exists()


def test_pages_without_a_partner_are_refused_before_any_work(tmp_path: Path) -> None:
    table = tmp_path / "pages.jsonl"
    table.write_text('{"page": "1", "reference": null, "response": null}\n', encoding="utf-8")
    refused = run("transcripts", table, "--shards", 2, "--out", tmp_path / "run")
    assert refused.exit_code == 2
    assert "no page could be measured" in refused.stderr


def test_changed_pages_are_not_mixed_with_others(tmp_path: Path) -> None:
    table = tmp_path / "pages.jsonl"
    words = ("transcripts", table, "--shards", 2, "--workers", 1, "--out", tmp_path / "run")
    for name in "ab":
        row = {"page": "1", "reference": name, "response": name}
        table.write_text(json.dumps(row) + "\n", encoding="utf-8")
        done = run(*words, *(("--resume",) if name == "b" else ()))
    assert done.exit_code == 2
    assert "the run was begun with inputs" in done.stderr
