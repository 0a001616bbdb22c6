"""`hallumeter label`: asks in the terminal for the labels that say most about a run."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import echo_wrapped, opened_run, say_what_happened
from .parameters import (
    LABELLED_RUN,
    PATH_OR_DASH,
    RAW_CSV_HELP,
    annotator_option,
    command,
    no_verify_option,
    option,
    width_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hallumeter.decide.label.claims import AskedClaim
    from hallumeter.decide.label.session import LabelSession
    from hallumeter.decide.label.text import Screen
    from hallumeter.run.finished import Run


# Single keys from a terminal, or lines from a pipe.

QUIT = "q"
ESCAPE, END = "\x1b", "\x04"


@contextmanager
def opened_keys() -> Iterator[Callable[[], str]]:
    """A function that waits for the next key, small; at the end of the input it gives a q.

    In a terminal what is typed ahead waits its turn: the terminal hands out keys for as long as this is open. In a
    pipe a key is the first character of a line.
    """
    if not sys.stdin.isatty():
        yield _key_of_a_line
    elif sys.platform == "win32":
        yield lambda: click.getchar().lower()
    else:
        import termios
        import tty

        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal, termios.TCSADRAIN)
            yield _Typed(terminal).key
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _key_of_a_line() -> str:
    line = sys.stdin.readline()
    return line.rstrip("\r\n")[:1].lower() if line else QUIT


class _Typed:
    """Keys in the order in which they were pressed."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._waiting = ""

    def key(self) -> str:
        if not self._waiting:
            self._waiting = os.read(self._terminal, 1024).decode(errors="replace") or END
        key, self._waiting = self._waiting[0], self._waiting[1:]
        if key == ESCAPE:
            # An arrow or a function key says more than one letter, and some of these would be answers.
            self._waiting = ""
        return QUIT if key == END else key.lower()


KEYS = {"s": "supported", "r": "refuted", "n": "not enough info", "?": "cannot tell"}
OTHER_KEYS = {"space": "skip", "u": "undo", "e": "all evidence", "q": "quit"}
HINT = " · ".join(f"{key} {word}" for key, word in {**KEYS, **OTHER_KEYS}.items())
OUTLOOKS = (50, 200)
"""For how many more labels it is said what they would bring."""


@command(short_help="Label a few claims in the terminal.")
@click.argument("run", type=LABELLED_RUN, metavar="RUN")
@annotator_option
@option("--judge", metavar="NAME", help="The judge to check.  [default: that of the headline]")
@option(
    "--unit",
    type=click.Choice(["claim", "response"]),
    default="claim",
    help="Ask about single claims, or about all claims of random responses.",
)
@option(
    "--overlap",
    type=float,
    default=0.2,
    metavar="SHARE",
    help="Share of claims that another annotator has labelled, to see whether you agree.",
)
@option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N labels.")
@width_option
@option("--seed", type=int, default=0, help="Seed of the order of claims.")
@option("--show-verdict", is_flag=True, help="Show the judge's verdict; it may sway you.")
@option(
    "--export",
    type=PATH_OR_DASH,
    metavar="FILE",
    help="Write the labels so far as CSV (- for standard output) and ask nothing.",
)
@option("--raw-csv", is_flag=True, help=RAW_CSV_HELP)
@no_verify_option
def label(run: Path, **options: Any) -> None:
    """Label a few claims in the terminal and watch the corrected rate settle.

    You see a claim with its response and its evidence, and answer with one key. Claims are drawn at random within
    groups of the same verdict and a similar probability, more often where a label narrows the interval more. Every
    label is saved at once: stop whenever you like and continue later. A second annotator gets some of the same claims,
    without seeing the first one's labels. In a pipe, one line is one key.

    \b
    Examples:
      hallumeter label run
      hallumeter label run --annotator kim --limit 50
      hallumeter label run --unit response --width 0.05
      hallumeter label run --export labels.csv
    """
    from hallumeter.decide.label.claims import AnnotateSettings
    from hallumeter.decide.label.session import LabelSession
    from hallumeter.decide.label.text import Screen, labels_table

    opened = opened_run(run, is_verified=not options.pop("no_verify"))
    target, limit, shows_verdict = (options.pop(name) for name in ("export", "limit", "show_verdict"))
    is_raw = options.pop("raw_csv")
    if target is not None:
        _export(labels_table(opened, options["judge"], is_raw=is_raw), target)
        return
    session = LabelSession(opened, AnnotateSettings(**options))
    has_style = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    screen = Screen(width=width, has_style=has_style, shows_verdict=shows_verdict)
    try:
        with opened_keys() as next_key:
            _ask(session, screen, limit=limit, next_key=next_key)
    except (KeyboardInterrupt, EOFError):
        click.echo()
    _end(opened, session)


