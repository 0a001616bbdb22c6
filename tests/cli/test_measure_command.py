"""`hallumeter measure`: streams in and out, notices apart from numbers, and a run folder when asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner
from command_line import VERDICT, refused, run, succeed, write

from hallumeter.cli import progress
from hallumeter.cli.main import main
from hallumeter.cli.measure import measure
from hallumeter.report import summary_text

Offline = Callable[[Sequence[str | Path], Path], subprocess.CompletedProcess[str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path / "v.jsonl", [{**VERDICT, "id": "x", "claim": "t"}, {**VERDICT, "claim_id": "c2", "label": "entailed"}]
    )
    return tmp_path


def test_notices_go_to_the_standard_error_unless_quiet(here: Path) -> None:
    result = succeed("measure", "v.jsonl", "--out", "run")
    assert "note: 'claim' was read as text\n" in result.stderr
    assert "note: 'entailed' was read as SUPPORTED\n" in result.stderr
    assert f"report: {Path('run') / 'report.html'}\n" in result.stderr
    assert "note:" not in result.stdout
    quiet = succeed("measure", "v.jsonl", "--out", "quiet", "--quiet")
    assert (quiet.stderr, quiet.stdout) == ("", result.stdout)


def test_no_path_or_a_dash_reads_the_standard_input(here: Path) -> None:
    content = (here / "v.jsonl").read_bytes()
    expected = succeed("measure", "v.jsonl").stdout.replace(" in v.jsonl,", " in standard input,")
    assert " in standard input," in expected
    assert succeed("measure", given=content).stdout == expected
    assert succeed("measure", "-", given=content).stdout == expected
    assert succeed("measure", "-", "--out", "run", given=content).stdout == expected


def test_several_files_and_fields_at_once(here: Path) -> None:
    write(here / "w.jsonl", [{**VERDICT, "judge": "b", "a": "1", "b": "2"}])
    metrics = json.loads(
        succeed("measure", "v.jsonl", "w.jsonl", "--by", "a, b", "--by", "a", "--format", "json").stdout
    )["metrics"]
    assert {tuple(row["by"]) for row in metrics} == {(), ("a", "b")}


def test_every_choice_of_the_command_line_reaches_the_measurement(here: Path) -> None:
    (here / "policy.toml").write_text('name = "mine"\n[[rules]]\nmetric = "mihr"\ngood = 0.1\nbad = 0.2\n')
    rows = [
        {"record_id": f"r{n % 5}", "claim_id": n, "judge": judge, "label": label, "document": n % 2}
        | {"probabilities": [0.5, 0.5]}
        for n in range(20)
        for judge, label in [("a", "REFUTED" if n % 3 else "SUPPORTED"), ("b", "SUPPORTED")]
    ]
    options = ["--policy", "policy.toml", "--consensus", "dawid-skene", "--headline", "a", "--uncertainty", "variance"]
    options += [
        "--similarity",
        "0.9",
        "--cluster",
        "document",
        "--seed",
        "5",
        "--resamples",
        "200",
        "--confidence",
        "0.8",
    ]
    printed = succeed("measure", write(here / "p.jsonl", rows), *options, "--format", "json", "--out", "run").stdout
    summary = json.loads(printed)
    assert list(summary["profile"]) == ["mine"]
    first = summary["metrics"][0]
    assert first["judge"] == "a"
    for part in ("seed:5", "confidence:0.8", "cluster:document", "bootstrap-200"):
        assert part in first["signature"]
    assert any("method:variance" in row["signature"] for row in summary["metrics"])
    settings = json.loads((here / "run" / "manifest.json").read_text(encoding="utf-8"))["settings"]
    assert settings == {
        "by": [],
        "consensus": "dawid-skene",
        "headline": "a",
        "uncertainty": "variance",
        "similarity": 0.9,
        "cluster": "document",
        "resamples": 200,
        "confidence": 0.8,
        "policies": ["mine"],
    }


def test_a_terminal_without_a_file_is_asked_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("hallumeter.cli.parameters.sys", SimpleNamespace(stdin=Terminal()))
    assert refused("measure") == ("give a file of verdicts, or pipe one in; `hallumeter measure --help` has examples")


def test_progress_is_shown_to_a_person_who_waits_and_to_nobody_else(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = (here / "v.jsonl", here / "nothing.jsonl")
    with progress.shown_progress(paths, is_quiet=False) as watch:
        watch(5)
    monkeypatch.setattr(progress, "LARGE_BYTES", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown_progress(paths, is_quiet=True) as watch:
        watch(5)
    assert capsys.readouterr().err == ""
    with progress.shown_progress(paths, is_quiet=False) as watch:
        watch(5)
        watch(1000)
    assert "1,005 rows read" in capsys.readouterr().err


def test_the_program_runs_as_a_module_in_a_pipe(here: Path, run_offline: Offline) -> None:
    done = run_offline([sys.executable, "-m", "hallumeter", "measure", "v.jsonl", "--format", "csv"], here)
    assert done.returncode == 0
    assert done.stdout.startswith("metric,judge,")
    refusal = run_offline([sys.executable, "-m", "hallumeter", "measure", "nothing.jsonl"], here)
    assert (refusal.returncode, refusal.stdout) == (2, "")
    assert refusal.stderr == "hallumeter: nothing.jsonl: no such file\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signal for it")
@pytest.mark.parametrize(
    "arguments", [["measure", "v.jsonl", "--quiet"], ["measure", "--help"], ["--help"]], ids=" ".join
)
def test_a_reader_that_stops_early_is_no_fault(here: Path, arguments: list[str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "hallumeter", *arguments],
            stdout=closed,
            stderr=subprocess.PIPE,
            cwd=here,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, b"")  # as of any program that SIGPIPE ends


def test_a_closed_pipe_ends_the_command_at_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(summary_text, "summary_text", refuse)
    result = run("measure", "v.jsonl", "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (141, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_said_in_one_line(here: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hallumeter", "measure", "v.jsonl", "--quiet"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=here,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        b"hallumeter: the system refuses to read or write: No space left on device;"
        b" make room and start the command again\n"
    )


def test_an_encoding_without_arrows_gets_other_signs_and_loses_no_name(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # click asks the runner for its encoding; cp1252 is what Windows takes for a file, and has é but no arrow.
    path = write(here / "names.jsonl", [{**VERDICT, "model": "é한😀"}])
    printed = {}
    for form in ("table", "json"):
        words = ["measure", str(path), "--by", "model", "--format", form, "--verbose"]
        result = CliRunner(charset="cp1252").invoke(main, words)
        assert result.exit_code == 0, repr(result.exception)
        printed[form] = result.stdout_bytes.decode("cp1252")
    assert "Unsupported claims (MiHR) v" in printed["table"]
    assert "Supported claims (FactScore) ^" in printed["table"]
    assert "é\\ud55c\\ud83d\\ude00" in printed["table"]
    assert {row["by"].get("model") for row in json.loads(printed["json"])["metrics"]} == {None, "é한😀"}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252", "cp949"])
def test_the_encoding_of_the_terminal_breaks_nothing(here: Path, encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hallumeter", "measure", "v.jsonl"],
        capture_output=True,
        cwd=here,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    assert done.returncode == 0
    assert "Unsupported claims          50.0 %" in done.stdout.decode(encoding)


def test_every_option_is_documented_with_examples() -> None:
    page = succeed("measure", "--help").stdout
    assert "Examples:" in page
    for parameter in measure.params:
        if isinstance(parameter, click.Option):
            assert all(option in page for option in parameter.opts)
            assert parameter.help


def test_a_strict_run_of_sound_rows_is_like_any_other(here: Path) -> None:
    assert succeed("measure", "v.jsonl", "--strict").stdout == succeed("measure", "v.jsonl").stdout
    write(here / "twice.jsonl", [VERDICT, VERDICT])
    assert refused("measure", "twice.jsonl", "--strict").startswith("twice.jsonl:2: 'judge' judged this claim")


@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_link_is_filled_where_it_points(here: Path, target: str) -> None:
    (here / "there").mkdir()
    (here / "link").symlink_to(target)
    succeed("measure", "v.jsonl", "--out", "link")
    assert (here / "link").is_symlink()
    assert (here / target / "manifest.json").is_file()


def test_the_folder_one_stands_in_is_filled(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "empty").mkdir()
    monkeypatch.chdir(here / "empty")
    succeed("measure", here / "v.jsonl", "--out", ".")
    assert Path("manifest.json").is_file()  # the folder is the same one, so a shell in it sees the files
    assert "exists already" in refused("measure", here / "v.jsonl", "--out", ".")
