"""What people hold in Python: tables of every library, documents, test cases and odd values, as plain rows."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import sys
import uuid
from collections import OrderedDict, deque
from collections.abc import Iterator
from pathlib import PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from hallumeter.errors import MissingExtraError, RecordError
from hallumeter.formats.batch import Fault
from hallumeter.formats.jsonl import batch_of
from hallumeter.formats.plain import plain, plain_row, plain_rows
from hallumeter.formats.records import passages_of, response_of, rows_of
from hallumeter.formats.shapes import ANY_SHAPE
from hallumeter.records.claim import Label, Verdict
from hallumeter.records.response import Passage, Response

ROWS: list[dict[str, Any]] = [
    {"id": 1, "answer": "Yes.", "contexts": ["a", "b"], "score": 0.5},
    {"id": 2, "answer": "No.", "contexts": ["c"], "score": None},
]


class Pair(NamedTuple):
    a: int
    b: str


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Case:
    """A test case of DeepEval by its fields, as its own class has them."""

    input: str
    actual_output: str
    retrieval_context: list[str] | None = None
    expected_output: str | None = None
    _identifier: str = "hidden"


class Sample:
    """A sample of Ragas: its class names the fields, as a pydantic model does, and can be gone through."""

    model_fields = MappingProxyType(dict.fromkeys(("user_input", "response", "retrieved_contexts", "reference")))

    def __init__(self, **values: object) -> None:
        for name in self.model_fields:
            setattr(self, name, values.get(name))

    def __iter__(self) -> Iterator[tuple[str, object]]:
        return iter(vars(self).items())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (float("nan"), None),
        (np.float64("nan"), None),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (pd.NA, None),
        (pd.NaT, None),
        (np.datetime64("NaT"), None),
        (np.datetime64("2020-01-02T03:04:05.000000006"), "2020-01-02T03:04:05.000000006"),
        (np.array(["2020-01-02", "NaT"], dtype="datetime64[D]"), ["2020-01-02", None]),
        (pd.Timestamp("2020-01-02 03:04"), "2020-01-02T03:04:00"),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (dt.time(3, 4), "03:04:00"),
        (pd.Timedelta("1 day"), "1 days 00:00:00"),
        (decimal.Decimal("0.5"), 0.5),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Colour.RED, "red"),
        (b"caf\xc3\xa9", "café"),
        (np.array(["a", None, float("nan")], dtype=object), ["a", None, None]),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (pd.Series(["a", None]), ["a", None]),
        (pl.Series(["a", None]), ["a", None]),
        (pa.array(["a", None]), ["a", None]),
        (pa.scalar("a"), "a"),
        (
            (
                "a",
                {
                    "b": {
                        1,
                    }
                },
            ),
            ["a", {"b": [1]}],
        ),
        (deque(["a"]), ["a"]),
        (OrderedDict(a=1), {"a": 1}),
        (Pair(1, "x"), {"a": 1, "b": "x"}),
        (Document(page_content="text", metadata={"source": "x"}), {"text": "text"}),
        (Case("q", "a"), {"input": "q", "actual_output": "a", "retrieval_context": None, "expected_output": None}),
        (SimpleNamespace(a=SimpleNamespace(b=1)), {"a": {"b": 1}}),
        (SimpleNamespace(score=0.5, node=Document(page_content="inner")), {"text": "inner"}),
    ],
)
def test_a_value_of_any_kind_has_a_plain_one(value: object, expected: object) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


@pytest.mark.parametrize("value", [object(), lambda: 0, sys])
def test_what_holds_nothing_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="expected text, a number, a list or an object, found"):
        plain(value)


def test_what_holds_itself_is_refused() -> None:
    ring: list[object] = []
    ring.append(ring)
    with pytest.raises(TypeError, match="nested too deeply"):
        plain(ring)
    assert plain_row({"response": "a", "evidence": ring}, 4) == Fault(
        4, "wrong_type", "evidence: nested too deeply; a row may hold lists within lists, but not hundreds of them"
    )


class SpeaksArrow:
    """A table that can do nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


