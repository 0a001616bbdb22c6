"""Summaries that people judged: SummEdits, DeFacto, and the human evaluation of GO FIGURE."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from training.examples import Example, Span

from .lines import json_lines

DOMAINS = ("ectsum", "sales_call", "sales_email", "scitldr")
_WORD = re.compile(r"\w+|[^\w\s]")
_BREAK = re.compile(r"<br ?/?>|</s>")
_NO_LETTER = re.compile(r"\W+")


def read_summedits(data: Path) -> Iterator[Example]:
    """Edited summaries: what differs from the original is marked when people found the edit inconsistent."""
    for domain in DOMAINS:
        rows = json.loads((data / "summedits" / f"summedits_{domain}.json").read_text(encoding="utf-8"))
        for row in rows:
            is_unsupported = str(row["label"]) == "0"
            spans = edited(row["original_summary"], row["summary"]) if is_unsupported else ()
            yield _edit(f"summedits/{domain}", row, row["summary"], is_unsupported=is_unsupported, spans=spans)


def read_originals(data: Path) -> Iterator[Example]:
    """The summaries that SummEdits began with, each once: nothing in them was found wrong."""
    for domain in DOMAINS:
        rows = json.loads((data / "summedits" / f"summedits_{domain}.json").read_text(encoding="utf-8"))
        for row in {(row["doc"], row["original_summary"]): row for row in rows}.values():
            yield _edit(f"summedits/{domain}", row, row["original_summary"], is_unsupported=False, spans=())


def _edit(data_set: str, row: dict[str, Any], text: str, *, is_unsupported: bool, spans: tuple[Span, ...]) -> Example:
    return Example(
        data_set=data_set,
        source=source_of(row["doc"]),
        task="summary",
        evidence=(row["doc"],),
        text=text,
        is_unsupported=is_unsupported,
        spans=spans,
        has_spans=bool(spans) or not is_unsupported,
        family=row["original_summary"],
    )


def source_of(document: str) -> str:
    """The beginning of a document, without what sets write in different ways."""
    return _NO_LETTER.sub("", _BREAK.sub("", document)).lower()[:120]


def read_defacto(data: Path) -> Iterator[Example]:
    """Summaries of news by a system; a wrong one with its words marked that people changed, and the correction."""
    for part in ("train", "val", "test"):
        for row in json_lines(data / "defacto" / f"{part}.jsonl"):
            right = row["feedback"]["summary"].strip() if row["has_error"] else row["candidate"]
            if row["has_error"]:
                spans = edited(right, row["candidate"], is_conflict=not row["extrinsic_error"])
                yield _defacto(row, row["candidate"], spans=spans, is_unsupported=True)
            if right:
                yield _defacto(row, right, spans=(), is_unsupported=False)


def _defacto(row: dict[str, Any], text: str, *, spans: tuple[Span, ...], is_unsupported: bool) -> Example:
    return Example(
        data_set="defacto",
        source=source_of(row["article"]),
        task="summary",
        evidence=(row["article"],),
        text=text,
        is_unsupported=is_unsupported,
        spans=spans,
        has_spans=bool(spans) or not is_unsupported,
        is_one_claim=True,
        family=row["candidate"],
    )


def edited(original: str, text: str, *, is_conflict: bool = True) -> tuple[Span, ...]:
    """Words of a text that stand otherwise in its original; of a deletion, the words around it."""
    words = list(_WORD.finditer(text))
    matcher = SequenceMatcher(None, _WORD.findall(original), [word.group() for word in words], autojunk=False)
    spans = []
    for kind, _, _, begin, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        first, last = (max(0, begin - 1), min(len(words), begin + 1)) if kind == "delete" else (begin, end)
        if first < last:
            spans.append(Span(words[first].start(), words[last - 1].end(), is_conflict))
    return tuple(spans)


def read_gofigure(data: Path) -> Iterator[Example]:
    """Summaries of news and chats by several systems; no places are marked."""
    for name in ("xsum", "samsum"):
        for row in json_lines(data / "gofigure" / f"{name}.jsonl"):
            if row["label"] not in ("factual", "factually incorrect"):
                continue
            yield Example(
                data_set=f"gofigure/{name}",
                source=source_of(row["article"]),
                task="summary",
                evidence=(_BREAK.sub("\n", row["article"]),),
                text=_BREAK.sub(" ", row["summary"]).strip(),
                is_unsupported=row["label"] != "factual",
                has_spans=row["label"] == "factual",
            )
