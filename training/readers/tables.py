"""Statements about tables of Wikipedia: TabFact and InfoTabS. Each has a label, no place is marked."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from training.examples import Example, GivenClaim

from .lines import json_lines


def read_tabfact(data: Path) -> Iterator[Example]:
    """TabFact: all statements about a table as one text, the table as a list of rows."""
    folder = data / "tabfact"
    tables = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    statements: dict[tuple[str, str], list[tuple[str, bool]]] = {}
    for row in json_lines(folder / "statements.jsonl"):
        statements.setdefault((row["table"], row["caption"]), []).append((row["statement"], row["label"] == 0))
    for (name, caption), told in statements.items():
        rows = list(csv.DictReader(tables[name].splitlines(), delimiter="#", quoting=csv.QUOTE_NONE))
        yield _statements("tabfact", name, {"title": caption, "rows": rows}, told)


def read_infotabs(data: Path) -> Iterator[Example]:
    """InfoTabS: all hypotheses about an infobox as one text."""
    folder = data / "infotabs"
    tables = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    hypotheses: dict[str, list[tuple[str, bool]]] = {}
    for row in json_lines(folder / "hypotheses.jsonl"):
        hypotheses.setdefault(row["table"], []).append((row["hypothesis"], row["label"] != "E"))
    for name, told in hypotheses.items():
        record = {key: [each.strip() for each in values] for key, values in tables[name].items()}
        shown = {key: values[0] if len(values) == 1 else values for key, values in record.items()}
        yield _statements("infotabs", f"infotabs/{name}", shown, told)


def _statements(data_set: str, source: str, record: Any, told: Iterable[tuple[str, bool]]) -> Example:
    """Statements in an order of their own: those written together would give each other away."""
    lines = sorted(told, key=lambda each: hashlib.blake2b(each[0].encode(), digest_size=8).digest())
    text, claims = "", []
    for statement, is_unsupported in lines:
        claims.append(GivenClaim(len(text), len(text) + len(statement), is_unsupported))
        text += f"{statement}\n"
    return Example(
        data_set=data_set,
        source=source,
        task="data",
        evidence=(json.dumps(record, ensure_ascii=False),),
        text=text.rstrip("\n"),
        is_unsupported=any(each.is_unsupported for each in claims),
        has_spans=False,
        given=tuple(claims),
    )
