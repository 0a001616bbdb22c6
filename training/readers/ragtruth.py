"""RAGTruth, its training part: answers and summaries with marked spans."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.examples import Example, Span

from .lines import json_lines

BUNDLED = frozenset(("12219", "12331", "12362", "12389", "14364", "15119", "15199", "15325", "15408", "15506", "15554"))
"""Sources of the sample that comes with the package: left out, so that a demonstration is no memory."""
_PASSAGE = re.compile(r"passage \d+:")


def read_ragtruth(data: Path) -> Iterator[Example]:
    """All answers but those on the bundled sources."""
    folder = data / "ragtruth" / "merged"
    sources = {row["source_id"]: row for row in json_lines(folder / "train_sources.jsonl")}
    for row in json_lines(folder / "train_responses.jsonl"):
        if row["source_id"] in BUNDLED or not row["response"].strip():
            continue
        question, evidence = _asked(sources[row["source_id"]])
        spans = tuple(Span(label["start"], label["end"], "Conflict" in label["label_type"]) for label in row["labels"])
        yield Example(
            data_set="ragtruth",
            source=row["source_id"],
            task="qa" if row["task_type"] == "QA" else "summary",
            evidence=evidence,
            text=row["response"],
            is_unsupported=bool(spans),
            spans=spans,
            question=question,
            writer=row["model"],
        )


def _asked(source: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Question and passages."""
    info = source["source_info"]
    if isinstance(info, str) and info.startswith("{'question'"):
        info = ast.literal_eval(info)
    if isinstance(info, str):
        return "", (info,)
    passages = [part.strip() for part in _PASSAGE.split(info["passages"])]
    return info["question"], tuple(filter(None, passages))
