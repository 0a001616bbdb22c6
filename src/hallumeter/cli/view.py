"""`hallumeter view`: all runs of a folder in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from .parameters import RUN, annotator_option, command, no_verify_option, option


@command(short_help="Browse runs in your browser.")
@click.argument("folder", type=RUN, default=Path(), metavar="[DIR]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on.  [default: any free port]")
@option("--open", "is_opened", is_flag=True, help="Open it in your browser.")
@annotator_option
@option("--language", default="en", metavar="CODE", help="Language of the pages: en, fr or ko.")
@no_verify_option
def view(folder: Path, *, port: int, is_opened: bool, annotator: str, language: str, no_verify: bool) -> None:
    """Browse all runs of a folder, or one run, in your browser.

    Lists runs and trends, shows every record of a run of any size, follows runs in progress, and keeps your labels
    (right, wrong) in labels.sqlite in the run folder. It listens on 127.0.0.1 only; the address holds a secret, and
    whoever has it can read the runs. Ctrl-C stops it. Needs the extra `viewer`.

    \b
    Examples:
      hallumeter view
      hallumeter view runs/ --open
      hallumeter view runs/monday --annotator kim
      hallumeter view --port 8800 --language ko
    """
    from hallumeter.errors import MissingExtraError
    from hallumeter.report.languages.speaking import catalogue

    try:
        from hallumeter.viewer.app import Viewer
    except ModuleNotFoundError as error:
        if error.name not in {"starlette", "uvicorn"}:
            raise
        raise MissingExtraError("viewer", "showing runs in a browser") from error
    catalogue(language)
    viewer = Viewer(folder, annotator=annotator, warn=_warn, port=port, language=language, verify=not no_verify)
    click.echo(viewer.address)
    if is_opened:
        click.launch(viewer.address)
    viewer.run()


def _warn(text: str) -> None:
    from hallumeter.text.normalize import one_line

    click.echo(f"note: {one_line(text)}", err=True)
