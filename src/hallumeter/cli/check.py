"""`hallumeter check`: one answer and its evidence in, the marked sentence out."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .experiments import UNMEASURED
from .parameters import PATH, command, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hallumeter.claims.checked import Check, CheckedClaim

EXIT_CODES = {"supported": 0, "unsupported": 1, "unmeasured": UNMEASURED}
REFUSAL_CODES = {"pass": 0, "fail": 1, "unmeasured": UNMEASURED}
STANDARD_INPUT = "-"
STYLES = {"supported": "green", "unsupported": "red", "unmeasured": "yellow", "refused": "yellow"}
WIDTH = 80
_CITED = re.compile(r"(?<![\w-])(?:\./)?((?:[\w.-]+/)*[\w.-]*\w\.\w{1,10})(?![\w/])")
"""What looks like the name of a file: words and slashes that end with a dot and a few letters."""
MOST_CITED, LONGEST_CITED = 50, 1_000_000
"""Files, and bytes of each, that an answer can cite."""
OPENS, CLOSES = "\ue000", "\ue001"
"""Around marked words until they are coloured: characters that no language uses."""


@command(short_help="Check one answer against its evidence.")
@click.argument("answer", required=False)
@option("--evidence", "files", multiple=True, type=PATH, metavar="FILE", help="A file of evidence; repeat for several.")
@option("--evidence-text", "texts", multiple=True, metavar="TEXT", help="Evidence given as text; repeat for several.")
@option("--cited", type=PATH, metavar="DIR", help="Also use files below DIR that the answer names as evidence.")
@option("--question", metavar="TEXT", help="The question, if the judge should see it.")
@option("--judge", default="embedded", metavar="JUDGE", help="Who judges, as `hallumeter audit --judge` takes it.")
@option("--preset", metavar="NAME", help="Where the embedded judge draws the line: precise, balanced or sensitive.")
@option(
    "--threshold",
    type=float,
    metavar="P",
    help="Call claims unsupported at this probability or above, instead of using a preset.",
)
@option("--calibration", type=PATH, metavar="FILE", help="Accept claims up to the threshold that `calibrate` found.")
@option(
    "--on-refusal",
    type=click.Choice(["unmeasured", "pass", "fail"]),
    default="unmeasured",
    help="How to count an answer that refuses.",
)
@option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="What to print.")
def check(answer: str | None, files: tuple[Path, ...], texts: tuple[str, ...], **options: Any) -> None:
    """Check one answer against its evidence: which words are unsupported, and why.

    ANSWER is the text itself; a dash, or no answer at all in a pipe, reads it from standard input. Evidence comes
    from text files (.json is read as JSON), from --evidence-text, or, with --cited, from the files that the answer
    names, such as `src/app.py` or notes.md:12. Unsupported words are set between » and «, and in
    colour on a terminal. Exit code 0: every claim is supported. 1: at least one is not. 3: nothing could be measured,
    as in an answer without a claim, or a refusal.

    \b
    Examples:
      hallumeter check --evidence notes.txt "The fair drew 999 million."
      hallumeter check --evidence notes.txt --evidence more.txt - < answer.txt
      hallumeter check --evidence-text "It is 330 m." "It is 999 m." --judge rules
      hallumeter check --evidence notes.txt --format json - < answer.txt
      hallumeter check --cited . - < answer-of-an-agent.txt
    """
    import msgspec

    from hallumeter.claims.check import check as checked

    form, cited = options.pop("form"), options.pop("cited")
    passages = [*(passage for path in files for passage in _passages(path)), *texts]
    if not passages and cited is None:
        raise click.UsageError(
            "give evidence with --evidence FILE or --evidence-text TEXT, or name a folder with --cited DIR",
            click.get_current_context(),
        )
    text = judged = _answer(answer)
    if cited is not None:
        named = _cited_passages(text, cited, is_needed=not passages)
        judged = _without_names(text, named)
        passages += named.values()
    found = msgspec.structs.replace(checked(judged, passages, options.pop("question"), **options), response=text)
    if form == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(found.to_dict()), indent=2).decode())
    else:
        click.echo("\n".join(_lines(found, has_color=sys.stdout.isatty())))
    code = REFUSAL_CODES[found.on_refusal] if found.status == "refused" else EXIT_CODES[found.status]
    raise click.exceptions.Exit(code)


def _answer(given: str | None) -> str:
    """The answer that was given, or the standard input."""
    if given is None and sys.stdin.isatty():
        raise click.UsageError("give an answer, or pipe one in", click.get_current_context())
    if given not in (None, STANDARD_INPUT):
        if _is_file(str(given)):
            raise click.UsageError(f"{given} is a file; read the answer from it with - < {given}")
        return str(given)
    from hallumeter.errors import InputError

    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input: not UTF-8 ({error.reason}); save it as UTF-8") from error
    return text.rstrip("\r\n")


def _is_file(text: str) -> bool:
    """Whether an answer is the name of a file, which nobody wants checked; a text may be too long for a name."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _passages(path: Path) -> list[object]:
    """What a file holds: a text under the name of the file, or JSON."""
    import msgspec

    from hallumeter.errors import InputError

    try:
        text = path.read_bytes().decode("utf-8-sig")
        if path.suffix.lower() == ".json":
            found = msgspec.json.decode(text)
            return found if isinstance(found, list) else [found]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error.reason}); save it as UTF-8") from error
    except msgspec.DecodeError as error:
        raise InputError(f"{path}: not JSON ({error})") from error
    return [{"evidence_id": path.name, "text": text}]


