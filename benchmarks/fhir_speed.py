"""How fast FHIR bundles become patients and scripts, beside plain parsing of the same JSON in the same run.

    python benchmarks/fhir_speed.py [FOLDER] [--repeats N]

Without a folder the bundled patients are read. CPU milliseconds per megabyte of JSON, the best of a few runs, files
read from disk in every one of them; the goal is at most four times msgspec's parsing into plain Python objects.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import msgspec

from hallumeter.dialogue.fhir.patients import PatientRecord, fhir_files, read_patients
from hallumeter.dialogue.script.pipeline import Scripting

BUNDLED = Path(str(resources.files("hallumeter.samples").joinpath("patients")))
MEGABYTE = 1_000_000
GOAL = 4.0


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """CPU time, the best of a few runs."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def main() -> None:
    """Time every step and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=BUNDLED)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    folder, files = options.folder, fhir_files(options.folder)
    size = sum(file.stat().st_size for file in files) / MEGABYTE

    def patients() -> int:
        return sum(isinstance(found, PatientRecord) for found in read_patients(files, folder))

    def scripts() -> int:
        return sum(1 for _ in Scripting(folder).scripts())

    started = time.process_time()
    scripts()  # loads the lexicons
    first = time.process_time() - started
    steps: dict[str, Callable[[], object]] = {
        "json of the standard library": lambda: [json.loads(file.read_bytes()) for file in files],
        "msgspec, plain objects": lambda: [msgspec.json.decode(file.read_bytes()) for file in files],
        "patients": patients,
        "scripts": scripts,
    }
    seconds = {name: best_seconds(work, options.repeats) for name, work in steps.items()}
    plain = seconds["msgspec, plain objects"]
    print(f"{len(files)} files, {size:.1f} MB, {patients()} patients; first run with lexicons {first:.2f} s")
    print(f"{'step':<30} {'ms per MB':>10} {'times msgspec':>14}")
    for name, taken in seconds.items():
        print(f"{name:<30} {1000 * taken / size:>10.2f} {taken / plain:>14.2f}")
    ratio = seconds["scripts"] / plain
    verdict = "met" if ratio <= GOAL else "missed"
    print(f"scripts take {ratio:.2f} times plain parsing by msgspec; the goal of {GOAL:g} is {verdict}")


if __name__ == "__main__":
    main()
