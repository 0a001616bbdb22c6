"""Help, the catalog, the demo and the report."""

from __future__ import annotations

import re
import shutil
from importlib.metadata import version
from pathlib import Path

import click
import msgspec
import pytest
from command_line import VERDICT, refused, succeed, write

from hallumeter import METRICS, load
from hallumeter.records.metric import Metric
from hallumeter.report.catalog import find_metric, metric_facts, metric_texts
from hallumeter.report.document import Document


def test_every_command_has_a_help_page_with_examples_and_all_its_options(
    cli_commands: dict[str, click.Command],
) -> None:
    assert {"demo", "measure", "metrics", "report", "transcripts"} <= set(cli_commands)
    for name in ("demo", "measure", "metrics", "report", "transcripts"):
        page = succeed(name, "--help").stdout
        assert f"hallumeter {name}" in page, name
        assert "Examples:" in page, name
        for parameter in cli_commands[name].params:
            if isinstance(parameter, click.Option):
                assert all(option in page for option in parameter.opts), (name, parameter.name)


def test_the_program_says_what_it_is_and_its_version() -> None:
    page = succeed("--help").stdout
    assert succeed("-h").stdout == page
    for name in ("demo", "measure", "metrics", "report", "transcripts"):
        assert name in page
    assert succeed("--version").stdout.strip().endswith(version("hallumeter"))


def test_no_words_at_all_ask_for_help() -> None:
    assert succeed().stdout == succeed("--help").stdout


def test_the_catalog_lists_every_metric_once_with_its_question() -> None:
    # At the margin stands the metric, and indented below it what it asks.
    entries = [" ".join(entry.split()) for entry in re.split(r"\n(?=\S)", succeed("metrics").stdout)]
    for metric in METRICS:
        [entry] = [entry for entry in entries if entry.split()[:1] == [metric.id]]
        assert entry.endswith(metric.question)


@pytest.mark.parametrize("name", ["mihr", "MiHR", "MIHR", " mihr "])
def test_a_metric_is_found_by_its_id_and_its_alias_however_written(name: str) -> None:
    page = succeed("metrics", name).stdout
    assert page.startswith("mihr: Unsupported claims (MiHR), micro hallucination rate\n")
    assert page == succeed("metrics", "mihr").stdout


def test_a_metric_is_found_by_its_exact_alias_first() -> None:
    assert succeed("metrics", "FActScore γ=10").stdout.startswith("factscore_penalized: ")
    assert succeed("metrics", "FactScore").stdout.startswith("factscore: ")
    assert succeed("metrics", "factscore").stdout.startswith("factscore: ")


@pytest.mark.parametrize("metric", METRICS, ids=[metric.id for metric in METRICS])
def test_every_metric_is_explained_with_all_that_the_catalog_knows(metric: Metric) -> None:
    page = "".join(succeed("metrics", metric.id).stdout.split())
    for title, text in metric_facts(metric).items():
        assert "".join(f"{title} {text}".split()) in page
    assert find_metric(metric.alias) == metric
    assert metric_texts()[metric.id].alias == metric.alias


def test_an_unknown_metric_is_refused_with_the_way_to_the_list() -> None:
    said = "no metric is called '{}'; `hallumeter metrics` lists those that exist"
    assert refused("metrics", "zzz") == said.format("zzz")
    assert refused("metrics", "factscor") == f"{said.format('factscor')}; did you mean factscore?"


def test_the_demo_does_not_touch_what_is_no_demo(tmp_path: Path) -> None:
    answers = tmp_path / "mine" / "answers"
    answers.mkdir(parents=True)
    (answers / "notes").write_text("mine", encoding="utf-8")
    assert "exists already" in refused("demo", "--out", tmp_path / "mine")
    (answers / "manifest.json").write_text("{}", encoding="utf-8")
    assert "manifest.json" in refused("demo", "--out", tmp_path / "mine")
    write(tmp_path / "v.jsonl", [VERDICT])
    succeed("measure", tmp_path / "v.jsonl", "--out", tmp_path / "run")
    assert "holds another run" in refused("demo", "--out", tmp_path / "run")
    assert (answers / "notes").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("is_folder", [True, False])
def test_the_demo_with_anything_else_inside_is_refused_whole(
    finished_demo: Path, tmp_path: Path, is_folder: bool
) -> None:
    shutil.copytree(finished_demo, tmp_path / "demo")
    mine = tmp_path / "demo" / "answers" / "zz-mine"
    mine.mkdir() if is_folder else mine.write_text("mine", encoding="utf-8")
    before = sorted(path.name for path in mine.parent.iterdir())
    assert refused("demo", "--out", tmp_path / "demo") == (
        f"{mine}: no demo wrote this; choose another folder with --out"
    )
    assert sorted(path.name for path in mine.parent.iterdir()) == before


def test_the_report_is_written_into_the_run_or_where_asked(tmp_path: Path) -> None:
    write(tmp_path / "v.jsonl", [VERDICT])
    succeed("measure", tmp_path / "v.jsonl", "--out", tmp_path / "run")
    page = tmp_path / "run" / "report.html"
    before = page.read_bytes()
    page.unlink()
    assert succeed("report", tmp_path / "run").stdout == f"{page}\n"
    assert page.read_bytes() == before
    assert (
        succeed("report", tmp_path / "run", "--out", tmp_path / "friday.html").stdout == f"{tmp_path / 'friday.html'}\n"
    )
    assert (tmp_path / "friday.html").read_bytes() == before


def test_several_runs_make_one_report_under_a_name_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "v.jsonl", [VERDICT])
    runs = [tmp_path / "first", tmp_path / "second"]
    for run in runs:
        succeed("measure", tmp_path / "v.jsonl", "--out", run)
    assert refused("report", *runs) == "several runs make one file: name it with --out FILE"
    assert succeed("report", *runs, "--out", tmp_path / "both.html").stdout == f"{tmp_path / 'both.html'}\n"
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert page.count("data-chapter ") == 2
    assert page.count("<script>") == (runs[0] / "report.html").read_text(encoding="utf-8").count("<script>") + 1


def test_a_report_as_json_is_the_document_and_reads_back_equal(tmp_path: Path) -> None:
    source = write(tmp_path / "v.jsonl", [VERDICT])
    succeed("measure", source, "--out", tmp_path / "run")
    printed = succeed("report", tmp_path / "run", "--format", "json").stdout
    document = msgspec.json.decode(printed, type=Document)
    assert document == load(tmp_path / "run").document()
    assert document.version == 1
    assert "a single one, without --out" in refused("report", tmp_path / "run", tmp_path / "run", "--format", "json")


def test_the_schema_of_a_report_names_every_section_and_needs_no_run() -> None:
    schema = msgspec.json.decode(succeed("report", "--schema").stdout)
    tags = {
        kind["properties"]["type"]["enum"][0]
        for kind in schema["$defs"].values()
        if "type" in kind.get("properties", {})
    }
    assert {"overview", "metrics", "concentration", "judges", "records", "integrity", "ranking", "parts"} <= tags
    assert schema["$ref"] == "#/$defs/Document"
