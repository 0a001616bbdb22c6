"""`hallumeter aspects score`: outputs of the pipeline in, scorecards out."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from hallumeter.cli.output import say_what_happened
from hallumeter.cli.parameters import quiet_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hallumeter.pipelines.aspects.scoring import ScoreSettings

PROFILES = ("smoke", "regression", "paper_main")
SCORECARDS = "scorecards.jsonl"
DASH = "-"


@click.command(short_help="Score outputs: scorecards.jsonl.")
@click.argument("outputs", type=click.Path(path_type=Path, allow_dash=True), metavar="OUTPUTS")
@click.option(
    "--gold",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Gold by uid (or text_id): lines with gold_tuples of aspect_term and polarity.",
)
@click.option(
    "--allowlist",
    "--aspect_allowlist",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Terms that are targets beside those that ship: a JSON or YAML list, or a term on each line.",
)
@click.option(
    "--profile", type=click.Choice(PROFILES), help="Write this profile; default: the one that each output names."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Where to write; default: scorecards.jsonl beside OUTPUTS. A dash writes to the standard output.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Processes to use; default: one per core.")
@click.option("--strict", is_flag=True, help="Stop at a line that cannot be used.")
@quiet_option
def score(outputs: Path, **options: object) -> None:
    """Build scorecards from OUTPUTS of the pipeline, one line for each sentence.

    OUTPUTS is the outputs.jsonl of `hallumeter aspects run`, or one made elsewhere in the same shape; a dash reads the
    standard input. Each aspect of stage 1 is kept or dropped, with the class of the drop (H1 not in the text, H2
    misplaced, filter) and its true place. Files that exist are never written over.

    \b
    Examples:
      hallumeter aspects score runs/demo/outputs.jsonl
      hallumeter aspects score outputs.jsonl --gold gold.jsonl --allowlist targets.txt --out cards.jsonl
      hallumeter aspects score outputs.jsonl --out - | hallumeter aspects aggregate -
    """
    from hallumeter.pipelines.aspects.scoring import score_outputs

    gold, allowlist, out, is_quiet = (options[name] for name in ("gold", "allowlist", "out", "quiet"))
    target = _target(outputs, out if isinstance(out, Path) else None)
    settings, notices = _settings(
        gold if isinstance(gold, Path) else None, allowlist if isinstance(allowlist, Path) else None, options
    )
    with _opened(target) as stream:
        found = score_outputs(outputs, settings, stream.write)
    if not is_quiet:
        say_what_happened(found.failures, [*notices, *found.notices])
        told = f"{found.sentences:,} scorecards"
        told += f", {found.failures_total:,} lines could not be used" if found.failures_total else ""
        click.echo(f"{told}: {'standard output' if str(target) == DASH else target}", err=True)


def _target(outputs: Path, out: Path | None) -> Path:
    """Where scorecards go; beside the outputs unless it is said."""
    if out is not None:
        return out
    return Path(DASH) if str(outputs) == DASH else outputs.parent / SCORECARDS


@contextmanager
def _opened(target: Path) -> Iterator[IO[bytes]]:
    """The standard output, or a file that takes its name only when it is whole."""
    from hallumeter.errors import InputError

    if str(target) == DASH:
        yield sys.stdout.buffer
        return
    if os.path.lexists(target):
        raise InputError(f"{target}: exists already; choose another file with --out, or remove it first")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with draft.open("xb") as stream:
            yield stream
        _give_name(draft, target)
    except FileExistsError as error:
        raise InputError(f"{target}: exists already; choose another file with --out, or remove it first") from error
    finally:
        draft.unlink(missing_ok=True)


def _give_name(draft: Path, target: Path) -> None:
    """Let a file have its name, unless something took it meanwhile; not every file system has links to make sure."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise
    except OSError:
        draft.rename(target)


def _settings(gold: Path | None, allowlist: Path | None, options: dict[str, object]) -> tuple[ScoreSettings, list[str]]:
    from hallumeter.engines import available_cores
    from hallumeter.errors import RecordError
    from hallumeter.judges.aspects import target_words
    from hallumeter.pipelines.aspects.scoring import ScoreSettings, read_allowlist

    notices = []
    known = None
    if gold is not None:
        from hallumeter.pipelines.aspects.running.gold import read_gold

        known, faults = read_gold(gold)
        if faults and options["strict"]:
            raise RecordError(faults[0].message)
        notices = [fault.message for fault in faults]
    terms = () if allowlist is None else read_allowlist(allowlist)
    profile, workers = options["profile"], options["workers"]
    settings = ScoreSettings(
        words=target_words(terms),
        profile=profile if isinstance(profile, str) else None,
        gold=known,
        is_strict=bool(options["strict"]),
        workers=workers if isinstance(workers, int) else available_cores(),
    )
    return settings, notices
