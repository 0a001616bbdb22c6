"""Whether memory and file handles stay flat while many records are audited by rules.

    python benchmarks/soak.py [RECORDS] [MINUTES]

Audits records in rounds, in this process, until so many are done or the time is over, and prints after every round the
resident memory and the open file handles. The default is 100,000 records, at most 30 minutes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import hallumeter

ROUND = 1_000


def main(records: int, minutes: float) -> None:
    """Audit round after round."""
    start, done = time.monotonic(), 0
    sys.stdout.write("seconds  records  memory MB  file handles\n")
    while done < records and time.monotonic() - start < 60 * minutes:
        rows = [
            {
                "record_id": f"r{done + number}",
                "response": f"The tower is {300 + number % 60} m high. It was finished in {1880 + number % 30}.",
                "evidence": "The tower is 330 m high. It was finished in 1889.",
            }
            for number in range(min(ROUND, records - done))
        ]
        with tempfile.TemporaryDirectory() as name:
            hallumeter.audit(rows, judge="rules", out=Path(name) / "run")
        done += len(rows)
        sys.stdout.write(f"{time.monotonic() - start:7.0f}  {done:7,}  {_memory():9.1f}  {_handles():12}\n")
        sys.stdout.flush()


def _memory() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:]]
    main(int(given[0]) if given else 100_000, given[1] if len(given) > 1 else 30)
