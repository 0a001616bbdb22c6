"""Who asks what: scripts, plain questions, and files that are neither."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from dialogue_runs import document, script, write_rows, written

from hallumeter.dialogue.run.experiment import experiment_of
from hallumeter.dialogue.run.inputs import Inputs, read_inputs
from hallumeter.errors import InputError, RecordError


def read(folder: Path, *, is_strict: bool = False, **settings: Any) -> Inputs:
    return read_inputs(experiment_of(document(folder, **settings)), is_strict=is_strict)


def questions(path: Path, **settings: Any) -> Inputs:
    given = {"systems": [{"mode": "llm"}], "questions": str(path), **settings}
    return read_inputs(experiment_of(given))


def asked(inputs: Inputs) -> dict[str, list[tuple[int, str]]]:
    return {each.patient_id: [(turn.turn_id, turn.question) for turn in each.turns] for each in inputs.conversations}


def test_turns_are_asked_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    row = script(0)
    write_rows(tmp_path / "scripts.jsonl", [{**row, "turns": row["turns"][::-1]}])
    assert [turn for turn, _ in asked(read(tmp_path))["p0"]] == [1, 2, 3, 4, 5]


def test_only_the_first_patients_and_turns_are_read_where_that_is_wanted(tmp_path: Path) -> None:
    written(tmp_path, 5)
    found = read(tmp_path, max_patients=2, max_turns=3)
    assert [len(turns) for turns in asked(found).values()] == [3, 3]
    assert found.turns == 6


@pytest.mark.parametrize(
    ("given", "question", "expected"),
    [("ko-KR", "Hello?", "ko"), ("en", "안녕하세요?", "en"), (None, "안녕하세요?", "ko"), ("fr", "Hello?", "en")],
)
def test_the_language_is_the_scripts_own_or_told_by_its_letters(
    tmp_path: Path, given: str | None, question: str, expected: str
) -> None:
    row = {**script(0), "language": given, "turns": [{"turn_id": 1, "question": question}]}
    write_rows(tmp_path / "scripts.jsonl", [row])
    assert read(tmp_path).conversations[0].language == expected
    assert read(tmp_path, language="ko").conversations[0].language == "ko"


def test_a_compressed_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "scripts.jsonl.gz", "wb") as stream:
        stream.write(b"\xef\xbb\xbf" + json.dumps(script(0)).encode() + b"\n\n")
    assert asked(read(tmp_path, multiturn_scripts={"path": str(tmp_path / "scripts.jsonl.gz")})).keys() == {"p0"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"patient_id": " "}, "patient_id is empty"),
        ({"turns": [{"turn_id": 0, "question": "?"}]}, "different numbers from 1"),
        ({"turns": [{"turn_id": 1, "question": "a"}, {"turn_id": 1, "question": "b"}]}, "different numbers from 1"),
        ({"turns": [{"turn_id": 1, "question": " "}]}, "asks nothing in turn 1"),
        ({"slots": {"age": "old"}}, "slots.age: expected a whole number, found text"),
        ({"slots": {"sex_code": "X"}}, "slots.sex_code"),
    ],
)
def test_a_script_that_cannot_be_asked_is_told_with_its_line(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    write_rows(tmp_path / "scripts.jsonl", [script(0), {**script(1), **change}])
    [failure] = read(tmp_path).failures
    assert failure.message.startswith("scripts.jsonl:2: ")
    assert words in failure.message
    with pytest.raises(RecordError, match=r"scripts\.jsonl:2"):
        read(tmp_path, is_strict=True)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        (b"", "empty"),
        (b"\n\n", "nothing to ask"),
        (b"[1]\n", "ask; the first fault"),
    ],
)
def test_a_file_without_anything_to_ask_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / "scripts.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=words):
        read(tmp_path)


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scripts.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(script(0)).encode() * 50)[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path, multiturn_scripts={"path": str(path)})


def test_bytes_that_are_no_text_are_a_fault_of_their_line(tmp_path: Path) -> None:
    path = written(tmp_path, 1)
    path.write_bytes(path.read_bytes() + b'{"patient_id": "\xff\xfe"}\n')
    assert len(read(tmp_path).failures) == 1


def test_plain_questions_are_conversations_with_empty_lines_between(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("What is HbA1c?\nAnd LDL?\n\n\n당뇨병이란?\n", encoding="utf-8")
    found = questions(path)
    assert asked(found) == {
        "conversation-1": [(1, "What is HbA1c?"), (2, "And LDL?")],
        "conversation-2": [(1, "당뇨병이란?")],
    }
    assert [each.language for each in found.conversations] == ["en", "ko"]
    assert {each.slots for each in found.conversations} == {None}


def test_rows_of_questions_are_joined_by_their_patient(tmp_path: Path) -> None:
    rows = [
        {"question": "First?", "patient_id": "a"},
        {"question": "Alone?"},
        {"question": "Second?", "patient_id": "a"},
        {"question": " ", "patient_id": "b"},
        {"text": "?"},
    ]
    found = questions(write_rows(tmp_path / "q.jsonl", rows))
    assert asked(found) == {"a": [(1, "First?"), (2, "Second?")], "question-2": [(1, "Alone?")]}
    assert len(found.failures) == 2


def test_plain_questions_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_bytes("당뇨병이란?".encode("cp949"))
    with pytest.raises(InputError, match="UTF-8"):
        questions(path)
