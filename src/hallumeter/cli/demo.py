"""`hallumeter demo`: every instrument on bundled real samples."""

from __future__ import annotations

from pathlib import Path

import click

from .parameters import PATH, option


@click.command()
@option(
    "--out",
    type=PATH,
    default=Path("demo-run"),
    metavar="RUN",
    help="Folder to write; an older demo in it is replaced.",
)
def demo(out: Path) -> None:
    """Measure bundled real samples with every instrument, and report on all in one file: no key, no download.

    The samples are answers of six language models to questions about given passages (RAGTruth), audited by the judge in
    the package, with the verdicts of human annotators beside; and newspaper articles of 1895 to 1921 as read by OCR
    (Overproof), and as "corrected" by a small language model (SmolLM2); and five simulated patients (Synthea), who ask
    five questions each of a responder that answers from a script, once as a plain model and once as an agent; and
    reviews in English (MAMS) and Korean, whose aspects several agents find, debate and correct; Korean needs the extra
    `korean`.

    \b
    Examples:
      hallumeter demo
      hallumeter demo --out demo
    """
    from hallumeter.aspects.report.text import aspects_brief
    from hallumeter.demo import ANSWERS, DIALOGUES, run_demo
    from hallumeter.dialogue.report.text import dialogue_brief
    from hallumeter.report.document import RecordFindings
    from hallumeter.report.reasons import count_reasons
    from hallumeter.report.summary_text import summary_text
    from hallumeter.run.run_folder import RunFolder
    from hallumeter.transcripts.report.text import transcripts_text

    found = run_demo(out)
    answers, dialogues = RunFolder(out / ANSWERS), RunFolder(out / DIALOGUES)
    click.echo("Answers of language models, audited sentence by sentence (hallumeter audit)")
    click.echo(summary_text(answers.summary, "table", reasons=count_reasons(answers.verdicts())), nl=False)
    click.echo("\nNewspaper articles, read by OCR and corrected by a language model (hallumeter transcripts)")
    click.echo(transcripts_text(found.newspapers.summary, found.newspapers.rows, "table"), nl=False)
    click.echo("\nFive patients ask five questions each; answers from a script, of no real model (hallumeter dialogue)")
    records = (RecordFindings(response, findings) for response, findings in dialogues.findings())
    click.echo(dialogue_brief(found.dialogues, records), nl=False)
    click.echo("\nReviews of restaurants in English, read by agents without a key (hallumeter aspects)")
    click.echo(aspects_brief(found.english_reviews), nl=False)
    click.echo("\nReviews in Korean, read by agents without a key (hallumeter aspects)")
    if found.korean_reviews is None:
        click.echo("not read: kiwipiepy is not installed; pip install 'hallumeter[korean]' lets the demo read them")
    else:
        click.echo(aspects_brief(found.korean_reviews), nl=False)
    click.echo(f"\nReport on all of it: {out / 'report.html'}")
    click.echo(f"Run folders, each with a report of its own: {', '.join(str(out / name) for name in found.runs)}")
