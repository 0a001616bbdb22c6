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
    from hallumeter.pipelines import load

    target = out or run / "report.html"
    load(run).to_html(target)
    click.echo(target)
