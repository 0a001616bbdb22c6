"""What checking one answer costs, as ratios to audits of the same answer in the same run.

    python benchmarks/check_speed.py [--rounds 5]

A first call is the CPU of a process of its own, imports and the making of the judge included, less that of an empty
process; bytecode is written by a round that is not counted, as an installed package has it. Later calls are CPU seconds
of this process, after one that is not counted. The answer is one sentence: judging it is a part of both.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import hallumeter

EVIDENCE = "The fair drew 1.2 billion people in 2010."
ANSWER = "The fair drew 999 million people."
JUDGES = ("rules", "embedded:fast", "embedded")
CHECKS, AUDITS = 100, 10
FIRST = f"import hallumeter; hallumeter.check({ANSWER!r}, {EVIDENCE!r}, judge={{judge!r}})"
AUDIT = f"import hallumeter; hallumeter.audit([dict(response={ANSWER!r}, evidence={EVIDENCE!r})], judge={{judge!r}})"
RECORD = {"response": ANSWER, "evidence": EVIDENCE}


def main() -> None:
    """Measure every judge, and print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"{'judge':<16}{'first check':>13}{'first audit':>13}{'later check':>13}{'later audit':>13}", end="")
    print(f"{'ratio to first':>16}{'to later audit':>16}")
    for judge in JUDGES:
        first, first_audit = (first_call(program.format(judge=judge), rounds) for program in (FIRST, AUDIT))
        later = per_call(partial(hallumeter.check, ANSWER, EVIDENCE, judge=judge), CHECKS, rounds)
        audit = per_call(partial(hallumeter.audit, [RECORD], judge=judge), AUDITS, rounds)
        print(
            f"{judge:<16}{first:>11.3f} s{first_audit:>11.3f} s{later * 1000:>10.2f} ms{audit * 1000:>10.1f} ms", end=""
        )
        print(f"{first_audit / later:>16,.0f}{audit / later:>16,.0f}")


def first_call(program: str, rounds: int) -> float:
    """CPU of a program with one call, less that of a process that does nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        seconds = [[cpu_of(each, scratch) for each in ("", program)] for _ in range(rounds + 1)]
    return statistics.median(calling - nothing for nothing, calling in seconds[1:])


def cpu_of(program: str, scratch: str) -> float:
    """CPU of one process, of the user and of the system."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": scratch}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def per_call(call: Callable[[], object], times: int, rounds: int) -> float:
    """CPU of one call: the median round of some, each of so many calls."""
    call()
    seconds = []
    for _ in range(rounds):
        before = time.process_time()
        for _ in range(times):
            call()
        seconds.append((time.process_time() - before) / times)
    return statistics.median(seconds)


if __name__ == "__main__":
    main()
