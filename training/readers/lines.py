"""Rows of files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def table_rows(path: Path, *, separator: str = ",") -> Iterator[dict[str, str]]:
    """Rows of a table with a head."""
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter=separator, quoting=csv.QUOTE_MINIMAL)
