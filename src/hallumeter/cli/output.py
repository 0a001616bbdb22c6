"""Printing breaks nothing: characters that the output cannot encode are written in others, closed pipes are left.

What went wrong is said on the standard error, so that the output can be piped.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hallumeter.records.claim import Failure
    from hallumeter.run.finished import Run


MOST_FAULTS = 10
"""Faults, and notices, that are named one by one."""

AS_ASCII = {
    "↑": "^",
    "↓": "v",
    "→": "->",
    "–": "-",
    "─": "-",
    "·": ".",
    "●": "o",
    "━": "=",
    "├": "|",
    "┤": "|",
    "┼": "+",
    "»": ">>",
    "«": "<<",
}
"""The signs of our own tables where an encoding such as cp1252 lacks them."""
_IN_OTHER_CHARACTERS = "hallumeter-in-other-characters"


def encode_everything() -> None:
    """Let the standard output take any text: signs become ASCII, other characters ``\\uXXXX`` as in JSON."""
    codecs.register_error(_IN_OTHER_CHARACTERS, _in_other_characters)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors=_IN_OTHER_CHARACTERS)


def _in_other_characters(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    wanted = error.object[error.start : error.end]
    return "".join(AS_ASCII.get(character) or _escaped(character) for character in wanted), error.end


def _escaped(character: str) -> str:
    """The escape of a character in JSON: one or two units of UTF-16."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[first : first + 4]}" for first in range(0, len(units), 4))


def stop_printing(*, errors_too: bool) -> None:
    """Forget what is still to be printed: Python would try once more at its end, and complain."""
    sys.stdout = io.StringIO()
    if errors_too:
        sys.stderr = io.StringIO()


def indented_json(result: object) -> str:
    """A result as JSON that people can read as well."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"


def echo_wrapped(text: str) -> None:
    """Print lines of prose, broken between words where the terminal ends and indented as they begin."""
    from hallumeter.report.table import Line, terminal, terminal_width

    click.echo(terminal(map(Line, text.splitlines()), **terminal_width()), nl=False)


def opened_run(run: Path, *, is_verified: bool, is_quiet: bool = False) -> Run:
    """A finished run; what was noticed when it was opened is said."""
    from hallumeter.run.finished import load

    opened = load(run, verify=is_verified)
    if not is_quiet:
        say_what_happened((), opened.notices)
    return opened


def say_where(out: Path) -> None:
    """Name the run folder and its report."""
    click.echo(f"run folder: {out}\nreport: {out / 'report.html'}", err=True)


def say_what_happened(failures: Sequence[Failure], notices: Sequence[str]) -> None:
    """Faults and notices on the standard error."""
    from hallumeter.text.normalize import one_line

    for failure in failures[:MOST_FAULTS]:
        click.echo(one_line(failure.message), err=True)
    if len(failures) > MOST_FAULTS:
        click.echo(f"... and {len(failures) - MOST_FAULTS:,} more; --out keeps them in failures.jsonl", err=True)
    for notice in notices[:MOST_FAULTS]:
        click.echo(f"note: {one_line(notice)}", err=True)
    if len(notices) > MOST_FAULTS:
        more = len(notices) - MOST_FAULTS
        click.echo(f"... and {more:,} more note{'s' * (more > 1)}; --out keeps them in summary.json", err=True)


def print_result(
    text: str, failures: Sequence[Failure], notices: Sequence[str], *, form: str, out: Path | None, is_quiet: bool
) -> None:
    """Print what a command found; on the standard error what went wrong, and where the run folder is."""
    if not is_quiet:
        say_what_happened(failures, notices)
    echo_result(text, form, is_quiet=is_quiet)
    if out is not None and not is_quiet:
        say_where(out)


def echo_result(text: str, form: str, *, is_quiet: bool) -> None:
    """Print what a command found: quietly its headline, but every form for programs whole."""
    click.echo(headline_of(text) if is_quiet and form in ("table", "text") else text, nl=False)


_OUTCOME = re.compile(r"^(?:Outcome|Gate): .*", re.MULTILINE | re.DOTALL)


def headline_of(text: str) -> str:
    r"""The lines of a result that say how it ended, or else its first figures.

    >>> headline_of("9 answers\n\n  Unsupported claims  20 %\n\nMost certain findings\n")
    '9 answers\n\n  Unsupported claims  20 %\n'
    >>> headline_of("run\n\nmihr  passed\n\nGate: passed\n")
    'Gate: passed\n'
    """
    outcome = _OUTCOME.search(text)
    if outcome is not None:
        return outcome[0]
    first, *others = text.rstrip("\n").split("\n\n")
    return "\n\n".join([first, *others[:1]] if "\n" not in first else [first]) + "\n"


def refuse_as_file(target: Path) -> None:
    """Refuse a place that no page can be written to."""
    from hallumeter.errors import InputError

    if target.is_dir():
        raise InputError(f"{target}: is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise InputError(f"{target.parent}: no such folder; make it first")
