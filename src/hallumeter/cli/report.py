"""`hallumeter report`: a run folder as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to write; default RUN/report.html.")
def report(run: Path, out: Path | None) -> None:
    """Write the report of a run as one self-contained HTML file.

    It opens from disk, loads nothing from the network, and shows every response with its findings marked.

    \b
    Examples:
      hallumeter report run
      hallumeter report run --out friday.html
    """
    from hallumeter.errors import InputError
    from hallumeter.pipelines import load

    finished = load(run)
    target = out or run / "report.html"
    if target.is_dir():
        raise InputError(f"{target}: is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise InputError(f"{target.parent}: no such folder; make it first")
    finished.to_html(target)
    click.echo(target)
