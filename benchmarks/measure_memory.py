"""How much memory `hallumeter measure` takes for a large file, and how long, beside only reading it.

    python benchmarks/measure_memory.py [--verdicts 10000000]

Writes verdicts of one judge on responses of four models as JSONL, about 150 bytes a row, and measures them in a process
of its own: part by part, as the command does, and with all rows in memory. Both must give the same summary. Time is CPU
time over that of decoding every line with msgspec; memory is the largest that the process had (VmHWM).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PRELUDE = """
import hashlib, json, sys, time
def report(seconds, digest=""):
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(json.dumps({"seconds": seconds, "mb": int(peak.split()[1]) * 1024 / 1e6, "digest": digest}))
"""

MEASURE = """
from pathlib import Path
import msgspec
from hallumeter import MeasureSettings
from hallumeter.claims.measure import table as partitions
from hallumeter.claims.measure.commands import measure_files
partitions.PART_BYTES = int(sys.argv[2]) or partitions.PART_BYTES
start = time.process_time()
summary = measure_files([Path(sys.argv[1])], settings=MeasureSettings()).summary
seconds = time.process_time() - start
report(seconds, hashlib.sha256(msgspec.json.encode(summary)).hexdigest())
"""

READ = """
import msgspec
class Row(msgspec.Struct):
    record_id: str
    claim_id: str
    judge: str
    model: str
    label: str
    unsupported_probability: float | None = None
decoder = msgspec.json.Decoder(Row)
start = time.process_time()
with open(sys.argv[1], "rb") as stream:
    for line in stream:
        decoder.decode(line)
report(time.process_time() - start)
"""

ROWS_AT_ONCE = 200_000
CLAIMS = 8


def write_verdicts(path: Path, verdicts: int) -> None:
    """Eight claims a response; a fifth of the claims are not supported."""
    rng = np.random.default_rng(0)
    labels = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO")
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, verdicts, ROWS_AT_ONCE):
            size = min(ROWS_AT_ONCE, verdicts - start)
            chosen = rng.choice(3, size, p=[0.8, 0.08, 0.12]).tolist()
            shares = rng.random(size).round(6).tolist()
            stream.writelines(
                f'{{"record_id":"record-{row // CLAIMS:09d}","claim_id":"record-{row // CLAIMS:09d}#{row % CLAIMS}",'
                f'"judge":"judge-1","model":"model-{row // CLAIMS % 4}","label":"{labels[label]}",'
                f'"unsupported_probability":{share}}}\n'
                for row, label, share in zip(range(start, start + size), chosen, shares, strict=True)
            )


def run(code: str, *arguments: str) -> dict[str, float | str]:
    """What a script in a process of its own reports."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, float | str] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print memory and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=10_000_000)
    verdicts = parser.parse_args().verdicts
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "verdicts.jsonl"
        write_verdicts(path, verdicts)
        print(f"{verdicts:,} verdicts, {path.stat().st_size / 1e9:.2f} GB of JSONL", flush=True)
        plain = run(READ, str(path))
        digests = set()
        for name, size in (("part by part", 0), ("all at once", 1 << 50)):
            found = run(MEASURE, str(path), str(size))
            digests.add(found["digest"])
            ratio = float(found["seconds"]) / float(plain["seconds"])
            print(f"{name:<14} peak {float(found['mb']):6,.0f} MB   CPU {ratio:.1f} times reading", flush=True)
    print("the summaries are equal" if len(digests) == 1 else "THE SUMMARIES DIFFER")


if __name__ == "__main__":
    main()
