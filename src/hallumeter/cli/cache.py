"""`hallumeter cache`: what is remembered of earlier runs."""

from __future__ import annotations

import click

from .parameters import option


@click.command()
@option("--clear", is_flag=True, help="Forget everything: verdicts, and the indexes of knowledge bases and runs.")
def cache(*, clear: bool) -> None:
    """Show where verdicts of language models are remembered, and how many, so that none is paid for twice.

    The folder is HALLUMETER_CACHE if that is set, else the usual place of this system for caches.

    \b
    Examples:
      hallumeter cache
      hallumeter cache --clear
    """
    import shutil

    from hallumeter.claims.retrieval.search import INDEXES
    from hallumeter.run.verdict_cache import VIEWS, VerdictCache, cache_folder

    folder = cache_folder()
    indexes, views = folder / INDEXES, folder / VIEWS
    with VerdictCache.in_folder(folder) as verdicts:
        if clear:
            forgotten = len(verdicts)
            verdicts.clear()
            for place in (indexes, views):
                shutil.rmtree(place, ignore_errors=True)
            click.echo(f"forgot {forgotten:,} verdicts")
        size = sum(file.stat().st_size for file in indexes.rglob("*") if file.is_file()) if indexes.is_dir() else 0
        count = sum(1 for _ in indexes.iterdir()) if indexes.is_dir() else 0
        click.echo(f"folder    {folder}")
        click.echo(f"verdicts  {len(verdicts):,} ({verdicts.size_bytes / 1e6:,.1f} MB)")
        click.echo(f"indexes   {count:,} ({size / 1e6:,.1f} MB)")
        shown = list(views.glob("*.sqlite"))
        click.echo(f"views     {len(shown):,} ({sum(file.stat().st_size for file in shown) / 1e6:,.1f} MB)")
        if verdicts.trouble:
            click.echo(f"note: {verdicts.trouble}", err=True)
