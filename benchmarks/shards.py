"""What a run in shards costs: size, reading, the report, and a worker's memory as the input grows.

    python benchmarks/shards.py [--records 100000] [--rows 10000 1000000]

Figures are ratios within this one run, so that a busy machine changes them little. DuckDB is asked beside pyarrow,
since one of the two had to be chosen: docs/decisions/0025-shards.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.response import Passage, Response
from hallumeter.run.export import export_jsonl, export_parquet
from hallumeter.run.finished import load
from hallumeter.run.run_folder import CLAIMS, MANIFEST, RECORDS, VERDICTS, RunFolder
from hallumeter.run.shards import Shard
from hallumeter.run.store import RunStore
from hallumeter.run.store_tables import stored_lines

CLAIMS_EACH = 3
ROWS_PER_SHARD = 10_000


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 1_000_000])
    parser.add_argument("--worker", nargs=2, metavar=("STORE", "SHARDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker[0], int(options.worker[1]))
        return
    with tempfile.TemporaryDirectory(prefix="hallumeter-bench-") as name:
        reading(Path(name), options.records)
        memory(Path(name), options.rows)


def timed(what: Callable[[], object]) -> float:
    """Seconds of processor time, so that a busy machine changes them little."""
    begun = time.process_time()
    what()
    return time.process_time() - begun


def reading(folder: Path, records: int) -> None:
    """Size, reading and the report of one large run."""
    plain, store = folder / "plain", folder / "store"
    write_plain(plain, records)
    wrote = timed(lambda: export_parquet(plain, store))
    sizes = [sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) for root in (plain, store / "data")]
    print(f"{records:,} records, {CLAIMS_EACH * records:,} verdicts")
    print(f"  JSONL {sizes[0] / 1e6:,.1f} MB, Parquet {sizes[1] / 1e6:,.1f} MB: {sizes[1] / sizes[0]:.2f} of it")
    lines = sum(timed(partial(exhaust, (plain / name).open("rb"))) for name in (RECORDS, CLAIMS, VERDICTS))
    arrow = sum(timed(partial(exhaust, stored_lines(store, name))) for name in (RECORDS, CLAIMS, VERDICTS))
    duck = timed(lambda: by_duckdb(store))
    print(f"  reading lines: JSONL {lines:.2f} s, pyarrow {arrow:.2f} s, DuckDB {duck:.2f} s of CPU")
    found = [timed(partial(exhaust, RunFolder(path).findings())) for path in (plain, store)]
    page = [timed(partial(load(path, verify=False).to_html, folder / "page.html")) for path in (plain, store)]
    print(f"  reading findings: JSONL {found[0]:.1f} s, shards {found[1]:.1f} s: {found[1] / found[0]:.2f} times")
    print(f"  report of shards {page[1]:.1f} s: {page[1] / found[1]:.2f} times reading (JSONL {page[0]:.1f} s)")
    (folder / "again").mkdir()
    back = timed(lambda: export_jsonl(store, folder / "again"))
    print(f"  into shards {wrote:.1f} s, back to JSONL with its report {back:.1f} s")


def exhaust(items: Iterator[object]) -> None:
    """Read everything."""
    for _ in items:
        pass


def by_duckdb(root: Path) -> None:
    """The same lines through DuckDB, file by file as the commits name them."""
    import duckdb

    store = RunStore(root)
    with duckdb.connect() as connection:
        connection.execute("SET threads TO 1")
        for receipt in store.committed():
            for table, path in receipt.files:
                if table in ("records", "claims", "verdicts"):
                    rows = connection.execute("SELECT line FROM read_parquet(?)", [str(root / path)])
                    while rows.fetchmany(1024):
                        pass


def write_plain(folder: Path, records: int) -> None:
    """A run of made-up answers as `hallumeter audit` would write it, but for the judging."""
    folder.mkdir()
    small = folder.parent / "small.jsonl"
    small.write_text(
        '{"id": "r0", "response": "The tower is 3 m high.", "evidence": "It is 4 m high."}\n', encoding="utf-8"
    )
    words = ["audit", str(small), "--judge", "rules", "--out", str(folder.parent / "small"), "--quiet"]
    subprocess.run([sys.executable, "-m", "hallumeter", *words], check=True, stdout=subprocess.DEVNULL)
    for name in ("summary.json", "failures.jsonl", "measurements.jsonl"):
        (folder / name).write_bytes((folder.parent / "small" / name).read_bytes())
    manifest = json.loads((folder.parent / "small" / MANIFEST).read_bytes())
    (folder / MANIFEST).write_text(json.dumps(manifest | {"files": []}), encoding="utf-8")
    encode = msgspec.json.Encoder().encode
    judge = manifest["judges"][0]["name"]
    streams = [(folder / name).open("wb") for name in (RECORDS, CLAIMS, VERDICTS)]
    for number in range(records):
        text = " ".join(f"The tower of town {number} is {number % 300 + each} m high." for each in range(CLAIMS_EACH))
        evidence = Passage(
            "e1", f"In town {number} stands a tower, {number % 300} m high, built in {1700 + number % 300}."
        )
        streams[0].write(encode(Response(f"r{number}", response=text, evidence=(evidence,), model="m")) + b"\n")
        for each in range(CLAIMS_EACH):
            claim = Claim(f"r{number}", f"c{each}", text=f"The tower of town {number} is {number % 300 + each} m high.")
            label = Label.SUPPORTED if each else Label.REFUTED
            streams[1].write(encode(claim) + b"\n")
            said = Verdict(f"r{number}", f"c{each}", judge, label, unsupported_probability=(number % 97) / 97)
            streams[2].write(encode(said) + b"\n")
    for stream in streams:
        stream.close()


def memory(folder: Path, sizes: list[int]) -> None:
    """The peak of a worker that works all shards off, and of the driver that splits and merges."""
    peaks = []
    for rows in sizes:
        verdicts, store = folder / f"verdicts-{rows}.jsonl", folder / f"store-{rows}"
        with verdicts.open("w", encoding="utf-8") as stream:
            for number in range(rows):
                label = "REFUTED" if number % 7 == 0 else "SUPPORTED"
                stream.write(f'{{"record_id": "r{number // 4}", "claim_id": "c{number % 4}", "label": "{label}"}}\n')
        shards = max(1, rows // ROWS_PER_SHARD)
        words = [sys.executable, __file__, "--worker", str(store), str(shards)]
        environment = {**os.environ, "VERDICTS": str(verdicts)}
        done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
        split, worked, merged = map(float, done.stdout.split())
        peaks.append(worked)
        steps = f"splitting {split:.0f} MB, a worker {worked:.0f} MB, merging {merged:.0f} MB"
        print(f"  {rows:,} rows in {shards:,} shards: {steps}")
    if len(peaks) > 1:
        print(f"  a worker's peak at {sizes[-1]:,} rows is {peaks[-1] / peaks[0]:.2f} times that at {sizes[0]:,}")


def work(location: str, shards: int) -> None:
    """Split, work and merge in processes of their own, and print the peak of each in MB."""
    for step in ("split", "work", "merge"):
        child = os.fork()
        if not child:
            one_step(step, location, shards)
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, flush=True)
            os._exit(0)
        os.waitpid(child, 0)


def one_step(step: str, location: str, shards: int) -> None:
    """One step of a run in shards."""
    from datetime import UTC, datetime

    from hallumeter.claims.audit.inputs import opened_files
    from hallumeter.claims.settings import MeasureSettings
    from hallumeter.run import sharded

    settings = MeasureSettings()
    if step == "split":
        with opened_files([Path(os.environ["VERDICTS"])]) as inputs:
            plan = sharded.planned("measure", settings, inputs.files, shards=shards, slots=1)
            sources = lambda: inputs.sources(settings.shape)  # noqa: E731
            sharded.split(RunStore(location), plan, sources, progress=sharded.NoShardProgress())
    elif step == "work":
        task = sharded.ShardTask(location)
        for number in range(shards):
            task(Shard(number, shards))
    else:
        store = RunStore(location)
        sharded.finish(store, sharded.read_plan(store), datetime.now(UTC))


if __name__ == "__main__":
    main()
