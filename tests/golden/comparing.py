"""Where golden files are, and how what a case says now is held against them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from pathlib import Path

from playing import Played, written_form

RECORDED = Path(__file__).parent / "recorded"
MOST_LINES = 200
"""Of a difference that is shown."""


def printed_file(name: str) -> Path:
    """What the commands of a case printed."""
    return RECORDED / "printed" / f"{name}.txt"


def digests_file(name: str) -> Path:
    """Digests of what they wrote."""
    return RECORDED / "written" / f"{name}.json"


def record(name: str, played: Played) -> None:
    """Keep what a case says now."""
    for path, text in _texts(name, played).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if text:
            path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="\n")
        else:
            path.unlink(missing_ok=True)


def _texts(name: str, played: Played) -> dict[Path, str]:
    written = written_form(played.digests) if played.digests else ""
    return {printed_file(name): played.printed, digests_file(name): written}


def _recorded(path: Path) -> str:
    if not path.exists():
        return ""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def differences(name: str, played: Played) -> str:
    """A unified diff from what was recorded to what is said now; empty when they are the same."""
    lines: list[str] = []
    for path, text in _texts(name, played).items():
        was, now = _recorded(path).splitlines(), text.splitlines()
        place = path.relative_to(RECORDED).as_posix()
        lines += difflib.unified_diff(was, now, f"recorded/{place}", "now", lineterm="")
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"... and {len(lines) - MOST_LINES} more lines"]
    return "".join(f"{line}\n" for line in lines)


def stale(names: Iterable[str]) -> list[Path]:
    """Files of cases that there are no more."""
    wanted = {path for name in names for path in (printed_file(name), digests_file(name))}
    return [path for path in sorted(RECORDED.rglob("*.*")) if path not in wanted]


def recorded_digests(name: str) -> dict[str, str]:
    """As they were recorded."""
    found: dict[str, str] = json.loads(_recorded(digests_file(name)) or "{}")
    return found
