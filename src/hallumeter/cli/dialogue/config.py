"""`hallumeter dialogue config`: the settings of the clinical judges, shown or copied out."""

from __future__ import annotations

from pathlib import Path

import click

from hallumeter.cli.output import indented_json


@click.command(short_help="Show or copy the rules.")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--init",
    "target",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Copy the files that ship into DIR, to be edited; files that are there stay as they are.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def config(folder: Path | None, target: Path | None, form: str) -> None:
    """Show which facts, elements and safety rules answers are measured by, or copy them out to edit them.

    The files are required_slots_by_turn.yaml (what each turn asks for) and safety_rules.yaml (flags, patterns, rules).
    DIR is a folder with one or both of them; a file that is not there is the one that ships.

    \b
    Examples:
      hallumeter dialogue config                    what holds when nothing else is said
      hallumeter dialogue config --init my-rules    copy the files; then edit them
      hallumeter dialogue config my-rules           what holds with them
    """
    from importlib import resources

    from hallumeter.judges.clinical.settings import RULES_FILE, load_settings
    from hallumeter.pipelines.dialogue.linting import init_settings, settings_summary, settings_text

    if target is not None:
        if folder is not None:
            raise click.UsageError("--init copies the files that ship; give either DIR or --init DIR")
        written, kept = init_settings(target)
        for path in written:
            click.echo(f"wrote {path}")
        for path in kept:
            click.echo(f"{path} is there and was left as it is", err=True)
        return
    summary = settings_summary(load_settings(folder), folder)
    if form == "json":
        click.echo(indented_json(summary), nl=False)
        return
    click.echo(settings_text(summary), nl=False)
    if folder is None:
        shipped = resources.files("hallumeter.judges.clinical").joinpath("config", RULES_FILE)
        click.echo(f"\nthe files are in {Path(str(shipped)).parent}; --init DIR copies them", err=True)
