"""`hallumeter transcripts` as a user types it."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from command_line import refused, succeed
from pyarrow import parquet

import hallumeter
from hallumeter.transcripts.settings import RANKABLE
from transcript_folders import (
    FAITHFUL,
    INVENTIVE,
    TRUTH,
    alto,
    files_of,
    hocr,
    lines_of,
    page_xml,
    write_pages,
    write_rows,
)

COMMAND = (sys.executable, "-m", "hallumeter", "transcripts")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_pages(tmp_path / "truth", TRUTH)
    write_pages(tmp_path / "faithful", FAITHFUL)
    write_pages(tmp_path / "inventive", INVENTIVE)
    return tmp_path


def rows(*arguments: object) -> list[dict[str, str]]:
    """The table of pages that a command prints."""
    printed = succeed("transcripts", *arguments, "--format", "csv", "--quiet").stdout
    return list(csv.DictReader(printed.splitlines()))


def values(printed: str, metric: str) -> dict[str, float | None]:
    """A metric by engine, out of a summary in JSON."""
    summary = json.loads(printed)
    return {row["by"].get("engine", "all"): row["value"] for row in summary["metrics"] if row["metric"] == metric}


def test_folders_are_compared_page_by_page(folders: Path) -> None:
    found = rows("truth", "faithful", "inventive")
    assert [(row["page"], row["engine"]) for row in found] == [
        (page, engine) for page in TRUTH for engine in ("faithful", "inventive")
    ]
    by_name = {(row["page"], row["engine"]): row for row in found}
    assert {by_name[page, "faithful"]["cer"] for page in TRUTH} == {"0.0"}
    assert by_name["p1", "inventive"]["blocks"] == "1"
    assert by_name["p2", "inventive"]["loops"] == "1"
    assert by_name["p3", "inventive"]["omissions"] == "1"
    # By hand: 5 of the 8 words of the third page are left out.
    assert float(by_name["p3", "inventive"]["omission_rate"]) == 5 / 8


def test_all_formats_of_pages_may_stand_beside_each_other(tmp_path: Path) -> None:
    lines = ("Nous faisons savoir", "à tous présents")
    (tmp_path / "truth").mkdir()
    (tmp_path / "engine").mkdir()
    formats = [("\n".join, ".txt"), (lambda each: alto(*each), ".xml"), (lambda each: page_xml(*each), ".page.xml")]
    formats.append((lambda each: hocr(*each), ".hocr"))
    for place, (write, ending) in enumerate(formats):
        (tmp_path / "truth" / f"{place}{ending}").write_text(write(lines), encoding="utf-8")
        other, other_ending = formats[place - 1]
        (tmp_path / "engine" / f"{place}{other_ending}").write_text(other(lines), encoding="utf-8")
    found = rows(tmp_path / "truth", tmp_path / "engine")
    assert [(row["page"], row["cer"]) for row in found] == [(str(place), "0.0") for place in range(4)]


def test_two_files_are_one_page(folders: Path) -> None:
    found = rows("truth/p1.txt", "inventive/p1.txt", "faithful/p1.txt")
    assert [(row["page"], row["engine"], row["blocks"]) for row in found] == [
        ("p1", "inventive/p1", "1"),
        ("p1", "faithful/p1", "0"),
    ]
    assert [row["engine"] for row in rows("truth/p1.txt", "inventive/p1.txt")] == ["p1"]


def test_engines_are_called_by_what_tells_them_apart(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pages(folders / "a" / "ocr", FAITHFUL)
    write_pages(folders / "b" / "ocr", INVENTIVE)
    assert [row["engine"] for row in rows("truth", "a/ocr", "b/ocr")][:2] == ["a/ocr", "b/ocr"]
    (folders / "one.txt").write_text(TRUTH["p1"], encoding="utf-8")
    (folders / "one.hocr").write_text(hocr(TRUTH["p1"]), encoding="utf-8")
    assert [row["engine"] for row in rows("truth/p1.txt", "one.txt", "one.hocr")] == ["one.txt", "one.hocr"]
    monkeypatch.chdir(folders / "inventive")
    assert {row["engine"] for row in rows("../truth", ".")} == {"inventive"}
    manifest = json.loads((_written(folders) / "manifest.json").read_text(encoding="utf-8"))
    assert [(each["name"], each["records"]) for each in manifest["inputs"]] == [("truth", 3), ("inventive", 3)]
    assert all(len(each["sha256"]) == 64 for each in manifest["inputs"])


def _written(folders: Path) -> Path:
    succeed("transcripts", "../truth", ".", "--out", folders / "run")
    return folders / "run"


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".tsv", ".parquet"])
def test_a_table_of_references_and_one_for_each_engine(folders: Path, ending: str) -> None:
    for name, pages in {"truth": TRUTH, "faithful": FAITHFUL, "inventive": INVENTIVE}.items():
        _write_table(folders / f"{name}{ending}", {"page": list(pages), "text": list(pages.values())})
    found = rows(f"truth{ending}", f"faithful{ending}", f"inventive{ending}")
    assert found == rows("truth", "faithful", "inventive")


def _write_table(path: Path, columns: dict[str, list[str]]) -> None:
    table = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(columns), path)
    elif path.suffix == ".jsonl":
        write_rows(path, table)
    else:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(columns), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(table)


@pytest.mark.parametrize(
    "names",
    [
        ("page", "engine", "reference", "response"),
        ("doc_id", "model", "gt", "hypothesis"),
        ("id", "system", "ground_truth", "output"),
        ("record_id", "model", "truth", "ocr"),
    ],
    ids="-".join,
)
def test_a_table_of_pairs_may_use_the_names_of_other_tools(folders: Path, names: tuple[str, ...]) -> None:
    pairs = [
        (page, engine, TRUTH[page], text[page])
        for page in TRUTH
        for engine, text in (("faithful", FAITHFUL), ("inventive", INVENTIVE))
    ]
    write_rows(folders / "pairs.jsonl", [dict(zip(names, pair, strict=True)) for pair in pairs])
    assert rows("pairs.jsonl") == rows("truth", "faithful", "inventive")
    page, engine, reference, response = names
    chosen = f"page={page},engine={engine}, reference={reference},response = {response}"
    assert rows("pairs.jsonl", "--columns", chosen) == rows("pairs.jsonl")


def test_columns_of_any_name_can_be_chosen(folders: Path) -> None:
    pairs = [{"Blatt": page, "wahr": TRUTH[page], "gelesen": INVENTIVE[page], "text": "not this"} for page in TRUTH]
    write_rows(folders / "pairs.jsonl", pairs)
    found = rows("pairs.jsonl", "--columns", "page=Blatt,reference=wahr,response=gelesen")
    assert [row | {"engine": "inventive"} for row in found] == rows("truth", "inventive")


def test_columns_may_lie_within_others(folders: Path) -> None:
    pairs = [
        {"about": {"name": page}, "ground_truth": {"unit": TRUTH[page]}, "ocr": {"unit": INVENTIVE[page]}}
        for page in TRUTH
    ]
    write_rows(folders / "pairs.jsonl", pairs)
    found = rows("pairs.jsonl", "--columns", "page=about.name,reference=ground_truth.unit,response=ocr.unit")
    assert [row | {"engine": "inventive"} for row in found] == rows("truth", "inventive")
    dotted = [{"page": page, "a.gt": TRUTH[page], "a.ocr": INVENTIVE[page]} for page in TRUTH]
    write_rows(folders / "dotted.jsonl", dotted)
    found = rows("dotted.jsonl", "--columns", "reference=a.gt,response=a.ocr")
    assert [row | {"engine": "inventive"} for row in found] == rows("truth", "inventive")


def test_an_empty_cell_is_a_text_without_words_but_null_is_no_text(folders: Path) -> None:
    Path("pairs.csv").write_text("page,gt,ocr\nblank,,some words\nsilent,some words,\n", encoding="utf-8")
    assert [(row["page"], row["status"]) for row in rows("pairs.csv")] == [
        ("blank", "empty_reference"),
        ("silent", "empty_output"),
    ]
    pairs: list[dict[str, object]] = [
        {"page": "blank", "gt": "", "ocr": "some words"},
        {"page": "unknown", "gt": None, "ocr": "some words"},
        {"page": "failed", "gt": "some words", "ocr": None},
    ]
    write_rows(folders / "pairs.jsonl", pairs)
    result = succeed("transcripts", "pairs.jsonl", "--format", "csv")
    assert [row["page"] for row in csv.DictReader(result.stdout.splitlines())] == ["blank"]
    assert "pairs.jsonl:2: no reference; expected a text in one of reference, ground_truth, gt," in result.stderr
    assert "pairs.jsonl:3: no response; expected a text in one of response, hypothesis," in result.stderr


def test_texts_can_be_made_alike_before_they_are_compared(tmp_path: Path) -> None:
    truth, engine = tmp_path / "t.txt", tmp_path / "e.txt"
    truth.write_text("Le maiſtre Jehan vint,", encoding="utf-8")
    engine.write_text("le maistre Iehan uint", encoding="utf-8")
    assert float(rows(truth, engine)[0]["wer"]) == 1.0
    assert float(rows(truth, engine, "--normalize", "diplomatic", "--normalize", "caseless+punctuation")[0]["wer"]) == 0
    printed = succeed("transcripts", truth, engine, "--normalize", "long-s,caseless", "--format", "json").stdout
    assert json.loads(printed)["metrics"][0]["signature"].startswith("cer|spelling:caseless+long-s|")
    assert "unknown" in refused("transcripts", truth, engine, "--normalize", "latin").lower()


def test_engines_are_ranked_by_what_is_asked_for(folders: Path) -> None:
    def ranking(*arguments: object) -> dict[str, object]:
        printed = succeed("transcripts", "truth", "faithful", "inventive", "--format", "json", *arguments).stdout
        found: dict[str, object] = json.loads(printed)["ranking"]
        return found

    assert ranking()["metric"] == "cer"
    best = [{"engine": "faithful", "mean_rank": 1.0}, {"engine": "inventive", "mean_rank": 2.0}]
    assert ranking("--rank-by", "wer")["engines"] == best
    # By hand: the third page of both has the anchor score 1, so that each has rank 1.5 there.
    tied = [{"engine": "faithful", "mean_rank": 3.5 / 3}, {"engine": "inventive", "mean_rank": 5.5 / 3}]
    assert ranking("--rank-by", "anchor_score")["engines"] == tied
    assert ranking("--measures", "anchoring")["metric"] == "anchor_score"
    said = refused("transcripts", "truth", "faithful", "--rank-by", "beauty")
    assert said.startswith("rank by 'beauty': expected one of cer, wer, mer")
    said = refused("transcripts", "truth", "faithful", "--rank-by", "wer", "--measures", "anchoring")
    assert said == "rank by 'wer': is not measured by anchoring alone; expected anchor_score"


def test_pages_are_grouped_by_columns_of_their_table(folders: Path) -> None:
    pairs = [
        {"page": page, "gt": TRUTH[page], "ocr": INVENTIVE[page], **({"hand": "a"} if page != "p3" else {})}
        for page in TRUTH
    ]
    write_rows(folders / "pairs.jsonl", pairs)
    metrics = json.loads(succeed("transcripts", "pairs.jsonl", "--by", "hand", "--format", "json").stdout)["metrics"]
    totals = {tuple(row["by"].values()): row["total"] for row in metrics if row["metric"] == "picarones_page_rate"}
    assert totals == {(): 3.0, ("pairs",): 3.0, ("pairs", "a"): 2.0, ("pairs", "(none)"): 1.0}
    by_engine = succeed("transcripts", "pairs.jsonl", "--by", "engine", "--format", "json").stdout
    assert by_engine == succeed("transcripts", "pairs.jsonl", "--format", "json").stdout
    by_page = succeed("transcripts", "pairs.jsonl", "--by", "page", "--format", "json").stdout
    assert {"engine": "pairs", "page": "p2"} in [row["by"] for row in json.loads(by_page)["metrics"]]
    said = refused("transcripts", "pairs.jsonl", "--by", "colour")
    assert said == "no page has the field 'colour'; fields found: engine, hand, page"


def test_anchoring_alone_gives_the_same_numbers_and_no_places(folders: Path) -> None:
    whole, quick = rows("truth", "inventive"), rows("truth", "inventive", "--measures", "anchoring")
    measured = [name for name, value in quick[0].items() if value]
    assert {"net_insertion_rate", "anchor_score", "length_ratio", "picarones_badge"} <= set(measured)
    assert [{name: row[name] for name in measured} for row in whole] == [
        {name: row[name] for name in measured} for row in quick
    ]
    succeed("transcripts", "truth", "inventive", "--measures", "anchoring", "--out", "run")
    assert (folders / "run" / "claims.jsonl").read_bytes() == b""
    metrics = {row["metric"] for row in lines_of(folders / "run" / "measurements.jsonl")}
    assert "anchor_rate" in metrics
    assert "cer" not in metrics


@pytest.mark.parametrize("form", ["table", "json", "markdown", "csv"])
def test_the_output_can_be_piped_while_notes_are_said_beside_it(folders: Path, form: str) -> None:
    (folders / "inventive" / "p3.txt").unlink()
    result = succeed("transcripts", "truth", "inventive", "--format", form)
    assert result.stderr == "p3: inventive has no reading of it\n"
    assert "inventive" in result.stdout
    quiet = succeed("transcripts", "truth", "inventive", "--format", form, "--quiet")
    assert quiet.stderr == ""
    assert result.stdout.startswith(quiet.stdout)
    assert (quiet.stdout == result.stdout) == (form != "table")


def test_strict_stops_at_what_cannot_be_used(folders: Path) -> None:
    succeed("transcripts", "truth", "faithful", "--strict")
    (folders / "faithful" / "cover.jpg").touch()
    succeed("transcripts", "truth", "faithful", "--strict")
    (folders / "faithful" / "p3.txt").unlink()
    assert (
        refused("transcripts", "truth", "faithful", "--strict", "--out", "run") == "p3: faithful has no reading of it"
    )
    (folders / "faithful" / "p3.xml").write_text("<alto>", encoding="utf-8")
    assert refused("transcripts", "truth", "faithful", "--strict", "--out", "run").startswith("faithful/p3.xml: ")
    assert not (folders / "run").exists()


def test_one_and_two_workers_and_a_repetition_write_the_same_bytes(folders: Path) -> None:
    for number in range(150):
        for folder in ("truth", "faithful", "inventive"):
            (folders / folder / f"q{number}.txt").write_text(f"{folder} {number} {TRUTH['p1']}", encoding="utf-8")
    paths = ("truth", "faithful", "inventive")
    one = succeed("transcripts", *paths, "--workers", 1, "--out", "one", "--quiet").stdout
    two = succeed("transcripts", *paths, "--workers", 2, "--out", "two", "--quiet").stdout
    again = succeed("transcripts", *paths, "--workers", 1, "--out", "again", "--quiet").stdout
    assert one == two == again
    assert files_of(folders / "one") == files_of(folders / "two") == files_of(folders / "again")
    assert set(files_of(folders / "one")) == {
        *("records.jsonl", "claims.jsonl", "verdicts.jsonl", "failures.jsonl", "measurements.jsonl"),
        *("summary.json", "manifest.json", "misread.csv", "lines.csv", "invented.csv", "pages.csv", "report.html"),
    }


@pytest.mark.parametrize("workers", ["0", "-1", "many"])
def test_an_impossible_number_of_workers_is_refused(folders: Path, workers: str) -> None:
    assert "'--workers': " in refused("transcripts", "truth", "faithful", "--workers", workers)


def test_what_is_printed_is_the_same_with_and_without_a_run_folder(folders: Path) -> None:
    arguments = ("transcripts", "truth", "faithful", "inventive", "--format", "json", "--quiet")
    assert succeed(*arguments).stdout == succeed(*arguments, "--out", "run").stdout


def test_a_run_can_be_reported_and_loaded_again(folders: Path) -> None:
    result = succeed("transcripts", "truth", "faithful", "inventive", "--out", "run")
    assert result.stderr.endswith("run folder: run\nreport: run/report.html\n")
    succeed("report", "run", "--out", "again.html")
    assert (folders / "again.html").read_bytes() == (folders / "run" / "report.html").read_bytes()
    run = hallumeter.load("run")
    assert run.summary.instrument == "transcripts"
    assert [(row.page, row.engine) for row in run.pages()][:2] == [("p1", "faithful"), ("p1", "inventive")]
    kinds = [finding.claim.kind for finding in run.findings() if finding.claim.kind != "run"]
    assert kinds == ["block", "loop", "omission"]


def test_a_folder_that_is_there_is_not_written_over(folders: Path) -> None:
    write_pages(folders / "run", {"mine": "mine"})
    said = refused("transcripts", "truth", "faithful", "--out", "run")
    assert said == "run: exists already; choose another folder or remove it first"
    assert [path.name for path in (folders / "run").iterdir()] == ["mine.txt"]


def test_a_reader_that_stops_early_is_no_fault(folders: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "truth", "faithful", "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout is not None
        started.stdout.close()
        assert started.stderr is not None
        assert started.stderr.read() == b""
    assert started.returncode == 141


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
def test_ctrl_c_ends_all_processes_with_one_line_and_leaves_nothing_behind(folders: Path) -> None:
    for number in range(5_000):
        (folders / "truth" / f"q{number}.txt").write_text(TRUTH["p1"] * 40, encoding="utf-8")
        (folders / "faithful" / f"q{number}.txt").hardlink_to(folders / "truth" / f"q{number}.txt")
    started = subprocess.Popen(
        [*COMMAND, "truth", "faithful", "--workers", "2", "--out", "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(folders.glob(".hallumeter-*/claims.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(started.pid, signal.SIGINT)
    out, errors = started.communicate(timeout=60)
    assert (out, errors) == (b"", b"\nhallumeter: interrupted\n")
    assert started.returncode == 130
    assert not (folders / "run").exists()
    assert not list(folders.glob(".hallumeter-*"))


def test_a_witness_convicts_only_when_its_user_vouches_for_it_but_a_loop_needs_none(folders: Path) -> None:
    # By hand: the witness has 13 words of the first page, 9 of the second and 8 of the third.
    def badges(*arguments: object) -> list[tuple[str, str]]:
        found = rows("inventive", "--witness", "truth", *arguments)
        return [(row["status"], row["is_hallucinating"]) for row in found]

    assert badges() == [("undecided", ""), ("ok", "true"), ("undecided", "")]
    assert badges("--witness-confidence", 0.95) == [("ok", "true"), ("ok", "true"), ("undecided", "")]
    assert succeed("transcripts", "inventive", "--witness", "truth").stderr.splitlines() == [
        "note: compared with a witness, not with ground truth: rates are disagreement, not error",
        "note: 1 undecided: the witness does not say how sure it is of its reading",
        "note: 1 undecided: the witness read fewer than 10 words",
    ]


def test_undecided_pages_show_in_the_bounds_of_the_summary(folders: Path) -> None:
    printed = succeed("transcripts", "inventive", "--witness", "truth", "--format", "json", "--quiet").stdout
    rates = {row["metric"]: row for row in json.loads(printed)["metrics"] if not row["by"]}
    badge = rates.pop("hallucinating_page_rate")
    assert (badge["count"], badge["total"], badge["undecided"], badge["bounds"]) == (1, 1, 2, [1 / 3, 1])
    assert {row["undecided"] for row in rates.values()} == {0}


@pytest.mark.parametrize("confidence", ["-0.1", "1.5", "nan", "sure"])
def test_a_confidence_that_is_no_probability_is_refused(folders: Path, confidence: str) -> None:
    said = refused("transcripts", "inventive", "--witness", "truth", "--witness-confidence", confidence)
    assert said.startswith(
        (
            f"witness confidence is {confidence}; expected a number from 0 to 1",
            "Invalid value for '--witness-confidence'",
        )
    )


def test_a_confidence_without_a_witness_is_refused(tmp_path: Path) -> None:
    for name in ("truth", "engine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p1.txt").write_text("le roi", encoding="utf-8")
    said = refused("transcripts", tmp_path / "truth", tmp_path / "engine", "--witness-confidence", "0.9")
    assert said.startswith("--witness-confidence needs a witness; give --witness or --image;")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--witness", "witness", "--rank-by", "wer"), "--rank-by needs ground truth;"),
        (("--image", "witness", "--pair-by", "order"), "--pair-by pairs texts; images find their pages by name;"),
    ],
)
def test_what_a_witness_cannot_use_is_refused(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    for name in ("witness", "engine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p1.txt").write_text("le roi", encoding="utf-8")
    given = [tmp_path / text if text == "witness" else text for text in arguments]
    assert refused("transcripts", tmp_path / "engine", *given).startswith(told)


def test_the_help_lists_what_engines_can_be_ranked_by_and_its_case_does_not_matter(folders: Path) -> None:
    shown = " ".join(succeed("transcripts", "--help").stdout.split())
    assert f"{', '.join(RANKABLE[:-1])} or {RANKABLE[-1]}" in shown
    plain = succeed("transcripts", "truth", "faithful", "inventive", "--rank-by", "wer", "--format", "json")
    loud = succeed("transcripts", "truth", "faithful", "inventive", "--rank-by", "WER", "--format", "json")
    assert loud.stdout == plain.stdout
