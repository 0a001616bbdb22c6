"""What `hallumeter transcripts` cannot use is said in one clear line each; the rest goes on and nothing is lost."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from command_line import refused, succeed

import hallumeter
from hallumeter.cli.output import say_what_happened
from transcript_folders import TRUTH, alto, lines_of, write_pages, write_rows

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE alto [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<alto><String CONTENT="&b;"/></alto>'
)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE alto [<!ENTITY x SYSTEM "file:///etc/passwd">]><alto><a>&x;</a></alto>'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three pages, of which the engine has two; the tests add a third that is bad."""
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "truth", TRUTH)
    write_pages(tmp_path / "engine", {page: TRUTH[page] for page in ("p1", "p2")})
    return tmp_path


def measured(*arguments: object) -> tuple[list[tuple[str, str]], list[str]]:
    """Pages with their status, and the lines on the standard error."""
    result = succeed("transcripts", *arguments, "--format", "csv", "--workers", 1)
    pages = [(row["page"], row["status"]) for row in csv.DictReader(result.stdout.splitlines())]
    return pages, result.stderr.splitlines()


BAD: dict[str, tuple[bytes, str]] = {
    "p3.xml": (b"<alto><Layout>", "engine/p3.xml: "),
    "p3.alto.xml": (BOMB.encode(), "engine/p3.alto.xml: "),
    "p3.page.xml": (OUTSIDE.encode(), "engine/p3.page.xml: "),
    "p3.gt.xml": (b"", "engine/p3.gt.xml: the file is empty"),
    "p3.ocr.xml": (b"\x00\x01\x02", "engine/p3.ocr.xml: "),
}


@pytest.mark.parametrize("name", list(BAD))
def test_a_page_that_cannot_be_read_is_named_and_the_others_are_measured(here: Path, name: str) -> None:
    content, said = BAD[name]
    (here / "engine" / name).write_bytes(content)
    pages, errors = measured("truth", "engine", "--out", "run")
    assert pages == [("p1", "ok"), ("p2", "ok")]
    assert [line for line in errors if line.startswith(said)] == [errors[0]]
    assert "root:" not in errors[0], "a file outside was read"
    [failure] = lines_of(here / "run" / "failures.jsonl")
    assert (failure["record_id"], failure["code"]) == ("p3", "unreadable")
    assert json.loads((here / "run" / "summary.json").read_text(encoding="utf-8"))["counts"]["failures"] == 1


def test_pages_without_a_partner_are_named_both_ways(here: Path) -> None:
    write_pages(here / "engine", {"p9": "a page from elsewhere"})
    pages, errors = measured("truth", "engine")
    assert [page for page, _ in pages] == ["p1", "p2"]
    assert errors == [
        "p3: engine has no reading of it",
        "p9: engine has a reading of it, but there is no reference",
    ]
    rows = [{"page": page, "text": text} for page, text in TRUTH.items()]
    write_rows(here / "t.jsonl", rows[:2])
    write_rows(here / "e.jsonl", rows[1:])
    pages, errors = measured("t.jsonl", "e.jsonl")
    assert [page for page, _ in pages] == ["p2"]
    assert errors == ["page 'p1': no engine has a reading of it", "page 'p3' of e has no reference; left out"]


def test_folders_without_a_common_page_are_refused(here: Path) -> None:
    write_pages(here / "other", {"x": "y"})
    assert refused("transcripts", "truth", "other", "--out", "run").startswith(
        "truth: no page has the same name in other"
    )
    write_rows(here / "t.jsonl", [{"page": "a", "text": "a"}])
    write_rows(here / "e.jsonl", [{"page": "b", "text": "b"}])
    said = refused("transcripts", "t.jsonl", "e.jsonl", "--out", "run")
    assert said.startswith("no page could be measured; the first fault: page 'a': no engine has a reading of it")
    assert not (here / "run").exists()


