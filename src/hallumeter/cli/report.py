"""`hallumeter report`: run folders as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from .output import opened_run, refuse_as_file
from .parameters import PATH, RUN, command, known_language, no_verify_option, option


def _print_schema(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    """Print the schema and stop; no run is needed for it."""
    if is_asked:
        from hallumeter.report.document import document_schema

        click.echo(document_schema(), nl=False)
        context.exit()


@command(short_help="Write the HTML report of one or more runs.")
@click.argument("runs", type=RUN, metavar="RUN...", nargs=-1, required=True)
@option("--out", type=PATH, metavar="FILE", help="Where to write; needed for several runs.  [default: RUN/report.html]")
@option(
    "--language", default="en", metavar="CODE", callback=known_language, help="Language of the report: en, fr or ko."
)
@option(
    "--format",
    "form",
    type=click.Choice(["html", "json"]),
    default="html",
    help="html writes a file; json prints what the report of one run shows.",
)
@option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of --format json and exit.",
)
@no_verify_option
def report(runs: tuple[Path, ...], out: Path | None, language: str, form: str, no_verify: bool) -> None:
    """Write one HTML file that shows a run, or several, with every finding marked.

    The file opens from disk and loads nothing from the network. Several runs, of any kind, become chapters.

    \b
    Examples:
      hallumeter report run
      hallumeter report run --out friday.html
      hallumeter report answers pages dialogues --out all.html
      hallumeter report run --language fr --out rapport.html
      hallumeter report run --format json > report.json
    """
    from hallumeter.errors import SettingsError
    from hallumeter.report.document import document_json
    from hallumeter.report.page.render import write_html

    if form == "json":
        if len(runs) > 1 or out is not None:
            raise SettingsError("--format json prints one run; give a single one, without --out")
        click.echo(document_json(opened_run(runs[0], is_verified=not no_verify).document()), nl=False)
        return
    if out is None and len(runs) > 1:
        raise SettingsError("several runs make one file: name it with --out FILE")
    target = out or runs[0] / "report.html"
    opened = [opened_run(run, is_verified=not no_verify) for run in runs]
    refuse_as_file(target)
    write_html([run.document() for run in opened], target, language=language)
    click.echo(target)
