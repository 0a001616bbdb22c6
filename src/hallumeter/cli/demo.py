"""`hallumeter demo`: every instrument on bundled real samples."""

from __future__ import annotations

from pathlib import Path

import click

from .output import echo_wrapped
from .parameters import PATH, command, option

MOST_FINDINGS = 2
"""Findings that the demo prints; the report has all."""


@command(short_help="See every instrument at work on bundled samples.")
@option(
    "--out",
    type=PATH,
    default=Path("demo-run"),
    metavar="RUN",
    help="Folder to write; an older demo there is replaced.",
)
def demo(out: Path) -> None:
    """See every instrument at work on bundled samples: no key, no download.

    Answers: six language models answer questions about given passages (RAGTruth); the judge in the package and people
    say what is unsupported. Transcripts: newspaper articles of 1895 to 1921, read by OCR (Overproof) and "corrected" by
    a small language model (SmolLM2). Dialogues: five simulated patients (Synthea) ask five questions each; the answers
    come from a script. Aspects: agents read reviews in English (MAMS) and Korean (needs the extra `korean`). All of it
    is in one HTML report.

    \b
    Examples:
      hallumeter demo
      hallumeter demo --out demo
    """
    from hallumeter.aspects.report.text import aspects_brief
    from hallumeter.demo import ANSWERS, DIALOGUES, run_demo
    from hallumeter.dialogue.report.text import dialogue_brief
    from hallumeter.report.document import RecordFindings
    from hallumeter.report.findings import most_certain
    from hallumeter.report.summary_text import summary_text
    from hallumeter.report.terminal import Shown
    from hallumeter.run.run_folder import RunFolder
    from hallumeter.transcripts.report.text import transcripts_text

    found = run_demo(out)
    answers, dialogues = RunFolder(out / ANSWERS), RunFolder(out / DIALOGUES)
    click.echo("AUDIT: answers of six language models, checked sentence by sentence")
    shown = Shown(source="rag_answers.jsonl", findings=most_certain(answers.findings(), most=MOST_FINDINGS))
    click.echo(summary_text(answers.summary, "table", shown=shown), nl=False)
    click.echo("\nTRANSCRIPTS: newspapers, read by OCR and corrected by a language model")
    click.echo(transcripts_text(found.newspapers.summary, found.newspapers.rows, "table"), nl=False)
    click.echo("\nDIALOGUE: five patients ask five questions; the answers come from a script")
    records = (RecordFindings(response, findings) for response, findings in dialogues.findings())
    click.echo(dialogue_brief(found.dialogues, records), nl=False)
    click.echo("\nASPECTS: restaurant reviews in English, read by offline agents")
    click.echo(aspects_brief(found.english_reviews), nl=False)
    click.echo("\nASPECTS: reviews in Korean, read by offline agents")
    if found.korean_reviews is None:
        click.echo("not read: kiwipiepy is not installed (pip install 'hallumeter[korean]')")
    else:
        click.echo(aspects_brief(found.korean_reviews), nl=False)
    click.echo(f"\nReport on all of it: {out / 'report.html'}")
    echo_wrapped(f"Run folders in {out}: {', '.join(found.runs)}")
