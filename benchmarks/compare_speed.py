"""How long `hallumeter compare` takes, beside merely reading both runs, and how much memory.

    python benchmarks/compare_speed.py [--records 100000] [--claims 10] [--repeat 2]

Two audits of simulated answers are written as run folders: every record has as many claims on average, a tenth of them
unsupported; in the second run a tenth of the claims is reworded or has another label. Every measurement is the CPU time
of a process of its own, the best of a few. Reading is decoding records, claims, verdicts and measurements of both runs
with `RunFolder`, keeping nothing. `shuffled` compares with the second run in another order.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from hallumeter import load
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.manifest import InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Counts, Measurement, MetricSummary, Summary
from hallumeter.records.response import Response

PRELUDE = """
import json, sys, time
def report(seconds):
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(json.dumps({"seconds": seconds, "mib": int(peak.split()[1]) / 1024}))
"""
READ = """
from pathlib import Path
from hallumeter.run.run_folder import RunFolder
start = time.process_time()
for path in sys.argv[1:]:
    folder = RunFolder(Path(path))
    for _ in folder.findings():
        pass
    for _ in folder.measurements():
        pass
report(time.process_time() - start)
"""
COMPARE = """
from hallumeter import compare
from hallumeter.decide.compare.sides import CompareSettings
start = time.process_time()
comparison = compare(sys.argv[1], sys.argv[2], settings=CompareSettings(metrics=("all",), resamples=2000))
report(time.process_time() - start)
assert comparison.common
"""
METRICS = ("mihr", "mihr_refuted", "mihr_mean", "mahr", "factscore", "factscore_penalized")
LABELS = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO)
WORDS = [
    "river",
    "tower",
    "engine",
    "people",
    "school",
    "winter",
    "music",
    "number",
    "market",
    "letter",
    "bridge",
    "garden",
    "paper",
    "window",
]


def write_run(folder: Path, *, records: int, claims: int, is_second: bool, is_shuffled: bool = False) -> None:
    """Write one simulated run; both runs share their claims but for a tenth."""
    folder.mkdir()
    encode = msgspec.json.Encoder().encode
    order = list(range(records))
    if is_shuffled:
        random.Random(1).shuffle(order)
    names = ("records", "claims", "verdicts", "measurements", "failures")
    streams = {name: (folder / f"{name}.jsonl").open("wb") for name in names}
    for number in order:
        rng, change = random.Random(number), random.Random(-number - 1)
        record = f"r{number}"
        texts = [" ".join(rng.choices(WORDS, k=10)) for _ in range(rng.randint(1, 2 * claims - 1))]
        labels = [rng.choices(LABELS, (90, 5, 5))[0] for _ in texts]
        if is_second:
            texts = [text.replace("river", "stream") if change.random() < 0.1 else text for text in texts]
            labels = [change.choice(LABELS) if change.random() < 0.05 else label for label in labels]
        response = ". ".join(texts)
        streams["records"].write(encode(Response(record, "What?", response, fields={"task": f"t{number % 5}"})) + b"\n")
        start = 0
        for place, (text, label) in enumerate(zip(texts, labels, strict=True)):
            name, span = f"{record}#{place}", (start, start + len(text))
            start += len(text) + 2
            streams["claims"].write(encode(Claim(record, name, "claim", *span, text)) + b"\n")
            streams["verdicts"].write(
                encode(Verdict(record, name, "simulated", label, 0.5, start=span[0], end=span[1])) + b"\n"
            )
        bad, total = sum(label is not Label.SUPPORTED for label in labels), len(labels)
        for metric in METRICS:
            count, of = (float(bad > 0), 1.0) if metric == "mahr" else (float(bad), float(total))
            row = Measurement(metric, "record", record, {}, "simulated", count, of, count / of)
            streams["measurements"].write(encode(row) + b"\n")
    for stream in streams.values():
        stream.close()
    rows = tuple(
        MetricSummary(metric, {}, "simulated", 1, 1, 1, None, None, "lower", None, 0, 0, None, "") for metric in METRICS
    )
    (folder / "summary.json").write_bytes(encode(Summary(1, "audit", Counts(records), rows)))
    manifest = Manifest(
        1, "0.1.0", "audit", (InputFile("simulated", None, records),), {}, (JudgeEntry("simulated", "simulated"),)
    )
    (folder / "manifest.json").write_bytes(encode(manifest))
    assert load(folder).summary.counts.records == records


def measured(program: str, paths: list[Path], repeat: int) -> tuple[float, float]:
    """CPU seconds, the best of a few, and MiB, the most."""
    results = []
    for _ in range(repeat):
        command = [sys.executable, "-c", PRELUDE + program, *map(str, paths)]
        done = subprocess.run(command, check=True, capture_output=True, env=os.environ)
        results.append(json.loads(done.stdout))
    return min(each["seconds"] for each in results), max(each["mib"] for each in results)


def main() -> None:
    """Print seconds, memory and the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--claims", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        first, second, shuffled = (Path(name) / run for run in ("first", "second", "shuffled"))
        size = {"records": options.records, "claims": options.claims}
        write_run(first, **size, is_second=False)
        write_run(second, **size, is_second=True)
        write_run(shuffled, **size, is_second=True, is_shuffled=True)
        reading, reading_mib = measured(READ, [first, second], options.repeat)
        print(f"{options.records:,} records with {options.claims} claims each on average, 6 metrics, 2,000 resamples")
        print(f"{'reading both':24} {reading:7.1f} s  {reading_mib:6.0f} MiB")
        for label, paths in (("compare", [first, second]), ("compare, shuffled", [first, shuffled])):
            seconds, mib = measured(COMPARE, paths, options.repeat)
            print(f"{label:24} {seconds:7.1f} s  {mib:6.0f} MiB  {seconds / reading:.2f} times reading")


if __name__ == "__main__":
    main()
