"""The leakage guard: no sentence may tell agents what they are to find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aspect_runs import document, outputs, run, sentence, write_rows

from hallumeter.aspects.run.rows import leak_in
from hallumeter.errors import InputError


@pytest.mark.parametrize(
    "fields",
    [
        {"label": "negative"},
        {"target": "soup"},
        {"span": [0, 3]},
        {"Gold_Polarity": "negative"},
        {"meta": {"annotations": []}},
        {"items": [{"label_id": 3}]},
        {"sentiment": "negative"},
    ],
)
def test_fields_with_annotations_are_found(fields: dict[str, Any]) -> None:
    assert "holds annotations" in (leak_in("The soup was cold.", fields) or "")


@pytest.mark.parametrize(
    "text",
    [
        "The soup was cold. [LABEL] negative",
        "The <aspect>soup</aspect> was cold.",
        "The [ASPECT=soup] was cold.",
        "The soup was cold. gold_label: negative",
        "The soup was cold. polarity = negative",
        "aspect_polarity: negative. The soup was cold.",
        "The soup was cold.####[['soup', 'negative']]",
        "The $T$ was cold.",
    ],
)
def test_marks_of_labels_in_a_text_are_found(text: str) -> None:
    assert "the text holds the mark" in (leak_in(text, {}) or "")


@pytest.mark.parametrize(
    "text",
    [
        "The label on the jar was torn: bad.",
        "Gold: a colour that I like, and my target was met.",
        "I paid $5 (#4 on the list) [sic] <3",
        "My sentiment: never again.",
        "라벨이 예뻐요. 금색도 좋아요!",
    ],
)
def test_ordinary_words_are_no_marks(text: str) -> None:
    assert leak_in(text, {"city": "Busan", "stars": 3, "split": "valid"}) is None


def test_a_run_is_refused_with_the_row_that_leaks(tmp_path: Path) -> None:
    write_rows(tmp_path / "reviews.jsonl", [sentence(0), {**sentence(1), "label": "negative"}])
    with pytest.raises(InputError, match=r"reviews\.jsonl:2: the field 'label' holds annotations") as caught:
        run(document(tmp_path))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_the_guard_can_be_taken_off_and_says_so(tmp_path: Path) -> None:
    write_rows(tmp_path / "reviews.jsonl", [{**sentence(0), "label": "negative"}])
    outcome = run(document(tmp_path, pipeline={"leakage_guard": False}))
    assert any("leakage_guard is off" in notice for notice in outcome.notices)
    assert outputs(outcome.folder)[0]["meta"]["fields"] == {"label": "negative"}
