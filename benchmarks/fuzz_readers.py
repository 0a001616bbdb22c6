"""Hostile files for every reader: how many cases, how many faults.

    python benchmarks/fuzz_readers.py [--cases 10000] [--seconds 0] [--seed 1] [--guided] [TARGET ...]

Each target of `tests/fuzz` has a process of its own with 4 GB of address space, and 20 seconds for a case. `--seconds`
ends a target early (0: never). `--guided` lets atheris choose the changes by the code that they reach, in place of
hypothesis (Python 3.11 to 3.13, `pip install atheris`). The exit code is 1 when there is a fault; its case is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

FUZZ = Path(__file__).parents[1] / "tests" / "fuzz"
sys.path.insert(0, str(FUZZ))


def main(options: argparse.Namespace) -> int:
    """Run target after target and print a line for each."""
    targets: dict[str, object] = import_module("fuzzed_files").TARGETS
    cases = faults = 0
    print(f"{'cases':>7} {'faults':>6} {'seconds':>7}  target", flush=True)
    for name in options.targets or targets:
        found = _found(name, options)
        cases, faults = cases + found["cases"], faults + len(found["faults"])
        print(f"{found['cases']:7,} {len(found['faults']):6} {found['seconds']:7.0f}  {name}", flush=True)
        for fault in found["faults"]:
            print(fault, file=sys.stderr)
    print(f"{cases:7,} {faults:6}          all")
    return int(faults > 0)


def _found(name: str, options: argparse.Namespace) -> dict[str, Any]:
    words = [str(options.cases), str(options.seconds or 1e9), str(options.seed), name]
    program = "guided.py" if options.guided else "fuzzing.py"
    with tempfile.TemporaryDirectory() as folder:
        kept = {**os.environ, "XDG_CACHE_HOME": folder, "HOME": folder, "TMPDIR": folder, "PYTHONUTF8": "1"}
        command = [sys.executable, str(FUZZ / program), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=kept)
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])[name]
    except (IndexError, ValueError):
        return {"cases": 0, "seconds": 0, "faults": [f"{name}: ended with {done.returncode}: {done.stderr[-3000:]}"]}
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--guided", action="store_true")
    sys.exit(main(parser.parse_args()))
