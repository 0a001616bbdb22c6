"""Records whose verdicts can be foreseen, and ways to audit them and to compare what came out."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from child_programs import Child, started
from hallumeter.claims.audit.commands import AuditOutcome, audit_files
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings, MeasureSettings
from hallumeter.models.pace import PaceSettings
from hallumeter.run.progress import NoProgress
from misbehaving_server import MisbehavingServer

LABELS = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO")
CHILD_SECONDS = 60
"""A program that takes longer hangs."""


def claim(record: int, number: int) -> str:
    return f"Town {record} had {100 + number} bridges in those days."


def record(number: int, *, claims: int = 3) -> dict[str, Any]:
    """A response whose claims are supported, refuted and unknown in turn, as the server of the tests judges them."""
    texts = [claim(number, place) for place in range(claims)]
    evidence = [
        text if place % 3 == 0 else text.replace(" ", " not ", 1)
        for place, text in enumerate(texts)
        if LABELS[place % 3] != "NOT_ENOUGH_INFO"
    ]
    return {"id": f"r{number}", "response": " ".join(texts), "evidence": " ".join(evidence), "model": f"m{number % 2}"}


def expected_labels(records: int, *, claims: int = 3) -> Counter[str]:
    return Counter(LABELS[place % 3] for place in range(claims) for _ in range(records))


def written(path: Path, records: int, *, claims: int = 3) -> Path:
    return write_rows(path, [record(number, claims=claims) for number in range(records)])


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def settings_for(server: MisbehavingServer, **changes: Any) -> AuditSettings:
    """One judge on the server, short waits, and an interval that is computed fast."""
    chosen: dict[str, Any] = {
        "judges": (f"{server.openai}#judge",),
        "pace": PaceSettings(timeout_seconds=20, first_delay_seconds=0.01, most_attempts=3),
        "language_model": LanguageModelSettings(claims_per_call=2),
        "measure": MeasureSettings(resamples=100),
    }
    return AuditSettings(**{**chosen, **changes})


def audited(
    source: Path, out: Path, settings: AuditSettings, *, is_resumed: bool = False, progress: Any = None
) -> AuditOutcome:
    return audit_files([source], out, settings=settings, progress=progress or NoProgress(), is_resumed=is_resumed)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def labels(run: Path) -> Counter[str]:
    return Counter(row["label"] for row in lines(run / "verdicts.jsonl"))


def failure_codes(run: Path) -> Counter[str]:
    return Counter(row["code"] for row in lines(run / "failures.jsonl"))


def run_files(run: Path) -> dict[str, bytes]:
    """Everything in a run folder, without the times of day and the journal that failures leave."""
    files = {path.name: path.read_bytes() for path in run.iterdir() if "journal" not in path.name}
    manifest = json.loads(files["manifest.json"])
    for name in ("started", "finished"):
        files["report.html"] = files["report.html"].replace(manifest[name].encode(), b"TIME")
        del manifest[name]
    del manifest["settings"]["budget_usd"]
    files["manifest.json"] = json.dumps(manifest).encode()
    return files


def check_every_claim_once(run: Path, *, judges: int = 1) -> None:
    """Every claim has one verdict or one failure of each judge, and nothing else has any."""
    claims = [row["claim_id"] for row in lines(run / "claims.jsonl")]
    assert len(set(claims)) == len(claims)
    said = [*lines(run / "verdicts.jsonl"), *lines(run / "failures.jsonl")]
    judged = Counter((row["claim_id"], row["judge"]) for row in said if row["claim_id"] is not None)
    assert set(judged.values()) <= {1}
    assert Counter(claim_id for claim_id, _ in judged) == dict.fromkeys(claims, judges)


def child(*arguments: object, folder: Path, environment: dict[str, str] | None = None) -> AbstractContextManager[Child]:
    cache = {"HALLUMETER_CACHE": str(folder / "cache")}
    return started(
        "audit", *arguments, folder=folder, environment={**cache, **(environment or {})}, seconds=CHILD_SECONDS
    )


def ended(*arguments: object, folder: Path, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    with child(*arguments, folder=folder, environment=environment) as program:
        return program.end()


def wait_until(condition: Callable[[], bool], *, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
