"""How much the digests of a run's files add to reading it.

    python benchmarks/verified_reading.py [RECORDS]

Prints CPU seconds of building the report of a run with and without verification, in turn, and their ratio.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import msgspec

from hallumeter.claims.measure.commands import measure_to_folder
from hallumeter.claims.settings import MeasureSettings
from hallumeter.run.finished import load

ROUNDS = 5


def main(records: int) -> None:
    """Make a run of so many records, and read it."""
    with tempfile.TemporaryDirectory() as name:
        rows, run = Path(name) / "verdicts.jsonl", Path(name) / "run"
        with rows.open("wb") as stream:
            for number in range(records):
                for claim in range(3):
                    text = f"Claim {claim} of record {number} says something of usual length about a tower."
                    row = {"record_id": f"r{number}", "claim_id": f"c{claim}", "label": "SUPPORTED", "text": text}
                    stream.write(msgspec.json.encode({**row, "response": text * 3}) + b"\n")
        measure_to_folder([rows], run, settings=MeasureSettings(resamples=100))
        size = sum(file.bytes for file in load(run).manifest.files)
        seconds = {False: 0.0, True: 0.0}
        for _ in range(ROUNDS):
            for verify in seconds:
                start = time.process_time()
                findings = load(run, verify=verify).document().counts.claims
                seconds[verify] += time.process_time() - start
        ratio = seconds[True] / seconds[False]
        sys.stdout.write(f"{records:,} records, {findings:,} claims, {size:,} bytes\n")
        sys.stdout.write(f"unverified {seconds[False]:.2f} s, verified {seconds[True]:.2f} s, ratio {ratio:.3f}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
