"""`hallumeter cache`: what is remembered of earlier runs."""

from __future__ import annotations

import click

from .parameters import command, option


@command(short_help="Show or clear the cache of verdicts.")
@option("--clear", is_flag=True, help="Delete everything: verdicts, indexes of knowledge bases and runs, and images.")
def cache(*, clear: bool) -> None:
    """Show or clear the cache of verdicts, which saves you from paying for a call twice.

    The folder is HALLUMETER_CACHE if that is set, else your system's cache folder.

    \b
    Examples:
      hallumeter cache
      hallumeter cache --clear
    """
    import shutil

    from hallumeter.claims.retrieval.search import INDEXES
    from hallumeter.run.verdict_cache import IMAGES, VIEWS, VerdictCache, cache_folder

    folder = cache_folder()
    indexes, views, images = folder / INDEXES, folder / VIEWS, folder / IMAGES
    with VerdictCache.in_folder(folder) as verdicts:
        if clear:
            forgotten = len(verdicts)
            verdicts.clear()
            for place in (indexes, views, images):
                shutil.rmtree(place, ignore_errors=True)
            click.echo(f"deleted {forgotten:,} verdicts")
        size = sum(file.stat().st_size for file in indexes.rglob("*") if file.is_file()) if indexes.is_dir() else 0
        count = sum(1 for _ in indexes.iterdir()) if indexes.is_dir() else 0
        click.echo(f"folder    {folder}")
        click.echo(f"verdicts  {len(verdicts):,} ({verdicts.size_bytes / 1e6:,.1f} MB)")
        click.echo(f"indexes   {count:,} ({size / 1e6:,.1f} MB)")
        shown = list(views.glob("*.sqlite"))
        click.echo(f"views     {len(shown):,} ({sum(file.stat().st_size for file in shown) / 1e6:,.1f} MB)")
        fetched = list(images.glob("*")) if images.is_dir() else []
        if fetched:
            click.echo(f"images    {len(fetched):,} ({sum(file.stat().st_size for file in fetched) / 1e6:,.1f} MB)")
        if verdicts.trouble:
            click.echo(f"note: {verdicts.trouble}", err=True)
