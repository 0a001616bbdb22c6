"""The same audit again writes the same files, however much is done at once; and no secret is in any of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit_runs import audited, ended, failure_codes, labels, record, run_files, settings_for, write_rows, written
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings, MeasureSettings
from misbehaving_server import MisbehavingServer

SECRET = "sk-SECRET-0123456789abcdef"
SHARES = {"server_error": 0.1, "wrong_schema": 0.1, "content_filter": 0.1, "truncated": 0.1}


def test_an_audit_is_the_same_at_any_concurrency_even_among_faults(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 60, claims=5)
    files: list[dict[str, bytes]] = []
    for name, concurrency in (("one", 1), ("again", 1), ("many", 24)):
        misbehaving_server.play(shares=SHARES, latency_ms=1)
        settings = settings_for(
            misbehaving_server,
            concurrency=concurrency,
            measure=MeasureSettings(resamples=100, by=("model",)),
            judges=(f"{misbehaving_server.openai}#one", f"{misbehaving_server.openai}#two"),
        )
        audited(source, tmp_path / name, settings)
        files.append(run_files(tmp_path / name))
    assert failure_codes(tmp_path / "one").keys() >= {"content_filter"}
    assert files[0] == files[1] == files[2]


def test_an_audit_is_the_same_in_one_process_and_in_two(tmp_path: Path) -> None:
    rows = [{**record(number, claims=4), "samples": [record(number)["response"]] * 2} for number in range(60)]
    source = write_rows(tmp_path / "answers.jsonl", rows)
    files: list[dict[str, bytes]] = []
    for workers in (1, 2):
        settings = AuditSettings(workers=workers, samples="rules", measure=MeasureSettings(resamples=100))
        audited(source, tmp_path / f"run{workers}", settings)
        files.append(run_files(tmp_path / f"run{workers}"))
    assert files[0] == files[1]
    assert sum(labels(tmp_path / "run1").values()) == 240


@pytest.mark.long
def test_an_audit_does_not_depend_on_the_hashes_of_a_process(tmp_path: Path) -> None:
    written(tmp_path / "answers.jsonl", 12)
    for number in (1, 2):
        environment = {"PYTHONHASHSEED": str(number)}
        arguments = ("answers.jsonl", "--out", f"run{number}", "--by", "model", "--resamples", 100)
        code, _, error = ended(*arguments, folder=tmp_path, environment=environment)
        assert code == 0, error
    assert run_files(tmp_path / "run1") == run_files(tmp_path / "run2")


FAULTS: tuple[dict[str, Any], ...] = (
    {"otherwise": "bad_key"},
    {"otherwise": "error_body"},
    {"first": ("server_error", "wrong_schema", "content_filter", "reset", "truncated", "html", "bad_request")},
    {},
)
"""What the server does, one audit after the other; asked with a bad key it repeats the key, as careless servers do."""


@pytest.mark.long
@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_key_is_in_no_file_and_in_nothing_that_is_printed(
    vendor: str, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    written(tmp_path / "answers.jsonl", 4)
    environment = {
        "OPENAI_API_KEY": SECRET,
        "OPENAI_BASE_URL": misbehaving_server.openai,
        "ANTHROPIC_API_KEY": SECRET,
        "ANTHROPIC_BASE_URL": misbehaving_server.root,
    }
    arguments = ("answers.jsonl", "--judge", f"{vendor}:some-model", "--claims-per-call", 1, "--resamples", 100)
    for number, script in enumerate(FAULTS):
        misbehaving_server.play(**script)
        code, out, error = ended(
            *arguments, "--out", f"run{number}", "--extractor", "sentences", folder=tmp_path, environment=environment
        )
        assert code == (2 if script == FAULTS[0] else 3 if script == FAULTS[1] else 0), error
        assert SECRET not in out + error
        assert "Traceback" not in error
        seen = misbehaving_server.seen()
        assert any(SECRET in " ".join(call.headers.values()) for call in seen), "the key was not even sent"
    holders = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert holders == []


def test_several_claims_in_a_call_and_one_in_a_call_agree_where_the_model_does(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 5, claims=7)
    for size in (1, 3, 50):
        settings = settings_for(misbehaving_server, language_model=LanguageModelSettings(claims_per_call=size))
        audited(source, tmp_path / f"run{size}", settings)
    verdicts = {(tmp_path / f"run{size}" / "verdicts.jsonl").read_bytes() for size in (1, 3, 50)}
    assert len(verdicts) == 1
