"""How fast an audit is whose verdicts are all in the cache: its judging, and the whole of it.

    python benchmarks/cached_rerun.py [--claims 20000] [--evidence 3000]

Responses have 8 claims, evidence has so many characters; the language model is played by a function. The most memory
is that of a fresh process for the second audit, beside that of one with a tenth of the claims.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec

from hallumeter.claims.audit.commands import audit_files
from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings
from hallumeter.models.protocol import Request
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.run.progress import NoProgress

CLAIMS_EACH = 8
GOAL = 20_000
"""Claims per second of judging."""


def claim(record: int, number: int) -> str:
    """One sentence."""
    return f"Town {record} had {100 + number} bridges in those days."


def write_answers(path: Path, *, claims: int, evidence: int) -> None:
    """Responses with evidence of so many characters, in which half of the claims stand."""
    with path.open("w", encoding="utf-8") as stream:
        for record in range(claims // CLAIMS_EACH):
            texts = [claim(record, number) for number in range(CLAIMS_EACH)]
            known = " ".join(texts[::2])
            filler = "It rained on the hills of the north for most of that year. " * (evidence // 60)
            row = {"id": f"r{record}", "response": " ".join(texts), "evidence": f"{known} {filler}"}
            stream.write(json.dumps(row) + "\n")


def reply(request: Request) -> str:
    """A claim is supported when it stands in the evidence."""
    asked = msgspec.json.decode(request.messages[-1].content)
    evidence = asked["evidence"][0]["text"]
    verdicts = {}
    for each in asked["claims"]:
        is_there = each["text"] in evidence
        verdicts[str(each["number"])] = {
            "evidence_id": 1 if is_there else 0,
            "quote": each["text"] if is_there else "",
            "label": "SUPPORTED" if is_there else "NOT_ENOUGH_INFO",
            "note": "",
        }
    return msgspec.json.encode(verdicts).decode()


class Clock(NoProgress):
    """Notes when each step of an audit begins, on the wall and by the work of the processor."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float, float]] = []
        self.cached = 0

    def begin(self, what: str, **_: object) -> None:
        """A step begins."""
        self.steps.append((what.partition(" by ")[0], time.perf_counter(), time.process_time()))

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:  # noqa: ARG002
        """Count what came from the cache."""
        self.cached += cached

    def seconds(self) -> dict[str, tuple[float, float]]:
        """Wall and processor time of each step."""
        self.begin("end")
        pairs = zip(self.steps, self.steps[1:], strict=False)
        return {name: (after - wall, worked - work) for (name, wall, work), (_, after, worked) in pairs}


def audited(source: Path, out: Path, cache: Path) -> tuple[dict[str, tuple[float, float]], int, int]:
    """Seconds of each step, claims from the cache, and calls."""
    provider = ScriptedProvider(reply)
    judge = LanguageModelJudge(provider, LanguageModelSettings(claims_per_call=CLAIMS_EACH))
    clock = Clock()
    settings = AuditSettings(judges=(judge,), cache=cache, workers=2)
    audit_files([source], out, settings=settings, progress=clock)
    return clock.seconds(), clock.cached, len(provider.requests)


def turn(folder: Path, name: str) -> tuple[dict[str, tuple[float, float]], int, int, float]:
    """An audit in this process, and the most memory it took, in MB."""
    seconds, cached, calls = audited(folder / "answers.jsonl", folder / name, folder / "cache")
    return seconds, cached, calls, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(claims: int, evidence: int) -> tuple[dict[str, tuple[float, float]], float]:
    """The steps of a fully cached audit, and its memory."""
    fresh = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(1, fresh, max_tasks_per_child=1) as pool:
        folder = Path(name)
        write_answers(folder / "answers.jsonl", claims=claims, evidence=evidence)
        pool.submit(turn, folder, "first").result()
        seconds, cached, calls, memory = pool.submit(turn, folder, "second").result()
        assert (cached, calls) == (claims, 0), "the second audit was not fully cached"
        return seconds, memory


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=int, default=20_000)
    parser.add_argument("--evidence", type=int, default=3000)
    options = parser.parse_args()
    _, small = measured(options.claims // 10, options.evidence)
    seconds, memory = measured(options.claims, options.evidence)
    for name, (wall, work) in seconds.items():
        print(f"{name:16} {wall:8.2f} s   {work:8.2f} s of processor time")
    judging = options.claims / seconds["judging"][0]
    whole = options.claims / sum(wall for wall, _ in seconds.values())
    print(f"judging          {judging:10,.0f} claims/s   {judging / GOAL:.2f} times the goal of {GOAL:,}")
    print(f"whole audit      {whole:10,.0f} claims/s")
    print(f"most memory      {memory:10,.0f} MB   {small:,.0f} MB with a tenth of the claims")


if __name__ == "__main__":
    main()
