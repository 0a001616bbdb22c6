"""Ways to run the command line in a test and to look at what it said."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from click.testing import CliRunner, Result

from hallumeter.cli.main import main

VERDICT = {"record_id": "r1", "claim_id": "c1", "label": "REFUTED"}


def run(*arguments: object, given: bytes | str | None = None) -> Result:
    """Run a command in this process; anything but a planned exit is a fault of the program."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    return result


def succeed(*arguments: object, given: bytes | str | None = None) -> Result:
    result = run(*arguments, given=given)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*arguments: object, given: bytes | str | None = None) -> str:
    """The one line with which a command refuses its input."""
    result = run(*arguments, given=given)
    assert result.exit_code == 2
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("hallumeter: ")
    return line.removeprefix("hallumeter: ")


def write(path: Path, rows: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
