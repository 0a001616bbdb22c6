"""`hallumeter dialogue lint`: mistakes in the settings of the clinical judges."""

from __future__ import annotations

from pathlib import Path

import click

from hallumeter.cli.output import indented_json


@click.command(short_help="Check the rules, with file and line.")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--events",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also count over these events how often each rule, flag and phrase is met.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def lint(folder: Path | None, events: Path | None, form: str) -> None:
    """Check required_slots_by_turn.yaml and safety_rules.yaml: every mistake with its file, line and column.

    Finds what cannot be read, rules that can never apply, flags and patterns that no rule uses, bounds that no patient
    can meet, phrases that are never found or said twice, and regular expressions that are refused. Patterns run on a
    linear-time engine, so that none can hang. Without DIR the files that ship are checked.

    Exit code: 0 without errors (warnings and notes may be there), 1 with errors, 2 when a file cannot be read.

    \b
    Examples:
      hallumeter dialogue lint my-rules
      hallumeter dialogue lint my-rules --events runs/pilot/events.jsonl
      hallumeter dialogue lint my-rules --format json | jq '.findings[] | select(.severity == "error")'
    """
    from hallumeter.pipelines.dialogue.linting import lint_settings, lint_text

    report = lint_settings(folder, events)
    if form == "json":
        click.echo(indented_json(report), nl=False)
    else:
        click.echo(lint_text(report), nl=False)
    raise click.exceptions.Exit(report.exit_code)
