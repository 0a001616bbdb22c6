"""The verdict cache in an audit: what was judged is not asked again, and nothing else is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

from audit_runs import (
    audited,
    expected_labels,
    failure_codes,
    labels,
    record,
    run_files,
    settings_for,
    write_rows,
    written,
)
from hallumeter.claims.audit.judging import VerdictKeys, cached_form, from_cached
from hallumeter.claims.settings import LanguageModelSettings
from hallumeter.cli.main import main
from hallumeter.models.prices import parse_price
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeSpec
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.run.verdict_cache import VerdictCache
from misbehaving_server import MisbehavingServer

RECORDS = 6


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "answers.jsonl", [record(number) for number in range(RECORDS)])


def asked(server: MisbehavingServer, audit: Callable[[], object]) -> int:
    """How many calls an audit makes."""
    server.play()
    audit()
    return len(server.log())


def test_a_second_audit_asks_nothing_and_writes_the_same(
    source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    assert asked(misbehaving_server, lambda: audited(source, tmp_path / "one", settings)) == 2 * RECORDS
    assert asked(misbehaving_server, lambda: audited(source, tmp_path / "two", settings)) == 0
    assert run_files(tmp_path / "one") == run_files(tmp_path / "two")
    assert labels(tmp_path / "two") == expected_labels(RECORDS)


def test_without_a_cache_nothing_is_used_and_nothing_is_kept(
    source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALLUMETER_CACHE", str(tmp_path / "cache"))
    command = ["audit", str(source), "--judge", f"{misbehaving_server.openai}#judge", "--no-cache"]
    for number in range(2):
        arguments = [*command, "--out", str(tmp_path / f"run{number}")]
        calls = asked(misbehaving_server, lambda given=arguments: CliRunner().invoke(main, given))  # type: ignore[misc]
        assert calls == RECORDS
    assert not (tmp_path / "cache").exists()


def test_a_damaged_cache_is_one_notice_and_the_audit_goes_on(
    source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("HALLUMETER_CACHE", str(cache))
    cache.mkdir()
    (cache / "verdicts.sqlite").write_bytes(b"this is no database" * 1000)
    command = ["audit", str(source), "--judge", f"{misbehaving_server.openai}#judge"]
    result = CliRunner().invoke(main, [*command, "--out", str(tmp_path / "run")])
    assert result.exit_code == 0
    notices = [line for line in result.stderr.splitlines() if "verdict cache" in line]
    assert len(notices) == 1
    assert "damaged" in notices[0]
    assert labels(tmp_path / "run") == expected_labels(RECORDS)
    again = [*command, "--out", str(tmp_path / "again")]
    assert asked(misbehaving_server, lambda: CliRunner().invoke(main, again)) == 0


def test_a_verdict_in_the_cache_that_cannot_be_read_is_asked_for_again(
    source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    audited(source, tmp_path / "one", settings)
    with VerdictCache(tmp_path / "cache" / "verdicts.sqlite") as cache:
        database = cache._database
        assert database is not None
        keys = [key for (key,) in database.execute("SELECT key FROM verdict ORDER BY key")]
        cache.put_many([(keys[0], b"{"), (keys[1], b'"judge":"a","label":"PERFECT"}'), (keys[2], b"")])
    calls = asked(misbehaving_server, lambda: audited(source, tmp_path / "two", settings))
    assert 1 <= calls <= 3
    assert run_files(tmp_path / "one") == run_files(tmp_path / "two")


def test_failures_are_asked_for_again(source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache", concurrency=1)
    misbehaving_server.play(first=("ok", "content_filter", "error_body", "bad_request"))
    audited(source, tmp_path / "one", settings)
    # calls of two claims and of one in turn: the second, third and fourth have one, two and one
    assert failure_codes(tmp_path / "one") == {"content_filter": 1, "error_reply": 2, "refused_request": 1}
    assert asked(misbehaving_server, lambda: audited(source, tmp_path / "two", settings)) == 3
    assert labels(tmp_path / "two") == expected_labels(RECORDS)


def changed_rows(**changes: object) -> list[dict[str, Any]]:
    return [{**record(number), **changes} for number in range(RECORDS)]


CHANGED_ROWS = {
    "question": changed_rows(question="How many bridges?"),
    "evidence": changed_rows(evidence=["Nothing is known."]),
    "another response with the same claims": [
        {**row, "response": f"Well. {row['response']}"} for row in changed_rows()
    ],
}
SAME_ROWS = {
    "ids": [{**row, "id": f"other {row['id']}"} for row in changed_rows()],
    "models": changed_rows(model="another"),
    "further fields": changed_rows(topic="bridges"),
}


@pytest.mark.parametrize("name", CHANGED_ROWS)
def test_what_could_change_a_verdict_is_asked_anew(
    name: str, source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    audited(source, tmp_path / "one", settings)
    other = write_rows(tmp_path / "other.jsonl", CHANGED_ROWS[name])
    assert asked(misbehaving_server, lambda: audited(other, tmp_path / "two", settings)) == 2 * RECORDS


@pytest.mark.parametrize("name", SAME_ROWS)
def test_what_cannot_change_a_verdict_is_not_asked_anew(
    name: str, source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    audited(source, tmp_path / "one", settings)
    other = write_rows(tmp_path / "other.jsonl", SAME_ROWS[name])
    assert asked(misbehaving_server, lambda: audited(other, tmp_path / "two", settings)) == 0
    assert labels(tmp_path / "two") == expected_labels(RECORDS)


@pytest.mark.parametrize(
    "changes",
    [
        {"claims_per_call": 3},
        {"claims_per_call": 2, "temperature": 0.5},
        {"claims_per_call": 2, "seed": 1},
        {"claims_per_call": 2, "wants_quotes": False},
        {"claims_per_call": 2, "window_characters": 1000},
        {"claims_per_call": 2, "context_characters": 10},
    ],
)
def test_other_settings_of_the_judge_are_asked_anew(
    changes: dict[str, Any], source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    audited(source, tmp_path / "one", settings)
    other = settings_for(misbehaving_server, cache=tmp_path / "cache", language_model=LanguageModelSettings(**changes))
    each = 1 if changes["claims_per_call"] == 3 else 2
    assert asked(misbehaving_server, lambda: audited(source, tmp_path / "two", other)) == each * RECORDS


def test_another_model_is_asked_anew(source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    audited(source, tmp_path / "one", settings)
    other = settings_for(misbehaving_server, cache=tmp_path / "cache", judges=(f"{misbehaving_server.openai}#other",))
    assert asked(misbehaving_server, lambda: audited(source, tmp_path / "two", other)) == 2 * RECORDS


def test_keys_differ_with_everything_that_a_judge_is_asked() -> None:
    response = Response("r", question="q", response="It rains. It snows.", evidence=(Passage("e1", "It rains."),))
    claims = (Claim("r", "c1", start=0, end=9, text="It rains."), Claim("r", "c2", start=10, end=19, text="It snows."))
    judge = VerdictKeys(JudgeSpec("judge", (("prompt", "a"),), claims_per_task=8, is_remote=True))
    others = [
        VerdictKeys(JudgeSpec("other", (("prompt", "a"),), claims_per_task=8)).of(response, claims),
        VerdictKeys(JudgeSpec("judge", (("prompt", "b"),), claims_per_task=8)).of(response, claims),
        VerdictKeys(JudgeSpec("judge", (("prompt", "a"),), claims_per_task=9)).of(response, claims),
        judge.of(Response("r", "q2", response.response, response.evidence), claims),
        judge.of(Response("r", "q", "It rains. It hails.", response.evidence), claims),
        judge.of(Response("r", "q", response.response, (Passage("e2", "It rains."),)), claims),
        judge.of(Response("r", "q", response.response, (Passage("e1", "It"), Passage("e2", "rains."))), claims),
        judge.of(response, (Claim("r", "c1", start=1, end=9, text="t rains."), Claim("r", "c2", text="It snows."))),
    ]
    keys = [key for each in (judge.of(response, claims), *others) for key in each]
    assert len(set(keys)) == len(keys) == 18
    renamed = tuple(
        Claim("x", f"x{number}", start=each.start, end=each.end, text=each.text) for number, each in enumerate(claims)
    )
    same = Response("x", "q", response.response, response.evidence, model="m", fields={"topic": "t"})
    assert judge.of(same, renamed) == judge.of(response, claims)


def test_a_verdict_comes_back_from_the_cache_under_the_names_of_the_claim_that_asks() -> None:
    quote = Quote("e1", 0, 9, "It rains.")
    verdict = Verdict(
        "r", "c", "judge", Label.SUPPORTED, start=0, end=9, evidence=(quote,), note='say "so"', cost_usd=0.5
    )
    asking = Claim('another "record"', "claim\\1\0", start=0, end=9, text="It rains.")
    found = from_cached(cached_form(verdict), asking)
    assert found == structs.replace(verdict, record_id=asking.record_id, claim_id=asking.claim_id)
    impossible = b'"judge":"judge","label":"SUPPORTED","start":9,"end":1}'
    assert from_cached(impossible, asking) is None


def test_failures_that_may_have_passed_are_asked_again_when_a_run_is_resumed(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 6)
    settings = settings_for(misbehaving_server)
    misbehaving_server.play(shares={"overloaded": 1.0})
    outcome = audited(source, tmp_path / "run", settings)
    assert outcome.finished is not None
    assert outcome.finished.retryable == 18
    assert not labels(tmp_path / "run")
    misbehaving_server.play()
    again = audited(source, tmp_path / "run", settings, is_resumed=True)
    assert again.finished is not None
    assert again.finished.retryable == 0
    assert labels(tmp_path / "run") == expected_labels(6)
    assert not (tmp_path / "run" / "journal.sqlite").exists()
    misbehaving_server.play()
    audited(source, tmp_path / "fresh", settings)
    assert run_files(tmp_path / "run") == run_files(tmp_path / "fresh")


def test_verdicts_of_a_call_that_failed_in_part_are_not_asked_for_again(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 8)
    settings = settings_for(misbehaving_server)
    misbehaving_server.play(shares={"overloaded": 0.7})
    first = audited(source, tmp_path / "run", settings)
    assert first.finished is not None
    assert 0 < first.finished.retryable < 24
    misbehaving_server.play()
    audited(source, tmp_path / "run", settings, is_resumed=True)
    assert labels(tmp_path / "run") == expected_labels(8)
    assert len(misbehaving_server.log()) <= first.finished.retryable


def test_a_price_may_be_given_for_the_model_alone(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    misbehaving_server.play()
    source = written(tmp_path / "answers.jsonl", 1)
    settings = settings_for(misbehaving_server, prices={"judge": parse_price("1/2")}, budget_usd=5.0)
    assert audited(source, tmp_path / "run", settings).spending.spent_usd > 0
