"""How fast the verdict cache, the run journal and the runner's loop are, as ratios to plain Python in the same run.

    python benchmarks/cache_speed.py [--rows 200000]

Figures are of CPU time (all threads), the best of three turns. Verdicts are 350 bytes, keys are 32 bytes and are looked
up in random order, 2,000 at a time; results are kept 500 at a time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from hallumeter.run.journal import Entry, Journal
from hallumeter.run.lanes import Lane, run_lanes
from hallumeter.run.verdict_cache import VerdictCache

TURNS = 3
KEPT_AT_ONCE = 500
ASKED_AT_ONCE = 2000
BODY = os.urandom(350)


def best_rate(rows: int, turn: Callable[[], object]) -> float:
    """Rows per second of CPU time."""
    seconds = []
    for _ in range(TURNS):
        start = time.process_time()
        turn()
        seconds.append(time.process_time() - start)
    return rows / min(seconds)


def show(name: str, rate: float, *, plain_name: str, plain: float) -> None:
    """Print a rate beside that of plain Python."""
    print(f"{name:34} {rate:12,.0f} /s   {plain_name:34} {plain:12,.0f} /s   takes {plain / rate:6.1f} times as long")


def pieces(items: Sequence[bytes], size: int) -> list[Sequence[bytes]]:
    """Cut a sequence into pieces of one size."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def plain_writes(folder: Path, keys: Sequence[bytes]) -> None:
    """Append to a file, flushed as often as a transaction ends."""
    with (folder / "plain.bin").open("wb") as stream:
        for piece in pieces(keys, KEPT_AT_ONCE):
            for key in piece:
                stream.write(key + BODY)
            stream.flush()


def measure_cache(folder: Path, keys: list[bytes], written: float) -> None:
    """Verdicts kept, found and not found."""
    shuffled = random.Random(0).sample(keys, len(keys))
    turns = count()

    def put() -> None:
        with VerdictCache(folder / f"{next(turns)}.sqlite") as cache:
            for piece in pieces(keys, KEPT_AT_ONCE):
                cache.put_many((key, BODY) for key in piece)

    show("cache: verdicts kept", best_rate(len(keys), put), plain_name="file appended", plain=written)
    known = dict.fromkeys(keys, BODY)
    from_dict = best_rate(len(keys), lambda: [known.get(key) for key in shuffled])
    with VerdictCache(folder / "0.sqlite") as cache:
        found = best_rate(len(keys), lambda: [cache.get_many(piece) for piece in pieces(shuffled, ASKED_AT_ONCE)])
        show("cache: verdicts found", found, plain_name="dict", plain=from_dict)
        strange = [hashlib.sha256(key).digest() for key in shuffled]
        missed = best_rate(len(keys), lambda: [cache.get_many(piece) for piece in pieces(strange, ASKED_AT_ONCE)])
        show("cache: verdicts not found", missed, plain_name="dict", plain=from_dict)
        assert len(cache) == len(keys)
        assert cache.trouble is None


def measure_journal(folder: Path, rows: int, written: float) -> None:
    """Entries added, read and looked for."""
    turns = count()

    def add() -> None:
        with Journal.create(folder / f"journal{next(turns)}.sqlite", settings=b"{}") as journal:
            for start in range(0, rows, KEPT_AT_ONCE):
                numbers = range(start, min(start + KEPT_AT_ONCE, rows))
                journal.add(Entry("verdict", number // 4, number % 4, BODY) for number in numbers)

    show("journal: entries added", best_rate(rows, add), plain_name="file appended", plain=written)
    file = folder / "plain.bin"
    read = best_rate(rows, lambda: plain_rows(file))
    with Journal.resume(folder / "journal0.sqlite") as journal:
        show(
            "journal: entries read",
            best_rate(rows, lambda: sum(1 for _ in journal.entries("verdict"))),
            plain_name="file read",
            plain=read,
        )
        done = journal.done("verdict")
        assert len(done) == journal.count("verdict") == rows
        as_set = {(number // 4, number % 4) for number in range(rows)}
        places = list(as_set)
        show(
            "journal: is it done?",
            best_rate(rows, lambda: sum(place in done for place in places)),
            plain_name="set of pairs",
            plain=best_rate(rows, lambda: sum(place in as_set for place in places)),
        )


def plain_rows(file: Path) -> list[bytes]:
    """Read what plain_writes has written, row by row."""
    size = 32 + len(BODY)
    with file.open("rb") as stream:
        return list(iter(lambda: stream.read(size), b""))


def measure_lanes(rows: int) -> None:
    """Tasks that do nothing: what is left is the loop itself."""

    def work(number: int) -> int:
        return number

    def lanes(concurrency: int) -> None:
        lane = Lane(name="a", tasks=iter(range(rows)), work=work, concurrency=concurrency)
        assert run_lanes([lane], lambda _: None, stop=threading.Event())

    def pool() -> None:
        with ThreadPoolExecutor(16) as threads:
            for future in [threads.submit(work, number) for number in range(rows)]:
                future.result()

    called = best_rate(rows, lambda: [work(number) for number in range(rows)])
    show("lanes: in the calling thread", best_rate(rows, lambda: lanes(0)), plain_name="plain calls", plain=called)
    pooled = best_rate(rows, pool)
    for threads in (1, 16, 64):
        rate = best_rate(rows, lambda threads=threads: lanes(threads))  # type: ignore[misc]
        show(f"lanes: {threads} threads", rate, plain_name="ThreadPoolExecutor, 16 threads", plain=pooled)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    rows = parser.parse_args().rows
    keys = [hashlib.sha256(b"%d" % number).digest() for number in range(rows)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = best_rate(rows, lambda: plain_writes(folder, keys))
        measure_cache(folder, keys, written)
        measure_journal(folder, rows, written)
    measure_lanes(rows // 4)


if __name__ == "__main__":
    main()
