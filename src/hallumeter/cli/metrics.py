"""`hallumeter metrics`: the catalog."""

from __future__ import annotations

import click

from .parameters import command


@command(short_help="List all metrics, or explain one.")
@click.argument("metric", required=False)
def metrics(metric: str | None) -> None:
    """List all metrics, or explain one: its question, formula and limits.

    \b
    Examples:
      hallumeter metrics
      hallumeter metrics mihr
    """
    from hallumeter.report.catalog import catalog_text, metric_text_page

    if metric is None:
        click.echo(catalog_text(), nl=False)
    else:
        click.echo(metric_text_page(metric), nl=False)
