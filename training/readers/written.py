"""Texts written for this: overviews of invented businesses, and summaries of news, with every error marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from training.examples import Example, Span

from .lines import json_lines
from .summaries import source_of

FOLDER = Path(__file__).parents[1] / "written"
_MARK = re.compile(r"⟦([CB])\|([^⟦⟧]+)⟧")


def read_written(data: Path) -> Iterator[Example]:
    """All written texts; the articles of the summaries are read from GO FIGURE."""
    for path in sorted(FOLDER.glob("business_*.jsonl")):
        for number, row in enumerate(json_lines(path)):
            source = f"{path.stem}-{number}"
            for text in row["responses"]:
                yield _example(text, json.dumps(row["source"], ensure_ascii=False), name="business", source=source)
    articles = [row["article"] for row in json_lines(data / "gofigure" / "xsum.jsonl")]
    for path in sorted(FOLDER.glob("articles_*.jsonl")):
        for row in json_lines(path):
            article = articles[row["article"]].strip()
            for text in row["responses"]:
                yield _example(text, article, name="articles", source=source_of(article))


def _example(marked: str, evidence: str, *, name: str, source: str) -> Example:
    text, spans = unmarked(marked)
    return Example(
        data_set=f"written/{name}",
        source=source,
        task="data" if name == "business" else "summary",
        evidence=(evidence,),
        text=text,
        is_unsupported=bool(spans),
        spans=spans,
    )


def unmarked(marked: str) -> tuple[str, tuple[Span, ...]]:
    """A text without its marks, and where they stood."""
    text = ""
    spans = []
    place = 0
    for mark in _MARK.finditer(marked):
        text += marked[place : mark.start()]
        spans.append(Span(len(text), len(text) + len(mark.group(2)), is_conflict=mark.group(1) == "C"))
        text += mark.group(2)
        place = mark.end()
    return text + marked[place:], tuple(spans)
