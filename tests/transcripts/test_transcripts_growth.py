"""A corpus may be as large as an archive: what is held of a page while others are measured stays small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

FEW, MANY = 4_000, 24_000
MOST_BYTES_A_PAGE = 1_400
"""Far below the text of a page: the counts that intervals are made of, and no row, name or text."""
PROGRAM = """
import importlib, resource, sys
from hallumeter.cli.main import main
# The first megabytes of texts are held, however many pages they are.
importlib.import_module("hallumeter.transcripts.inputs").PageTable._IN_MEMORY = 0
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak(folder: Path, pages: int) -> int:
    """Bytes that a whole run with its report holds at most."""
    for side in ("truth", "engine"):
        with (folder / f"{side}.jsonl").open("wb") as stream:
            for number in range(pages):
                text = f"le roi vint {number} fois à paris avec {number % 97} chevaux et {side} soldats " * 3
                stream.write(msgspec.json.encode({"doc_id": f"page-{number:07}", "text": text}) + b"\n")
    given = ["transcripts", str(folder / "truth.jsonl"), str(folder / "engine.jsonl"), "--quiet", "--workers", "1"]
    command = [sys.executable, "-c", PROGRAM, *given, "--out", str(folder / f"run-{pages}")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (folder / f"run-{pages}" / "report.html").exists()
    return 1024 * int(done.stderr.split()[-1])


@pytest.mark.long
def test_six_times_the_pages_take_little_more_memory(tmp_path: Path) -> None:
    growth = (peak(tmp_path, MANY) - peak(tmp_path, FEW)) / (MANY - FEW)
    assert growth < MOST_BYTES_A_PAGE
