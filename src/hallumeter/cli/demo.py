"""`hallumeter demo`: every instrument on bundled real samples."""

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
    """Audit bundled real samples and write two reports: no key, no download, a few seconds.

    The samples are answers of six language models to questions about given passages (RAGTruth), audited by the judge in
    the package, with the verdicts of human annotators beside; and newspaper articles of 1895 to 1921 as read by OCR
    (Overproof), and as "corrected" by a small language model (SmolLM2).

    \b
    Examples:
      hallumeter demo
      hallumeter demo --out demo
    """
    from hallumeter.pipelines import run_demo
    from hallumeter.report import count_reasons, summary_text, transcripts_text
    from hallumeter.store import RunFolder

    found = run_demo(out)
    answers = RunFolder(out / "answers")
    click.echo("Answers of language models, audited sentence by sentence (hallumeter audit)")
    click.echo(summary_text(answers.summary, "table", reasons=count_reasons(answers.verdicts())), nl=False)
    click.echo("\nNewspaper articles, read by OCR and corrected by a language model (hallumeter transcripts)")
    click.echo(transcripts_text(found.newspapers.summary, found.newspapers.rows, "table"), nl=False)
    click.echo(f"\nReports: {out / 'answers' / 'report.html'}\n         {out / 'newspapers' / 'report.html'}")
