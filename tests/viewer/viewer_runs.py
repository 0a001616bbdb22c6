"""Runs for the viewer to show, written file by file; the same every time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.manifest import InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Counts, MetricSummary, Summary
from hallumeter.records.response import FieldValue, Passage, Quote, Response

JUDGES = ("rules", "openai:small", "anthropic:large")
LABELS = (Label.SUPPORTED, Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED)
REASONS = (None, "number_mismatch", "name_mismatch", "silent")
KINDS = ("claim", "claim", "slot")
WORDS = (
    "the tower is high",
    "서울은 한국의 수도이다",
    "ＦＵＬＬ width",
    "L’été à Paris",
    "x₂ + 1 = 5",
    "שלום עולם",
    "a % _ * \" '",
)
SHARED = Passage("handbook", "Every record of this run may cite the handbook of Grenoble.")


class Written(Struct, frozen=True):
    """What was written into a run folder."""

    path: Path
    records: list[Response]
    claims: list[Claim]
    verdicts: list[Verdict]
    failures: list[Failure]


def metric(name: str, value: float | None, *, signature: str = "v:1", judge: str | None = "rules") -> MetricSummary:
    interval = None if value is None else (value / 2, min(1.0, value * 1.5))
    return MetricSummary(
        metric=name,
        by={},
        judge=judge,
        count=None if value is None else value * 100,
        total=None if value is None else 100,
        value=value,
        interval=interval,
        interval_method="wilson",
        direction="lower",
        undefined=None if value is not None else "no claim is decided",
        undecided=0,
        failed=0,
        bounds=None,
        signature=f"{name}|{signature}",
    )


def write_facts(
    path: Path,
    counts: Counts,
    *,
    started: str = "2026-01-02T03:04:05+00:00",
    metrics: Sequence[MetricSummary] = (),
    name: str = "answers.jsonl",
) -> None:
    """Manifest and summary of an audit."""
    manifest = Manifest(
        version=1,
        hallumeter="0.1.0",
        instrument="audit",
        inputs=(InputFile(name, "0" * 64, counts.records),),
        judges=tuple(JudgeEntry(judge, f"{judge}@1") for judge in JUDGES),
        started=started,
        finished=started,
    )
    summary = Summary(1, "audit", counts, tuple(metrics or [metric("mihr", 0.25), metric("mahr", 0.5)]))
    path.mkdir(parents=True, exist_ok=True)
    (path / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    (path / "summary.json").write_bytes(msgspec.json.encode(summary))


def write_lines(path: Path, rows: Iterable[object]) -> None:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def written_run(path: Path, records: int = 120, *, seed: int = 7, **facts: str) -> Written:
    """A run with everything that a query may ask for."""
    rng = random.Random(seed)
    written = Written(path, [], [], [], [])
    for number in range(records):
        _add(written, number, rng)
    counts = Counts(records=records, claims=len(written.claims), verdicts=len(written.verdicts), failures=4)
    write_facts(path, counts, **facts)  # type: ignore[arg-type]
    write_lines(path / "records.jsonl", written.records)
    write_lines(path / "claims.jsonl", written.claims)
    write_lines(path / "verdicts.jsonl", written.verdicts)
    write_lines(path / "failures.jsonl", written.failures)
    write_lines(path / "measurements.jsonl", [])
    return written


def _add(written: Written, number: int, rng: random.Random) -> None:
    record_id = f"r{number}"
    parts = rng.sample(WORDS, rng.randint(1, 4))
    text = None if number % 17 == 3 else ". ".join(parts) + f". Nr {number}."
    fields: dict[str, FieldValue] = {
        "topic": rng.choice(["tax", "law", None]),
        "hard": rng.random() < 0.5,
        "n": number % 3,
    }
    written.records.append(
        Response(
            record_id,
            question=rng.choice([None, f"Question {number}?"]),
            response=text,
            evidence=(SHARED, Passage(f"e{number}", f"Evidence {number % 10} says so.")),
            model=rng.choice([None, "small", "large"]),
            fields=fields,
        )
    )
    for place in range(rng.choice([0, 1, 3, 5])):
        _add_claim(written, f"{record_id}#{place}", text, rng)
    if number % 30 == 5:
        written.failures.append(Failure(record_id, None, "judge", "rules", rng.choice(["timeout", "refused"]), "broke"))


def _add_claim(written: Written, claim_id: str, text: str | None, rng: random.Random) -> None:
    record_id = claim_id.partition("#")[0]
    size = len(text or "")
    start = rng.randrange(size) if text and rng.random() < 0.8 else None
    end = None if start is None else rng.randint(start + 1, size)
    words = f"claim {claim_id}" if start is None else None
    written.claims.append(Claim(record_id, claim_id, kind=rng.choice(KINDS), start=start, end=end, text=words))
    for judge in JUDGES:
        if rng.random() < 0.85:
            probability = rng.choice([None, round(rng.random(), 2)])
            facts = {"reason": rng.choice(REASONS), "note": rng.choice([None, "a note on it"])}
            label, quote = rng.choice(LABELS), Quote("handbook", 0, 5)
            written.verdicts.append(
                Verdict(record_id, claim_id, judge, label, probability, evidence=(quote,), **facts)  # type: ignore[arg-type]
            )