def test_paths_that_make_no_sense_are_refused_in_one_line(here: Path) -> None:
    (here / "empty").mkdir()
    write_rows(here / "t.jsonl", [{"page": "a", "text": "a"}])
    for arguments, said in [
        (("truth", "nothing"), "nothing: no such file or folder"),
        (("truth", "empty"), "empty: holds no page; expected files ending in .txt"),
        (("empty", "truth"), "empty: holds no page"),
        (("truth",), "truth: nothing to compare it with; give the ground truth first, then each engine"),
        (("truth", "engine", "engine/"), "engine: is given twice; give each engine once"),
        (("truth", "engine", "truth/../engine"), "is given twice; give each engine once"),
        (("truth", "engine/p1.txt"), "truth: found a folder and a file; give folders, or tables, or single pages"),
        (("truth/p1.txt", "engine"), "found a file and a folder"),
        (("truth/p1.txt", "t.jsonl"), "found a table beside a page"),
        (("t.jsonl",), "t.jsonl: expected rows with a reference (reference, ground_truth, gt"),
        (("t.jsonl", "t.jsonl"), "t.jsonl: is given twice"),
        (("truth", "engine", "--columns", "gt"), "columns 'gt': expected pairs such as reference=gt"),
        (("truth", "engine", "--columns", "colour=red"), "of page, engine, reference, response"),
        ((), "Missing argument 'PATHS...'"),
    ]:
        assert said in refused("transcripts", *arguments, *(["--out", "run"] if arguments else []))
    assert not (here / "run").exists()


def test_files_that_are_no_pages_are_noted(here: Path) -> None:
    (here / "engine" / "p3.jpg").touch()
    (here / "engine" / ".hidden").touch()
    _, errors = measured("truth", "engine")
    assert errors[1:] == ["note: engine: 1 file left out, such as p3.jpg: their names end in .jpg"]


def test_the_same_page_twice_is_refused_in_a_folder_and_named_in_a_table(here: Path) -> None:
    (here / "engine" / "p1.xml").write_text(alto("p"), encoding="utf-8")
    assert "p1.txt and p1.xml are both page 'p1'" in refused("transcripts", "truth", "engine")
    rows = [{"page": "a", "gt": "one two", "ocr": "one two"}, {"page": "a", "gt": "one two", "ocr": "three"}]
    write_rows(here / "pairs.jsonl", [*rows, {"page": "a", "gt": "four", "ocr": "four", "engine": "other"}])
    pages, errors = measured("pairs.jsonl")
    assert pages == [("a", "ok")]
    assert errors == [
        "pairs.jsonl:2: pairs has a reading of 'a' already; the first counts",
        "pairs.jsonl:3: page 'a' has another reference already; left out",
    ]
    write_rows(here / "t.jsonl", [{"page": "a", "text": "one"}, {"page": "a", "text": "two"}])
    write_rows(here / "e.jsonl", [{"page": "a", "text": "one"}])
    pages, errors = measured("t.jsonl", "e.jsonl")
    assert (pages, errors) == ([("a", "ok")], ["t.jsonl:2: page 'a' has another reference already; the first counts"])


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_named(here: Path) -> None:
    write_pages(here / "engine", {"p3": "secret"})
    (here / "engine" / "p3.txt").chmod(0)
    pages, errors = measured("truth", "engine")
    assert [page for page, _ in pages] == ["p1", "p2"]
    assert errors == ["engine/p3.txt: cannot be read (Permission denied)"]


def test_an_empty_file_is_an_empty_output_and_no_failure(here: Path) -> None:
    write_pages(here / "engine", {"p3": " \n"})
    pages, errors = measured("truth", "engine", "--out", "run")
    assert pages[2] == ("p3", "empty_output")
    assert errors[0] == "note: empty outputs, counted apart and left out of the hallucinating page rate: 1"
    assert lines_of(here / "run" / "failures.jsonl") == []
    rows = {
        row["metric"]: row
        for row in json.loads((here / "run" / "summary.json").read_text())["metrics"]
        if not row["by"]
    }
    assert (rows["empty_output_rate"]["count"], rows["empty_output_rate"]["total"]) == (1, 3)
    assert (rows["hallucinating_page_rate"]["count"], rows["hallucinating_page_rate"]["total"]) == (0, 2)


def test_other_encodings_are_read_and_noted_once(here: Path) -> None:
    for page in ("p2", "p3"):
        (here / "engine" / f"{page}.txt").write_bytes(TRUTH[page].encode("cp1252"))
    pages, errors = measured("truth", "engine")
    assert [page for page, _ in pages] == ["p1", "p2", "p3"]
    [note] = errors
    assert note.startswith("note: engine/p2.txt: ")
    assert note.endswith("(1 more likewise)")


