"""A batch of Arrow rows has the same claims and verdicts, byte for byte, as a run on these rows."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hallumeter
from hallumeter.batch import AUDIT_COLUMNS, PAGE_COLUMNS, audit_batch, transcript_batch
from hallumeter.claims.settings import AuditSettings
from hallumeter.errors import SettingsError
from hallumeter.transcripts.settings import TranscriptSettings
from misbehaving_server import MisbehavingServer

TOWER = "The tower is 330 m high. It was built in 1889. It stands in Paris."
ANSWERS: list[dict[str, Any]] = [
    {"id": "a", "model": "m1", "response": "The tower is 330 m high. It was built in 1999.", "evidence": [TOWER]},
    {"id": "a", "model": "m2", "response": "The tower is 999 m high.", "evidence": [TOWER]},
    {"id": "b", "model": "m1", "response": "La tour fait 330 m. Elle se trouve à Lyon.", "evidence": [TOWER]},
    {"id": "c", "model": "m1", "response": "탑의 높이는 999 m이다.", "evidence": ["탑의 높이는 330 m이다."]},
    {"id": "d", "model": "m1", "response": "", "evidence": [TOWER]},
    {"id": "a", "model": "m1", "response": "Another answer.", "evidence": [TOWER]},
    {"id": "e", "model": "m1", "response": None, "evidence": [TOWER]},
]
PAGES = [
    {"page": "1", "engine": "x", "reference": "le roi de france", "response": "le roi de france et de navarre"},
    {"page": "1", "engine": "y", "reference": "le roi de france", "response": "le roi de frange"},
    {"page": "2", "engine": "x", "reference": "서울은 수도이다", "response": ""},
]


def lines(path: Path) -> Iterator[str]:
    yield from path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("judges", [("embedded:fast",), ("rules", "embedded:fast")])
def test_claims_and_verdicts_of_a_batch_are_those_of_an_audit(judges: tuple[str, ...], tmp_path: Path) -> None:
    settings = AuditSettings(judges=judges)
    table = pa.Table.from_pylist(ANSWERS)
    hallumeter.audit(table, settings=settings, out=tmp_path / "run")
    found = audit_batch(table, pickle.loads(pickle.dumps(settings)))
    assert found.schema.names == list(AUDIT_COLUMNS)
    rows = found.to_pylist()
    claims = list(dict.fromkeys(row["claim"] for row in rows if row["claim"]))
    assert claims == list(lines(tmp_path / "run" / "claims.jsonl"))
    verdicts = [row["verdict"] for row in rows if row["verdict"]]
    assert sorted(verdicts) == sorted(lines(tmp_path / "run" / "verdicts.jsonl"))
    assert [row["code"] for row in rows if row["code"]] == ["duplicate_record", "missing_field"]
    assert [row["record_id"] for row in rows if not row["code"] and row["claim"] is None] == ["d"]


def test_a_language_model_judges_a_batch_and_what_failed_says_why(misbehaving_server: MisbehavingServer) -> None:
    pytest.importorskip("httpx2")
    misbehaving_server.play(first=("ok", "bad_request"))
    judge = f"{misbehaving_server.openai}#tiny"
    settings = AuditSettings(judges=(judge,), concurrency=1)
    rows = audit_batch(pa.Table.from_pylist(ANSWERS[:3]), settings).to_pylist()
    assert [bool(row["label"]) for row in rows] == [True, True, False, True, True]
    assert rows[2]["code"] == "refused_request"
    assert {row["judge"] for row in rows} == {judge}


def test_pages_of_a_batch_are_those_of_a_run(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(PAGES)
    settings = TranscriptSettings(resamples=100)
    hallumeter.transcripts(PAGES, settings=settings, out=tmp_path / "run")
    found = transcript_batch(table, settings)
    assert found.schema.names == list(PAGE_COLUMNS)
    for column, name in (("record", "records"), ("claims", "claims"), ("verdicts", "verdicts")):
        assert "".join(found[column].to_pylist()) == (tmp_path / "run" / f"{name}.jsonl").read_text(encoding="utf-8")
    assert found["status"].to_pylist() == ["ok", "ok", "empty_output"]


def test_an_empty_batch_has_the_same_columns_and_types() -> None:
    empty = pa.Table.from_pylist(ANSWERS).slice(0, 0)
    assert audit_batch(empty).schema == audit_batch(pa.Table.from_pylist(ANSWERS[:1])).schema
    assert transcript_batch(empty).schema == transcript_batch(pa.Table.from_pylist(PAGES)).schema


@pytest.mark.parametrize("setting", [{"budget_usd": 1.0}, {"limit": 3}, {"sample": 3}, {"samples": "vectors"}])
def test_what_holds_for_a_whole_run_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="holds for a whole run, not for a batch"):
        audit_batch(pa.Table.from_pylist(ANSWERS), AuditSettings(**setting))