def _cited_passages(answer: str, folder: Path, *, is_needed: bool) -> dict[str, object]:
    """The text files below a folder that an answer names, by name; of very long ones the beginning."""
    from hallumeter.errors import InputError
    from hallumeter.formats.paths import path_below

    root = folder.resolve()
    if not root.is_dir():
        raise InputError(f"{folder}: no such folder; name the one that the cited files are below")
    passages: dict[str, object] = {}
    for name in dict.fromkeys(_CITED.findall(answer)):
        path = path_below(root, name)
        is_read = path is not None and path.is_file() and len(passages) < MOST_CITED
        data = path.read_bytes()[:LONGEST_CITED] if path is not None and is_read else b""
        if data and b"\0" not in data:
            passages[name] = {"evidence_id": name, "text": data.decode("utf-8", errors="replace")}
    if is_needed and not passages:
        raise InputError(f"the answer names no text file below {folder}; give evidence with --evidence FILE")
    return passages


def _without_names(answer: str, names: Iterable[str]) -> str:
    """An answer whose citations, with their line numbers, make no claims; places in the text stay what they are."""
    longest_first = sorted(names, key=len, reverse=True)
    citation = rf"`?(?:\./)?(?:{'|'.join(map(re.escape, longest_first))})(?::\d+(?:[-:]\d+)?)?`?"
    return re.sub(citation, lambda found: "it".ljust(len(found[0])), answer) if longest_first else answer


def _lines(found: Check, *, has_color: bool) -> Iterator[str]:
    """The outcome, the answer with its wrong words marked, then each claim that is not supported."""
    from hallumeter.text.normalize import printable, printable_lines

    headline = printable(found.headline)
    for line in textwrap.wrap(headline, WIDTH):
        yield click.style(line, fg=STYLES[found.status], bold=True) if has_color else line
    if found.response.strip():
        yield ""
        text = found.marked((f"{OPENS}»", f"«{CLOSES}")) if has_color else found.marked()
        for line in printable_lines(text).split("\n"):
            wrapped = textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="  ") or [""]
            yield from _colored(wrapped) if has_color else wrapped
    for claim in found.findings:
        if claim.label != "SUPPORTED":
            yield ""
            yield from _explained(claim)


def _colored(lines: list[str]) -> Iterator[str]:
    """Lines whose marked words are red; a mark may go on in the next line."""
    is_open = False
    for line in lines:
        shown = []
        for piece in re.split(f"({OPENS}|{CLOSES})", line):
            is_open = piece == OPENS or (is_open and piece != CLOSES)
            if piece and piece not in (OPENS, CLOSES):
                shown.append(click.style(piece, fg="red", bold=True, underline=True) if is_open else piece)
        yield "".join(shown)


def _explained(claim: CheckedClaim) -> Iterator[str]:
    from hallumeter.report.reasons import reason_words
    from hallumeter.text.normalize import one_line

    why = claim.note or claim.failure or reason_words(claim.reason) or claim.reason or "no reason given"
    sure = f" ({claim.probability:.0%} unsupported)" if claim.probability is not None else ""
    parts = {f"{claim.label}{sure}": claim.text, "why": why}
    if claim.quote:
        parts[f"evidence {claim.evidence_id}"] = claim.quote
    for place, (name, text) in enumerate(parts.items()):
        indent = "  " if place == 0 else "    "
        yield from textwrap.wrap(
            f"{one_line(name)}: {one_line(text)}", WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  "
        )
