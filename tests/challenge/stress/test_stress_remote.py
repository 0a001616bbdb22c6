"""Stress tests of language models, and stress tests that are stopped."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

import hallumeter
from audit_runs import settings_for, write_rows
from hallumeter.challenge.stress.cases import StressSettings
from hallumeter.challenge.stress.pipeline import StressOutcome, stress_files
from hallumeter.claims.settings import AuditSettings
from hallumeter.errors import RecordError
from hallumeter.models.prices import Price
from hallumeter.run.progress import NoProgress
from misbehaving_server import MisbehavingServer

ROWS = [
    {"id": "r1", "response": "x", "evidence": "The tower is 330 metres high. It was built in 1889."},
    {"id": "r2", "response": "x", "evidence": "La tour mesure 330 mètres. Elle est ouverte avant 9h30."},
    {"id": "r3", "response": "x", "evidence": "서울은 대한민국의 수도이다. 회의는 3월 4일에 열렸다."},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "answers.jsonl", ROWS)


def stressed(source: Path, judging: AuditSettings, out: Path | None = None) -> StressOutcome:
    return stress_files([source], out, settings=StressSettings(judging=judging), progress=NoProgress())


def test_a_language_model_is_asked_about_every_edit_once_and_then_known_from_the_cache(
    source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    misbehaving_server.play()
    first = stressed(source, settings)
    assert len(misbehaving_server.log()) == first.result.cases
    # The server supports what stands in the evidence word for word, and nothing else: every error is caught.
    [judge] = first.result.judges
    assert judge.mutation_score.value == 1.0
    kinds = {kind.kind: kind for kind in judge.kinds}
    assert kinds["unchanged"].value == kinds["punctuation"].value == 0.0
    assert kinds["framing"].value == 1.0
    misbehaving_server.play()
    assert stressed(source, settings).result == first.result
    assert misbehaving_server.log() == []


def test_at_its_budget_a_stress_test_counts_what_was_not_asked_as_failed(
    source: Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    name = f"{misbehaving_server.openai}#judge"
    prices = {name: Price(1000.0, 1000.0)}
    misbehaving_server.play()
    whole = stressed(source, settings_for(misbehaving_server, prices=prices, concurrency=1))
    budget = whole.spending.spent_usd / 2
    outcome = stressed(source, settings_for(misbehaving_server, prices=prices, concurrency=1, budget_usd=budget))
    assert outcome.is_cut_short
    failed = sum(kind.failed for kind in outcome.result.judges[0].kinds)
    assert 0 < failed < outcome.result.cases == whole.result.cases


@pytest.mark.skipif(os.name == "nt", reason="signals of this kind are not sent on Windows")
def test_an_interrupted_stress_test_leaves_no_folder(source: Path, tmp_path: Path) -> None:
    def impatient(claim: str, evidence: list[str]) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.02)  # the wish to stop is noted by another thread
        return "SUPPORTED"

    with pytest.raises(KeyboardInterrupt):
        hallumeter.stress(source, judge=impatient, out=tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.jsonl"]


def test_a_single_record_is_refused_with_advice() -> None:
    with pytest.raises(RecordError, match="expected a list of responses, found a single one; put it in a list"):
        hallumeter.stress(ROWS[0], judge="rules")  # type: ignore[arg-type]
