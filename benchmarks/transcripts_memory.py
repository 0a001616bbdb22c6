"""How much memory a run of very many pages holds at most, and how much of it grows with the pages.

    python benchmarks/transcripts_memory.py [--pages 20000 100000] [-- OPTIONS OF `hallumeter transcripts`]

Each number of pages is measured by a process of its own, from two made tables with pages of 240 characters. Options
behind `--` are handed on: `-- --measures anchoring`, or `-- --out RUN` for a run folder with its report.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import resource, sys
from hallumeter.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)
"""


def made_table(path: Path, pages: int) -> None:
    """A table with a short text of every page."""
    with path.open("w", encoding="utf-8") as stream:
        for number in range(pages):
            line = f"le roi vint {number} fois à paris avec {number % 97} chevaux et {path.stem} soldats "
            stream.write(json.dumps({"doc_id": f"page-{number:07}", "text": line * 3}) + "\n")


def peak_of(pages: int, options: list[str]) -> tuple[int, float]:
    """Bytes held at most, and seconds."""
    with tempfile.TemporaryDirectory() as name:
        tables = [Path(name, side) for side in ("truth.jsonl", "engine.jsonl")]
        for table in tables:
            made_table(table, pages)
        command = [sys.executable, "-c", PROGRAM, "transcripts", *map(str, tables), "--quiet", "--workers", "1"]
        began = time.perf_counter()
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=True, cwd=name)
        return int(done.stderr.split()[-1]), time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("options", nargs="*")
    arguments = parser.parse_args()
    print("| pages | peak, MB | seconds | bytes a page more |\n| ---: | ---: | ---: | ---: |")
    before: tuple[int, int] | None = None
    for pages in arguments.pages:
        peak, seconds = peak_of(pages, arguments.options)
        growth = "" if before is None else f"{(peak - before[1]) / (pages - before[0]):.0f}"
        print(f"| {pages:,} | {peak / 1e6:.0f} | {seconds:.0f} | {growth} |", flush=True)
        before = pages, peak


if __name__ == "__main__":
    main()
