"""Input that once broke the embedded judge: long units, damaged files, lone surrogates, odd JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from embedded_tasks import TIERS, only, passages_of, task_of, verdicts_of
from test_embedded_chunks import claim_of, read
from test_embedded_model_files import WHAT_TO_DO, audited, change_a_byte, copied, refusal
from test_embedded_units import fresh, texts_of, words_in

from hallumeter.claims.judges.embedded.network import LENGTH, chunks_of
from hallumeter.claims.judges.embedded.units import units_of

__all__ = ["copied"]
LONG = " ".join(["antidisestablishmentarianism"] * 40)


def test_units_after_one_that_was_too_long_do_not_make_the_chunk_longer() -> None:
    evidence = f"{LONG}. " + "A river runs through the town. " * 30
    for chunk in read([claim_of("antidisestablishmentarianism is long.")], evidence):
        assert len(chunk.ids) <= LENGTH


@pytest.mark.parametrize("length", [75, 76, 80, 90])
def test_no_chunk_is_longer_than_a_smaller_length(length: int) -> None:
    units = units_of(passages_of("The river runs through the old town of Paris."))
    for chunk in chunks_of([claim_of("tower " * 72)], units, length=length):
        assert len(chunk.ids) <= length


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("judge", "name"), [("embedded", "encoder.onnx"), ("embedded:fast", "trees.npz")])
def test_the_command_line_refuses_a_damaged_model_in_one_line(
    judge: str, name: str, workers: str, copied: Path, tmp_path: Path
) -> None:
    change_a_byte(copied / name)
    code, printed, errors = audited(tmp_path, "--judge", judge, "--workers", workers, "--no-cache")
    assert (code, printed) == (2, "")
    (line,) = errors.splitlines()
    assert line == f"hallumeter: the file {name} of the embedded judge is damaged; {WHAT_TO_DO}"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    "content",
    ["", "{", "not json", "[]", "{}", '{"version": 1, "files": {}, "tiers": {}}', '{"version": "x"}', "\udcff"],
)
def test_a_list_that_cannot_be_read_is_named_with_what_to_do(tier: str, content: str, copied: Path) -> None:
    (copied / "model.json").write_text(content, encoding="utf-8", errors="surrogateescape")
    line = refusal(tier)
    assert "model.json" in line
    assert WHAT_TO_DO in line


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    ("text", "evidence", "question"),
    [
        ("The tower \ud800 is high.", "The tower is high.", None),
        ("The tower is high.", "The \udfff tower is high.", None),
        ("The tower is high.", "The tower is high.", "How \ud800 high?"),
    ],
    ids=["claim", "evidence", "question"],
)
def test_half_of_a_character_is_no_fault(tier: str, text: str, evidence: str, question: str | None) -> None:
    assert only(tier, text, evidence, question=question).unsupported_probability is not None


@pytest.mark.parametrize("record", [{"type": "type"}, {"from": "to", "to": "from"}, {"size": "size", "colour": "red"}])
def test_a_value_that_is_also_a_key_is_not_lost(record: dict[str, str]) -> None:
    found = texts_of(json.dumps(record))
    assert all(words_in(*found).count(word) >= 1 for pair in record.items() for word in pair), found


def test_a_value_of_twelve_words_in_two_sentences_stands_once_in_its_unit() -> None:
    about = "One two three four five six. Seven eight nine ten eleven twelve."
    found = texts_of(json.dumps({"about": about}))
    assert words_in(*found).count("seven") == 1, found
    assert fresh(about)
    assert verdicts_of("fast", task_of(("Seven.",), about))
