"""What an engine costs, and what a second worker brings.

    python benchmarks/cluster_speed.py [--engines local spark ray] [--answers 20000] [--shards 16]

Every engine runs the same shards three times: a function that does nothing, the audit with one worker, the audit with
two. Printed are

- overhead: the audit with one worker, over the time of the function that does nothing plus the audit's own work (the
  sum of the seconds that the shards say they took);
- the gain from one worker to two;
- the digest of the verdicts, and whether it is that of every other engine.

All are ratios within this one run. The load of the machine is printed with them: at a load above the number of its
cores a second worker cannot show what it brings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hallumeter.run.engines import engine_by_name
from hallumeter.run.shards import Receipt, Shard
from hallumeter.run.store import RunStore

JUDGE = "embedded:fast"
SENTENCES = (
    "The tower of town {n} is {high} m high.",
    "It was built in {year} by the council of the town.",
    "About {people} people visit it every year, most of them in summer.",
    "Its clock was repaired in {later}, after a storm had damaged the roof.",
)


def nothing(shard: Shard) -> Receipt:
    """Do nothing on a shard."""
    return Receipt(shard.number, "none", (), (), 0, 0.0, won=True)


def main() -> None:
    """Measure every engine and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--engines", nargs="+", default=["local", "spark", "ray"])
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--nothing", nargs=2, metavar=("ENGINE", "SHARDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.nothing:
        begun = time.monotonic()
        shards = (Shard(number, int(options.nothing[1])) for number in range(int(options.nothing[1])))
        list(engine_by_name(options.nothing[0]).for_each(nothing, shards, slots=1))
        print(time.monotonic() - begun)
        return
    cores = len(os.sched_getaffinity(0))
    print(
        f"{options.answers:,} answers, {options.shards} shards, {JUDGE}, {cores} cores, load {os.getloadavg()[0]:.1f}"
    )
    digests = set()
    with tempfile.TemporaryDirectory(prefix="hallumeter-bench-") as name:
        folder = Path(name)
        write_answers(folder / "answers.jsonl", options.answers)
        for engine in options.engines:
            digests.add(measured(engine, folder, options.shards))
    print("verdict digests:", "equal" if len(digests) == 1 else "DIFFERENT")


def write_answers(path: Path, count: int) -> None:
    """Answers of four sentences, every third of them with a wrong number."""
    with path.open("w", encoding="utf-8") as stream:
        for n in range(count):
            facts = {"n": n, "high": 40 + n % 300, "year": 1700 + n % 300, "people": 1000 + n % 9000, "later": 2001}
            evidence = " ".join(SENTENCES).format(**facts)
            response = " ".join(SENTENCES).format(**facts | {"high": facts["high"] + (n % 3 == 0)})
            stream.write(json.dumps({"id": f"r{n}", "response": response, "evidence": evidence}) + "\n")


def measured(engine: str, folder: Path, shards: int) -> str:
    """The ratios of one engine; gives the digest of its verdicts."""
    idle = float(program(__file__, "--nothing", engine, str(shards)).split()[-1])
    seconds, work, digest = {}, {}, ""
    for workers in (1, 2):
        out = folder / f"{engine.partition('[')[0]}-{workers}"
        words = ["audit", str(folder / "answers.jsonl"), "--judge", JUDGE, "--engine", engine, "--shards", str(shards)]
        begun = time.monotonic()
        program("-m", "hallumeter", *words, "--workers", str(workers), "--out", str(out), "--quiet")
        seconds[workers] = time.monotonic() - begun
        work[workers] = sum(receipt.seconds for receipt in RunStore(out).committed())
        digest = verdict_digest(out)
    rest = seconds[1] - idle - work[1]
    print(
        f"{engine:<24} nothing {idle:6.1f} s   1 worker {seconds[1]:7.1f} s (work {work[1]:.1f} s, rest {rest:.1f} s)"
        f"   2 workers {seconds[2]:7.1f} s (work {work[2]:.1f} s)   overhead {seconds[1] / (idle + work[1]):.2f}   "
        f"1 to 2 {(seconds[1] - idle) / (seconds[2] - idle):.2f}   verdicts {digest[:12]}   "
        f"load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    return digest


def program(*words: str) -> str:
    """Run Python, and give what it printed."""
    done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def verdict_digest(run: Path) -> str:
    """The digest of all verdicts, in the order of the input."""
    out = run.with_name(f"{run.name}-jsonl")
    program("-m", "hallumeter", "export", str(run), "--to", "jsonl", "--out", str(out), "--quiet")
    return hashlib.blake2b((out / "verdicts.jsonl").read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
