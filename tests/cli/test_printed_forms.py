"""Every form of output can be read by its own kind of reader and leaves nothing out."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from pathlib import Path

import msgspec
import pytest
from command_line import VERDICT, run, succeed, write

from hallumeter import Summary
from hallumeter.transcripts.pages_table import read_pages

ROWS = [
    {"record_id": f"r{record}", "claim_id": f"c{claim}", "label": label, "judge": judge, "model": f"m{record % 2}"}
    for record in range(6)
    for claim, labels in enumerate([("SUPPORTED", "REFUTED"), ("REFUTED", "REFUTED"), ("UNDECIDED", "maybe")])
    for judge, label in zip("ab", labels, strict=True)
]
HOSTILE = "|pi\\pe| <script>alert(1)</script> [link](javascript:x) `code` *b* \n\r\t line "
HOSTILE += "\x1b[31mred\x1b]0;t\x07 \x9b31m \u202eover \u2028"


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    return write(tmp_path / "v.jsonl", ROWS)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    rows = [
        {**VERDICT, "record_id": f"r{number}", "judge": judge, "model": HOSTILE + "x" * 300}
        for number in range(3)
        for judge in (HOSTILE, "plain")
    ]
    return write(tmp_path / "hostile.jsonl", rows)


def markdown_rows(text: str) -> list[list[str]]:
    """The cells of the table, split at bars that are not escaped."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_json_is_the_summary(verdicts: Path) -> None:
    printed = succeed("measure", verdicts, "--by", "model", "--format", "json").stdout
    summary = msgspec.json.decode(printed, type=Summary)
    assert summary.counts.records == 6
    mihr = summary.metrics[0]
    assert (mihr.metric, mihr.judge, mihr.count, mihr.total) == ("mihr", "consensus", 6, 6)
    assert (mihr.undecided, mihr.failed, mihr.bounds, mihr.direction) == (12, 0, (6 / 18, 1.0), "lower")
    assert mihr.interval is not None
    assert mihr.signature.startswith("mihr|judge:consensus|")
    assert "1 row" not in printed
    assert "6 rows could not be used: unknown_label" in summary.notices


def test_csv_has_every_row_unrounded(verdicts: Path) -> None:
    printed = succeed("measure", verdicts, "--by", "model", "--format", "csv").stdout
    summary = msgspec.json.decode(
        succeed("measure", verdicts, "--by", "model", "--format", "json").stdout, type=Summary
    )
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert len(rows) == len(summary.metrics)
    for row, metric in zip(rows, summary.metrics, strict=True):
        assert (row["metric"], row["model"], row["judge"]) == (
            metric.metric,
            metric.by.get("model", ""),
            metric.judge or "",
        )
        assert row["value"] == ("" if metric.value is None else str(metric.value))
        assert row["count"] == ("" if metric.count is None else str(metric.count))
        assert row["interval_low"] == ("" if metric.interval is None else str(metric.interval[0]))
        assert row["best_to_worst_high"] == ("" if metric.bounds is None else str(metric.bounds[1]))
        assert (row["undecided"], row["failed"]) == (str(metric.undecided), str(metric.failed))
        assert (row["direction"], row["signature"]) == (metric.direction, metric.signature)
        assert bool(row["undefined"]) == (metric.value is None)


def test_markdown_has_one_row_per_value_with_every_column_and_says_why_others_are_undefined(verdicts: Path) -> None:
    printed = succeed("measure", verdicts, "--by", "model", "--format", "markdown").stdout
    head, rule, *rows = markdown_rows(printed)
    metrics = json.loads(succeed("measure", verdicts, "--by", "model", "--format", "json").stdout)["metrics"]
    assert len(rows) == sum(metric["value"] is not None for metric in metrics)
    assert all(metric["undefined"] in printed for metric in metrics if metric["value"] is None)
    assert {len(row) for row in (head, rule, *rows)} == {len(head)}
    first = dict(zip(head, rows[0], strict=True))
    assert (first["metric"], first["judge"], first["value"], first["counts"]) == (
        "Unsupported claims (MiHR) ↓",
        "consensus",
        "1.000",
        "6 / 6",
    )
    assert (first["undecided"], first["failed"]) == ("12", "0")
    assert "6 rows could not be used" in printed
    assert "reliability" not in printed, "nobody gave a policy"


