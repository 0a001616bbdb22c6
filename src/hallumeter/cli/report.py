"""`hallumeter report`: run folders as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("runs", type=click.Path(path_type=Path), metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write; default RUN/report.html. Several runs need it.",
)
def report(runs: tuple[Path, ...], out: Path | None) -> None:
    """Write the report of a run, or of several, as one self-contained HTML file.

    It opens from disk, loads nothing from the network, and shows every response with its findings marked. Several runs,
    of any instruments, are chapters of one page.

    \b
    Examples:
      hallumeter report run
      hallumeter report run --out friday.html
      hallumeter report answers pages dialogues --out all.html
    """
    from hallumeter.errors import InputError, SettingsError
    from hallumeter.pipelines import load
    from hallumeter.report import write_html

    if out is None and len(runs) > 1:
        raise SettingsError("several runs make one file: name it with --out FILE")
    target = out or runs[0] / "report.html"
    opened = [load(run) for run in runs]
    if target.is_dir():
        raise InputError(f"{target}: is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise InputError(f"{target.parent}: no such folder; make it first")
    write_html([run.document() for run in opened], target)
    click.echo(target)
