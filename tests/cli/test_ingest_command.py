"""`hallumeter ingest` and `hallumeter integrity` on the command line: what they print, and what they refuse."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest
from command_line import VERDICT, refused, run, succeed, write

from hallumeter.formats import jsonl
from hallumeter.ingest import documents
from hallumeter.run.run_folder import RunFolder

RESULTS = Path(__file__).parents[1] / "ingest" / "results"
RAGAS = {"user_input": "q", "response": "a", "retrieved_contexts": ["e"], "faithfulness": 0.5}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_tool_is_named_and_the_run_folder_stands_beside(here: Path) -> None:
    for _ in range(2):
        result = succeed("ingest", RESULTS / "ragas.csv", "--print", "csv")
    assert "read as results of Ragas" in result.stderr
    assert "ragas:faithfulness" in result.stdout
    assert [path.name for path in sorted(here.iterdir())] == ["ragas-ingest", "ragas-ingest-2"]
    succeed("report", here / "ragas-ingest", "--out", here / "page.html")
    assert RunFolder(here / "ragas-ingest").manifest.settings["tool"] == "ragas"


def test_quiet_says_nothing_beside_the_result(here: Path) -> None:
    result = succeed("ingest", RESULTS / "refchecker.json", "--quiet", "--print", "json", "--out", "run")
    assert result.stderr == ""
    assert json.loads(result.stdout)["instrument"] == "ingest"


FILES: list[tuple[str, bytes, str]] = [
    ("empty.json", b"", "empty.json: the file is empty"),
    ("cut.json", b'{"testCases": [{"na', "cut.json:1: not valid JSON (Unterminated string"),
    ("cut.jsonl", json.dumps(RAGAS).encode()[:-9], "cut.jsonl: not known as a result of Ragas"),
    ("other.json", b'{"colour": "red"}', "it holds colour; if it is of one of them, say so with --format NAME"),
    ("nothing.json", b"[]", "nothing.json: not known as a result"),
    ("list.json", b"[1, 2]", "expected an object, found int"),
    ("wide.json", '{"a": 1}'.encode("utf-16"), "encoded as UTF-16"),
    ("latin.json", b'{"a": "\xe9"}', "latin.json: not UTF-8 (byte 7)"),
    ("digits.json", b"[" + b"9" * 5000 + b"]", "digits.json: a number has too many digits"),
    ("table.parquet", b"PAR1....", "this is a Parquet file; save the table as CSV"),
    ("half.json.gz", gzip.compress(b"[]" * 999, mtime=0)[:20], "is it a whole gzip file?"),
    ("ragged.csv", b"user_input,response,faithfulness\nq,a\n", "ragged.csv: not known as a result"),
    ("quote.csv", b'user_input,response,faithfulness\n"q,a,1\n', "quote.csv:1: not a table"),
    ("own.jsonl", json.dumps(VERDICT).encode(), "these are verdicts of our own form; type: hallumeter measure"),
    ("spans.json", b'[{"start": 0, "end": 2, "confidence": 0.9}]', "spans without their answer"),
    ("deep.json", b"[" * 100_000, "nested too deeply"),
]


@pytest.mark.parametrize(("name", "content", "said"), FILES, ids=[name for name, _, _ in FILES])
def test_a_file_that_cannot_be_used_is_refused_in_one_line(here: Path, name: str, content: bytes, said: str) -> None:
    (here / name).write_bytes(content)
    assert said in refused("ingest", name)
    assert [path.name for path in here.iterdir()] == [name]


def test_files_of_two_tools_are_refused(here: Path) -> None:
    said = refused("ingest", RESULTS / "ragas.csv", RESULTS / "helm.jsonl")
    assert said == "ragas.csv is of Ragas and helm.jsonl of HELM; ingest them one by one"


def test_the_wrong_tool_and_an_unknown_one_are_refused(here: Path) -> None:
    assert "no usable record of HELM found; the first fault: ragas.jsonl:1: expected an instance_id" in refused(
        "ingest", RESULTS / "ragas.jsonl", "--format", "helm"
    )
    assert "no usable record of DeepEval found; is it of another tool?" in refused(
        "ingest", RESULTS / "ragas.jsonl", "--format", "deepeval"
    )
    assert "no tool is called 'excel'; --format takes one of ragas, deepeval" in refused(
        "ingest", RESULTS / "ragas.jsonl", "--format", "excel"
    )
    assert "no record has the field 'colour'" in refused("ingest", RESULTS / "ragas.jsonl", "--by", "colour")
    assert "exists already" in refused("ingest", RESULTS / "ragas.jsonl", "--out", RESULTS)
    assert not list(here.iterdir())


def test_rows_of_another_tool_are_left_out_and_said(here: Path) -> None:
    path = write(here / "mixed.jsonl", [RAGAS, {"instance_id": "1", "stats": []}, RAGAS])
    path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    result = succeed("ingest", path, "--print", "json")
    assert json.loads(result.stdout)["counts"]["records"] == 2
    assert "mixed.jsonl:2: expected user_input, response and a column per metric" in result.stderr
    assert "mixed.jsonl:4: not valid JSON" in result.stderr
    assert "mixed.jsonl:4" in refused("ingest", path, "--strict", "--out", "strict")


def test_a_huge_line_is_left_out_and_said(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (jsonl, documents):
        monkeypatch.setattr(module, "LONGEST_LINE", 1 << 20)
    path = write(here / "huge.jsonl", [RAGAS, RAGAS | {"response": "a" * (3 << 20)}, RAGAS])
    result = succeed("ingest", path, "--print", "json")
    assert json.loads(result.stdout)["counts"]["records"] == 2
    assert "huge.jsonl:2: line of more than 1 MiB; split it" in result.stderr


def test_a_damaged_archive_is_refused_and_a_damaged_sample_said(here: Path) -> None:
    pytest.importorskip("backports.zstd", reason="the extra inspect is not installed")
    content = (RESULTS / "inspect.eval").read_bytes()
    (here / "cut.eval").write_bytes(content[:5000])
    assert "cut.eval: a damaged archive" in refused("ingest", "cut.eval")
    place = content.index(b"samples/refuted_epoch_1.json") + 200
    (here / "bad.eval").write_bytes(content[:place] + b"\x00" * 80 + content[place + 80 :])
    assert "bad.eval, samples/refuted_epoch_1.json: damaged" in succeed("ingest", "bad.eval").stderr
    with zipfile.ZipFile(here / "other.eval", "w") as archive:
        archive.writestr("notes.txt", "hello")
    assert "an archive without header.json" in refused("ingest", "other.eval")


def test_an_archive_without_the_extra_names_the_pip_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "backports.zstd", None)
    assert "pip install 'hallumeter[zstd]'" in refused("ingest", RESULTS / "inspect.eval")


def test_integrity_exits_by_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[1] / "challenge" / "integrity")
    cases = ("--case", "refusal", "--case", "number_changed", "--quiet")
    assert succeed("integrity", "--python", "evaluators:only_the_beginning", "--case", "number_changed").exit_code == 0
    silent = run("integrity", "--python", "evaluators:share_of_words", *cases, "--format", "json")
    assert silent.exit_code == 1
    assert json.loads(silent.stdout)["dishonest"] == 1
    assert run("integrity", "--python", "evaluators:ends_the_process", *cases).exit_code == 3
    assert refused("integrity") == "give one of --python and --judge; `hallumeter integrity --help` has examples"
    assert "cannot be imported" in refused("integrity", "--python", "nowhere:at_all", "--quiet")
