"""Small runs with labels: a judge whose scores are made to measure, beside a person who knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from compared_runs import run_of
from hallumeter.run.finished import Run

WORDS = (
    *("river", "stone", "garden", "market", "window", "letter", "bridge"),
    *("winter", "silver", "forest", "harbour", "engine", "castle", "meadow"),
)


class MadeClaim(NamedTuple):
    """A claim before any judge has seen it."""

    record: str
    number: int
    text: str
    evidence: str
    is_unsupported: bool


def made_claims(records: int, *, claims: int = 1, seed: int = 0) -> list[MadeClaim]:
    """Claims of which the longer ones are unsupported more often, and then have some words that the evidence lacks."""
    rng = np.random.default_rng(seed)
    made = []
    for record in range(records):
        known = [f"{word}{record}" for word in rng.choice(WORDS, 8, replace=False)]
        for number in range(claims):
            length = int(rng.integers(3, 30))
            is_unsupported = bool(rng.random() < length / 40)
            words = list(rng.choice(known, length))
            if is_unsupported and rng.random() < 0.8:
                words[: length // 2] = [f"other{place}x{record}" for place in range(length // 2)]
            made.append(MadeClaim(f"r{record}", number, " ".join(words), " ".join(known), is_unsupported))
    return made


def rows_of(claims: Sequence[MadeClaim], judge: str, said: Callable[[MadeClaim], object]) -> list[dict[str, object]]:
    """Verdicts of a judge who gives a probability, or a label, to each claim."""
    rows = []
    for claim in claims:
        found = said(claim)
        given = (
            {"label": found}
            if isinstance(found, str)
            else {"label": "REFUTED" if float(str(found)) > 0.5 else "SUPPORTED", "unsupported_probability": found}
        )
        own = [each for each in claims if each.record == claim.record]
        rows.append(
            {
                "record_id": claim.record,
                "claim_id": f"{claim.record}-{claim.number}",
                "text": claim.text,
                "response": " ".join(each.text for each in own),
                "evidence": [claim.evidence],
                "judge": judge,
                **given,
            }
        )
    return rows


def truth(claim: MadeClaim) -> str:
    return "REFUTED" if claim.is_unsupported else "SUPPORTED"


def by_length(claim: MadeClaim) -> float:
    """A judge who counts characters."""
    return min(1.0, len(claim.text) / 400)


def labelled_run(folder: Path, claims: Sequence[MadeClaim], said: Callable[[MadeClaim], object]) -> Run:
    """A measured run of a judge ``j`` beside a judge ``human`` who knows."""
    return run_of(folder, [*rows_of(claims, "j", said), *rows_of(claims, "human", truth)])


def labels_csv(path: Path, claims: Sequence[MadeClaim], *, annotator: str = "kim") -> Path:
    """The truth as a table."""
    lines = [f"{each.record},{each.record}-{each.number},{truth(each)},{annotator}" for each in claims]
    path.write_text("\n".join(["record_id,claim_id,label,annotator", *lines, ""]), encoding="utf-8")
    return path


def as_json(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return found
