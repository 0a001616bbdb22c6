"""The same answers in every shape that people have them in get the same verdicts."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from langchain_core.documents import Document
from pyarrow import parquet

import hallumeter
from hallumeter.claims.settings import AuditSettings, MeasureSettings
from hallumeter.cli.main import main
from hallumeter.testing import sample_responses

Row = dict[str, Any]
SETTINGS = AuditSettings(judges=("rules",), measure=MeasureSettings(resamples=100))


@cache
def answers() -> tuple[Row, ...]:
    """A hundred short answers with their passages: the first words of real ones, and the same with other numbers."""
    found: list[Row] = []
    for response in sample_responses()[:50]:
        words = " ".join(str(response.response).split()[:25])
        passages = [passage.text[:400] for passage in response.evidence[:3] if not passage.text.startswith("{")]
        passages = passages or ["The café's opening hours are 9 to 5."]
        question = str(response.question)[:100]
        found.append({"question": question, "response": f"{words}. It was {len(found)}.", "evidence": passages})
        changed = re.sub(r"\d", "7", words)
        found.append({"question": question, "response": f'{changed}. It\'s "new".', "evidence": passages})
    return tuple({"id": f"r{number}", **row} for number, row in enumerate(found))


Said = list[tuple[tuple[object, ...], hallumeter.Label, tuple[object, ...]]]


def said(run: hallumeter.Run) -> Said:
    """Every verdict of a run: where, what, how sure, and by which words of the evidence."""
    return [
        (
            (finding.claim.claim_id, finding.claim.start, finding.claim.end),
            each.label,
            (each.unsupported_probability, each.reason, each.start, each.end, each.evidence),
        )
        for finding in run.findings()
        for each in finding.verdicts
    ]


@pytest.fixture(scope="module")
def expected() -> Said:
    found = said(hallumeter.audit(list(answers()), settings=SETTINGS))
    assert len(answers()) == 100
    assert len({row["response"] for row in answers()}) == 100
    assert {label.value for _, label, _ in found} >= {"SUPPORTED", "NOT_ENOUGH_INFO", "REFUTED"}
    return found


def renamed(row: Row, response: str, question: str, evidence: str, make: Callable[[list[str]], object] = list) -> Row:
    return {"id": row["id"], question: row["question"], response: row["response"], evidence: make(row["evidence"])}


def documents(texts: list[str]) -> list[Document]:
    return [Document(page_content=text, metadata={"source": "a.txt", "page": 3}) for text in texts]


def nodes(texts: list[str]) -> list[Row]:
    return [{"node": {"id_": "n", "text": text, "metadata": {"a": 1}}, "score": 0.5} for text in texts]


def chat(row: Row) -> Row:
    tools = [{"role": "tool", "tool_call_id": "1", "content": text} for text in row["evidence"]]
    asked, answered = {"role": "user", "content": row["question"]}, {"role": "assistant", "content": row["response"]}
    return {"id": row["id"], "messages": [{"role": "system", "content": "Be brief."}, asked, *tools, answered]}


def mlflow(row: Row) -> Row:
    retrieved = [{"doc_uri": "a", "content": text} for text in row["evidence"]]
    outputs = {"response": row["response"], "retrieved_context": retrieved}
    return {"id": row["id"], "inputs": {"question": row["question"]}, "outputs": outputs}


def promptfoo(row: Row) -> Row:
    return {
        "id": row["id"],
        "vars": {"question": row["question"], "context": row["evidence"]},
        "response": {"output": row["response"], "tokenUsage": {"total": 1}},
        "prompt": {"raw": "Answer!"},
    }


IN_PYTHON: dict[str, Callable[[list[Row]], object]] = {
    "generator": lambda rows: (row for row in rows),
    "pandas": pd.DataFrame,
    "pandas with arrays": lambda rows: pd.DataFrame(
        [renamed(row, "Answer", "Question", "Contexts", np.array) for row in rows]
    ),
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pylist,
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "langchain": lambda rows: [renamed(row, "result", "query", "source_documents", documents) for row in rows],
    "langchain, printed": lambda rows: [
        renamed(row, "answer", "input", "context", lambda texts: repr(documents(texts))) for row in rows
    ],
    "llamaindex": lambda rows: [renamed(row, "response", "query", "source_nodes", nodes) for row in rows],
    "deepeval": lambda rows: [
        SimpleNamespace(**renamed(row, "actual_output", "input", "retrieval_context"), context=None) for row in rows
    ],
    "ragas": lambda rows: [
        SimpleNamespace(**renamed(row, "response", "user_input", "retrieved_contexts")) for row in rows
    ],
    "chat": lambda rows: list(map(chat, rows)),
    "mlflow": lambda rows: list(map(mlflow, rows)),
    "promptfoo": lambda rows: list(map(promptfoo, rows)),
    "own paths": lambda rows: [
        {"id": row["id"], "o": {"t": row["response"], "q": row["question"]}, "d": nodes(row["evidence"])}
        for row in rows
    ],
}


@pytest.mark.parametrize("name", IN_PYTHON)
def test_every_shape_in_python_gets_the_same_verdicts(name: str, expected: Said) -> None:
    given = IN_PYTHON[name](list(answers()))
    paths = {"response": "o.t", "question": "o.q", "evidence": "d[].node.text"} if name == "own paths" else None
    run = hallumeter.audit(given, settings=SETTINGS, map=paths)
    assert run.failures == ()
    assert said(run) == expected


def as_csv(path: Path, rows: list[Row], spell: Callable[[list[str]], str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(rows[0])
        table.writerows([row["id"], row["question"], row["response"], spell(row["evidence"])] for row in rows)


def as_lines(rows: list[Row]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


FILES: dict[str, Callable[[Path, list[Row]], object]] = {
    "rows.jsonl": lambda path, rows: path.write_bytes(as_lines(rows)),
    "rows.json": lambda path, rows: path.write_text(json.dumps(rows), encoding="utf-8"),
    "held.json": lambda path, rows: path.write_text(json.dumps({"version": 1, "results": rows}), encoding="utf-8"),
    "frame.json": lambda path, rows: pd.DataFrame(rows).to_json(path),
    "json.csv": lambda path, rows: as_csv(path, rows, json.dumps),
    "python.csv": lambda path, rows: as_csv(path, rows, repr),
    "arrays.csv": lambda path, rows: as_csv(path, rows, lambda texts: str(np.array(texts, dtype=object))),
    "documents.csv": lambda path, rows: as_csv(path, rows, lambda texts: repr(documents(texts))),
    "rows.tsv.gz": lambda path, rows: path.write_bytes(gzip.compress(pd.DataFrame(rows).to_csv(sep="\t").encode())),
    "rows.parquet": lambda path, rows: parquet.write_table(pa.Table.from_pylist(rows), path),
    "chat.parquet": lambda path, rows: parquet.write_table(pa.Table.from_pylist(list(map(chat, rows))), path),
    "mlflow.jsonl.zst": lambda path, rows: path.write_bytes(
        import_module("backports.zstd").compress(as_lines(list(map(mlflow, rows))))
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_every_shape_in_a_file_gets_the_same_verdicts(name: str, expected: Said, tmp_path: Path) -> None:
    path = tmp_path / name
    FILES[name](path, list(answers()))
    run = hallumeter.audit(path, settings=SETTINGS)
    assert run.failures == ()
    assert said(run) == expected


def test_a_map_on_the_command_line_gets_the_same_verdicts(expected: Said, tmp_path: Path) -> None:
    rows = [
        {"id": row["id"], "o": {"t": row["response"], "q": row["question"]}, "d": nodes(row["evidence"])}
        for row in answers()
    ]
    (tmp_path / "rows.jsonl").write_bytes(as_lines(rows))
    paths = ("--map", "response=o.t", "--map", "question=o.q", "--map", "evidence=d[].node.text")
    words = ["audit", str(tmp_path / "rows.jsonl"), *paths, "--judge", "rules", "--resamples", "100", "--workers", "1"]
    result = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert said(hallumeter.load(tmp_path / "run")) == expected
