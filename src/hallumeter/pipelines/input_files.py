"""Files that a command reads: what they are called, and how they can be read twice."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.errors import InputError
from hallumeter.formats import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STDIN_NAME = "<stdin>"


def named_files(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """What each file is called in messages: its name, or its path where two have the same name."""
    names = [path.name for path in paths]
    return [
        (STDIN_NAME if str(path) == STDIN else path.name if names.count(path.name) == 1 else str(path), path)
        for path in paths
    ]


@contextmanager
def rereadable_files(paths: Sequence[Path]) -> Iterator[list[tuple[str, Path]]]:
    """Named files that can be read twice: the standard input is kept in a temporary file meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "stdin.jsonl"
        if any(str(path) == STDIN for path in paths):
            with kept.open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
            if not kept.stat().st_size:
                raise InputError(f"{STDIN_NAME}: nothing came in; expected one record per line")
        yield [(name, kept if name == STDIN_NAME else path) for name, path in named_files(paths)]


def sha256_of(path: Path) -> str:
    """The hash of a file's contents."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
