"""`hallumeter view`: all runs of a folder in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from .parameters import PATH, annotator_option, option


@click.command()
@click.argument("folder", type=PATH, default=Path(), metavar="[DIR]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Where to listen.  [default: any free port]")
@option("--open", "is_opened", is_flag=True, help="Open the address in the browser.")
@annotator_option
@option("--language", default="en", metavar="CODE", help="Of the pages: en, fr or ko.")
def view(folder: Path, *, port: int, is_opened: bool, annotator: str, language: str) -> None:
    """Show all runs of a folder, or one run, as a local web app.

    It lists runs and their trends, shows every record of a run whatever its size, follows runs that go on, and keeps
    what you say of verdicts (right, wrong) in labels.sqlite beside the run. It listens on 127.0.0.1 only, and the
    address holds a secret: whoever has it can read the runs. Ctrl-C ends it. Needs the extra `viewer`.

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
        from hallumeter.viewer.serving import Viewer
    except ModuleNotFoundError as error:
        if error.name not in {"starlette", "uvicorn"}:
            raise
        raise MissingExtraError("viewer", "showing runs in a browser") from error
    catalogue(language)
    viewer = Viewer(folder, annotator=annotator, warn=_warn, port=port, language=language)
    click.echo(viewer.address)
    if is_opened:
        click.launch(viewer.address)
    viewer.run()


def _warn(text: str) -> None:
    from hallumeter.text.normalize import one_line

    click.echo(f"note: {one_line(text)}", err=True)
