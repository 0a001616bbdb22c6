"""Rows of verdicts for tests, and a plain recount of them that shares no code with the package."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

Row = dict[str, object]

SUPPORTED, REFUTED, SILENT, UNDECIDED, FAILED = "SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "FAILED"
SPELLINGS: dict[object, str] = {
    "SUPPORTED": SUPPORTED,
    "supported": SUPPORTED,
    "Entailment": SUPPORTED,
    "REFUTED": REFUTED,
    "contradiction": REFUTED,
    "NOT_ENOUGH_INFO": SILENT,
    "not enough-info": SILENT,
    "neutral": SILENT,
    "UNDECIDED": UNDECIDED,
    "maybe": FAILED,
    "": FAILED,
    None: FAILED,
}
"""How a label may be spelled, and what it means by the documentation of the input files."""


class Tally(NamedTuple):
    """What is left of the rows when they are counted by hand."""

    mihr: tuple[int, int]
    mahr: tuple[int, int]
    undecided: int
    failed: int
    mihr_bounds: tuple[float, float] | None
    mahr_bounds: tuple[float, float] | None


def write_lines(path: Path, rows: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def recount(rows: Sequence[Row], judge: str | None = None) -> Tally:
    """Count rows by the words of the product's definitions; with several judges by the majority, or for one judge."""
    votes: dict[tuple[str, str], dict[str, str]] = {}
    responses: dict[str, Counter[str]] = {}
    for row in rows:
        if row.get("record_id") in (None, ""):
            continue
        response = f"{row['record_id']}\0{row.get('model')}"
        responses.setdefault(response, Counter())
        if row.get("claim_id") not in (None, ""):
            by_judge = votes.setdefault((response, str(row["claim_id"])), {})
            by_judge.setdefault(str(row.get("judge") or "judge"), meaning(row))
    is_panel = len({name for by_judge in votes.values() for name in by_judge}) > 1
    for (response, _), by_judge in votes.items():
        if judge is not None and judge not in by_judge:
            continue
        label = by_judge[judge] if judge is not None else majority(by_judge.values()) if is_panel else None
        responses[response][label or next(iter(by_judge.values()))] += 1
    return tally(list(responses.values()))


def meaning(row: Row) -> str:
    """What a row's label means; an impossible probability makes it a failure."""
    confidence = row.get("confidence")
    if isinstance(confidence, (int, float)) and not 0 <= confidence <= 1:
        return FAILED
    return SPELLINGS[row.get("label")]


def majority(labels: Iterable[str]) -> str:
    found = list(labels)
    decided = Counter(label for label in found if label in (SUPPORTED, REFUTED, SILENT))
    if not decided:
        return UNDECIDED if UNDECIDED in found else FAILED
    (first, votes), *others = decided.most_common()
    return UNDECIDED if others and others[0][1] == votes else first


def tally(responses: Sequence[Counter[str]]) -> Tally:
    bad = [labels[REFUTED] + labels[SILENT] for labels in responses]
    decided = [labels[SUPPORTED] + wrong for labels, wrong in zip(responses, bad, strict=True)]
    unknown = [labels[UNDECIDED] + labels[FAILED] for labels in responses]
    claims = sum(decided) + sum(unknown)
    best = sum(wrong > 0 for wrong in bad)
    worst = sum(wrong + open_ > 0 or labels.total() == 0 for wrong, open_, labels in zip(bad, unknown, responses))  # noqa: B905
    return Tally(
        mihr=(sum(bad), sum(decided)),
        mahr=(best, sum(count > 0 for count in decided)),
        undecided=sum(labels[UNDECIDED] for labels in responses),
        failed=sum(labels[FAILED] for labels in responses),
        mihr_bounds=(sum(bad) / claims, (sum(bad) + sum(unknown)) / claims) if claims else None,
        mahr_bounds=(best / len(responses), worst / len(responses)) if responses else None,
    )


@st.composite
def verdict_rows(draw: st.DrawFn, *, judges: int = 1, labels: Sequence[object] = tuple(SPELLINGS)) -> list[Row]:
    """Rows of some responses of one task each, with up to the given number of judges."""
    rows: list[Row] = []
    names = [f"judge {number}" for number in range(draw(st.integers(1, judges)))]
    for record in range(draw(st.integers(1, 5))):
        response: Row = {"record_id": f"r{record}", "task": draw(st.sampled_from(["QA", "D2T", "요약"]))}
        claims = draw(st.integers(0, 4))
        if not claims:
            rows.append(response)
        for claim, judge in product(range(claims), names):
            row: Row = {**response, "claim_id": f"c{claim}", "label": draw(st.sampled_from(labels)), "judge": judge}
            if draw(st.booleans()):
                row["confidence"] = draw(st.sampled_from([0.0, 0.5, 1.0, 1.3, -0.1]))
            if draw(st.integers(0, 5)):
                rows.append(row)
    # One row can be used in any case: input without one is refused as a whole.
    rows.append({"record_id": "usable", "task": "QA", "claim_id": "c0", "label": "REFUTED", "judge": names[0]})
    return rows