def test_the_table_shows_counts_interval_direction_bounds_and_signature(
    verdicts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    printed = succeed("measure", verdicts, "--by", "model", "--verbose").stdout
    [line] = [
        line for line in printed.splitlines() if line.startswith("Unsupported claims (MiHR) ↓") and "6 / 6" in line
    ]
    assert "1.000" in line
    assert "12" in line
    assert "0.333 – 1.000" in line
    assert "mihr|judge:consensus|joined:majority|nei:unsupported|" in printed
    assert "reliability" not in printed, "nobody gave a policy"
    assert all(model in printed for model in ("m0", "m1"))


def test_a_policy_gives_an_opinion_in_every_form(verdicts: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "mine"\n[[rules]]\nmetric = "mihr"\ngood = 0.1\nbad = 0.2\n', encoding="utf-8")
    for words in ((), ("--verbose",), ("--format", "markdown")):
        assert "reliability low" in succeed("measure", verdicts, "--policy", policy, *words).stdout


def test_what_is_undefined_says_why_in_every_form(tmp_path: Path) -> None:
    path = write(tmp_path / "v.jsonl", [{**VERDICT, "label": "UNDECIDED"}])
    for form in ("table", "json", "markdown", "csv"):
        printed = succeed("measure", path, "--format", form).stdout
        assert "no claim is decided" in printed


def test_hostile_names_stay_in_their_cell_of_a_csv_file(hostile: Path) -> None:
    printed = succeed("measure", hostile, "--by", "model", "--format", "csv").stdout
    rows = list(csv.reader(io.StringIO(printed, newline="")))
    assert {len(row) for row in rows} == {len(rows[0])}


def test_hostile_names_stay_in_their_cell_of_a_markdown_table(hostile: Path) -> None:
    printed = succeed("measure", hostile, "--by", "model", "--format", "markdown").stdout
    head, _, *rows = markdown_rows(printed)
    assert {len(row) for row in rows} == {len(head)}
    judge = head.index("judge")
    names = {row[judge] for row in rows}
    assert not any("<script>" in name or "[link]" in name for name in names)


@pytest.mark.parametrize("form", ["table", "markdown", "csv"])
def test_no_form_prints_what_a_terminal_obeys(hostile: Path, form: str) -> None:
    printed = succeed("measure", hostile, "--by", "model", "--format", form).stdout
    assert {mark for mark in printed if unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp")} == {"\n"}


@pytest.mark.parametrize("name", ["[/x]", "[red]x", "[link=file:///etc]x[/link]", ":smile:"])
def test_square_brackets_and_colons_in_names_are_only_that(tmp_path: Path, name: str) -> None:
    rows = [{**VERDICT, "judge": judge, "model": name} for judge in (name, "b")]
    printed = succeed("measure", write(tmp_path / "v.jsonl", rows), "--by", "model").stdout
    assert printed.count(name) >= 2


def test_a_signature_stays_code_in_markdown(tmp_path: Path) -> None:
    path = write(tmp_path / "v.jsonl", [{**VERDICT, "judge": "`<img src=x>`"}])
    assert "`<img" not in succeed("measure", path, "--format", "markdown").stdout.replace("\\`", "")


def test_json_escapes_what_a_terminal_would_obey(hostile: Path) -> None:
    printed = succeed("measure", hostile, "--by", "model", "--format", "json").stdout
    assert "\x1b" not in printed
    assert HOSTILE in {row["judge"] for row in json.loads(printed)["metrics"]}


def test_very_long_names_do_not_break_the_table(tmp_path: Path) -> None:
    rows = [{**VERDICT, "judge": judge * 400, "model": "m" * 1000} for judge in "ab"]
    printed = succeed("measure", write(tmp_path / "v.jsonl", rows), "--by", "model").stdout
    assert max(map(len, printed.splitlines())) <= 80


FORMULA = '=HYPERLINK("https://a.example","open")'


def test_no_cell_of_a_printed_table_is_a_formula_unless_raw_csv_is_asked_for(tmp_path: Path) -> None:
    verdicts = write(tmp_path / "v.jsonl", [{**VERDICT, "model": FORMULA, "=field": "x"}])
    safe = list(csv.DictReader(io.StringIO(succeed("measure", verdicts, "--by", "model", "--format", "csv").stdout)))
    assert {row["model"] for row in safe} == {"", f"'{FORMULA}"}
    assert all("'" not in row["value"] for row in safe)
    for words in (["--raw-csv"], ["--format", "csv", "--raw-csv"]):
        raw = list(csv.DictReader(io.StringIO(succeed("measure", verdicts, "--by", "model", *words).stdout)))
        assert {row["model"] for row in raw} == {"", FORMULA}
    assert succeed("measure", verdicts, "--by", "=field", "--format", "csv").stdout.startswith("'=field,")
    said = run("measure", verdicts, "--format", "json", "--raw-csv")
    assert said.exit_code == 2
    assert "--raw-csv prints CSV; it cannot be had with --format json" in said.stderr


def test_a_printed_table_of_pages_has_no_formula_and_the_run_reads_it_back(tmp_path: Path) -> None:
    for folder in ("truth", "=engine"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "-page.txt").write_text("The harbour was closed.", encoding="utf-8")
    out = tmp_path / "run"
    given = ("transcripts", tmp_path / "truth", tmp_path / "=engine", "--out", out, "--quiet")
    [row] = csv.DictReader(io.StringIO(succeed(*given, "--format", "csv").stdout))
    [kept] = csv.DictReader(io.StringIO((out / "pages.csv").read_text(encoding="utf-8")))
    assert {"'=engine", "'-page"} <= set(row.values())
    assert {"'=engine", "'-page"} <= set(kept.values())
    [read] = read_pages(out / "pages.csv")
    assert {"=engine", "-page"} <= set(msgspec.structs.astuple(read))
    [raw] = csv.DictReader(io.StringIO(succeed(*given[:3], "--raw-csv").stdout))
    assert {"=engine", "-page"} <= set(raw.values())
