"""Ten thousand claims through a server of which every fifth reply is a fault: none is lost, none counts twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from audit_runs import audited, check_every_claim_once, expected_labels, lines, settings_for, written
from hallumeter.claims.settings import LanguageModelSettings
from hallumeter.models.pace import PaceSettings
from misbehaving_server import MisbehavingServer

pytestmark = pytest.mark.long

RECORDS, CLAIMS = 1250, 8
SHARES = {
    "server_error": 0.05,
    "reset": 0.03,
    "truncated": 0.03,
    "wrong_schema": 0.03,
    "rate_limited": 0.02,
    "prose": 0.02,
    "empty": 0.01,
    "content_filter": 0.02,
    "error_body": 0.005,
    "stall": 0.005,
}
CODES = {"server_error", "connection", "truncated_reply", "malformed_reply", "rate_limited", "timeout", "empty_reply"}
"""Failures of claims that met a fault which may pass, as often as they were asked."""


def test_ten_thousand_claims_with_a_fifth_of_faults_are_all_counted_once(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", RECORDS, claims=CLAIMS)
    misbehaving_server.play(shares=SHARES, latency_ms=5, stall_seconds=6)
    settings = settings_for(
        misbehaving_server,
        language_model=LanguageModelSettings(claims_per_call=CLAIMS),
        pace=PaceSettings(timeout_seconds=4, first_delay_seconds=0.02, most_attempts=2),
        concurrency=32,
    )
    outcome = audited(source, tmp_path / "run", settings)
    run = tmp_path / "run"
    check_every_claim_once(run)
    verdicts, failures = lines(run / "verdicts.jsonl"), lines(run / "failures.jsonl")
    assert len(verdicts) + len(failures) == RECORDS * CLAIMS
    codes = Counter(row["code"] for row in failures)
    behaviours = Counter(call.behaviour for call in misbehaving_server.log())
    # every claim of a call that was declined, or answered with an error, has failed for just that
    assert codes.pop("content_filter") == CLAIMS * behaviours["content_filter"]
    assert codes.pop("error_reply") == CLAIMS * behaviours["error_body"]
    assert set(codes) <= CODES
    assert len(codes) > 3
    assert outcome.summary is not None
    counts = outcome.summary.counts
    assert (counts.records, counts.claims) == (RECORDS, RECORDS * CLAIMS)
    assert (counts.verdicts, counts.failures) == (len(verdicts), len(failures))
    assert {f"{number:,} failures: {code}" for code, number in codes.items()} <= set(outcome.summary.notices)
    # what was judged was judged as without any fault: claims 0, 3 and 6 of a record are supported, and so on
    labels = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO")
    assert all(row["label"] == labels[int(row["claim_id"].partition("#")[2]) % 3] for row in verdicts)
    assert Counter(row["label"] for row in verdicts).keys() == expected_labels(1).keys()
