"""Runs a command on a disk with too little room, and again with enough: the program of `test_faults.py`.

    unshare --mount python small_disk.py CASE.json

It mounts a tmpfs of growing size on the folder that CASE names, in a mount namespace of its own, until the command
succeeds, and prints what came of each as a line of JSON. Every command runs in a process that is forked from this one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import Any

from hallumeter.cli.main import main

_TIMES = re.compile(rb'"(latency_ms|started|finished|recall|total)": ?("[^"]*"|[\d.e+-]+|null)')
_TOLD_APART = {"manifest.json", "report.html"}
"""They hold the time of day; `verify` compares the rest of them."""


def run(words: list[str]) -> tuple[int, str]:
    """The exit code of a command and what it says on standard error."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(said.fileno(), 2)
            try:
                main(words)
            except SystemExit as end:
                os._exit(end.code if isinstance(end.code, int) else 70)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode()


def digests(folder: Path) -> dict[str, str]:
    """All files below a folder, without times."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in _TOLD_APART]
    return {
        str(path.relative_to(folder)): blake2b(_TIMES.sub(rb'"\1":0', path.read_bytes()), digest_size=8).hexdigest()
        for path in files
    }


def kibibytes(folder: Path) -> int:
    """What the files take, in whole pages of 4 KiB."""
    return sum((path.stat().st_size + 4095) // 4096 * 4 for path in folder.rglob("*") if path.is_file())


def mount(folder: Path, size: int) -> None:
    """A file system of so many KiB."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(folder)], check=True)


def _tell(found: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def tried(case: dict[str, Any], folder: Path, size: int) -> dict[str, object]:
    """One try with too little room, and one more with enough."""
    mount(folder, size)
    code, said = run(case["words"])
    subprocess.run(["mount", "-o", "remount,size=262144k", str(folder)], check=True)
    again, said_again = run(case["again"]) if code else (0, "")
    found = {"size": size, "code": code, "said": said, "again": again, "said_again": said_again}
    found["digests"], found["verified"] = digests(folder), run(["verify", case["run"]])[0]
    subprocess.run(["umount", str(folder)], check=True)
    return found


def all_tried(case: dict[str, Any]) -> None:
    """With enough room, and then with ever more until the command succeeds."""
    folder = Path(case["folder"])
    mount(folder, 262144)
    code, said = run(case["words"])
    clean, needed = digests(folder), kibibytes(folder)
    _tell({"code": code, "said": said, "digests": clean, "verified": run(["verify", case["run"]])[0]})
    subprocess.run(["umount", str(folder)], check=True)
    size, step = 4, max(4, needed // case["tries"] // 4 * 4)
    while True:
        found = tried(case, folder, size)
        _tell(found)
        if found["code"] == 0 or size > 256 * needed:
            return
        # A journal takes many times what is left in the end.
        size = size + step if size < 2 * needed else 2 * size


if __name__ == "__main__":
    all_tried(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
