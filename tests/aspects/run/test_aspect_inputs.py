"""Which sentences are read: files of every form, ids, languages, gold that is set apart, and rows that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aspect_runs import Document, document, sentence, write_rows, written
from pyarrow import parquet

from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.run.experiment import experiment_of
from hallumeter.aspects.run.inputs import Inputs, read_inputs
from hallumeter.aspects.run.rows import read_gold
from hallumeter.errors import InputError, RecordError


def read(folder: Path, *, is_strict: bool = False, **settings: Any) -> Inputs:
    return read_inputs(experiment_of(document(folder, **settings)), is_strict=is_strict)


def read_file(path: Path, content: str | bytes, **data: Any) -> Inputs:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(path.parent, data={"input": str(path), **data})


def texts(inputs: Inputs) -> dict[str, str]:
    return {each.text_id: each.text for each in inputs.sentences}


def test_csv_with_gold_in_a_cell(tmp_path: Path) -> None:
    gold = json.dumps(
        [{"aspect_term": "맛", "polarity": "positive", "span": {"start": 0, "end": 1}}], ensure_ascii=False
    )
    cell = gold.replace('"', '""')
    found = read_file(
        tmp_path / "a.csv", f'id,text,domain,city,gold_tuples\n1,"맛이 좋아요, 정말",food,부산,"{cell}"\n'
    )
    [only] = found.sentences
    assert (only.text_id, only.text, only.language, only.domain) == ("1", "맛이 좋아요, 정말", "ko", "food")
    assert only.gold_tuples == (AspectTuple("맛", "positive", span=TextSpan(0, 1)),)
    assert only.fields == {"city": "부산"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "uid\tsentence\nx\tThe soup was cold.\n"),
        ("a.jsonl", '{"uid": "x", "input_text": "The soup was cold."}\n'),
        ("a.json", '[{"uid": "x", "review": "The soup was cold."}]'),
        ("b.json", '{"uid": "x", "text": "The soup was cold."}\n'),
    ],
)
def test_other_forms_are_read_too(name: str, content: str, tmp_path: Path) -> None:
    assert texts(read_file(tmp_path / name, content)) == {"x": "The soup was cold."}


def test_parquet_is_read(tmp_path: Path) -> None:
    rows = {"text_id": ["a", "b"], "text": ["Cold soup.", "국이 식었어요"], "start": [None, None]}
    parquet.write_table(pa.table(rows), tmp_path / "a.parquet")
    found = read(tmp_path, data={"input": str(tmp_path / "a.parquet")})
    assert [(each.text_id, each.language) for each in found.sentences] == [("a", "en"), ("b", "ko")]


def test_plain_text_has_a_sentence_on_every_line_and_is_named_by_lines(tmp_path: Path) -> None:
    found = read_file(tmp_path / "a.txt", "\ufeffCold soup.\n\n국이 식었어요\n")
    assert texts(found) == {"line-1": "Cold soup.", "line-3": "국이 식었어요"}
    assert found.notices == ("a.txt: 2 sentences have no id; they are named by their lines",)


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    content = gzip.compress(json.dumps(sentence(0)).encode())
    assert list(texts(read_file(tmp_path / "a.jsonl.gz", content))) == ["s0"]


def test_the_form_can_be_told_where_the_name_does_not(tmp_path: Path) -> None:
    found = read_file(tmp_path / "a.data", "text_id,text\nx,Cold soup.\n", input_format="csv")
    assert texts(found) == {"x": "Cold soup."}
    with pytest.raises(InputError, match=r"unknown ending '\.data'"):
        read(tmp_path, data={"input": str(tmp_path / "a.data")})


def test_columns_can_be_named(tmp_path: Path) -> None:
    content = "number,words,tongue\n7,Cold soup.,en-GB\n"
    columns = {"text_column": "words", "id_column": "number", "language_column": "tongue"}
    [only] = read_file(tmp_path / "a.csv", content, **columns).sentences
    assert (only.text_id, only.text, only.language, only.fields) == ("7", "Cold soup.", "en", {})


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no column 'words'.*it has id, text"):
        read_file(tmp_path / "a.csv", "id,text\n7,Cold soup.\n", text_column="words")


@pytest.mark.parametrize(
    ("row", "setting", "expected"),
    [
        ({"text": "Cold soup."}, None, "en"),
        ({"text": "국이 식었어요 soup"}, None, "ko"),
        ({"text": "Cold soup.", "language": "ko_KR"}, "en", "ko"),
        ({"text": "국이 식었어요"}, "en", "en"),
    ],
)
def test_the_language_is_the_rows_own_or_the_experiments_or_told_by_letters(
    row: dict[str, str], setting: str | None, expected: str, tmp_path: Path
) -> None:
    data = {} if setting is None else {"language": setting}
    [only] = read_file(tmp_path / "a.jsonl", json.dumps(row), **data).sentences
    assert only.language == expected


def test_rows_that_cannot_be_used_are_named_and_the_others_are_read(tmp_path: Path) -> None:
    lines = [
        '{"text_id": "a", "text": "Cold soup."}',
        '{"text_id": "a", "text": "Warm soup."}',
        '{"text_id": "b", "text": "  "}',
        '{"text_id": "c"}',
        '{"text_id": "d", "text": 3}',
        '{"text_id": "e", "text": "La soupe.", "language": "fr"}',
        '{"text_id": "f", "text": "Cold soup again, and so on."}',
        '{"text_id": "g", "text": "Odd.", "gold_tuples": "none"}',
        '{"text_id": "h", "text": "half a character: \\ud800"}',
        "not json",
        "[1]",
    ]
    found = read_file(tmp_path / "a.jsonl", "\n".join(lines), max_length=20)
    assert texts(found) == {"a": "Cold soup.", "f": "Cold soup again, and so on.", "g": "Odd."}
    told = "length: too_long: the text has 27 characters; data.max_length is 20"
    assert {each.text_id: each.unreadable for each in found.sentences} == {"a": None, "f": told, "g": None}
    assert {failure.record_id for failure in found.failures} == {"a", "b", "c", "d", "e", "g", None}
    messages = sorted(failure.message for failure in found.failures)
    assert {failure.step for failure in found.failures} == {"read"}
    expected = [
        "a.jsonl:10: not valid JSON",
        "a.jsonl:11: ",
        "a.jsonl:2: id 'a' stands on line 1 too",
        "a.jsonl:3: the text is empty",
        "a.jsonl:4: expected a text under text or input_text",
        "a.jsonl:5: expected a text",
        "a.jsonl:6: the language 'fr' cannot be read",
        "a.jsonl:8: its gold is left out: gold_tuples: expected a list",
        "a.jsonl:9: not valid JSON",
    ]
    assert [message.startswith(start) for message, start in zip(messages, expected, strict=True)] == [True] * 9


def test_gold_is_understood_under_any_name_of_a_polarity_and_left_out_under_none(tmp_path: Path) -> None:
    given = {"a": "긍정", "b": "POS ", "c": "conflict", "d": None, "e": "negatve", "f": "neg"}
    rows = [
        {"text_id": name, "text": "The food is good.", "gold_tuples": [{"aspect_term": "food", "polarity": polarity}]}
        for name, polarity in given.items()
    ]
    write_rows(tmp_path / "reviews.jsonl", rows)
    found = read(tmp_path)
    gold = {each.text_id: each.gold_tuples and each.gold_tuples[0].polarity for each in found.sentences}
    assert gold == {"a": "positive", "b": "positive", "c": None, "d": None, "e": None, "f": "negative"}
    assert [failure.code for failure in found.failures] == ["bad_gold"] * 3
    assert "found 'conflict'" in found.failures[0].message


def test_gold_that_does_not_stand_in_its_sentence_is_told_of(tmp_path: Path) -> None:
    gold = [
        {"aspect_term": "fod", "polarity": "pos", "span": [90, 95]},
        {"aspect_term": "food", "polarity": "pos", "span": [0, 4]},
    ]
    write_rows(tmp_path / "reviews.jsonl", [{"text_id": "a", "text": "The food is good.", "gold_tuples": gold}])
    assert read(tmp_path).notices == (
        "1 gold terms do not stand in their sentences, such as 'fod' of 'a'",
        "1 gold terms do not stand at their spans",
    )


@pytest.mark.parametrize("text", ["שירות טוב", "とても良い", "12345", "…!!!"])
def test_a_language_that_cannot_be_told_is_not_taken_for_english(text: str, tmp_path: Path) -> None:
    write_rows(tmp_path / "reviews.jsonl", [sentence(0), {"text_id": "x", "text": text}])
    found = read(tmp_path)
    assert list(texts(found)) == ["s0"]
    assert "the language cannot be told" in found.failures[0].message
    assert list(texts(read(tmp_path, data={"language": "en"}))) == ["s0", "x"]


def test_a_strict_reader_stops_at_the_first(tmp_path: Path) -> None:
    write_rows(tmp_path / "reviews.jsonl", [sentence(0), {"text": ""}])
    with pytest.raises(RecordError, match=r"reviews\.jsonl:2"):
        read(tmp_path, is_strict=True)


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "empty"), ('{"text": ""}\n', "no sentence to read; the first fault"), ("[", "no sentence to read")],
)
def test_a_file_without_a_sentence_is_refused(content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read_file(tmp_path / "a.jsonl", content)


@pytest.mark.parametrize(("name", "content"), [("a.json", b"3"), ("a.txt", b"\xff\xfe soup")])
def test_a_file_that_cannot_be_read_is_refused(name: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=name):
        read_file(tmp_path / name, content)


def test_only_the_first_sentences_are_read_where_that_is_wanted(tmp_path: Path) -> None:
    written(tmp_path, 5)
    assert list(texts(read(tmp_path, data={"max_sentences": 2}))) == ["s0", "s1"]


def test_nested_fields_are_kept_as_json(tmp_path: Path) -> None:
    found = read_file(tmp_path / "a.jsonl", '{"text_id": "a", "text": "Soup.", "note": {"deep": [1]}, "stars": 3}')
    assert found.sentences[0].fields == {"note": '{"deep":[1]}', "stars": 3}


def test_gold_of_a_file_counts_before_that_of_the_row(tmp_path: Path) -> None:
    written(tmp_path, 3)
    rows: list[Document] = [
        {"uid": "s0", "gold_tuples": []},
        {"uid": "s1", "gold_triplets": [{"opinion_term": {"term": "screen"}, "polarity": "negative", "span": [1, 2]}]},
        {"uid": "s9", "gold_tuples": [{"aspect_term": None, "polarity": "positive"}]},
        {"uid": "s0", "gold_tuples": []},
        {"gold_tuples": []},
        {"uid": "s2"},
        {"uid": "s2", "gold_tuples": [{"aspect_term": 3}]},
        {"uid": "s2", "gold_tuples": [3]},
        {"uid": "s2", "gold_tuples": [{"aspect_term": "a", "span": "2-4"}]},
    ]
    path = write_rows(tmp_path / "gold.jsonl", rows)
    found = read(tmp_path, eval={"gold": str(path)})
    gold = {each.text_id: each.gold_tuples for each in found.sentences}
    assert gold["s0"] == ()
    assert gold["s1"] == (AspectTuple("screen", "negative", span=TextSpan(1, 2)),)
    assert gold["s2"] is not None
    assert len(gold["s2"]) == 2
    assert found.notices == (
        "1 of 3 sentences have no gold under their ids",
        "gold of 1 ids belongs to no sentence that is read",
    )
    assert len(found.failures) == 6
    assert [file.records for file in found.files] == [3, 3]
    assert read_gold(path)[0]["s9"] == (AspectTuple("", "positive"),)
