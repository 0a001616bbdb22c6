"""`hallumeter demo`: the main job on bundled real samples."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("demo-run"),
    show_default=True,
    metavar="RUN",
    help="Folder to write; an older demo in it is replaced.",
)
def demo(out: Path) -> None:
    """Measure bundled real samples and write a report: no key, no download, a few seconds.

    The samples are answers of six language models to questions about given passages (RAGTruth), with the verdicts of
    human annotators and of two simple rules on every sentence.

    \b
    Examples:
      hallumeter demo
      hallumeter demo --out /tmp/demo
    """
    from hallumeter.pipelines import run_demo
    from hallumeter.report import summary_text

    run = run_demo(out)
    click.echo(summary_text(run.summary, "table"), nl=False)
    click.echo(f"\nReport: {out / 'report.html'}")