def test_bad_lines_of_a_table_are_named_and_the_others_are_measured(here: Path) -> None:
    lines = [
        '{"page": "a", "gt": "one", "ocr": "one"}',
        '{"page": "b", "gt": "one"',
        '["page"]',
        '{"page": "c", "gt": "broken \\ud800 off", "ocr": "one"}',
        '{"page": "d", "gt": ["one"], "ocr": "one"}',
        '{"page": "e", "gt": 1422, "ocr": "1422"}',
    ]
    (here / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    pages, errors = measured("pairs.jsonl", "--out", "run")
    assert pages == [("a", "ok"), ("e", "ok")]
    assert [line.partition(": ")[0] for line in errors[:4]] == [f"pairs.jsonl:{line}" for line in (2, 3, 4, 5)]
    assert len(lines_of(here / "run" / "failures.jsonl")) == 4
    assert refused("transcripts", "pairs.jsonl", "--strict").startswith("pairs.jsonl:2: ")


def test_tables_without_the_columns_that_are_needed_are_refused_with_their_names(here: Path) -> None:
    write_rows(here / "t.jsonl", [{"page": "a", "text": "a"}])
    write_rows(here / "e.jsonl", [{"page": "a", "colour": "red"}])
    said = refused("transcripts", "t.jsonl", "e.jsonl")
    assert "e.jsonl:1: no response; expected a text in one of response, hypothesis" in said
    write_rows(here / "n.jsonl", [{"number": 1, "text": "a"}])
    assert "n.jsonl:1: no page; expected a text in one of page, page_id, doc_id" in refused(
        "transcripts", "n.jsonl", "t.jsonl"
    )
    assert "expected a text in colour" in refused("transcripts", "t.jsonl", "e.jsonl", "--columns", "page=colour")
    (here / "other.tsv").write_text("id\tinput\toutput\n1\ta\tb\n", encoding="utf-8")
    said = refused("transcripts", "other.tsv")
    assert (
        "; found the columns id, input, output; name them with --columns reference=NAME,response=NAME, or give" in said
    )
    (here / "head.csv").write_text("page,gt,ocr\n", encoding="utf-8")
    assert "head.csv: " in refused("transcripts", "head.csv")
    (here / "none.csv").touch()
    assert refused("transcripts", "none.csv").startswith("none.csv: the file is empty")


NAMES = [
    "a/b",
    "quote\"'",
    "two\nlines",
    "car\rriage",
    "tab\t",
    "العربية",
    "\u202eabc",
    "@engine",
    "#0",
    "=1+1",
    "a,b",
    "nul\0",
]


def test_pages_of_any_name_come_back_whole(here: Path) -> None:
    pairs = [{"page": name, "engine": engine, "gt": name, "ocr": name} for name in NAMES for engine in ("x", "y\r")]
    write_rows(here / "pairs.jsonl", pairs)
    succeed("transcripts", "pairs.jsonl", "--out", "run")
    finished = hallumeter.load("run")
    expected = [(name, engine) for name in NAMES for engine in ("x", "y\r")]
    assert [(row.page, row.engine) for row in finished.pages()] == expected
    claimed = {finding.claim.record_id for finding in finished.findings()}
    assert claimed == {f"{name.replace('@', '%40')}@{engine}" for name, engine in expected}


def test_names_match_however_their_letters_are_composed(here: Path) -> None:
    name = "한국어-é"
    composed, decomposed = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
    write_pages(here / "t", {composed: TRUTH["p1"]})
    write_pages(here / "e", {decomposed: TRUTH["p1"]})
    assert measured("t", "e") == ([(composed, "ok")], [])
    write_rows(here / "t.jsonl", [{"page": decomposed, "text": TRUTH["p1"]}])
    write_rows(here / "e.jsonl", [{"page": composed, "text": TRUTH["p1"]}])
    assert measured("t.jsonl", "e.jsonl") == ([(composed, "ok")], [])


def test_korean_in_pieces_is_the_same_text_only_if_asked_for(here: Path) -> None:
    text = "나라의 말이 중국과 달라"
    (here / "t.txt").write_text(text, encoding="utf-8")
    (here / "e.txt").write_text(unicodedata.normalize("NFD", text), encoding="utf-8")

    def wer(*more: str) -> float:
        [row] = csv.DictReader(succeed("transcripts", "t.txt", "e.txt", "--format", "csv", *more).stdout.splitlines())
        return float(row["wer"])

    assert wer() == 1.0
    assert wer("--normalize", "nfc") == 0.0


def test_text_from_right_to_left_is_measured_like_any_other(here: Path) -> None:
    text = "كان يا ما كان في قديم الزمان"
    (here / "t.txt").write_text(text, encoding="utf-8")
    (here / "e.txt").write_text(text + " ملك عظيم في بلاد بعيدة", encoding="utf-8")
    succeed("transcripts", "t.txt", "e.txt", "--out", "run")
    [block] = [claim for claim in lines_of(here / "run" / "claims.jsonl") if claim["kind"] == "block"]
    assert block["text"] == "ملك عظيم في بلاد بعيدة"


def test_nul_characters_in_a_text_file_are_left_out_and_noted(here: Path) -> None:
    (here / "engine" / "p3.txt").write_bytes(b"Donn\xc3\xa9 \x00 \x00 Tours le dixi\xc3\xa8me")
    pages, errors = measured("truth", "engine")
    assert [page for page, _ in pages] == ["p1", "p2", "p3"]
    assert errors == ["note: engine/p3.txt: NUL characters were left out"]


def test_a_page_of_20_mb_is_named_and_the_others_are_measured(here: Path) -> None:
    write_pages(here / "engine", {"p3": "abcde fgh " * 2_000_000})
    pages, errors = measured("truth", "engine", "--out", "run")
    assert pages == [("p1", "ok"), ("p2", "ok")]
    assert errors[0].startswith("p3: engine: the response of a page has 20,000,000 characters, more than")
    assert lines_of(here / "run" / "failures.jsonl")[0]["code"] == "unmeasurable"
    pages, errors = measured("truth", "engine", "--measures", "anchoring")
    assert (pages[2], errors) == (("p3", "ok"), [])


def test_a_refusal_in_the_middle_leaves_no_process_at_work(here: Path) -> None:
    write_pages(here / "engine", {"p3": "x"})
    (here / "engine" / "p1.txt").unlink()
    (here / "engine" / "p1.xml").write_text("<alto>", encoding="utf-8")
    for number in range(2_000):
        for folder in ("truth", "engine"):
            (here / folder / f"q{number}.txt").write_text(TRUTH["p1"], encoding="utf-8")
    assert refused("transcripts", "truth", "engine", "--strict", "--workers", 2).startswith("engine/p1.xml: ")
    assert multiprocessing.active_children() == []


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes under /proc")
def test_a_killed_process_is_said_in_one_line_and_leaves_nothing_behind(here: Path) -> None:
    for number in range(5_000):
        (here / "truth" / f"q{number}.txt").write_text(TRUTH["p1"] * 40, encoding="utf-8")
        (here / "engine" / f"q{number}.txt").hardlink_to(here / "truth" / f"q{number}.txt")
    arguments = ["transcripts", "truth", "engine", "--workers", "2", "--out", "run"]
    with subprocess.Popen(
        [sys.executable, "-m", "hallumeter", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        deadline = time.monotonic() + 60
        while len(below := _processes_below(started.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(below[0], signal.SIGKILL)
        out, errors = started.communicate(timeout=60)
    assert out == b""
    said = "a process was killed at its work, perhaps for want of memory; try again with one worker (--workers 1)"
    assert errors.decode().splitlines()[-1] == f"hallumeter: {said}"
    assert "Traceback" not in errors.decode()
    assert started.returncode == 2
    assert not (here / "run").exists()
    assert not list(here.glob(".hallumeter-*"))


def _processes_below(process: int) -> list[int]:
    try:
        return [int(name) for name in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except FileNotFoundError:
        return []


def test_notices_of_many_files_are_one(here: Path) -> None:
    for page, word in (("p1", "caf\xe9"), ("p2", "caf\xe9 \xe0")):
        (here / "engine" / f"{page}.txt").write_bytes(word.encode("latin-1"))
    _, errors = measured("truth", "engine")
    read = [line for line in errors if "cp1252" in line]
    assert len(read) == 1
    assert read[0].startswith("note: engine/p1.txt: some bytes are not UTF-8")
    assert read[0].endswith("(1 more likewise)")


def test_at_most_ten_notices_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    say_what_happened((), [f"notice {number}" for number in range(13)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[:10] == [f"note: notice {number}" for number in range(10)]
    assert lines[10:] == ["... and 3 more notes; --out keeps them in summary.json"]
