"""What a million to a billion records take: processor time, cores, hours, dollars and storage.

    python benchmarks/capacity.py [--copies 1 40] [--cores 64] [--dollars 0.04]

Every workload is a command of the package on copies of bundled samples, or of what the demo made, in one process. Its
cost of a record is the difference in processor time between many copies and few, so that starting Python counts for
nothing and a busy machine changes little. Storage is what the run with few copies keeps of each record, as
Parquet, with its input: many copies of one text would be packed better than texts that differ. Prints the tables of
docs/explanation/capacity.md. Calls of language models are no processor time: their cost is calls, tokens and
prices, which `hallumeter audit --dry-run` counts.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SAMPLES = Path(__file__).parents[1] / "src" / "hallumeter" / "samples"
SIZES = (10**6, 10**7, 10**8, 10**9)


class Workload(NamedTuple):
    """A command, the rows it reads, and what one of them is called."""

    title: str
    unit: str
    words: tuple[str, ...]
    rows: Callable[[int, Path], Iterator[dict[str, Any]]]
    """So many copies, given the folder of the demo."""


def answers(copies: int, _: Path) -> Iterator[dict[str, Any]]:
    """The bundled answers with their evidence, each as a record of its own."""
    rows = [json.loads(line) for line in (SAMPLES / "rag_answers.jsonl").read_text(encoding="utf-8").splitlines()]
    whole = {row["record_id"]: row for row in rows if row.get("response") and row.get("evidence")}
    for copy in range(copies):
        for name, row in whole.items():
            kept = {key: row[key] for key in ("response", "evidence", "question", "model") if key in row}
            yield {"id": f"{name}-{copy}", **kept}


def verdicts(copies: int, _: Path) -> Iterator[dict[str, Any]]:
    """The bundled verdicts of a panel of judges."""
    rows = [json.loads(line) for line in (SAMPLES / "panel.jsonl").read_text(encoding="utf-8").splitlines()]
    for copy in range(copies * 20):
        for row in rows:
            yield row | {"record_id": f"{row['record_id']}-{copy}"}


def pages(copies: int, _: Path) -> Iterator[dict[str, Any]]:
    """Pages of 300 words, of which every tenth is misread and a line is invented."""
    words = (SAMPLES / "rag_answers.jsonl").read_text(encoding="utf-8").split()[:300]
    for number in range(copies * 40):
        reference = [f"{word}{number % 7}" for word in words]
        response = [word[::-1] if place % 10 == 0 else word for place, word in enumerate(reference)]
        text = " ".join([*response, *(f"invented{place}" for place in range(12))])
        yield {"page": f"p{number}", "engine": "ocr", "reference": " ".join(reference), "response": text}


def events(copies: int, demo: Path) -> Iterator[dict[str, Any]]:
    """The answers to the patients of the demo, with what is true of each patient."""
    rows = [json.loads(line) for line in (demo / "dialogues/events.jsonl").read_text(encoding="utf-8").splitlines()]
    for copy in range(copies):
        for row in rows:
            yield row | {"patient_id": f"{row['patient_id']}-{copy}"}


def scorecards(copies: int, demo: Path) -> Iterator[dict[str, Any]]:
    """The scorecards of the English reviews of the demo."""
    path = demo / "reviews-english/scorecards.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for copy in range(copies):
        for row in rows:
            yield row | {"meta": row["meta"] | {"text_id": f"{row['meta']['text_id']}-{copy}"}}


WORKLOADS = (
    Workload("audit, `rules`", "answer", ("audit", "--judge", "rules"), answers),
    Workload("audit, `embedded:fast`", "answer", ("audit", "--judge", "embedded:fast"), answers),
    Workload("audit, `embedded`", "answer", ("audit", "--judge", "embedded"), answers),
    Workload("measure", "verdict", ("measure",), verdicts),
    Workload("transcripts", "page of 300 words", ("transcripts",), pages),
    Workload("dialogue measure", "answer", ("dialogue measure",), events),
    Workload("aspects aggregate", "scorecard", ("aspects aggregate",), scorecards),
)


class Cost(NamedTuple):
    """What one record takes."""

    milliseconds: float
    bytes: float


def main() -> None:
    """Measure every workload and print what many records would take."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--copies", type=int, nargs=2, default=[1, 40])
    parser.add_argument("--cores", type=int, default=64)
    parser.add_argument("--dollars", type=float, default=0.04, help="of a core-hour")
    options = parser.parse_args()
    print(f"Measured with Python {platform.python_version()} on {processor()}, load {os.getloadavg()[0]:.1f}.\n")
    costs = {}
    with tempfile.TemporaryDirectory(prefix="hallumeter-bench-") as name:
        demo = Path(name) / "demo"
        words = [sys.executable, "-m", "hallumeter", "demo", "--out", str(demo)]
        subprocess.run(words, check=True, capture_output=True)
        for workload in WORKLOADS:
            costs[workload] = cost_of(workload, demo, options.copies)
    print("| work | of one | ms of a core | a core does in an hour | bytes kept |\n| --- | --- | --- | --- | --- |")
    for workload, cost in costs.items():
        hourly = 3.6e6 / cost.milliseconds
        print(f"| {workload.title} | {workload.unit} | {cost.milliseconds:.2f} | {hourly:,.0f} | {cost.bytes:,.0f} |")
    print(f"\nCore-hours, hours on {options.cores} cores, dollars (${options.dollars} a core-hour), storage:\n")
    print("| work | " + " | ".join(f"{size:,}" for size in SIZES) + " |\n| --- |" + " --- |" * len(SIZES))
    for workload, cost in costs.items():
        cells = []
        for size in SIZES:
            hours = size * cost.milliseconds / 3.6e6
            parts = (short(hours), f"{short(hours / options.cores)} h", f"${hours * options.dollars:,.2f}")
            cells.append(", ".join([*parts, storage(size * cost.bytes)]))
        print(f"| {workload.title} | {' | '.join(cells)} |")


def short(number: float) -> str:
    """A number with two digits that tell something."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def processor() -> str:
    """What the machine calls its processor, and how many cores there are."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()} ({os.cpu_count()} cores)"


def cost_of(workload: Workload, demo: Path, copies: list[int]) -> Cost:
    """Processor time and storage of one record more."""
    seconds, counts, kept = [], [], []
    for copy in copies:
        path = demo.with_name("input.jsonl")
        counts.append(written(path, workload.rows(copy, demo)))
        out = demo.parent / f"{workload.title.replace(' ', '-').replace('`', '').replace(':', '-')}-{copy}"
        begun = children_seconds()
        words = [*workload.words[0].split(), str(path), *workload.words[1:], "--out", str(out), "--quiet"]
        one = ["--workers", "1", "--shards", "1"]
        subprocess.run([sys.executable, "-m", "hallumeter", *words, *one], check=True, stdout=subprocess.DEVNULL)
        seconds.append(children_seconds() - begun)
        files = [path for name in ("data", "inputs") for path in (out / name).rglob("*") if path.is_file()]
        kept.append(sum(path.stat().st_size for path in files) / counts[-1])
    return Cost(1000 * (seconds[1] - seconds[0]) / (counts[1] - counts[0]), kept[0])


def written(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    """Write rows; gives their number."""
    count = 0
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(row) + "\n")
            count += 1
    return count


def children_seconds() -> float:
    """Processor time of all programs that were run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def storage(size: float) -> str:
    """Bytes in words."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


if __name__ == "__main__":
    main()