def _ask(session: LabelSession, screen: Screen, *, limit: int | None, next_key: Callable[[], str]) -> None:
    """Ask until there are enough answers, nothing is left, or somebody has had enough."""
    from hallumeter.decide.label.text import question_text

    is_last = False
    while not is_last and (limit is None or session.answers < limit):
        asked = session.next_question()
        if asked is None:
            click.echo("nothing is left to label: every claim that counts was labelled or skipped")
            return
        click.echo()
        click.echo(question_text(asked, screen))
        is_last = not _has_answered(session, asked, screen, next_key=next_key)


def _has_answered(session: LabelSession, asked: AskedClaim, screen: Screen, *, next_key: Callable[[], str]) -> bool:
    """Take keys until one of them ends the question; whether there should be another question."""
    from hallumeter.decide.label.text import progress_line, question_text
    from hallumeter.records.claim import Label

    labels = dict(zip(KEYS, (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED), strict=True))
    echo_wrapped(HINT)
    while (key := next_key()) != QUIT:
        if key in labels:
            session.answer(labels[key])
            echo_wrapped(f"{KEYS[key]} · {progress_line(session.progress(), session.settings.half_width)}")
            return True
        if key == " ":
            session.skip()
            click.echo("skipped")
            return True
        if key == "u" and session.undo() is not None:
            echo_wrapped(f"taken back · {progress_line(session.progress(), session.settings.half_width)}")
            return True
        if key == "u":
            click.echo("there is nothing to undo in this session")
        elif key == "e":
            click.echo(question_text(asked, screen, is_whole=True))
        else:
            echo_wrapped(HINT)
    return False


def _end(run: Run, session: LabelSession) -> None:
    """What the labels have come to, and what to do with them."""
    from rich.cells import cell_len

    from hallumeter.claims.labelled.correction import CorrectSettings
    from hallumeter.claims.labelled.sources import LabelSettings
    from hallumeter.decide.correct import correct, correction_text
    from hallumeter.decide.label.text import agreement_line, history_line
    from hallumeter.report.table import terminal_width
    from hallumeter.text.normalize import printable

    progress, settings = session.progress(), session.settings
    click.echo()
    if not progress.labels:
        click.echo("there are no labels yet")
        return
    source = LabelSettings(judge=session.judge)
    found = correct(run, settings=CorrectSettings(source=source, half_width=settings.half_width))
    click.echo(correction_text(found, **terminal_width()))
    lines = [*map(agreement_line, progress.agreements), history_line(progress.history), _outlook(session)]
    for line in filter(None, lines):
        echo_wrapped(line)
    say_what_happened((), found.notices)
    judge = f" --judge {session.judge}" if len(run.manifest.judges) > 1 else ""
    kept = printable(f"kept in {run.path / 'labels.sqlite'}")
    command_line = printable(f"next: hallumeter correct {run.path}{judge}")
    # A path or a command that is broken at the end of a line cannot be copied.
    is_short = cell_len(f"{kept}; {command_line}") <= terminal_width()["width"]
    click.echo(("; " if is_short else "\n").join([kept, command_line]))


def _outlook(session: LabelSession) -> str | None:
    """What more labels would bring."""
    widths = [(more, session.expected_half_width(more)) for more in OUTLOOKS]
    texts = [f"{more} more labels: about ±{width * 100:.1f} points" for more, width in widths if width is not None]
    return "; ".join(texts) or None


def _export(text: str, target: Path) -> None:
    from hallumeter.errors import InputError

    if str(target) == "-":
        click.echo(text, nl=False)
        return
    try:
        with target.open("x", encoding="utf-8", errors="replace", newline="") as stream:
            stream.write(text)
    except FileExistsError:
        raise InputError(f"{target}: exists already; choose another file or remove it first") from None
    click.echo(target)