FRAME = pd.DataFrame(ROWS)
TABLES: dict[str, object] = {
    "list": ROWS,
    "generator": (row for row in ROWS),
    "mappings": [MappingProxyType(row) for row in ROWS],
    "objects": [SimpleNamespace(**row) for row in ROWS],
    "columns": {name: [row[name] for row in ROWS] for name in ROWS[0]},
    "pandas": FRAME,
    "pandas by its index": FRAME.set_index("id"),
    "rows of pandas": [row for _, row in FRAME.iterrows()],
    "pandas of Arrow": pd.DataFrame(FRAME.convert_dtypes(dtype_backend="pyarrow")),
    "polars": pl.DataFrame(ROWS),
    "lazy polars": pl.LazyFrame(ROWS),
    "pyarrow": pa.Table.from_pylist(ROWS),
    "a batch of pyarrow": pa.RecordBatch.from_pylist(ROWS),
    "a reader of pyarrow": pa.Table.from_pylist(ROWS).to_reader(),
    "a speaker of Arrow": SpeaksArrow(pa.Table.from_pylist(ROWS)),
    "test cases in a collection": SimpleNamespace(test_cases=[SimpleNamespace(**row) for row in ROWS]),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_the_same_rows(name: str) -> None:
    assert list(plain_rows(TABLES[name])) == ROWS


def test_a_dataset_has_the_same_rows() -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list(ROWS)
    assert list(plain_rows(dataset)) == ROWS
    assert list(plain_rows(dataset.select([1]))) == ROWS[1:]
    with pytest.raises(RecordError, match=r"found several by name \(train, test\); choose one of them"):
        list(plain_rows(datasets.DatasetDict(train=dataset, test=dataset)))


def test_one_of_a_kind_is_a_list_of_one() -> None:
    case = {"input": "q", "actual_output": "a", "retrieval_context": ["x"], "expected_output": None}
    assert list(plain_rows(Case("q", "a", ["x"]))) == [case]
    assert list(plain_rows(ROWS[0])) == [ROWS[0]]
    sample = Sample(user_input="q", response="a", retrieved_contexts=["x"])
    assert list(plain_rows(sample)) == [vars(sample)]
    chat = {"messages": [{"role": "user", "content": "q"}], "documents": ["x"]}
    assert list(plain_rows(chat)) == [chat], "lists of the same length are not always columns"


def test_records_of_ours_are_rows() -> None:
    response = Response("r", response="a", evidence=(Passage("e", "x"),), fields={"task": "QA"})
    verdict = Verdict("r", "c", "j", Label.REFUTED)
    first, second = plain_rows([response, verdict])
    assert isinstance(first, dict)
    assert (first["record_id"], first["task"], first["evidence"]) == ("r", "QA", [{"evidence_id": "e", "text": "x"}])
    assert second == {"record_id": "r", "claim_id": "c", "judge": "j", "label": "REFUTED"}


def test_a_missing_number_is_missing_in_a_table_and_wrong_in_a_mapping() -> None:
    frame = pd.DataFrame({"confidence": [0.5, None], "id": [1.0, 2.0]})
    assert list(plain_rows(frame)) == [{"confidence": 0.5, "id": 1}, {"confidence": None, "id": 2}]
    [row] = plain_rows([{"confidence": float("nan"), "note": float("nan")}])
    assert isinstance(row, dict)
    assert row["confidence"] != row["confidence"]
    assert row["note"] is None


def test_a_field_that_nobody_asks_for_may_hold_anything() -> None:
    assert plain_row({"response": "a", "tracer": object()}, 1) == {"response": "a", "tracer": "(object)"}
    assert plain_row({"response": object()}, 3) == Fault(
        3, "wrong_type", "response: expected text, a number, a list or an object, found object"
    )


def test_a_column_that_stands_twice_is_refused() -> None:
    with pytest.raises(RecordError, match="column 'a' stands twice"):
        list(plain_rows(pd.DataFrame([[1, 2]], columns=["a", "a"])))


def test_a_table_that_only_speaks_arrow_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading an Arrow table needs .*hallumeter\[parquet\]"):
        list(plain_rows(SpeaksArrow(pa.table({"a": [1]}))))


# Evidence.


def node(text: str) -> object:
    """A node of LlamaIndex, or one that answers as it does."""
    schema = pytest.importorskip("llama_index.core.schema")
    return schema.NodeWithScore(node=schema.TextNode(text=text, metadata={"file": "a.txt"}), score=0.5)


TEXTS = ["The tower is 330 m high.", "It stands in Paris."]
DOCUMENTS = [Document(page_content=text, metadata={"source": "a.txt"}, id=str(n)) for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    "evidence",
    [
        TEXTS,
        tuple(TEXTS),
        DOCUMENTS,
        [(document, 0.5) for document in DOCUMENTS],
        repr(DOCUMENTS),
        [document.model_dump() for document in DOCUMENTS],
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS),
        pl.Series(TEXTS),
        [*TEXTS, None, float("nan"), pd.NA],
        [{"content": text, "score": 0.5, "metadata": {}} for text in TEXTS],
        [{"text": text, "id": "x"} for text in TEXTS],
        [{"document": {"page_content": text}, "score": 1} for text in TEXTS],
        [TEXTS],
        deque(TEXTS),
    ],
)
def test_evidence_of_any_kind_is_its_texts(evidence: object) -> None:
    assert [passage.text for passage in passages_of(evidence)] == TEXTS


def test_nodes_of_llamaindex_are_their_texts() -> None:
    nodes = [node(text) for text in TEXTS]
    assert [passage.text for passage in passages_of(nodes)] == TEXTS
    assert [passage.text for passage in passages_of(repr(nodes))] == TEXTS
    dumped = [each.model_dump() for each in nodes]  # type: ignore[attr-defined]
    assert [passage.text for passage in passages_of(dumped)] == TEXTS


@pytest.mark.parametrize("missing", [None, "", float("nan"), pd.NA, pd.NaT, [], [None], np.array([]), "[]"])
def test_evidence_that_is_missing_is_none(missing: object) -> None:
    assert passages_of(missing) == ()


def test_messages_of_langchain_are_a_conversation() -> None:
    messages = [
        HumanMessage("How high is it?"),
        AIMessage("", tool_calls=[{"name": "search", "args": {}, "id": "1"}]),
        ToolMessage(TEXTS[0], tool_call_id="1"),
        AIMessage("It is 330 m high."),
    ]
    [row] = plain_rows([{"messages": messages}])
    assert isinstance(row, dict)
    [(_, found)] = rows_of(batch_of([row], fields=None, shape=ANY_SHAPE))
    response = response_of({"record_id": "r", **found})
    assert (response.question, response.response) == ("How high is it?", "It is 330 m high.")
    assert [passage.text for passage in response.evidence] == TEXTS[:1]
