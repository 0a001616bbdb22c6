"""Aspects from Python: texts, rows or a file in, a run out."""

from __future__ import annotations

from pathlib import Path

import pytest

import hallumeter
from hallumeter.errors import RecordError, SettingsError


def test_texts_become_a_run_with_findings() -> None:
    run = hallumeter.aspects(["The battery is great but the screen is terrible."])
    found = [(finding.claim.kind, finding.claim.text) for finding in run.findings()]
    assert found == [(kind, term) for kind in ("aspect", "final_aspect") for term in ("battery", "screen")]
    assert run.summary.instrument == "aspects"


def test_rows_keep_their_gold_and_a_folder_keeps_the_run(tmp_path: Path) -> None:
    row = {"text_id": "a", "text": "화면이 좋아요", "gold_tuples": [{"aspect_term": "화면", "polarity": "positive"}]}
    hallumeter.aspects([row], settings={"profile": "smoke"}, out=tmp_path / "run")
    run = hallumeter.load(tmp_path / "run")
    values = {measured.metric: measured.value for measured in run.summary.metrics if not measured.by}
    assert values["tuple_f1_final"] == 1.0
    assert run.manifest.inputs[0].records == 1


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "reviews.txt").write_text("The soup was cold.\n배송이 느려요.\n", encoding="utf-8")
    assert hallumeter.aspects(tmp_path / "reviews.txt").summary.counts.records == 2


def test_nothing_and_what_is_no_json_are_refused_in_one_line() -> None:
    with pytest.raises(RecordError, match="aspects: nothing given; expected a file, texts, or rows with a text"):
        hallumeter.aspects([])
    with pytest.raises(RecordError, match="aspects: a row cannot be written as JSON"):
        hallumeter.aspects([{"text": "a", "made_by": object()}])
    with pytest.raises(SettingsError, match="enable_debat"):
        hallumeter.aspects(["a"], settings={"pipeline": {"enable_debat": False}})
