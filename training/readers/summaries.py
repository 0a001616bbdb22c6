"""Summaries that people judged: SummEdits, and the human evaluation of GO FIGURE."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from training.examples import Example, Span

from .lines import json_lines

DOMAINS = ("ectsum", "sales_call", "sales_email", "scitldr")
_WORD = re.compile(r"\w+|[^\w\s]")
_BREAK = re.compile(r"<br ?/?>|</s>")


def read_summedits(data: Path) -> Iterator[Example]:
    """Edited summaries: what differs from the original is marked when people found the edit inconsistent."""
    for domain in DOMAINS:
        rows = json.loads((data / "summedits" / f"summedits_{domain}.json").read_text(encoding="utf-8"))
        for row in rows:
            is_unsupported = str(row["label"]) == "0"
            spans = edited(row["original_summary"], row["summary"]) if is_unsupported else ()
            yield Example(
                data_set=f"summedits/{domain}",
                source=row["doc"][:200],
                task="summary",
                evidence=(row["doc"],),
                text=row["summary"],
                is_unsupported=is_unsupported,
                spans=spans,
                has_spans=bool(spans) or not is_unsupported,
            )


def edited(original: str, text: str) -> tuple[Span, ...]:
    """Words of a text that stand otherwise in its original; of a deletion, the words around it."""
    words = list(_WORD.finditer(text))
    matcher = SequenceMatcher(None, _WORD.findall(original), [word.group() for word in words], autojunk=False)
    spans = []
    for kind, _, _, begin, end in matcher.get_opcodes():
        if kind == "equal":
            continue
        first, last = (max(0, begin - 1), min(len(words), begin + 1)) if kind == "delete" else (begin, end)
        if first < last:
            spans.append(Span(words[first].start(), words[last - 1].end(), is_conflict=True))
    return tuple(spans)


def read_gofigure(data: Path) -> Iterator[Example]:
    """Summaries of news and chats by several systems; no places are marked."""
    for name in ("xsum", "samsum"):
        for row in json_lines(data / "gofigure" / f"{name}.jsonl"):
            if row["label"] not in ("factual", "factually incorrect"):
                continue
            yield Example(
                data_set=f"gofigure/{name}",
                source=row["article"][:200],
                task="summary",
                evidence=(_BREAK.sub("\n", row["article"]),),
                text=_BREAK.sub(" ", row["summary"]).strip(),
                is_unsupported=row["label"] != "factual",
                has_spans=row["label"] == "factual",
            )
