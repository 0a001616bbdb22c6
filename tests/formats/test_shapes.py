"""What other tools write is found wherever they put it: each shape by the row it comes in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from hallumeter.errors import SettingsError
from hallumeter.formats.batch import Batch
from hallumeter.formats.files import read_rows
from hallumeter.formats.jsonl import batch_of
from hallumeter.formats.records import response_of, rows_of
from hallumeter.formats.shapes import ANY_SHAPE, RowShape, nearest_fields

Row = dict[str, Any]
QUESTION, RESPONSE, REFERENCE = "How high is it?", "The tower is 999 m high.", "330 m"
PASSAGES = ["The tower is 330 m high.", "It stands in Paris."]
WHOLE = (QUESTION, RESPONSE, PASSAGES, REFERENCE)
NODES = [{"node": {"id_": "n", "text": text, "metadata": {"page": 3}}, "score": 0.5} for text in PASSAGES]
TOOLS = [{"role": "tool", "tool_call_id": "1", "content": text} for text in PASSAGES]
ASKED = {"role": "user", "content": QUESTION}
ANSWERED = {"role": "assistant", "content": RESPONSE}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
SYSTEM = {"role": "system", "content": "Answer from this: the tower is 330 m high."}

SHAPES: dict[str, tuple[Row, tuple[str | None, str | None, list[str], str | None]]] = {
    "own names": (
        {"question": QUESTION, "response": RESPONSE, "evidence": PASSAGES, "reference": REFERENCE},
        WHOLE,
    ),
    "ragas": (
        {"user_input": QUESTION, "response": RESPONSE, "retrieved_contexts": PASSAGES, "reference": REFERENCE},
        WHOLE,
    ),
    "ragas of 2023": (
        {"question": QUESTION, "answer": RESPONSE, "contexts": PASSAGES, "ground_truth": REFERENCE},
        WHOLE,
    ),
    "ragas, several turns": (
        {
            "user_input": [
                {"content": "Hello.", "type": "human"},
                {"content": "Hello!", "type": "ai"},
                {"content": QUESTION, "type": "human"},
                *({"content": text, "type": "tool"} for text in PASSAGES),
                {"content": RESPONSE, "type": "ai"},
            ],
            "reference": REFERENCE,
        },
        WHOLE,
    ),
    "deepeval": (
        {
            "input": QUESTION,
            "actual_output": RESPONSE,
            "retrieval_context": PASSAGES,
            "context": ["What should have been found."],
            "expected_output": REFERENCE,
        },
        WHOLE,
    ),
    "deepeval's JSON": (
        {
            "input": QUESTION,
            "actualOutput": RESPONSE,
            "retrievalContext": PASSAGES,
            "expectedOutput": REFERENCE,
            "success": True,
        },
        WHOLE,
    ),
    "deepeval, context alone": (
        {"input": QUESTION, "actual_output": RESPONSE, "context": PASSAGES, "retrieval_context": None},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "langchain": (
        {
            "query": QUESTION,
            "result": RESPONSE,
            "source_documents": [{"page_content": text, "metadata": {"source": "a.txt"}} for text in PASSAGES],
        },
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "langchain, a chain of today": (
        {"input": QUESTION, "answer": RESPONSE, "context": [{"page_content": text} for text in PASSAGES]},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "langsmith": (
        {
            "inputs": {"question": QUESTION},
            "outputs": {"answer": RESPONSE, "documents": PASSAGES},
            "reference_outputs": {"answer": REFERENCE},
        },
        WHOLE,
    ),
    "llamaindex": (
        {"query": QUESTION, "response": RESPONSE, "source_nodes": NODES},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "llamaindex, whole": (
        {"query": QUESTION, "response": {"response": RESPONSE, "source_nodes": NODES, "metadata": {"page": 3}}},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "llamaindex nodes with a text resource": (
        {"response": RESPONSE, "source_nodes": [{"node": {"text_resource": {"text": text}}} for text in PASSAGES]},
        (None, RESPONSE, PASSAGES, None),
    ),
    "chat": ({"messages": [SYSTEM, ASKED, CALL, *TOOLS, ANSWERED]}, (QUESTION, RESPONSE, PASSAGES, None)),
    "chat, the system has it": (
        {"messages": [SYSTEM, ASKED, ANSWERED]},
        (QUESTION, RESPONSE, [SYSTEM["content"]], None),
    ),
    "chat with evidence beside it": (
        {"messages": [SYSTEM, ASKED, *TOOLS, ANSWERED], "documents": ["Beside it."]},
        (QUESTION, RESPONSE, ["Beside it."], None),
    ),
    "chat, later questions do not count": (
        {"messages": [ASKED, *TOOLS, ANSWERED, {"role": "user", "content": "Thanks!"}]},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "chat in parts": (
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "x"}}],
                },
                *({"role": "tool", "content": [{"type": "text", "text": text}]} for text in PASSAGES),
                {"role": "assistant", "content": [{"type": "text", "text": RESPONSE}]},
            ]
        },
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "chat of people and a GPT": (
        {
            "conversations": [{"from": "human", "value": QUESTION}, {"from": "gpt", "value": RESPONSE}],
            "context": PASSAGES,
        },
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "request and reply of a model": (
        {
            "request": {"messages": [SYSTEM, ASKED]},
            "response": {"choices": [{"message": {"role": "assistant", "content": RESPONSE}}]},
        },
        (QUESTION, RESPONSE, [SYSTEM["content"]], None),
    ),
    "trulens": (
        {"record_id": "r", "input": QUESTION, "output": RESPONSE, "contexts": PASSAGES, "cost_json": "{}"},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "promptfoo": (
        {
            "vars": {"question": QUESTION, "context": PASSAGES[0]},
            "response": {"output": RESPONSE, "tokenUsage": {"total": 5}},
            "prompt": {"raw": "Answer!", "label": "p"},
            "provider": {"id": "openai:m"},
        },
        (QUESTION, RESPONSE, PASSAGES[:1], None),
    ),
    "mlflow": (
        {
            "inputs": {"question": QUESTION},
            "outputs": {
                "response": RESPONSE,
                "retrieved_context": [{"doc_uri": "a", "content": text} for text in PASSAGES],
            },
            "expectations": {"expected_response": REFERENCE},
        },
        WHOLE,
    ),
    "mlflow, a text": (
        {
            "inputs": {"messages": [ASKED]},
            "outputs": RESPONSE,
            "retrieved_context": [{"content": text} for text in PASSAGES],
        },
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "mlflow, a chat": (
        {"inputs": {"messages": [ASKED]}, "outputs": {"choices": [{"message": ANSWERED}]}, "context": PASSAGES},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
    "capitals": (
        {"Question": QUESTION, "Answer": RESPONSE, "Retrieved Contexts": PASSAGES, "Ground Truth": REFERENCE},
        WHOLE,
    ),
    "one in a list": (
        {"query": QUESTION, "outputs": [RESPONSE], "evidence": PASSAGES},
        (QUESTION, RESPONSE, PASSAGES, None),
    ),
}


def read_as(row: Row, tmp_path: Path, form: str) -> list[Batch]:
    """A row as Python or a file of some format gives it."""
    if form == "python":
        return [batch_of([row], fields=None, shape=ANY_SHAPE)]
    path = tmp_path / f"rows.{form}"
    if form == "jsonl":
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    elif form == "json":
        path.write_text(json.dumps([row], indent=1), encoding="utf-8")
    else:
        parquet.write_table(pa.Table.from_pylist([row]), path)
    return list(read_rows(path, None, shape=ANY_SHAPE))


@pytest.mark.parametrize("form", ["python", "jsonl", "json", "parquet"])
@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_says_the_same_in_every_format(name: str, form: str, tmp_path: Path) -> None:
    given, expected = SHAPES[name]
    batches = read_as(given, tmp_path, form)
    assert [fault for batch in batches for fault in batch.faults] == []
    [(_, row)] = [pair for batch in batches for pair in rows_of(batch)]
    found = response_of({"record_id": "r", **row})
    assert (found.question, found.response, [each.text for each in found.evidence], found.reference) == expected


@pytest.mark.parametrize(
    ("row", "left"),
    [
        ({"response": RESPONSE, "result": "pass", "input": "seen"}, {"result": "pass"}),
        ({"response": RESPONSE, "outputs": {"answer": "another"}}, {"outputs": {"answer": "another"}}),
        ({"answer": RESPONSE, "result": 0.93}, {"result": 0.93}),
        ({"response": RESPONSE, "input": 7}, {"input": 7}),
        ({"response": RESPONSE, "messages": ["not", "chat"]}, {"messages": ["not", "chat"]}),
    ],
    ids=["a second name", "a second answer", "a number", "another number", "no chat"],
)
def test_a_name_that_stands_for_nothing_keeps_its_value(row: Row, left: Row) -> None:
    [(_, found)] = rows_of(batch_of([row], fields=None, shape=ANY_SHAPE))
    assert found["response"] == RESPONSE
    assert {name: found.get(name) for name in left} == left


def test_each_name_that_was_read_as_another_is_said() -> None:
    batch = batch_of([SHAPES["mlflow"][0], SHAPES["langchain"][0]], fields=None, shape=ANY_SHAPE)
    assert batch.aliases == {
        "inputs": "question",
        "outputs": "response and evidence",
        "expectations": "reference",
        "query": "question",
        "result": "response",
        "source_documents": "evidence",
    }


def test_evidence_out_of_a_system_message_is_said() -> None:
    batch = batch_of([SHAPES["chat, the system has it"][0]] * 3, fields=None, shape=ANY_SHAPE)
    assert batch.notices == {"evidence was taken from a system message, since there was no other": 3}


def test_text_that_cannot_be_found_is_a_fault_of_the_row_alone() -> None:
    batch = batch_of([{"response": {"tokens": 5}}, {"response": RESPONSE}], fields=None, shape=ANY_SHAPE)
    assert [(fault.line, fault.message) for fault in batch.faults] == [(1, "response: expected text, found an object")]
    assert [row["response"] for _, row in rows_of(batch)] == [RESPONSE]


def test_without_a_shape_rows_are_read_by_their_own_names_alone() -> None:
    batch = batch_of([{"query": QUESTION, "result": RESPONSE}, {"response": {"output": "x"}}])
    assert [row for _, row in rows_of(batch)] == [{"query": QUESTION, "result": RESPONSE, "response": None}]
    assert [fault.message for fault in batch.faults] == ["response: expected text, found an object"]


# Paths of one's own.

DEEP: Row = {
    "id": 7,
    "output": {"text": RESPONSE, "parts": ["a", "b"]},
    "docs": [{"content": text, "tags": ["x", "y"]} for text in PASSAGES],
    "meta": {"model": "m", "a.b": 1},
    "flat.name": "flat",
    "as_json": json.dumps({"deep": [{"t": "one"}, {"t": "two"}]}),
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("output.text", RESPONSE),
        ("docs[].content", PASSAGES),
        ("docs[0].content", PASSAGES[0]),
        ("docs[-1].content", PASSAGES[1]),
        ("docs[].tags[]", ["x", "y", "x", "y"]),
        ("docs[].tags", [["x", "y"], ["x", "y"]]),
        ("docs[5].content", None),
        ("output.parts[1]", "b"),
        ("output", DEEP["output"]),
        ("flat.name", "flat"),
        ("as_json.deep[].t", ["one", "two"]),
        ("nothing.at.all", None),
        ("docs.content", None),
        ("output[].text", None),
    ],
)
def test_a_path_leads_into_objects_and_lists(path: str, found: object) -> None:
    [(_, row)] = rows_of(batch_of([DEEP], fields=None, shape=RowShape.of({"note_of_mine": path})))
    assert row.get("note_of_mine") == found


@pytest.mark.parametrize("path", ["", ".", "a..b", "a[", "a]", "a[x]", "a[1", "[0]", "a.", ".a", "a[]b"])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(SettingsError, match=r"expected a path such as output\.text or docs"):
        RowShape.of({"response": path})


def test_what_a_map_names_counts_before_every_other_name() -> None:
    row = {**DEEP, "response": "not this", "evidence": "nor this"}
    shape = RowShape.of({"response": "output.text", "evidence": "docs[].content", "model": "meta.model"})
    [(_, found)] = rows_of(batch_of([row], fields=None, shape=shape))
    assert (found["response"], found["evidence"], found["model"]) == (RESPONSE, PASSAGES, "m")


def test_a_mapped_value_of_the_wrong_type_is_a_fault() -> None:
    batch = batch_of(
        [DEEP, {**DEEP, "output": {"text": 5}}], fields=None, shape=RowShape.of({"response": "output.text"})
    )
    assert [(fault.line, fault.message) for fault in batch.faults] == [
        (2, "response (output.text): expected text, found a whole number")
    ]
    assert len(batch.lines) == 1


@pytest.mark.parametrize("form", ["jsonl", "json", "parquet"])
def test_a_map_reads_files_alike(form: str, tmp_path: Path) -> None:
    row = {"response": {"said": RESPONSE}, "docs": DEEP["docs"]}
    path = tmp_path / f"rows.{form}"
    if form == "parquet":
        parquet.write_table(pa.Table.from_pylist([row]), path)
    else:
        path.write_text(json.dumps([row]) if form == "json" else json.dumps(row) + "\n", encoding="utf-8")
    shape = RowShape.of({"response": "response.said", "evidence": "docs[].content"})
    for fields in (None, ()):
        [(_, found)] = [pair for batch in read_rows(path, fields, shape=shape) for pair in rows_of(batch)]
        assert (found["response"], found["evidence"]) == (RESPONSE, PASSAGES)


@pytest.mark.parametrize(
    ("own", "seen", "nearest"),
    [
        ("response", ["model_answer", "docs"], ["model_answer"]),
        ("response", ["the_response", "docs"], ["the_response"]),
        ("evidence", ["reply", "retrieved_docs_text"], ["retrieved_docs_text"]),
        ("evidence", ["kontext", "x"], ["kontext"]),
        ("evidence", ["a", "b"], []),
        ("response", ["generated_reply", "question", "evidence"], ["generated_reply"]),
    ],
)
def test_the_nearest_fields_that_would_do_are_found(own: str, seen: list[str], nearest: list[str]) -> None:
    assert nearest_fields(own, seen) == nearest
