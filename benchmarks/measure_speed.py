"""How fast `hallumeter measure` is, as ratios to plain tools in the same run.

    python benchmarks/measure_speed.py [--verdicts 1000000] [--responses 100000]

Every measurement is the CPU time of a process of its own (all threads, imports left out), the best of a few runs. The
file holds record_id, claim_id, judge, model, label and unsupported_probability, as a run's verdicts do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PRELUDE = """
import json, sys, time
def report(seconds):
    # The kernel's high-water mark: getrusage would count the memory of the process that started this one.
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(json.dumps({"seconds": seconds, "mib": int(peak.split()[1]) / 1024}))
"""

HALLUMETER = """
from pathlib import Path
from hallumeter import MeasureSettings
from hallumeter.claims.measure.commands import measure_files
import hallumeter.formats.parquet, pyarrow.parquet
settings = MeasureSettings(resamples=1000)
start = time.process_time()
summary = measure_files([Path(sys.argv[1])], settings=settings).summary
report(time.process_time() - start)
assert summary.counts.verdicts == int(sys.argv[2]), summary.counts
"""

DUCKDB = """
import duckdb
start = time.process_time()
con = duckdb.connect()
bad = "sum((label <> 'SUPPORTED')::int)"
source = f"from '{sys.argv[1]}'"
con.execute(f"select record_id, {bad}, count(*), {bad} / count(*) {source} group by record_id").fetchnumpy()
con.execute(f"select {bad} / count(*) {source}").fetchall()
con.execute(f"select avg((bad > 0)::int) from (select {bad} as bad {source} group by record_id)").fetchall()
report(time.process_time() - start)
"""

MSGSPEC_KEPT = """
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
    rows = [decoder.decode(line) for line in stream]
report(time.process_time() - start)
"""

MSGSPEC_DROPPED = MSGSPEC_KEPT.replace(
    "    rows = [decoder.decode(line) for line in stream]", "    for line in stream:\n        decoder.decode(line)"
)

FLEISS = """
import numpy as np
rng = np.random.default_rng(0)
votes = rng.choice(3, size=(100_000, 3), p=[0.7, 0.1, 0.2])
table = np.stack([(votes == label).sum(axis=1) for label in range(3)], axis=1)
"""

FLEISS_OURS = (
    FLEISS
    + """
from hallumeter.stats.agreement import fleiss_kappa
start = time.process_time()
for _ in range(20):
    value = fleiss_kappa(table).value
report((time.process_time() - start) / 20)
"""
)

FLEISS_STATSMODELS = (
    FLEISS
    + """
from statsmodels.stats.inter_rater import fleiss_kappa
start = time.process_time()
for _ in range(20):
    value = fleiss_kappa(table)
report((time.process_time() - start) / 20)
"""
)

WHOLE_PROCESS = """
import resource, subprocess
def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
start = children()
for _ in range(10):
    subprocess.run([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL, check=True)
report((children() - start) / 10)
"""


def write_files(folder: Path, verdicts: int, responses: int) -> None:
    """Make the verdicts of one judge on responses of four models: Parquet and JSONL with the same rows."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    owner = np.sort(np.concatenate([np.arange(responses), rng.integers(0, responses, verdicts - responses)]))
    rate = rng.beta(1, 4, responses)[owner]
    label = np.where(rng.random(verdicts) < rate, np.where(rng.random(verdicts) < 0.3, 1, 2), 0)
    names = np.array(["SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO"])
    number = np.arange(verdicts) - np.searchsorted(owner, owner)
    record = np.char.add("record-", owner.astype(str))
    table = pa.table(
        {
            "record_id": record,
            "claim_id": np.char.add(np.char.add(record, "#"), number.astype(str)),
            "judge": np.full(verdicts, "judge-1"),
            "model": np.char.add("model-", (owner % 4).astype(str)),
            "label": names[label],
            "unsupported_probability": rng.random(verdicts).round(3),
        }
    )
    parquet.write_table(table, folder / "verdicts.parquet")
    with (folder / "verdicts.jsonl").open("w", encoding="utf-8") as stream:
        for batch in table.to_batches(max_chunksize=50_000):
            stream.writelines(f"{json.dumps(row, separators=(',', ':'))}\n" for row in batch.to_pylist())


def best(code: str, *arguments: str, repeat: int = 3) -> dict[str, float]:
    """Run a script a few times in processes of its own and keep the fastest."""
    runs = []
    for _ in range(repeat):
        command = [sys.executable, "-c", PRELUDE + code, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return min(runs, key=lambda run: float(run["seconds"]))


def show(name: str, ours: dict[str, float], plain: dict[str, float], goal: str) -> None:
    """One line: our CPU time, the plain tool's, the ratio and the goal."""
    ratio = ours["seconds"] / plain["seconds"]
    times = f"{ours['seconds']:>9.3f} s {plain['seconds']:>9.3f} s {ratio:>8.2f} x"
    print(f"{name:<58}{times}   goal {goal:<8} {ours['mib']:>7.0f} MiB")


def main() -> None:
    """Print every ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verdicts", type=int, default=1_000_000)
    parser.add_argument("--responses", type=int, default=100_000)
    options = parser.parse_args()
    print(f"{'':<58}{'hallumeter':>11} {'plain':>11} {'ratio':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, options.verdicts, options.responses)
        columns, lines = str(folder / "verdicts.parquet"), str(folder / "verdicts.jsonl")
        verdicts = str(options.verdicts)
        ours = best(HALLUMETER, columns, verdicts)
        show("profile from Parquet / DuckDB plain rates", ours, best(DUCKDB, columns), "<= 15")
        ours = best(HALLUMETER, lines, verdicts)
        show("profile from JSONL / msgspec typed decoding, rows kept", ours, best(MSGSPEC_KEPT, lines), "<= 2.5")
        show("profile from JSONL / msgspec typed decoding, rows dropped", ours, best(MSGSPEC_DROPPED, lines), "-")
    show("Fleiss' kappa, 100,000 x 3 / statsmodels", best(FLEISS_OURS), best(FLEISS_STATSMODELS), "<= 1")
    help_page = best(WHOLE_PROCESS, "-m", "hallumeter", "--help")
    show("hallumeter --help / python -c pass, whole process", help_page, best(WHOLE_PROCESS, "-c", "pass"), "<= 8")


if __name__ == "__main__":
    main()
